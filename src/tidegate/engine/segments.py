"""Segments: what a source delivered together, as one Arrow file of declared columns, label, instant and broken text.

A segment is written once, under the number of the micro-batch that brought it: a micro-batch that is run again after a
crash finds its segment and leaves it as it is.

Reads: plan, operators (arrow).  Read by: engine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidegate.engine.broken import Broken, broken_from
from tidegate.engine.journal import cannot_write
from tidegate.gates.segments import NO_LABEL, Offered
from tidegate.operators.arrow import arrow_type
from tidegate.operators.vector import Mask
from tidegate.plan.schema import Schema
from tidegate.values import FIRST_TIMESTAMP, LAST_TIMESTAMP

LEVEL, INSTANT, BROKEN = "level", "instant", "broken"
"""The columns behind the declared ones, known by their place."""


def segment_schema(schema: Schema) -> pa.Schema:
    """The columns of a segment of a stream."""
    declared = [pa.field(column.name, arrow_type(column.type)) for column in schema]
    beside = [pa.field(LEVEL, pa.string()), pa.field(INSTANT, pa.int64()), pa.field(BROKEN, pa.string())]
    return pa.schema([*declared, *beside])


def write_segment(table: pa.Table, path: Path) -> None:
    """Write beside its place and move there; a full disk leaves nothing behind."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with pa.OSFile(str(unfinished), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        _put_on_disk(unfinished)  # a tick that names it is on the disk, too
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise cannot_write(path, error) from None


def _put_on_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def clear_away(directory: Path) -> None:
    """Remove what a process that was killed left unfinished; nobody may be writing."""
    for path in directory.glob(".*.arrow.*"):
        path.unlink(missing_ok=True)


def read_segment(path: Path) -> pa.Table:
    """A segment, mapped into memory."""
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def numbers_in(directory: Path) -> Iterator[int]:
    """The numbers of the segments in a directory, rising."""
    return iter(sorted(int(name[:-6]) for name in os.listdir(directory) if name.endswith(".arrow") and name[0] != "."))


def offered(table: pa.Table, schema: Schema, clock: int | None) -> Offered:
    """What the gate looks at. Where the source tells no time, each tuple has that of the clock."""
    width = len(schema)
    labels = table.column(width).combine_chunks().dictionary_encode()
    if isinstance(labels, pa.ChunkedArray):
        labels = labels.combine_chunks()
    instants = table.column(width + 1)
    timeless = np.asarray(instants.is_null()) if clock is None else np.zeros(len(table), np.bool_)
    moments = np.asarray(instants.fill_null(0)) if clock is None else np.full(len(table), clock)
    codes = np.asarray(labels.indices.fill_null(NO_LABEL)).astype(np.int64)
    texts = [_text(value) for value in labels.dictionary.cast(pa.binary()).to_pylist()]
    return Offered(texts, codes, moments.astype(np.int64), timeless, unfit(table, schema))


def _text(value: bytes) -> object:
    """A label as text; bytes that are no text name no level, and stay bytes."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def unfit(table: pa.Table, schema: Schema) -> Mask:
    """Which rows are not as declared: not decoded, text that is not Unicode, times beyond the calendar."""
    found: Mask = np.asarray(table.column(len(schema) + 2).is_valid()).copy()
    for place, column in enumerate(schema):
        array = table.column(place)
        if column.type.name == "string":
            found |= _not_unicode(array)
        elif column.type.name == "timestamp":
            moments = np.asarray(array.cast(pa.int64()).fill_null(0))
            found |= (moments < FIRST_TIMESTAMP) | (moments > LAST_TIMESTAMP)
        elif column.type.name == "date":
            days = np.asarray(array.cast(pa.int32()).fill_null(0)).astype(np.int64)
            found |= (days < FIRST_TIMESTAMP // _DAY) | (days > LAST_TIMESTAMP // _DAY)
    return found


_DAY = 86_400_000_000


def _not_unicode(array: pa.ChunkedArray) -> Mask:
    try:
        array.validate(full=True)
        return np.zeros(len(array), np.bool_)
    except pa.ArrowInvalid:
        return np.array([_is_broken(value) for value in array.cast(pa.binary())], np.bool_)


def _is_broken(value: pa.Scalar) -> bool:
    try:
        _ = value.is_valid and value.as_py().decode()
    except UnicodeDecodeError:
        return True
    return False


def broken_rows(table: pa.Table, schema: Schema) -> list[Broken | None]:
    """The records that were not decoded, each in its row."""
    found: list[bytes | None] = table.column(len(schema) + 2).cast(pa.binary()).to_pylist()
    return [None if one is None else broken_from(one.decode(errors="replace")) for one in found]


def as_segment(table: pa.Table, schema: Schema) -> pa.Table:
    """A table of the right columns with their declared types, whatever Spark's Arrow made of them."""
    wanted = segment_schema(schema)
    columns = [
        column if column.type == field.type else pc.cast(column, field.type)
        for column, field in zip(table.columns, wanted, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=wanted)
