"""From a case to the epochs of each of its processors.

The shepherd's log is split per level and cut; statements are let in at the gate (M-3) and travel with the tuples. In
the trusted architecture there is one processor, which is given everything.

Reads: case, log, gates, language, operators, engine.  Read by: engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import pyarrow as pa

from tidegate.case import Case, StatementEntry
from tidegate.engine.epochs import ARRIVAL, INSTANT, LEVEL, Epoch, Said, World
from tidegate.gates.admit import QUARANTINE
from tidegate.gates.shepherd import Stamped, cut, share_of
from tidegate.language.session import Sessions, Spoken
from tidegate.log import QUARANTINE_FIELDS, Arrived, Entry, Log, first_catalog, label_of, share, span, write_log
from tidegate.operators.arrow import to_arrow
from tidegate.operators.vector import LevelTable, Vector, from_values
from tidegate.plan.schema import Schema
from tidegate.plan.types import LEVEL as LABEL
from tidegate.security.lattice import Level

EPOCH = 65_536
"""Tuples per epoch where nobody says otherwise: enough for vectors, little for a memory."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A statement that did not pass the gate: where it stood, in the order of all, and the answer."""

    order: int
    instant: int
    answer: Spoken


@dataclass(frozen=True, slots=True)
class Assignment:
    """What one processor of a case is to do: its epochs, and for each of its statements the place among all."""

    level: Level
    epochs: tuple[Epoch, ...]
    orders: tuple[int, ...]


@dataclass(slots=True)
class Shepherd:
    """A case on its way to its processors."""

    case: Case
    size: int
    trusted: bool = False
    off: frozenset[str] = frozenset()

    def assignments(self) -> tuple[list[Assignment], list[Refused]]:
        """The processors that the case needs, and the statements that none of them hears."""
        log = write_log(self.case)
        listed = [Stamped(log.first, -1, entry) for entry in self.case.listed]
        said: list[Stamped[Entry]] = [*listed, *log.entries]  # type: ignore[list-item]
        said = [entry for entry in said if isinstance(entry.payload, StatementEntry)]
        refused = self._refused(said)
        turned_away = {one.order for one in refused}
        heard = {id(entry.payload): order for order, entry in enumerate(said) if order not in turned_away}
        speaking = [label_of(entry.payload, self.case.lattice) for entry in said if id(entry.payload) in heard]
        together = self.trusted and log.first <= log.last  # else only the top knows of any instant
        levels = dict.fromkeys([self.case.lattice.top] if together and speaking else speaking)
        return [self._assignment(level, log, heard, serves_all=together) for level in levels], refused

    def _refused(self, said: list[Stamped[Entry]]) -> list[Refused]:
        """M-3: who speaks at a level above the clearance is answered at the gate."""
        gate = Sessions(first_catalog(self.case), self.case.users)
        found: list[Refused] = []
        for order, entry in enumerate(said):
            one = entry.payload
            assert isinstance(one, StatementEntry)
            answer = gate.log_in(one.text, one.at, one.user, one.name)
            if answer is None and self.trusted:
                answer = gate.refuse_function(one.text, one.at)
            if answer is not None:
                found.append(Refused(order, entry.instant, answer))
        return found

    def _assignment(self, level: Level, log: Log, heard: Mapping[int, int], *, serves_all: bool) -> Assignment:
        """A processor's share, numbered by what it receives (Q-14)."""
        received = share(log, level, self.case.lattice)
        listed = share_of(level, ((entry.at, entry) for entry in self.case.listed), self.case.lattice)
        placed: list[Stamped[Entry]] = [*(Stamped(log.first, -1, entry) for entry in listed), *received]  # type: ignore[list-item]
        mine = [entry for entry in placed if id(entry.payload) in heard]
        said = [_said(number, entry) for number, entry in enumerate(mine)]
        orders = tuple(heard[id(entry.payload)] for entry in mine)
        epochs = list(self._epochs(log, received, said))
        epochs[0] = replace(epochs[0], world=self._world(level, serves_all=serves_all))
        return Assignment(level, tuple(epochs), orders)

    def _epochs(self, log: Log, received: list[Stamped[Entry]], said: list[Said]) -> Iterator[Epoch]:
        last, end = log.first - 1, log.last
        if end < log.first and any(isinstance(entry.payload, Arrived) for entry in received):
            first, end = span(received)  # nothing but quarantined tuples: only the top is given any
            last = first - 1
        pieces = list(cut(received, self.size, lambda entry: isinstance(entry, Arrived))) or [[]]
        for number, piece in enumerate(pieces):
            is_last = number == len(pieces) - 1
            now = end if is_last else piece[-1].instant
            here = tuple(one for one in said if is_last or one.instant <= now)
            said = said[len(here) :]
            yield Epoch(number, last, now, here, self._tuples(piece))
            last = now

    def _world(self, level: Level, *, serves_all: bool) -> World:
        case = self.case
        relations = {name: (known.schema, self._stored(known.schema, known.rows, level))
                     for name, known in case.relations.items()}  # fmt: skip
        return World(case.levels, level, case.streams, relations, serves_all, self.off)

    def _stored(
        self, schema: Schema, rows: tuple[tuple[Level, tuple[object, ...]], ...], level: Level
    ) -> pa.RecordBatch:
        labelled = ((label, (label, values)) for label, values in rows)
        return _record_batch(schema, list(share_of(level, labelled, self.case.lattice)), LevelTable(self.case.lattice))

    def _tuples(self, piece: list[Stamped[Entry]]) -> dict[str, pa.RecordBatch]:
        streams: dict[str, list[tuple[Stamped[Entry], Arrived]]] = {}
        for entry in piece:
            if isinstance(entry.payload, Arrived):
                streams.setdefault(entry.payload.stream, []).append((entry, entry.payload))
        return {name: self._stream(name, found) for name, found in streams.items()}

    def _stream(self, name: str, found: list[tuple[Stamped[Entry], Arrived]]) -> pa.RecordBatch:
        schema = QUARANTINE_FIELDS if name == QUARANTINE else self.case.streams[name]
        rows = [(tuple_.level, tuple_.values) for _, tuple_ in found]
        places = {
            INSTANT: pa.array([entry.instant for entry, _ in found], pa.int64()),
            ARRIVAL: pa.array([entry.arrival for entry, _ in found], pa.int64()),
        }
        return _record_batch(schema, rows, LevelTable(self.case.lattice), places)


def _said(number: int, entry: Stamped[Entry]) -> Said:
    said = entry.payload
    assert isinstance(said, StatementEntry)
    return Said(number, entry.instant, entry.arrival, said.at, said.text, said.user, said.name)


def _record_batch(schema: Schema, rows: list[tuple[Level, tuple[object, ...]]], levels: LevelTable,
                  places: Mapping[str, pa.Array] = MappingProxyType({})) -> pa.RecordBatch:  # fmt: skip
    labels = levels.encode([label for label, _ in rows])
    columns = [from_values([values[n] for _, values in rows], column.type) for n, column in enumerate(schema)]
    arrays = [to_arrow(vector, levels) for vector in [*columns, Vector(LABEL, labels)]]
    names = [*(column.name for column in schema), LEVEL, *places]
    return pa.RecordBatch.from_arrays([*arrays, *places.values()], names=names)
