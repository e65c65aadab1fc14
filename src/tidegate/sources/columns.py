"""The columns that a file must have, and how its Arrow types become ours: exactly, or with an error that names them.

A column of times that is not declared as an attribute may hold timestamps or seconds since 1970; it becomes timestamps.

Reads: errors, text, plan (types), values.  Read by: sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidegate.errors import SourceError
from tidegate.plan.schema import same_name
from tidegate.plan.types import STRING, TIMESTAMP, Type, parse_type, type_names
from tidegate.text import did_you_mean, listed
from tidegate.values import FIRST_TIMESTAMP, LAST_TIMESTAMP

CORRUPT = "_corrupt_record"
SECONDS = pa.decimal128(28, 6)  # whatever 64 bits count, to the microsecond
_ARROW: dict[str, pa.DataType] = {
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", "UTC"),
    "date": pa.date32(),
    "binary": pa.binary(),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column to be read; an instant may be written as a timestamp or as seconds."""

    name: str
    type: Type
    instant: bool = False
    attribute: bool = True

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type that Spark takes for it."""
        return pa.decimal128(self.type.precision, self.type.scale) if self.type.name == "decimal" else _arrow(self.type)


def _arrow(kind: Type) -> pa.DataType:
    return _ARROW[kind.name]


Columns = tuple[Column, ...]


def columns_of(schema: Mapping[str, str], time: str | None, level: str | None) -> Columns:
    """Time, label and attributes as they are to be read; a declared time has the type that it is declared with."""
    attributes = tuple(_declared(name, text, time) for name, text in schema.items())
    for place, column in enumerate(attributes):
        if any(same_name(column.name, other.name) for other in attributes[:place]):
            raise SourceError(f'attribute "{column.name}" is declared twice')
    kept = any(time is not None and same_name(column.name, time) for column in attributes)
    first = () if time is None or kept else (Column(time, TIMESTAMP, instant=True, attribute=False),)
    return (*first, *(() if level is None else (Column(level, STRING, attribute=False),)), *attributes)


def _declared(name: str, text: str, time: str | None) -> Column:
    kind = parse_type(text)
    if kind is None:
        raise SourceError(f'attribute "{name}" has unknown type "{text}"', hint=f"there are {type_names()}")
    if same_name(name, "level") or same_name(name, CORRUPT):
        raise SourceError(f'attribute "{name}" cannot be declared', hint="it is a name of the system")
    if time is not None and same_name(name, time) and not (kind == TIMESTAMP or kind.is_number):
        raise SourceError(f'the column of the times "{name}" cannot have type {kind}', hint="declare it as timestamp")
    return Column(name, kind)


def places(columns: Columns, names: Sequence[str], where: str) -> list[int]:
    """Where each column stands among the names of a file; they match by name, never by position."""
    return [_place(column.name, names, where) for column in columns]


def _place(name: str, names: Sequence[str], where: str) -> int:
    exact = [place for place, known in enumerate(names) if known == name]
    found = exact or [place for place, known in enumerate(names) if same_name(known, name)]
    if not found:
        hint = did_you_mean(name, names) or (f"there are {listed(names)}" if names else "it has no columns")
        raise SourceError(f'column "{name}" is missing', where, hint)
    if len(found) > 1:
        raise SourceError(f'column "{name}" is there twice', where)
    return found[0]


def check_types(columns: Columns, schema: pa.Schema, where: str) -> None:
    """Refuse a file with a column that is missing or whose type does not hold exactly what is declared."""
    for column, place in zip(columns, places(columns, schema.names, where), strict=True):
        found = schema.field(place).type
        if not _holds(column, found):
            meant = "timestamp or number" if column.instant else str(column.type)
            raise SourceError(f'column "{column.name}" has type {found}, declared is {meant}', where)


def _holds(column: Column, found: pa.DataType) -> Any:
    kinds, name = pa.types, column.type.name
    if kinds.is_dictionary(found):
        found = found.value_type
    match name:
        case "int":
            return kinds.is_integer(found) and found.bit_width <= (16 if kinds.is_unsigned_integer(found) else 32)
        case "bigint":
            return kinds.is_integer(found) and found != pa.uint64()
        case "double":
            return kinds.is_floating(found)
        case "boolean":
            return kinds.is_boolean(found)
        case "string":
            return kinds.is_string(found) or kinds.is_large_string(found) or kinds.is_string_view(found)
        case "timestamp":
            number = kinds.is_integer(found) or kinds.is_floating(found) or kinds.is_decimal(found)
            return kinds.is_timestamp(found) or (column.instant and number)
        case "date":
            return kinds.is_date(found)
        case "decimal":
            whole = column.type.precision - column.type.scale
            exact = kinds.is_decimal(found) and found.scale <= column.type.scale
            return exact and found.precision - found.scale <= whole
        case _:
            return kinds.is_binary(found) or kinds.is_large_binary(found) or kinds.is_fixed_size_binary(found)


def converted(column: Column, array: pa.Array, where: str) -> pa.Array:
    """An array of a checked type as the column's own; no value is rounded but an instant written as a double."""
    try:
        if column.instant and not pa.types.is_timestamp(array.type):
            return instants(array)
        array = array.cast(column.arrow)
        return in_calendar(array) if column.type == TIMESTAMP else array
    except pa.ArrowInvalid:
        problem = f'column "{column.name}" holds a value that {column.type} cannot hold'
        raise SourceError(problem, where) from None


def instants(seconds: pa.Array) -> pa.Array:
    """Seconds since 1970 as timestamps; raises ArrowInvalid for what is too fine or in no calendar."""
    if pa.types.is_floating(seconds.type):
        rounded = np.round(seconds.fill_null(0.0).to_numpy(zero_copy_only=False).astype(np.float64) * 1e6)
        numbers = pa.array(rounded, mask=np.asarray(seconds.is_null())).cast(pa.int64())
    else:
        numbers = pc.multiply(seconds.cast(SECONDS), pa.scalar(1_000_000, pa.decimal128(7, 0))).cast(pa.int64())
    return in_calendar(numbers.view(_ARROW["timestamp"]))


def in_calendar(timestamps: pa.Array) -> pa.Array:
    """The same timestamps; raises ArrowInvalid for what is not in the years 1 to 9999."""
    numbers = timestamps.view(pa.int64())
    if pc.any(pc.or_(pc.less(numbers, FIRST_TIMESTAMP), pc.greater(numbers, LAST_TIMESTAMP))).as_py():
        raise pa.ArrowInvalid("no such year")
    return timestamps
