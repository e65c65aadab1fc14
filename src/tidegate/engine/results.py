"""Results of one level as files, one for each query and epoch that gave any.

A file is written beside its place and moved there, and says the same however often its epoch is run, so after a crash
nothing is lost or doubled. Nobody waits for a reader: files are kept by age, and read from any epoch on (Q-16).

Reads: plan, operators, engine.  Read by: engine, system.
"""

from __future__ import annotations

import json
import os
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tidegate.engine.feeds import Passed
from tidegate.engine.journal import cannot_write
from tidegate.engine.processor import ERROR, SHOWN, STATISTICS, Result
from tidegate.operators.arrow import decode, encode, from_record_batch, to_record_batch, type_of
from tidegate.operators.batch import stack
from tidegate.operators.emit import by_instant, in_printed_order
from tidegate.operators.vector import LevelTable
from tidegate.plan.schema import Field
from tidegate.security.lattice import Lattice, Level

ROWS, PROBLEM, DONE, KEPT = ".arrow", ".json", "done", "kept"
INSTANT = "instant"


@dataclass(slots=True)
class Measured:
    """What a query did since the gate was opened: tuples in, rows out, bytes of state."""

    tuples: int = 0
    rows: int = 0
    state_bytes: int = 0


@dataclass(slots=True)
class Results:
    """The results of a level: what its processor gave, by query (its serial number there) and epoch."""

    directory: Path
    lattice: Lattice
    done: int = -1
    """The newest epoch whose results are all there, as far as this process knows."""
    kept: int = 0
    """The oldest epoch whose results were not dropped by age."""
    changed: threading.Condition = field(default_factory=threading.Condition)
    measured: defaultdict[int, Measured] = field(default_factory=lambda: defaultdict(Measured))
    passed: dict[str, Passed] = field(default_factory=dict)
    """By stream what its prefilter did since the gate was opened."""
    suspended: dict[int, dict[str, Any]] = field(default_factory=dict)
    """By serial number the newest error of a query, and its epoch."""

    def __post_init__(self) -> None:
        self.done, self.kept = (_number(self.directory / name, without) for name, without in ((DONE, -1), (KEPT, 0)))
        for serial in self.serials():
            for epoch, body in self.problems(serial):
                if "error" in body and epoch <= self.done:
                    self.suspended[serial] = {**body, "epoch": epoch}

    # ---------------------------------------------------------------- writing

    def take(self, told: Sequence[tuple[int, Result]]) -> None:
        """Keep what a micro-batch gave, as pairs of epoch and result; then wake whoever waits."""
        rows: dict[tuple[int, int], list[Result]] = {}
        for epoch, result in told:
            if result.kind in "+-":
                rows.setdefault((result.serial, epoch), []).append(result)
            elif result.kind in (ERROR, SHOWN):
                body = {"name": result.name, **json.loads(result.body)}
                self._write(result.serial, f"{epoch}{PROBLEM}", json.dumps(body).encode())
        merged = dict[tuple[bytes | str, ...], pa.RecordBatch]()
        for (serial, epoch), parts in rows.items():
            key = tuple(part.path or part.body for part in parts)
            if key not in merged:
                merged[key] = _merged(parts, self.lattice)  # once for all queries that share a result
            told_of = {"name": str(parts[0].name), "kind": parts[0].kind}
            self._write(serial, f"{epoch}{ROWS}", encode(merged[key].replace_schema_metadata(told_of)))
        with self.changed:
            self._note(told, self.done)
            self.changed.notify_all()
        self._write("", DONE, str(self.done).encode())
        for path in {result.path for _, result in told if result.path}:
            Path(path).unlink(missing_ok=True)

    def _note(self, told: Sequence[tuple[int, Result]], before: int) -> None:
        """A micro-batch that is repeated is not counted again."""
        for _, result in told:
            if result.kind == STATISTICS:
                for serial in json.loads(result.body)["queries"]:
                    self.measured[int(serial)].state_bytes = 0  # the sum over the shards is to come
        for epoch, result in told:
            self.done = max(self.done, epoch)
            if result.kind == ERROR:
                self.suspended[result.serial] = {**json.loads(result.body), "epoch": epoch}
            elif result.kind == STATISTICS and epoch > before:
                self._measure(json.loads(result.body))

    def _measure(self, told: dict[str, Any]) -> None:
        for serial, (tuples, rows, state) in told["queries"].items():
            one = self.measured[int(serial)]
            one.tuples, one.rows, one.state_bytes = one.tuples + tuples, one.rows + rows, one.state_bytes + state
        streams = {name: self.passed.get(name, Passed()) + Passed(*counts) for name, counts in told["streams"].items()}
        self.passed = self.passed | streams  # a new one: whoever reads the old one goes on undisturbed

    def _write(self, serial: int | str, name: str, data: bytes) -> None:
        place = self.directory / str(serial)
        unfinished = place / f".{name}.{os.getpid()}"
        try:
            place.mkdir(parents=True, exist_ok=True)
            unfinished.write_bytes(data)
            unfinished.replace(place / name)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            raise cannot_write(place / name, error) from None

    def clear_away(self) -> None:
        """Remove what a process that was killed left behind; nobody may be writing."""
        for place in (self.directory, *(self.directory / str(serial) for serial in self.serials())):
            for path in place.iterdir() if place.exists() else ():
                from_worker = place == self.directory and path.is_file() and path.name not in (DONE, KEPT)
                if from_worker or path.name.startswith("."):
                    path.unlink(missing_ok=True)

    # ---------------------------------------------------------------- reading

    def epochs(self, serial: int, after: int, kind: str = ROWS) -> list[int]:
        """The epochs behind one in which a query gave something."""
        try:
            names = os.listdir(self.directory / str(serial))
        except FileNotFoundError:
            return []
        found = (int(name[: -len(kind)]) for name in names if name.endswith(kind) and not name.startswith("."))
        return sorted(epoch for epoch in found if epoch > after)

    def read(self, serial: int, epoch: int) -> pa.RecordBatch:
        """The rows of a query in an epoch: its columns, the level of each row, its instant."""
        return decode((self.directory / str(serial) / f"{epoch}{ROWS}").read_bytes())

    def problems(self, serial: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """The errors of a query, by epoch."""
        for epoch in self.epochs(serial, -1, PROBLEM):
            yield epoch, json.loads((self.directory / str(serial) / f"{epoch}{PROBLEM}").read_bytes())

    def serials(self) -> list[int]:
        """The queries that have given anything."""
        names = os.listdir(self.directory) if self.directory.exists() else []
        return sorted(int(name) for name in names if name.isdigit())

    def forget(self, before: int) -> None:
        """Drop the results of epochs before one; who comes later and looks for them is told so first."""
        if before > self.kept:
            self.kept = before
            self._write("", KEPT, str(before).encode())
        for serial in self.serials():
            place = self.directory / str(serial)
            newest = max(self.epochs(serial, -1, PROBLEM), default=-1)  # it says why the query is suspended
            for path in place.iterdir():
                number = path.name.partition(".")[0]
                if number.isdigit() and int(number) < before and path.name != f"{newest}{PROBLEM}":
                    path.unlink(missing_ok=True)
            with suppress(OSError):
                place.rmdir()  # only if it is empty


def _number(path: Path, without: int) -> int:
    return int(path.read_text()) if path.exists() else without


def body_of(result: Result) -> bytes:
    """The rows of a result, wherever they lie."""
    return result.body if result.path is None else Path(result.path).read_bytes()


def _merged(parts: Sequence[Result], lattice: Lattice) -> pa.RecordBatch:
    """Rows of all shards in printed order: by instant, then by text, then by level."""
    batches = [decode(body_of(part)) for part in parts]
    levels = LevelTable(lattice)
    width = batches[0].num_columns - 2
    schema = tuple(Field(one.name, type_of(one.type)) for one in list(batches[0].schema)[:width])
    rows = stack([from_record_batch(batch, schema, levels) for batch in batches])
    instants = np.concatenate([np.asarray(batch.column(width + 1)) for batch in batches])
    ordered = in_printed_order(by_instant(rows, instants), schema, levels)
    names = [one.name for one in schema]
    return to_record_batch(ordered.rows, names, levels, {INSTANT: ordered.instants})


ROW_LEVEL, ROW_TIME = "row_level", "row_time"


def for_reader(batch: pa.RecordBatch, epoch: int, level: Level) -> pa.RecordBatch:
    """Rows as a reader gets them: the level of each row as text, its time as a timestamp.

    The schema's metadata say the epoch, the name of the query, whether rows come or go, and the level that they go by.
    """
    width = batch.num_columns - 2
    labels = batch.column(width).cast(pa.string())
    times = batch.column(width + 1).view(pa.timestamp("us", "UTC"))
    names = [*batch.schema.names[:width], ROW_LEVEL, ROW_TIME]
    known = batch.schema.metadata or {}
    told = {"query": known.get(b"name", b""), "op": known.get(b"kind", b"")}
    metadata = {"epoch": str(epoch), "level": str(level), **told}
    arrays = [_plain(batch.column(place)) for place in range(width)]
    return pa.RecordBatch.from_arrays([*arrays, labels, times], names=names).replace_schema_metadata(metadata)


def about(batch: pa.RecordBatch) -> dict[str, str]:
    """What is said beside the rows that a reader gets: epoch, level, query, op."""
    return {key.decode(): value.decode() for key, value in (batch.schema.metadata or {}).items()}


def _plain(array: pa.Array) -> pa.Array:
    """Levels that a query selects are texts to its reader."""
    return array.cast(pa.string()) if pa.types.is_dictionary(array.type) else array
