"""Values between JSON and the row-at-a-time engines, one rule per type.

Reading is strict: what does not fit its type exactly is refused with a reason and never adjusted (Q-11). Writing is
the format of CASES.md: doubles by shortest round trip, NaN and infinities as strings, times in UTC to the microsecond.

Reads: plan (types, schema).  Read by: gates, language, reference, cli.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal, InvalidOperation
from typing import Any

from tidegate.plan.schema import Schema
from tidegate.plan.types import BIGINT_RANGE, INT_RANGE, Type
from tidegate.text import is_unicode

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EPOCH_DAY = date(1970, 1, 1)
WIDE = Context(prec=1000)  # a double has up to 309 digits before the point, a rounded one 400 behind it
FIRST_TIMESTAMP = -62_135_596_800_000_000  # the year 1
LAST_TIMESTAMP = 253_402_300_799_999_999  # the end of the year 9999
SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_TIMESTAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?))?(Z|[+-]\d{2}:?\d{2})?", re.ASCII
)


_DECIMAL_TEXT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
LONGEST_NUMBER = 400


class Unfit(Exception):
    """A value that its type cannot hold; the text says why without quoting the value."""


def read(value: object, kind: Type) -> object:
    """A JSON value as a value of the type; raises Unfit."""
    return None if value is None else _READERS[kind.name](value, kind)


def read_row(row: Mapping[str, object], schema: Schema) -> tuple[object, ...]:
    """The values of a row in the order of its schema; raises Unfit, naming the attribute."""
    values: list[object] = []
    for column in schema:
        if column.name not in row:
            raise Unfit(f'attribute "{column.name}" is missing')
        try:
            values.append(read(row[column.name], column.type))
        except Unfit as problem:
            raise Unfit(f'attribute "{column.name}": {problem}') from None
    return tuple(values)


def write(value: object, kind: Type) -> object:
    """A value as JSON."""
    writer = _WRITERS.get(kind.name)
    return value if value is None or writer is None else writer(value)


def _integer(value: object, kind: Type) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unfit(f"not a whole number, as {kind} needs")
    low, high = INT_RANGE if kind.name == "int" else BIGINT_RANGE
    if not low <= value <= high:
        raise Unfit(f"outside the range of {kind}")
    return value


def _double(value: object, kind: Type) -> float:
    if isinstance(value, str) and value in SPECIAL:
        return SPECIAL[value]
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise Unfit("not a number")
    try:
        number = float(value)
    except OverflowError:
        raise Unfit("outside the range of double") from None
    if math.isinf(number):
        raise Unfit("outside the range of double")
    return number


def _boolean(value: object, kind: Type) -> bool:
    if not isinstance(value, bool):
        raise Unfit("neither true nor false")
    return value


def _string(value: object, kind: Type) -> str:
    if not isinstance(value, str):
        raise Unfit("not a string")
    if not is_unicode(value):
        raise Unfit("not valid Unicode")
    return value


def _timestamp(value: object, kind: Type) -> int:
    parsed = parse_timestamp(value) if isinstance(value, str) else None
    if parsed is None:
        raise Unfit("not a timestamp such as 2024-01-31T12:00:00Z")
    return parsed


def _date(value: object, kind: Type) -> int:
    parsed = parse_date(value) if isinstance(value, str) else None
    if parsed is None:
        raise Unfit("not a date such as 2024-01-31")
    return parsed


def _decimal(value: object, kind: Type) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str | float):
        raise Unfit("not a number")
    number = parse_decimal(str(value), kind)
    if number is None:
        raise Unfit(f"not a number that {kind} holds exactly")
    return number


def _binary(value: object, kind: Type) -> bytes:
    if not isinstance(value, str):
        raise Unfit("not base64 text")
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise Unfit("not base64 text") from None


_READERS: dict[str, Callable[[object, Type], object]] = {
    "int": _integer,
    "bigint": _integer,
    "double": _double,
    "boolean": _boolean,
    "string": _string,
    "timestamp": _timestamp,
    "date": _date,
    "decimal": _decimal,
    "binary": _binary,
}


def parse_timestamp(text: str) -> int | None:
    """Microseconds since 1970 of an ISO text; without a zone it is UTC. None if it is none."""
    if not (match := _TIMESTAMP.fullmatch(text.strip())):
        return None
    try:
        moment = datetime.fromisoformat(f"{match[1]}T{match[2] or '00:00'}{match[3] or 'Z'}")
    except ValueError:
        return None
    microseconds = (moment - EPOCH) // timedelta(microseconds=1)
    return microseconds if FIRST_TIMESTAMP <= microseconds <= LAST_TIMESTAMP else None


def parse_date(text: str) -> int | None:
    """Days since 1970 of YYYY-MM-DD, or None."""
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text.strip(), re.ASCII):
        return None
    try:
        return (date.fromisoformat(text.strip()) - EPOCH_DAY).days
    except ValueError:
        return None


def parse_decimal(text: str, kind: Type) -> Decimal | None:
    """A decimal that the type holds without rounding, or None."""
    number = decimal_of(text)
    if number is None or number != round_to(number, kind.scale):
        return None
    return number_in(number, kind)


def decimal_of(text: str) -> Decimal | None:
    """The number that a text writes, of any size that a type could hold; None if it writes none."""
    if len(text) > LONGEST_NUMBER or not _DECIMAL_TEXT.fullmatch(text.strip()):
        return None
    return Decimal(text.strip())


def round_to(number: Decimal, scale: int) -> Decimal:
    """A decimal with this many places after the point, half away from zero; NaN where it has too many digits."""
    try:
        return number.quantize(Decimal(1).scaleb(-scale), rounding="ROUND_HALF_UP", context=WIDE)
    except InvalidOperation:
        return Decimal("NaN")


def number_in(number: Decimal, kind: Type) -> Decimal | None:
    """A decimal rounded to the type's scale, or None where its precision does not suffice."""
    rounded = round_to(number, kind.scale)
    if rounded.is_nan() or WIDE.abs(rounded).scaleb(kind.scale, context=WIDE) >= 10**kind.precision:
        return None
    return rounded or rounded.copy_abs()  # a decimal has one zero


def timestamp_text(microseconds: Any) -> str:
    """ISO, UTC, always with six places."""
    moment = EPOCH + timedelta(microseconds=microseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def date_text(days: Any) -> str:
    """YYYY-MM-DD."""
    return (EPOCH_DAY + timedelta(days=days)).isoformat()


def _double_json(value: object) -> object:
    assert isinstance(value, float)
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _binary_json(value: object) -> object:
    assert isinstance(value, bytes)
    return base64.b64encode(value).decode("ascii")


_WRITERS: dict[str, Callable[[object], object]] = {
    "double": _double_json,
    "timestamp": timestamp_text,
    "date": date_text,
    "decimal": lambda value: format(value, "f"),
    "binary": _binary_json,
}


def exact_json(value: object) -> str:
    """A JSON value as text, its numbers digit for digit as they came."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)}: {exact_json(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(exact_json(entry) for entry in value) + "]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value)


_SECONDS = 1_000_000


def instant_text(instant: int) -> str:
    """An instant as seconds with a point, to the microsecond.

    >>> instant_text(1_000_000), instant_text(61_000_001)
    ('1.0', '61.000001')
    """
    whole, rest = divmod(instant, _SECONDS)
    return f"{whole}." + (f"{rest:06d}".rstrip("0") or "0")
