"""The log of a live gate as the text of a case file (CASES.md), which ``tidegate replay`` runs.

Statements and tuples stand at their places with the instants that the shepherd stamped, ticks between them. Of what was
quarantined those tuples are written of which a case says the same as the gate; the others are counted.

Reads: case, log, gates, language, plan, values, engine.  Read by: cli.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from tidegate.case import Case, Relation, StatementEntry
from tidegate.engine.live import STREAM
from tidegate.engine.livelog import read_live, read_said
from tidegate.errors import QueryError
from tidegate.gates.admit import QUARANTINE, Refused, admit
from tidegate.gates.segments import QUARANTINE_LATE
from tidegate.gates.shepherd import Stamped, share_of
from tidegate.language import syntax as sx
from tidegate.language.parser import parse
from tidegate.language.printer import print_name
from tidegate.log import Arrived, Entry, Log, share
from tidegate.plan.schema import Schema
from tidegate.security.lattice import Level
from tidegate.values import exact_json, instant_text, write

Raw = dict[str, object]


@dataclass(slots=True)
class CaseLog:
    """A log to be written for a reader at a level; the top sees all of it."""

    case: Case
    log: Log
    reader: Level
    late: str
    """What becomes of late tuples: the case's one option, where streams of a gate have one each."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Tuples of the quarantine that no case reproduces, by reason; complete when all lines were taken."""

    def lines(self) -> Iterator[str]:
        """The case, an entry of its input on each line."""
        yield "{"
        yield f'"levels": {json.dumps(self.case.levels)},'
        yield f'"streams": {json.dumps({name: _columns(schema) for name, schema in self.case.streams.items()})},'
        relations = {name: self._relation(relation) for name, relation in self.case.relations.items()}
        yield f'"relations": {exact_json(relations)},'
        yield f'"options": {json.dumps({"late": self.late})},'
        yield '"input": ['
        waiting = ""
        for entry in self._input():
            if waiting:
                yield f" {waiting},"
            waiting = exact_json(entry)
        yield f" {waiting}]}}"

    def _relation(self, relation: Relation) -> Raw:
        labelled = ((level, (level, values)) for level, values in relation.rows)
        rows = share_of(self.reader, labelled, self.case.lattice)
        return {
            "schema": _columns(relation.schema),
            "rows": [{"level": level, **_row(values, relation.schema)} for level, values in rows],
        }

    # ---------------------------------------------------------------- input

    def _input(self) -> Iterator[Raw]:
        """It begins with a tick, so that the case begins where the gate did and knows what is late."""
        entries = share(self.log, self.reader, self.case.lattice)
        tick = self.log.first - 1
        if entries:
            yield {"time": _seconds(tick)}
        for entry in entries:
            found = self._entry(entry, tick)
            if found is not None:
                yield found
            if not isinstance(entry.payload, Arrived | StatementEntry):
                tick = entry.instant

    def _entry(self, entry: Stamped[Entry], tick: int) -> Raw | None:
        time = _seconds(entry.instant)
        match entry.payload:
            case StatementEntry() as said:
                by: Raw = {} if said.user is None else {"user": said.user}
                return {"time": time, "at": said.at, **by, "statement": _whole(said)}
            case Arrived(stream, _, values) if stream == QUARANTINE:
                return self._refused(values, entry.instant, tick)
            case Arrived(stream, level, values):
                row = _row(values, self.case.streams[stream])
                return {"stream": stream, "time": time, "level": level, "row": row}
            case _:
                return {"time": time}

    def _refused(self, values: tuple[Any, ...], instant: int, tick: int) -> Raw | None:
        """A tuple that a case keeps out for the same reason and shows as the same text, or nothing."""
        stream, reason, text = values
        row = json.loads(text, parse_float=Decimal)
        entry: Raw = {"stream": stream, "time": _seconds(instant), "level": self.case.lattice.top, "row": row}
        entry |= _SAME_REASON.get(reason, {})
        if reason == _LATE:
            entry["time"] = _seconds(tick)
        if self._reason(entry) == reason and exact_json(row) == text:
            return {key: value for key, value in entry.items() if value is not None}
        self.left_out[reason] += 1
        return None

    def _reason(self, entry: Mapping[str, Any]) -> str | None:
        decision = admit(entry, self.case.streams[entry["stream"]], self.case.lattice)
        if isinstance(decision, Refused):
            return decision.reason
        return _LATE if self.late == QUARANTINE_LATE else None


_LATE = "late"
_SAME_REASON: dict[str, Raw] = {
    "no level": {"level": None},
    "unknown level": {"level": ""},
    "no time": {"time": None},
    "time before 1970 or after the year 9999": {"time": -1},
}
"""What to say of a tuple so that a case keeps it out for the same reason."""


def read_case_log(directory: Path, about: Mapping[str, Any], reader: Level | None = None) -> CaseLog:
    """The log of a gate for a reader, or for the top; CaseError if its beginning was dropped."""
    case, log = read_live(directory, about)
    late = [line.body["terms"]["late"] for line in read_said(directory) if line.kind == STREAM]
    return CaseLog(case, log, reader or case.lattice.top, QUARANTINE_LATE if QUARANTINE_LATE in late else case.late)


def _columns(schema: Schema) -> dict[str, str]:
    return {column.name: str(column.type) for column in schema}


def _row(values: tuple[object, ...], schema: Schema) -> Raw:
    return {column.name: write(value, column.type) for value, column in zip(values, schema, strict=True)}


def _seconds(instant: int) -> Decimal:
    return Decimal(instant_text(instant))


def _whole(said: StatementEntry) -> str:
    """A statement that says its own name: a gate may have it beside the text, an entry of a case has not."""
    try:
        statement = parse(said.text)
    except QueryError:  # it waits in a set that will be refused
        return said.text
    is_bare = isinstance(statement, sx.Select | sx.Union | sx.Emitted | sx.SelectTags)
    return f"CREATE QUERY {print_name(said.name)} AS {said.text}" if is_bare and said.name else said.text
