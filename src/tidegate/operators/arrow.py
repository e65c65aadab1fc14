"""Columns as Arrow and back: how rows are kept, moved and shown outside the kernels.

Numbers pass without a copy. Levels travel as dictionaries of labels, so that no side depends on how the other numbers
them; timestamps as microseconds in UTC, dates as days. Errors do not travel: none is left in a row that is kept.

Reads: plan, operators.  Read by: engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa

from tidegate.operators.batch import Batch
from tidegate.operators.vector import UNREAD, Array, LevelTable, Numbers, Vector, numpy_kind, unread
from tidegate.plan.schema import Schema
from tidegate.plan.types import DOUBLE, LEVEL, Type
from tidegate.security.lattice import Level

_TYPES: dict[str, pa.DataType] = {
    "int": pa.int64(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", "UTC"),
    "date": pa.date32(),
    "binary": pa.binary(),
    "level": pa.dictionary(pa.int32(), pa.string()),
    "null": pa.null(),
}
_FILLERS: dict[str, object] = {"string": "", "binary": b"", "decimal": Decimal(0)}


def arrow_type(kind: Type) -> pa.DataType:
    """The Arrow type that holds every value of a type."""
    return pa.decimal128(kind.precision, kind.scale) if kind.name == "decimal" else _TYPES[kind.name]


def to_arrow(vector: Vector, levels: LevelTable) -> pa.Array:
    """A column as an Arrow array."""
    if vector.type == LEVEL:
        return _labels(vector, levels)
    if vector.type.name == "null" or vector.type == UNREAD:
        return pa.nulls(len(vector))
    if vector.data.dtype == object:
        return pa.array(vector.data, arrow_type(vector.type), mask=vector.null)
    plain = pa.array(vector.data, mask=vector.null)
    if vector.type.name == "date":
        return plain.cast(pa.int32()).view(pa.date32())
    return plain.view(arrow_type(vector.type)) if vector.type.name == "timestamp" else plain


def _labels(vector: Vector, levels: LevelTable) -> pa.DictionaryArray:
    indices = pa.array(vector.data.astype(np.int32), mask=vector.null)
    return pa.DictionaryArray.from_arrays(indices, pa.array(levels.labels, pa.string()))


def from_arrow(array: pa.Array, kind: Type, levels: LevelTable) -> Vector:
    """An Arrow array as a column."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_null(array.type) and kind.name != "null":
        return unread(len(array))
    null = np.asarray(array.is_null()) if array.null_count else None
    if kind == LEVEL:
        return Vector(LEVEL, _numbers(array, levels), null)
    if kind.name == "null":
        return Vector(kind, np.zeros(len(array), np.int64), np.ones(len(array), np.bool_))
    if kind.name == "timestamp":
        array = array.view(pa.int64())
    elif kind.name == "date":
        array = array.view(pa.int32())
    if null is not None:
        array = array.fill_null(_FILLERS.get(kind.name, False if kind.name == "boolean" else 0))
    data: Array = array.to_numpy(zero_copy_only=kind == DOUBLE or kind.is_integer)
    return Vector(kind, data.astype(numpy_kind(kind), copy=False), null)


def _numbers(array: pa.DictionaryArray, levels: LevelTable) -> Numbers:
    places = levels.encode([Level(label) for label in array.dictionary.to_pylist()])
    if len(places) == 0:
        return np.zeros(len(array), np.int64)
    indices = array.indices.fill_null(0) if array.null_count else array.indices
    result: Numbers = places[indices.to_numpy()]
    return result


def type_of(known: pa.DataType) -> Type:
    """The type whose values an Arrow type holds; int and bigint look alike there."""
    if pa.types.is_decimal(known):
        return Type("decimal", known.precision, known.scale)
    return _KINDS[known]


_KINDS = {arrow: Type(name) for name, arrow in _TYPES.items()}


# ------------------------------------------------------------------------------ rows

ROW_LEVEL = "level of the row"


def to_record_batch(
    rows: Batch, names: Sequence[str], levels: LevelTable, more: Mapping[str, Numbers]
) -> pa.RecordBatch:
    """Rows with their levels, and numbers beside them."""
    arrays = [to_arrow(column, levels) for column in rows.columns]
    arrays += [to_arrow(Vector(LEVEL, rows.level), levels), *(pa.array(numbers) for numbers in more.values())]
    return pa.RecordBatch.from_arrays(arrays, names=[*names, ROW_LEVEL, *more])


def from_record_batch(batch: pa.RecordBatch, schema: Schema, levels: LevelTable) -> Batch:
    """The rows of a record batch whose first columns have this schema."""
    columns = tuple(from_arrow(batch.column(place), column.type, levels) for place, column in enumerate(schema))
    return Batch(columns, from_arrow(batch.column(len(schema)), LEVEL, levels).data)


def encode(batch: pa.RecordBatch) -> bytes:
    """A record batch in Arrow's streaming format."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def decode(data: bytes | pa.Buffer) -> pa.RecordBatch:
    """A record batch from Arrow's streaming format; it refers to the bytes and copies nothing."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()
