"""Built-in functions, a value at a time. Arguments are neither NULL nor errors here.

Reads: plan (types), values, reference.  Read by: evaluate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from tidegate.plan.functions import DATE_PARTS
from tidegate.plan.types import BIGINT, TIMESTAMP, Type
from tidegate.scalars.numbers import calculate, checked, overflow
from tidegate.scalars.values import Failure
from tidegate.text import Span
from tidegate.values import EPOCH, FIRST_TIMESTAMP, LAST_TIMESTAMP, WIDE, number_in, round_to

DAY = 86_400_000_000


def call(name: str, arguments: list[Any], kind: Type, span: Span) -> object:
    """The value of a built-in function."""
    return BUILTINS[name](arguments, kind, span)


def _absolute(arguments: list[Any], kind: Type, span: Span) -> object:
    value = arguments[0]
    if isinstance(value, Decimal):
        return WIDE.abs(value)
    return checked(abs(value), kind, span) if isinstance(value, int) else abs(value)


def _sign(arguments: list[Any], kind: Type, span: Span) -> object:
    value = arguments[0]
    if isinstance(value, float) and math.isnan(value):
        return value
    sign = (value > 0) - (value < 0)
    if isinstance(value, Decimal):
        return _fitted(Decimal(sign), kind, span)
    return type(value)(sign)


def _whole(rounding: Callable[[Any], int]) -> Callable[[list[Any], Type, Span], object]:
    def rule(arguments: list[Any], kind: Type, span: Span) -> object:
        value = arguments[0]
        if isinstance(value, float) and not math.isfinite(value):
            return overflow(BIGINT, span)
        return checked(rounding(value), BIGINT, span)

    return rule


def _round(arguments: list[Any], kind: Type, span: Span) -> object:
    """Half away from zero; a double is rounded as the decimal that it prints."""
    value, digits = arguments[0], max(-400, min(arguments[1] if len(arguments) > 1 else 0, 400))
    if isinstance(value, float):
        if not math.isfinite(value) or digits > 330:
            return value
        return float(round_to(Decimal(repr(value)), digits))
    if digits >= 0 and not isinstance(value, Decimal):
        return value
    rounded = round_to(Decimal(value), digits)
    if isinstance(value, Decimal):
        return _fitted(rounded, kind, span)
    return checked(int(rounded), kind, span)


def _fitted(number: Decimal, kind: Type, span: Span) -> object:
    fitted = number_in(number, kind)
    return overflow(kind, span) if fitted is None else fitted


def _square_root(arguments: list[Any], kind: Type, span: Span) -> object:
    return math.sqrt(arguments[0]) if arguments[0] >= 0 else math.nan


def _power(arguments: list[Any], kind: Type, span: Span) -> object:
    base, exponent = arguments
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
    except ValueError:
        return math.inf if base == 0 else math.nan


def _substring(arguments: list[Any], kind: Type, span: Span) -> object:
    """Positions count from 1; a negative one from the end."""
    text, start = arguments[0], arguments[1]
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    end = begin + arguments[2] if len(arguments) > 2 else len(text)
    return text[max(begin, 0) : max(end, 0)]


def _replace(arguments: list[Any], kind: Type, span: Span) -> object:
    text, old, new = arguments
    return text.replace(old, new) if old else text


def _moment(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


def _part(part: str) -> Callable[[list[Any], Type, Span], object]:
    return lambda arguments, kind, span: getattr(_moment(arguments[0]), part)


def _truncate_time(arguments: list[Any], kind: Type, span: Span) -> object:
    unit = arguments[0].lower()
    if unit not in DATE_PARTS:
        return Failure("INVALID_ARGUMENT", f"DATE_TRUNC takes one of {', '.join(DATE_PARTS)}", span)
    moment = _moment(arguments[1])
    smallest = {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0}
    cleared = {part: smallest[part] for part in DATE_PARTS[DATE_PARTS.index(unit) + 1 :]}
    start = moment.replace(microsecond=0, **cleared)  # type: ignore[arg-type]
    return (start - EPOCH) // timedelta(microseconds=1)


def _timestamp_seconds(arguments: list[Any], kind: Type, span: Span) -> object:
    moment = arguments[0] * 1_000_000
    return moment if FIRST_TIMESTAMP <= moment <= LAST_TIMESTAMP else overflow(TIMESTAMP, span)


def _add_days(arguments: list[Any], kind: Type, span: Span) -> object:
    day = arguments[0] + arguments[1]
    return day if FIRST_TIMESTAMP <= day * DAY <= LAST_TIMESTAMP else overflow(kind, span)


BUILTINS: dict[str, Callable[[list[Any], Type, Span], object]] = {
    "ABS": _absolute,
    "SIGN": _sign,
    "FLOOR": _whole(math.floor),
    "CEIL": _whole(math.ceil),
    "CEILING": _whole(math.ceil),
    "ROUND": _round,
    "SQRT": _square_root,
    "POWER": _power,
    "MOD": lambda given, kind, span: calculate("%", given[0], given[1], kind, span),
    "UPPER": lambda given, kind, span: given[0].upper(),
    "LOWER": lambda given, kind, span: given[0].lower(),
    "TRIM": lambda given, kind, span: given[0].strip(" "),
    "LTRIM": lambda given, kind, span: given[0].lstrip(" "),
    "RTRIM": lambda given, kind, span: given[0].rstrip(" "),
    "REVERSE": lambda given, kind, span: given[0][::-1],
    "LENGTH": lambda given, kind, span: len(given[0]),
    "CONCAT": lambda given, kind, span: "".join(given),
    "REPLACE": _replace,
    "SUBSTR": _substring,
    "SUBSTRING": _substring,
    "INSTR": lambda given, kind, span: given[0].find(given[1]) + 1,
    "STARTS_WITH": lambda given, kind, span: given[0].startswith(given[1]),
    "ENDS_WITH": lambda given, kind, span: given[0].endswith(given[1]),
    "CONTAINS": lambda given, kind, span: given[1] in given[0],
    **{part.upper(): _part(part) for part in DATE_PARTS},
    "DATE_TRUNC": _truncate_time,
    "TO_DATE": lambda given, kind, span: given[0] // DAY,
    "UNIX_SECONDS": lambda given, kind, span: given[0] // 1_000_000,
    "TIMESTAMP_SECONDS": _timestamp_seconds,
    "DATE_ADD": _add_days,
    "DATE_DIFF": lambda given, kind, span: given[0] - given[1],
}
