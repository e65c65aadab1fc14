"""A source: a streaming frame, its declared attributes, and the columns that hold time, label and what is unreadable.

A source decides nothing about flow: labels are text here, and become levels at the gate that admits tuples.

Reads: errors, text, plan (schema, types).  Read by: sources, system.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from tidegate.errors import SourceError
from tidegate.plan.schema import Field, Schema, same_name
from tidegate.plan.types import DOUBLE, INT, TIMESTAMP, Type, parse_type, type_names
from tidegate.text import did_you_mean, listed

_NARROW = {"tinyint": INT, "smallint": INT, "float": DOUBLE}


@dataclass(frozen=True, slots=True)
class Source:
    """Tuples on their way in; every column but the last three is an attribute, decoded to exactly its type.

    ``time`` holds timestamps or seconds since 1970, and where it is None tuples are stamped on arrival. ``level`` holds
    labels as text, and is None only where one constant label is bound later. Where ``corrupt`` is not NULL it holds a
    record that could not be decoded, and every other column of that row is NULL (Q-11).
    """

    frame: DataFrame
    schema: Schema
    time: str | None
    level: str | None
    corrupt: str | None = None


def from_frame(
    frame: DataFrame, *, time: str | None = None, level: str | None = None, keep_time: bool = False
) -> Source:
    """Any streaming frame as a source; refused where a column has a type that no attribute can have.

    The column of the labels is no attribute; that of the times is one only with ``keep_time``.
    """
    if not frame.isStreaming:
        raise SourceError("the frame is not a streaming one", hint="make it with spark.readStream")
    types = dict(frame.dtypes)
    _refuse_same_names(list(types), len(frame.columns))
    time, level = _found(time, types, "time"), _found(level, types, "level")
    if time is not None:
        _check_time(time, types[time])
    if level is not None and types[level] != "string":
        raise SourceError(f'the column of the labels has type {types[level]}, not string (column "{level}")')
    names = [name for name in types if name != level and (keep_time or name != time)]
    schema = tuple(Field(name, attribute_type(name, types[name])) for name in names)
    return Source(_widened(frame, schema), schema, time, level)


def attribute_type(name: str, spark_type: str) -> Type:
    """The type of an attribute whose values a Spark column holds."""
    if same_name(name, "level"):
        raise SourceError(f'column "{name}" cannot be an attribute', hint=f'pass level="{name}", or rename it')
    kind = _NARROW.get(spark_type) or parse_type(spark_type)
    if kind is None:
        hint = f"cast it to one of {type_names()}, or drop it"
        raise SourceError(f'column "{name}" has type {spark_type}, which no attribute can have', hint=hint)
    return kind


def is_time(kind: Type) -> bool:
    """Whether a column of this type can say when: a timestamp, or seconds since 1970."""
    return kind == TIMESTAMP or kind.is_number


def _found(wanted: str | None, types: dict[str, str], use: str) -> str | None:
    """The column as the frame writes its name; names are case-insensitive (Q-7)."""
    if wanted is None:
        return None
    for name in types:
        if same_name(name, wanted):
            return name
    hint = did_you_mean(wanted, types) or f"there are {listed(types)}"
    raise SourceError(f'there is no column "{wanted}" to be the {use}', hint=hint)


def _check_time(name: str, known: str) -> None:
    kind = _NARROW.get(known) or parse_type(known)
    if kind is None or not is_time(kind):
        hint = "cast it to timestamp, or to seconds since 1970"
        raise SourceError(f'the column of the times has type {known} (column "{name}")', hint=hint)


def _refuse_same_names(names: list[str], columns: int) -> None:
    folded = {name.casefold() for name in names}
    if len(folded) < columns:
        raise SourceError(f"two columns have the same name, among {listed(names)}", hint="rename or drop one")


def _widened(frame: DataFrame, schema: Schema) -> DataFrame:
    """The same columns, those with a narrow type as wide as their attribute."""
    types = dict(frame.dtypes)
    wide = {field.name: field.type for field in schema if types[field.name] in _NARROW}
    casts = {name: sf.col(_quoted(name)).cast(str(kind)) for name, kind in wide.items()}
    return frame.withColumns(casts) if casts else frame


def _quoted(name: str) -> str:
    escaped = name.replace("`", "``")
    return f"`{escaped}`"
