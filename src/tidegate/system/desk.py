"""The desk: where statements and declarations are taken, tried, and given their place in the log.

What is refused is answered here and leaves no trace: no line in the journal, no number.

Reads: errors, catalog, language, engine, system.  Read by: gate.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from tidegate.catalog import TABLES, Table
from tidegate.engine.live import RELATION, STATEMENT, STREAM, SUSPENDED, Line, LiveShepherd
from tidegate.errors import EngineError, Problem, QueryError
from tidegate.language.session import Spoken
from tidegate.plan.schema import same_name
from tidegate.security.lattice import Level
from tidegate.system.interpreter import Interpreter


class Refused(QueryError):
    """A statement that was refused, as its author sees it."""

    def __init__(self, text: str, problem: Problem) -> None:
        super().__init__(problem.code, problem.problem, None, problem.hint, text)
        self._problem = problem

    def report(self) -> Problem:
        """The error as data."""
        return self._problem


@dataclass(slots=True)
class Desk:
    """Everything that is said at a gate passes here, one at a time."""

    shepherd: LiveShepherd
    lock: threading.RLock = field(default_factory=threading.RLock)
    interpreters: dict[Level, Interpreter] = field(default_factory=dict)

    def interpreter(self, level: Level) -> Interpreter:
        """What reads the statements of a level, caught up with all that was said."""
        found = self.interpreters.setdefault(level, Interpreter(self.shepherd.lattice, level))
        found.hear(self.shepherd.lines)
        return found

    def speak(self, text: str, level: Level, user: str | None, name: str | None = None) -> list[Spoken]:
        """Carry out a statement, or raise Refused; SHOW and EXPLAIN are answered at once."""
        with self.lock:
            spoken, ends_set = self.interpreter(level).try_saying(text, user, name)
            for one in spoken:
                if one.problem:
                    if ends_set:
                        self._write_down("ABORT", level, user, None, derives=False)
                    raise Refused(one.text, one.problem)
            if not spoken or any(one.shown is None for one in spoken):
                derives = any(isinstance(one.begun, Table) for one in spoken)
                self._write_down(text, level, user, name, derives=derives)
            return spoken

    def _write_down(self, text: str, level: Level, user: str | None, name: str | None, *, derives: bool) -> None:
        body = {"text": text, "user": user, "name": name, "derives": derives}
        self.shepherd.say(Line(STATEMENT, level, body))

    def declare(self, line: Line) -> None:
        """Write a stream or relation down; the same again, after a restart, is nothing new."""
        with self.lock:
            if self.check_declaration(line):
                self.shepherd.say(line)

    def check_declaration(self, line: Line) -> bool:
        """Whether a stream or relation is new; refused if it is there with other columns or terms.

        Refused, too, if any level has a stream of that name: what was said before must mean the same ever after. Only
        the administrator declares, so nobody is told of a name above.
        """
        for known in self.shepherd.lines:
            if known.kind in (STREAM, RELATION) and same_name(_name(known), _name(line)):
                _check_same(known, line)
                return False
        everything = self.interpreter(self.shepherd.lattice.top).sessions.catalog.entries.values()
        if any(entry.kind in TABLES and same_name(entry.name, _name(line)) for entry in everything):
            raise EngineError(f'a stream "{_name(line)}" exists already; choose another name')
        return True

    def suspend(self, level: Level, serial: int, epoch: int) -> None:
        """Write down that a query runs no more since an epoch: a restart must know it (Q-9)."""
        with self.lock:
            found = self.interpreter(level).by_serial(serial)
            if found is not None and found.running and epoch > self._suspended_before(level, serial):
                self.shepherd.say(Line(SUSPENDED, level, {"serial": serial, "epoch": epoch}))

    def _suspended_before(self, level: Level, serial: int) -> int:
        """The newest epoch in which the query is known to have been suspended: it may have been started again since."""
        lines = (line.body for line in self.shepherd.lines if line.kind == SUSPENDED and line.at == level)
        return max((body["epoch"] for body in lines if body["serial"] == serial), default=-1)


def _name(line: Line) -> str:
    name: str = line.body["name"]
    return name


def _check_same(known: Line, line: Line) -> None:
    if known.kind != line.kind or known.body["schema"] != line.body["schema"]:
        raise EngineError(f'"{_name(known)}" is declared already, with other columns')
    if known.body != line.body:
        raise EngineError(
            f'"{_name(known)}" is bound already, on other terms; take the same ones, or another directory'
        )
