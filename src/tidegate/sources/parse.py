"""Text as values, a column at a time: what does not fit is flagged, and never adjusted (Q-11).

A column that does not parse as a whole is halved until the unfit values stand alone: k of n cost k log n short tries.

Reads: sources (columns).  Read by: decode_text.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidegate.sources.columns import SECONDS, Column, in_calendar, instants

Flags = npt.NDArray[np.bool_]
_UTC, _LOCAL = pa.timestamp("us", "UTC"), pa.timestamp("us")
_SPECIAL = pa.array(["NaN", "Infinity", "-Infinity"])


def parsed(column: Column, texts: pa.Array) -> tuple[pa.Array, Flags]:
    """The values of a column, NULL where a flag says that the text does not fit."""
    if column.type.name == "string":
        return texts, np.zeros(len(texts), np.bool_)
    return _parsed(_PARSERS["instant" if column.instant else column.type.name], texts, column.arrow)


Parser = Callable[[pa.Array, pa.DataType], pa.Array]


def _parsed(parser: Parser, texts: pa.Array, wanted: pa.DataType) -> tuple[pa.Array, Flags]:
    try:
        return parser(texts, wanted), np.zeros(len(texts), np.bool_)
    except pa.ArrowInvalid:
        if len(texts) == 1:
            return pa.nulls(1, wanted), np.ones(1, np.bool_)
    middle = len(texts) // 2
    first, unfit = _parsed(parser, texts[:middle], wanted)
    second, also = _parsed(parser, texts[middle:], wanted)
    return pa.concat_arrays([first, second]), np.concatenate([unfit, also])


def _refuse(wrong: pa.BooleanArray) -> None:
    if pc.any(wrong).as_py():
        raise pa.ArrowInvalid("unfit")


def _cast(texts: pa.Array, wanted: pa.DataType) -> pa.Array:
    return texts.cast(wanted)


def _integer(texts: pa.Array, wanted: pa.DataType) -> pa.Array:
    _refuse(pc.match_substring(texts, "x", ignore_case=True))  # Arrow would read 0x10
    return texts.cast(wanted)


def _double(texts: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Not finite only where it is written so: a number that is too large does not fit."""
    numbers = texts.cast(wanted)
    finite = pc.is_finite(numbers)
    if not pc.all(finite).as_py():
        _refuse(pc.and_(pc.invert(finite), pc.invert(pc.is_in(texts, _SPECIAL))))
    return numbers


def _boolean(texts: pa.Array, wanted: pa.DataType) -> pa.Array:
    _refuse(pc.not_equal(pc.utf8_length(texts), pc.if_else(pc.equal(pc.utf8_lower(texts), "true"), 4, 5)))
    return texts.cast(wanted)


def _timestamp(texts: pa.Array, wanted: pa.DataType) -> pa.Array:
    """ISO; without a zone it is UTC."""
    try:
        found = texts.cast(_UTC)
    except pa.ArrowInvalid:
        found = texts.cast(_LOCAL).cast(pa.int64()).view(_UTC)
    return in_calendar(found)


def _instant(texts: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Seconds since 1970 or a timestamp."""
    try:
        return instants(texts.cast(SECONDS))
    except pa.ArrowInvalid:
        return _timestamp(texts, wanted)


def _binary(texts: pa.Array, wanted: pa.DataType) -> pa.Array:
    try:
        values = [text if text is None else base64.b64decode(text, validate=True) for text in texts.to_pylist()]
    except (binascii.Error, ValueError):
        raise pa.ArrowInvalid("not base64") from None
    return pa.array(values, wanted)


_PARSERS: dict[str, Parser] = {
    "int": _integer,
    "bigint": _integer,
    "double": _double,
    "boolean": _boolean,
    "timestamp": _timestamp,
    "instant": _instant,
    "date": _cast,
    "decimal": _cast,
    "binary": _binary,
}
