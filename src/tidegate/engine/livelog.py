"""The log of a live gate as a case: what was admitted, in its order, with every statement at its place.

So the reference can say what a live run should have answered ("live equals replay"), and a back-test can run today's
query over yesterday's log.

Reads: case, log, gates, engine, plan.  Read by: cli, system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from tidegate.case import Case, Relation, StatementEntry, TickEntry
from tidegate.engine.epochs import schema_from
from tidegate.engine.herd import Herd, Rows, StreamTerms
from tidegate.engine.journal import Tick, read_lines, tick_from
from tidegate.engine.live import RELATION, STATEMENT, STREAM, Line, line_from, read_relation
from tidegate.errors import CaseError
from tidegate.gates.admit import QUARANTINE
from tidegate.gates.segments import Terms
from tidegate.gates.shepherd import Stamped
from tidegate.log import QUARANTINE_FIELDS, Arrived, Entry, Log
from tidegate.operators.arrow import from_arrow
from tidegate.operators.vector import LevelTable, to_values
from tidegate.plan.schema import Schema
from tidegate.security.declare import declare
from tidegate.security.lattice import Lattice, Level


def read_live(directory: Path, about: Mapping[str, Any]) -> tuple[Case, Log]:
    """The declarations of a gate as a case without input, and its log; CaseError if its beginning was dropped."""
    lattice = declare(about["levels"])
    lines, ticks = read_said(directory), read_ticks(directory)
    if ticks and ticks[0].number > 0:
        raise CaseError(f"{directory}: the log begins at tick {ticks[0].number}; older ones were dropped by age")
    streams = {line.body["name"]: schema_from(line.body["schema"]) for line in lines if line.kind == STREAM}
    relations = {line.body["name"]: _relation(directory, line, lattice) for line in lines if line.kind == RELATION}
    case = Case(lattice, about["levels"], streams, relations, (), ())
    entries = list(_entries(directory, lattice, lines, ticks))
    first = (ticks[0].last + 1) if ticks else 0
    last = ticks[-1].instant if ticks else -1
    return case, Log(entries, first, last, {}, sum(_is_quarantined(one) for one in entries))


def read_said(directory: Path) -> list[Line]:
    """Everything that was said and declared, in order; nothing is touched, so the gate may be running."""
    return [line_from(raw) for raw in read_lines(directory / "statements.jsonl")]


def read_ticks(directory: Path) -> list[Tick]:
    """Every tick that is kept, in order; nothing is touched, so the gate may be running."""
    files = sorted((directory / "log").glob("ticks-*.jsonl"))
    return [tick_from(line) for path in files for line in read_lines(path)]


def _is_quarantined(entry: Stamped[Entry]) -> bool:
    return isinstance(entry.payload, Arrived) and entry.payload.stream == QUARANTINE


def _relation(directory: Path, line: Line, lattice: Lattice) -> Relation:
    schema, batch = schema_from(line.body["schema"]), read_relation(directory, line.body["name"])
    columns = [_values(batch.column(place), one.type, lattice) for place, one in enumerate(schema)]
    labels = [Level(text) for text in batch.column(len(schema)).to_pylist()]
    return Relation(schema, tuple(zip(labels, zip(*columns, strict=True), strict=True)))


def _values(array: pa.Array, kind: Any, lattice: Lattice) -> list[object]:
    return to_values(from_arrow(array, kind, LevelTable(lattice)))


def _entries(
    directory: Path, lattice: Lattice, lines: Sequence[Line], ticks: Sequence[Tick]
) -> Iterator[Stamped[Entry]]:
    herd, said, place = Herd(lattice, {}, directory), 0, 0
    for tick in ticks:
        for line in lines[said : tick.said]:
            if line.kind == STREAM:
                terms = StreamTerms(schema_from(line.body["schema"]), Terms(**line.body["terms"]), line.body["timed"])
                herd.streams[line.body["name"]] = terms
            elif line.kind == STATEMENT:
                yield Stamped(tick.last + 1, place, _statement(line))
                place += 1
        said = tick.said
        for instant, _, arrived in _tuples(_ready(herd, tick), herd, lattice):
            yield Stamped(instant, place, arrived)
            place += 1
        yield Stamped(tick.instant, place, TickEntry())


def _ready(herd: Herd, tick: Tick) -> dict[str, Rows]:
    try:
        return herd.tick(tick)
    except FileNotFoundError:
        raise CaseError(f"{herd.directory}: segments of tick {tick.number} were dropped by age") from None


def _statement(line: Line) -> StatementEntry:
    return StatementEntry(line.at, line.body["text"], line.body["user"], line.body["name"])


def _tuples(ready: Mapping[str, Rows], herd: Herd, lattice: Lattice) -> list[tuple[int, int, Arrived]]:
    """What a tick completes, of all streams, by (instant, arrival)."""
    found: list[tuple[int, int, Arrived]] = []
    for stream, rows in ready.items():
        schema: Schema = QUARANTINE_FIELDS if stream == QUARANTINE else herd.streams[stream].schema
        columns = [_values(rows.table.column(place), one.type, lattice) for place, one in enumerate(schema)]
        labels = [rows.levels[label] for label in rows.labels.tolist()]
        values = zip(*columns, strict=True)
        for instant, arrival, label, row in zip(
            rows.instants.tolist(), rows.arrivals.tolist(), labels, values, strict=True
        ):
            found.append((instant, arrival, Arrived(stream, label, row)))
    return sorted(found, key=lambda one: one[:2])
