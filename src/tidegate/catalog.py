"""What exists: streams, relations, queries and functions, each belonging to (level, name) (Q-14).

The catalog is a value: adding and removing give a new one, so a set of statements can be tried and dropped.
Every look-up takes the subject that asks. Own level first, then dominated ones; what is above the asker does
not exist for it, and reads like what does not exist at all (Q-12).

Reads: errors, security, plan.  Read by: language, reference, system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tidegate.errors import QueryError
from tidegate.plan.nodes import QueryPlan
from tidegate.plan.schema import Schema
from tidegate.security.flow import may_read
from tidegate.security.lattice import Lattice, Level
from tidegate.text import Span, did_you_mean, listed

STREAM, RELATION, QUERY, FUNCTION = "stream", "relation", "query", "function"
TABLES = (STREAM, RELATION)
_UNKNOWN = {STREAM: "UNKNOWN_STREAM", RELATION: "UNKNOWN_STREAM", QUERY: "UNKNOWN_QUERY", FUNCTION: "UNKNOWN_FUNCTION"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A named thing of one level. ``serial`` tells a thing from an earlier one of the same name."""

    kind: str
    level: Level
    name: str
    serial: int = 0


@dataclass(frozen=True, slots=True)
class Table(Entry):
    """A stream or a relation; a derived stream has the plan that defines it."""

    fields: Schema = ()
    plan: QueryPlan | None = None
    running: bool = True


@dataclass(frozen=True, slots=True)
class RegisteredQuery(Entry):
    """A continuous query; not ``running`` after STOP or an error, until START (Q-9)."""

    plan: QueryPlan | None = None
    running: bool = True


@dataclass(frozen=True, slots=True)
class UserDefined(Entry):
    """A user's function (Q-15)."""

    parameters: tuple[tuple[str, str], ...] = ()
    returns: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True)
class Catalog:
    """All entries, by kind, level and name."""

    lattice: Lattice
    entries: Mapping[tuple[str, Level, str], Entry] = field(default_factory=dict)

    def add(self, entry: Entry, span: Span | None = None) -> Catalog:
        """A catalog with one more entry; refused only if its own level has the name already."""
        if self.own(TABLES if entry.kind in TABLES else (entry.kind,), entry.name, entry.level):
            raise QueryError("NAME_EXISTS", f'{entry.kind} "{entry.name}" exists at level {entry.level}', span)
        return Catalog(self.lattice, {**self.entries, _key(entry): entry})

    def replace(self, entry: Entry) -> Catalog:
        """A catalog in which the entry of this name is another one."""
        return Catalog(self.lattice, {**self.entries, _key(entry): entry})

    def remove(self, entry: Entry) -> Catalog:
        """A catalog without the entry."""
        return Catalog(self.lattice, {key: kept for key, kept in self.entries.items() if key != _key(entry)})

    def own(self, kinds: tuple[str, ...], name: str, level: Level) -> Entry | None:
        """The entry of exactly this level, if there is one."""
        found = (self.entries.get((kind, level, name.casefold())) for kind in kinds)
        return next((entry for entry in found if entry), None)

    def visible(self, kinds: tuple[str, ...], asker: Level) -> Iterator[Entry]:
        """What the asker may see, in the order of creation."""
        for entry in self.entries.values():
            if entry.kind in kinds and may_read(self.lattice, asker, entry.level):
                yield entry

    def find(self, kinds: tuple[str, ...], name: str, asker: Level, at: str | None = None,
             span: Span | None = None) -> Entry:  # fmt: skip
        """The entry that a name means to the asker: its own level's, else the only dominated one (Q-14)."""
        matches = [entry for entry in self.visible(kinds, asker) if entry.name.casefold() == name.casefold()]
        if at is not None:
            matches = [entry for entry in matches if entry.level == self._level(at, span)]
        own = [entry for entry in matches if entry.level == asker]
        if len(own or matches) == 1:
            return (own or matches)[0]
        if matches:
            raise self._ambiguous(matches, name, span)
        raise self._unknown(kinds, name, asker, at, span)

    def _level(self, text: str, span: Span | None) -> Level:
        if not self.lattice.knows(text):
            names = list(_first(self.lattice.levels(), 9))
            raise QueryError("UNKNOWN_LEVEL", f'"{text}" is not a level', span, f"levels: {listed(names)}")
        return self.lattice.level(text)

    def _ambiguous(self, matches: list[Entry], name: str, span: Span | None) -> QueryError:
        spelled = " or ".join(f"{_word(name, '`')}@{_word(entry.level, chr(39))}" for entry in matches)
        return QueryError("AMBIGUOUS_NAME", f'"{name}" exists at more than one level', span, f"write {spelled}")

    def _unknown(
        self, kinds: tuple[str, ...], name: str, asker: Level, at: str | None, span: Span | None
    ) -> QueryError:
        others = (entry.name for entry in self.visible(kinds, asker))
        hint = did_you_mean(name, (other for other in others if other.casefold() != name.casefold()))
        name = name if at is None else f"{name}@{at}"
        word = "stream or relation" if kinds == TABLES else kinds[0]
        return QueryError(_UNKNOWN[kinds[0]], f'{word} "{name}" does not exist', span, hint)


def _word(text: str, quote: str) -> str:
    """A name as it can be written, in quotes where it must."""
    return text if text.isidentifier() else quote + text.replace(quote, quote * 2) + quote


def _key(entry: Entry) -> tuple[str, Level, str]:
    return entry.kind, entry.level, entry.name.casefold()


def _first(levels: Iterator[Level], most: int) -> Iterator[Level]:
    return (level for level, _ in zip(levels, range(most), strict=False))
