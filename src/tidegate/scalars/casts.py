"""Conversions: widening, which cannot fail, and CAST, which can (Q-7, Q-9).

Reads: plan (types), values, reference.  Read by: evaluate.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from tidegate.plan.types import BIGINT_RANGE, INT_RANGE, Type
from tidegate.scalars.numbers import overflow
from tidegate.scalars.values import Failure
from tidegate.text import Span
from tidegate.values import (
    LONGEST_NUMBER,
    SPECIAL,
    WIDE,
    date_text,
    decimal_of,
    number_in,
    parse_date,
    parse_timestamp,
    timestamp_text,
    write,
)

DAY = 86_400_000_000
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def widen(value: object, target: Type, span: Span) -> object:
    """A value in a wider type; only decimals of 38 digits can be too narrow for one another."""
    if target.name == "double":
        return float(value)  # type: ignore[arg-type]
    if target.name == "decimal":
        fitted = number_in(WIDE.create_decimal(value), target)  # type: ignore[arg-type]
        return overflow(target, span) if fitted is None else fitted
    if target.name == "timestamp" and isinstance(value, int):
        return value * DAY
    return value


def cast(value: object, source: Type, target: Type, span: Span) -> object:
    """A value in another type, or an error that does not quote it."""
    result = _cast(value, source, target)
    return Failure("CAST_FAILED", f"this {source} cannot be cast to {target}", span) if result is None else result


def _cast(value: object, source: Type, target: Type) -> object:
    if source == target:
        return value
    if target.name == "string":
        return as_string(value, source)
    if target.is_integer:
        return _to_integer(value, INT_RANGE if target.name == "int" else BIGINT_RANGE)
    match target.name:
        case "double":
            return _to_double(value)
        case "decimal":
            return _to_decimal(value, target)
        case "boolean":
            return _to_boolean(value)
        case "binary":
            return str(value).encode()
        case _:
            return _to_time(value, source, target)


def as_string(value: object, source: Type) -> str:
    """A value as text: doubles by shortest round trip, times in ISO form."""
    if isinstance(value, bool):
        return "true" if value else "false"
    match source.name:
        case "timestamp":
            return timestamp_text(value)
        case "date":
            return date_text(value)
        case _:
            return str(write(value, source))


def _to_integer(value: object, limits: tuple[int, int]) -> int | None:
    if isinstance(value, str):
        text = value.strip()
        digits = text.lstrip("+-").lstrip("0")
        number = int(text) if _WHOLE.fullmatch(text) and len(digits) < 20 and len(text) < LONGEST_NUMBER else None
    elif isinstance(value, float):
        number = math.trunc(value) if math.isfinite(value) else None
    else:
        number = int(value)  # type: ignore[call-overload]
    return number if number is not None and limits[0] <= number <= limits[1] else None


def _to_double(value: object) -> float | None:
    if isinstance(value, str):
        text = value.strip()
        number = SPECIAL.get(text, float(text) if _NUMBER.fullmatch(text) else None)
        return None if number is not None and text not in SPECIAL and math.isinf(number) else number
    return float(value)  # type: ignore[arg-type]


def _to_decimal(value: object, target: Type) -> Decimal | None:
    if isinstance(value, float):
        return number_in(Decimal(repr(value)), target) if math.isfinite(value) else None
    if isinstance(value, str):
        number = decimal_of(value)
        return None if number is None else number_in(number, target)
    return number_in(Decimal(value), target)  # type: ignore[arg-type]


def _to_boolean(value: object) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value != 0


def _to_time(value: object, source: Type, target: Type) -> int | None:
    if isinstance(value, str):
        return parse_timestamp(value) if target.name == "timestamp" else parse_date(value)
    assert isinstance(value, int)
    return value // DAY if source.name == "timestamp" else value * DAY
