"""What a level understands: statements read against a catalog of what that level may see.

One for each level that anybody speaks at. It hears what its level's processor will hear, in the same order, so both
give a query the same serial number. A statement is tried on a copy first: what is refused leaves no trace.

Reads: catalog, language, log, engine.  Read by: gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tidegate.catalog import QUERY, RELATION, STREAM, RegisteredQuery, Table
from tidegate.engine import live
from tidegate.engine.epochs import schema_from
from tidegate.gates.shepherd import share_of
from tidegate.language.session import Sessions, Spoken
from tidegate.log import catalog_of
from tidegate.security.lattice import Lattice, Level


@dataclass(slots=True)
class Interpreter:
    """The front of one level."""

    lattice: Lattice
    level: Level
    sessions: Sessions = field(init=False)
    heard: int = 0

    def __post_init__(self) -> None:
        self.sessions = Sessions(catalog_of(self.lattice, {}, {}))

    def hear(self, lines: Sequence[live.Line]) -> None:
        """Catch up with the journal."""
        for line in lines[self.heard :]:
            for mine in share_of(self.level, [(line.at, line)], self.lattice):
                self._hear(mine)
            self.heard += 1
        self.sessions.forget(())

    def _hear(self, line: live.Line) -> None:
        body, catalog = line.body, self.sessions.catalog
        if line.kind == live.STATEMENT:
            self.sessions.say(body["text"], line.at, body["user"], body["name"])
        elif line.kind in (live.STREAM, live.RELATION):
            kind = STREAM if line.kind == live.STREAM else RELATION
            self.sessions.catalog = catalog.add(Table(kind, line.at, body["name"], 0, schema_from(body["schema"])))
        elif line.kind == live.SUSPENDED and line.at == self.level:
            found = self.by_serial(body["serial"])
            if found is not None:
                self.sessions.catalog = catalog.replace(replace(found, running=False))

    def try_saying(self, text: str, user: str | None, name: str | None) -> tuple[list[Spoken], bool]:
        """What would come of a statement, and whether it would end a set of statements."""
        waiting = {key: [*entries] for key, entries in self.sessions.open_sets.items()}
        trial = replace(self.sessions, open_sets=waiting, texts=dict(self.sessions.texts))
        spoken = trial.say(text, self.level, user, name)
        session = (self.level, user)
        return spoken, session in self.sessions.open_sets and session not in trial.open_sets

    def in_set(self, user: str | None) -> bool:
        """Whether a session is between BEGIN and COMMIT."""
        return (self.level, user) in self.sessions.open_sets

    def query(self, name: str) -> RegisteredQuery | None:
        """The query of this level that has a name."""
        found = self.sessions.catalog.own((QUERY,), name, self.level)
        return found if isinstance(found, RegisteredQuery) else None

    def queries(self) -> list[RegisteredQuery]:
        """The queries of this level, oldest first."""
        found = self.sessions.catalog.visible((QUERY,), self.level)
        return [one for one in found if isinstance(one, RegisteredQuery) and one.level == self.level]

    def by_serial(self, serial: int) -> RegisteredQuery | Table | None:
        """What has a serial number, if it is still there."""
        for entry in self.sessions.catalog.entries.values():
            if entry.serial == serial and entry.level == self.level and isinstance(entry, RegisteredQuery | Table):
                return entry
        return None
