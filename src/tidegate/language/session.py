"""Sessions: who says what, and sets of statements that count as one (Q-13, M-3).

A session is a user at a level. Between BEGIN and COMMIT its statements wait; at COMMIT all take place, or none.

Reads: errors, catalog, security, language.  Read by: reference, system.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from tidegate.catalog import Catalog, Entry
from tidegate.errors import Problem, QueryError
from tidegate.language import statements as st
from tidegate.language import syntax as sx
from tidegate.language.execute import Outcome, execute
from tidegate.language.parser import parse
from tidegate.security.lattice import Level
from tidegate.security.subject import Subject, login

_KINDS = "QUERY|STREAM|FUNCTION|SOURCE|SINK|RELATION"
_AS_IT_IS = ("ALREADY_RUNNING", "NOT_RUNNING")
_NAMED = re.compile(rf"\s*(?:(?:CREATE|DROP)\s+(?:{_KINDS})|START|STOP)\s+(`(?:[^`]|``)+`|\w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Spoken:
    """What came of one statement: what began and ended, what there is to show, or the problem."""

    text: str
    level: Level
    serial: int
    name: str | None
    begun: Entry | None = None
    ended: Entry | None = None
    shown: tuple[str, ...] | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A statement between BEGIN and COMMIT."""

    text: str
    name: str | None


@dataclass(slots=True)
class Sessions:
    """All sessions over one catalog; ``users`` are the clearances, None where nobody logs in."""

    catalog: Catalog
    users: Mapping[str, Level] | None = None
    serials: int = 0
    open_sets: dict[tuple[Level, str | None], list[Waiting]] = field(default_factory=dict)
    texts: dict[tuple[str, Level, str, int], str] = field(default_factory=dict)

    def say(self, text: str, level: Level, user: str | None = None, name: str | None = None) -> list[Spoken]:
        """Carry out a statement of a session; a listed query has its name beside its text."""
        if refused := self.log_in(text, level, user, name):
            return [refused]
        waiting = Waiting(text, name or _name_in(text))
        try:
            statement = _statement(text, name)
        except QueryError as error:
            if (level, user) in self.open_sets:
                self.open_sets[level, user].append(waiting)
                return []
            return [self._refused(waiting, level, error)]
        if isinstance(statement, st.Transaction):
            return self._transaction(statement, text, level, user)
        if (level, user) in self.open_sets and not isinstance(statement, st.Show | st.Explain):
            self.open_sets[level, user].append(waiting)
            return []
        return self._together([waiting], level, user)

    def log_in(self, text: str, level: Level, user: str | None, name: str | None) -> Spoken | None:
        """M-3: a session is a principal; what is said at a level above the clearance is refused."""
        try:
            if self.users is not None and user is not None:
                login(self.users, user, level, self.catalog.lattice)
        except QueryError as error:
            return self._refused(Waiting(text, name or _name_in(text)), level, error)
        return None

    def refuse_function(self, text: str, level: Level) -> Spoken | None:
        """Where one processor serves all levels nothing confines a function: none is created."""
        try:
            statement = _statement(text, None)
        except QueryError:
            return None
        if not isinstance(statement, st.CreateFunction):
            return None
        problem = "functions do not run in the trusted architecture"
        error = QueryError("NOT_SUPPORTED", problem, statement.span, "use the replicated one")
        return self._refused(Waiting(text, _name_in(text)), level, error)

    def _transaction(self, statement: st.Transaction, text: str, level: Level, user: str | None) -> list[Spoken]:
        key, alone = (level, user), Waiting(text, None)
        if statement.action == "BEGIN":
            if key in self.open_sets:
                return [
                    self._refused(
                        alone,
                        level,
                        QueryError("IN_TRANSACTION", "BEGIN inside BEGIN", statement.span, "COMMIT or ABORT first"),
                    )
                ]
            self.open_sets[key] = []
            return []
        if key not in self.open_sets:
            problem = QueryError("NO_TRANSACTION", f"{statement.action} without BEGIN", statement.span)
            return [self._refused(alone, level, problem)]
        waiting = self.open_sets.pop(key)
        return self._together(waiting, level, user, a_set=True) if statement.action == "COMMIT" else []

    def _together(self, waiting: list[Waiting], level: Level, user: str | None, *, a_set: bool = False) -> list[Spoken]:
        """All of them, or none: tried on a catalog that is forgotten if one is refused.

        In a set, starting what runs and stopping what does not is nothing to do: whether a query runs is known only
        where it runs, and whether a set takes place must be known everywhere.
        """
        catalog, spoken = self.catalog, list[Spoken]()
        texts = dict(self.texts)
        for entry in waiting:
            self.serials += 1
            try:
                outcome = self._execute(entry, catalog, Subject(user, level))
            except QueryError as error:
                if not (a_set and error.code in _AS_IT_IS):
                    spoken.append(self._refused(entry, level, error, self.serials))
                continue
            catalog = outcome.catalog
            begun, ended, shown = outcome.begun, outcome.ended, outcome.shown
            spoken.append(Spoken(entry.text, level, self.serials, entry.name, begun, ended, shown))
            if outcome.begun:
                texts.setdefault(text_key(outcome.begun), entry.text)  # START begins it anew, with the text it has
        if any(entry.problem for entry in spoken):
            return [entry if entry.problem else self._set_refused(entry) for entry in spoken]
        self.catalog, self.texts = catalog, texts
        return spoken

    def _execute(self, entry: Waiting, catalog: Catalog, subject: Subject) -> Outcome:
        try:
            return execute(_statement(entry.text, entry.name), catalog, subject, self.serials)
        except QueryError as error:
            raise error.within(entry.text) from None

    def _refused(self, waiting: Waiting, level: Level, error: QueryError, serial: int | None = None) -> Spoken:
        """The answer no; it takes a number of its own unless the statement has one: numbers tell nothing of answers."""
        if serial is None:
            self.serials += 1
            serial = self.serials
        return Spoken(waiting.text, level, serial, waiting.name, problem=error.within(waiting.text).report())

    def forget(self, needed: Collection[tuple[str, Level, str, int]]) -> None:
        """Drop the texts of what is neither in the catalog nor among ``needed``."""
        known = {text_key(entry) for entry in self.catalog.entries.values()} | set(needed)
        self.texts = {key: text for key, text in self.texts.items() if key in known}

    def _set_refused(self, entry: Spoken) -> Spoken:
        problem = Problem(
            "SET_REFUSED", "another statement of the set was refused", None, "all of a set take place, or none"
        )
        return Spoken(entry.text, entry.level, entry.serial, entry.name, problem=problem)


def registers_a_query(text: str) -> bool | None:
    """Whether a statement is a query or registers one; None where the text does not tell."""
    try:
        return isinstance(_statement(text, "q"), st.CreateQuery)
    except QueryError:
        return None


@lru_cache(maxsize=256)
def _statement(text: str, name: str | None) -> st.Statement:
    """A listed query has its name beside its text; everything else says its own."""
    statement = parse(text)
    if name is not None and isinstance(statement, sx.Select | sx.Union | sx.Emitted | sx.SelectTags):
        return st.CreateQuery(name, statement, span=statement.span)
    return statement


def _name_in(text: str) -> str | None:
    """The name that a statement is about, as far as a text that may not parse tells."""
    match = _NAMED.match(text)
    if match is None:
        return None
    name = match[1]
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def text_key(entry: Entry) -> tuple[str, Level, str, int]:
    """How the text of a statement is found again."""
    return entry.kind, entry.level, entry.name.casefold(), entry.serial
