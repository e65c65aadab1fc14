"""Sources bound to streams: what the administrator said about each, and its streaming query.

Reads: errors, plan, engine, sources.  Read by: gate.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from tidegate.case import check_new, read_schema
from tidegate.engine.epochs import schema_json
from tidegate.engine.herd import path_name, segments_of
from tidegate.engine.ingest import Feed, columns_of, start_ingest
from tidegate.engine.live import RELATION, STREAM, Line, relation_path
from tidegate.engine.segments import numbers_in
from tidegate.engine.session import FAREWELL
from tidegate.errors import CaseError, EngineError, SourceError
from tidegate.gates.segments import QUARANTINE_LATE, RESTAMP
from tidegate.operators.arrow import arrow_type, encode
from tidegate.plan.schema import Field, Schema
from tidegate.security.lattice import Lattice, Level
from tidegate.sources.failure import explain_failure
from tidegate.sources.source import Source, from_frame
from tidegate.system.failure import Patience, is_passing
from tidegate.values import Unfit, read

MICROSECONDS = 1_000_000


@dataclass(slots=True)
class Binding:
    """A stream, its source and its terms."""

    name: str
    source: Source
    label: Level | None
    levels: tuple[Level, Level]
    delay: float
    skew: float
    late: str
    query: Any = None
    failure: SourceError | None = None
    _begin: Callable[[], Any] | None = None
    _patience: Patience = field(default_factory=Patience)
    _leaving: threading.Event = field(default_factory=threading.Event)
    _newest: Callable[[], int] = lambda: -1
    _told_old: bool = False

    def __post_init__(self) -> None:
        if self.late not in (RESTAMP, QUARANTINE_LATE):
            raise EngineError(f'late is "{RESTAMP}" or "{QUARANTINE_LATE}", not "{self.late}"')
        if self.delay < 0 or self.skew < 0:
            raise EngineError("delay and skew are not below 0")
        _checked(lambda: check_new(self.name, {}, "stream"))

    @property
    def schema(self) -> Schema:
        """The declared columns."""
        return self.source.schema

    def line(self, level: Level) -> Line:
        """The declaration, as the journal has it."""
        low, high = self.levels
        terms = {"low": low, "high": high, "late": self.late, "skew": round(self.skew * MICROSECONDS)}
        told = {"timed": self.source.time is not None, "delay": round(self.delay * MICROSECONDS)}
        return Line(STREAM, level, {"name": self.name, "schema": schema_json(self.schema), "terms": terms, **told})

    def prepare(self, directory: Path, taken: Callable[[], int], room: Callable[[], bool]) -> None:
        """Make the streaming query that appends to the log, and refuse what Spark cannot run; ``restart`` starts it."""
        source = self.source
        feed = Feed(source.frame, source.schema, source.time, source.level, self.label, source.corrupt)
        segments = segments_of(directory, self.name)
        checkpoint = directory / "streams" / path_name(self.name) / "checkpoint"
        columns_of(feed)
        self._newest = lambda: max(numbers_in(segments), default=-1)
        self._begin = lambda: start_ingest(feed, segments, checkpoint, taken, lambda: self._wait_for(room))

    def _wait_for(self, room: Callable[[], bool]) -> None:
        """Inside a micro-batch; where somebody stops the source meanwhile, the micro-batch ends as if interrupted."""
        while not self._leaving.is_set() and not room():
            time.sleep(0.05)
        if self._leaving.is_set():
            raise RuntimeError(FAREWELL)

    def restart(self) -> None:
        """Begin, or go on where the checkpoint says, after what had gone wrong was mended; one that runs goes on."""
        assert self._begin is not None
        if self.query is None or not self.query.isActive:
            self._leaving.clear()
            self.failure, self.query = None, self._begin()

    def note_old(self, count: int) -> None:
        """Tell the administrator, once, of tuples from before the gate's time: hardly anybody means them to be late."""
        if count and not self._told_old:
            self._told_old = True
            became = "stamped anew" if self.late == RESTAMP else "quarantined"
            logging.getLogger("tidegate").warning(
                'stream "%s": %s tuples are older than the gate, so they are late and were %s; '
                "to ask the past, give the gate a clock that begins there: Gate(…, clock=tidegate.Clock(start))",
                self.name, f"{count:,}", became,
            )  # fmt: skip

    def look_after(self) -> None:
        """Go on after a death in Spark that may not come again; else note why the source ended, if it has."""
        if self.query is None or self.query.isActive or self.failure is not None:
            return
        error = self.query.exception()
        if error is None:
            hint = f'start it again: gate.restart("{self.name}")'
            self.failure = SourceError("its streaming query was stopped", f'source "{self.name}"', hint)
        elif not self._goes_on(error):
            self.failure = explain_failure(error, self.name)
        if self.failure is not None:
            logging.getLogger("tidegate").error("%s", self.failure)  # the administrator's: readers only wait

    def _goes_on(self, error: Exception) -> bool:
        """Start again, or leave it to the next look where what Spark needs for it has just died."""
        if not is_passing(error) or not self._patience.is_left(error, self._newest()):
            return False
        try:
            self.restart()
        except Exception as again:
            if not is_passing(again):
                raise
        return True

    def stop(self) -> None:
        """End it."""
        self._leaving.set()
        if self.query is not None:
            self.query.stop()


def as_source(given: Any, time: str | None, level: str, label: str | None) -> Source:
    """A source as it was given, or made of a streaming DataFrame."""
    if isinstance(given, Source):
        if time is not None or (label is not None and given.level is not None):
            raise EngineError("this source says itself where times and labels are; leave out time= and label=")
        return given
    return from_frame(given, time=time, level=None if label is not None else level)


def bind_relation(name: str, rows: Iterable[Mapping[str, object]], schema: Mapping[str, str], level: str,
                  lattice: Lattice, directory: Path, *, is_known: bool = False) -> Line:  # fmt: skip
    """Check and store the rows of a relation; the declaration that the journal has of it."""
    what = f'relation "{name}"'
    _checked(lambda: check_new(name, {}, "relation"))
    declared = _checked(lambda: read_schema(dict(schema), what))
    found = rows.to_pylist() if isinstance(rows, pa.Table) else list(rows)
    for number, row in enumerate(found, 1):
        missing = [key for key in (level, *(one.name for one in declared)) if key not in row]
        if missing:
            raise EngineError(f'{what}, row {number}: "{missing[0]}" is missing')
    labels = [str(lattice.level(str(row[level]))) for row in found]
    arrays = [_column([row[one.name] for row in found], one, what) for one in declared]
    texts = pa.array(labels, pa.string()).dictionary_encode()
    batch = pa.RecordBatch.from_arrays([*arrays, texts], names=[*(one.name for one in declared), "level"])
    path = relation_path(directory, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if is_known and path.exists():
        if path.read_bytes() != encode(batch):
            raise EngineError(f"{what} is stored already, with other rows; take the same ones, or another name")
    else:
        unfinished = path.with_name(f".{path.name}")
        unfinished.write_bytes(encode(batch))
        unfinished.replace(path)
    return Line(RELATION, lattice.bottom, {"name": name, "schema": schema_json(declared)})


def _column(values: list[object], column: Field, what: str) -> pa.Array:
    try:
        if column.type.is_integer:
            values = [read(value, column.type) for value in values]
        return pa.array(values, arrow_type(column.type))
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError, OverflowError, Unfit):
        raise EngineError(f'{what}: a value of "{column.name}" does not fit {column.type}') from None


Checked = TypeVar("Checked")


def _checked(check: Callable[[], Checked]) -> Checked:
    try:
        return check()
    except CaseError as error:
        raise EngineError(str(error)) from None
