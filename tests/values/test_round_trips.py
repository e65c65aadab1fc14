"""Values between JSON and the engines: what is read is written back, for every value of every type (Q-11)."""

from __future__ import annotations

import base64
import json
import math
import struct
from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tidegate.plan.types import (
    BIGINT,
    BIGINT_RANGE,
    BINARY,
    BOOLEAN,
    DATE,
    DECLARABLE,
    DOUBLE,
    INT,
    INT_RANGE,
    STRING,
    TIMESTAMP,
    Type,
    decimal,
)
from tidegate.values import read, write

EVERY_TYPE = (*DECLARABLE.values(), decimal(10, 2))
MANY = settings(max_examples=examples(100, 5_000))


def through_json(value: object) -> object:
    """A value as a case file would bring it back."""
    return json.loads(json.dumps(value), parse_float=Decimal)


def bits(number: object) -> bytes:
    """A double, to the bit."""
    assert isinstance(number, float)
    return struct.pack(">d", number)


@pytest.mark.parametrize("kind", EVERY_TYPE, ids=str)
def test_null_is_null_in_every_type(kind: Type) -> None:
    assert read(None, kind) is None
    assert write(None, kind) is None


@MANY
@given(st.integers(*INT_RANGE), st.integers(*BIGINT_RANGE))
def test_integers(small: int, large: int) -> None:
    assert read(through_json(write(small, INT)), INT) == small
    assert read(through_json(write(large, BIGINT)), BIGINT) == large


@MANY
@given(st.floats(allow_nan=False))
def test_doubles_to_the_bit(number: float) -> None:
    """CASES.md: doubles print by shortest round trip, infinities as strings; -0.0 stays."""
    assert bits(read(through_json(write(number, DOUBLE)), DOUBLE)) == bits(number)


def test_every_nan_is_one_nan() -> None:
    assert write(math.nan, DOUBLE) == "NaN"
    assert math.isnan(float(str(read("NaN", DOUBLE))))


@pytest.mark.parametrize("truth", [True, False])
def test_booleans(truth: bool) -> None:
    assert read(through_json(write(truth, BOOLEAN)), BOOLEAN) is truth


@MANY
@given(st.text())
def test_strings(text: str) -> None:
    assert read(through_json(write(text, STRING)), STRING) == text


@MANY
@given(st.binary())
def test_binaries_are_base64(value: bytes) -> None:
    written = write(value, BINARY)
    assert written == base64.b64encode(value).decode()
    assert read(through_json(written), BINARY) == value


@MANY
@given(st.datetimes())
def test_timestamps_are_written_in_utc_to_the_microsecond(moment: datetime) -> None:
    """The whole range from year 1 to 9999, and the text is what the standard library prints."""
    microseconds = (moment - datetime(1970, 1, 1)) // (datetime.resolution)  # noqa: DTZ001 - both without a zone
    written = write(microseconds, TIMESTAMP)
    assert written == moment.isoformat(timespec="microseconds") + "Z"
    assert read(through_json(written), TIMESTAMP) == microseconds


@MANY
@given(st.dates())
def test_dates(day: date) -> None:
    days = (day - date(1970, 1, 1)).days
    assert write(days, DATE) == day.isoformat()
    assert read(through_json(write(days, DATE)), DATE) == days


@st.composite
def decimals(draw: st.DrawFn) -> tuple[Type, Decimal]:
    """A decimal type and a value that it holds, up to the full 38 digits."""
    precision = draw(st.integers(1, 38))
    scale = draw(st.integers(0, precision))
    unscaled = draw(st.integers(-(10**precision) + 1, 10**precision - 1))
    sign, digits, _ = Decimal(unscaled).as_tuple()
    return decimal(precision, scale), Decimal((sign, digits, -scale))


@MANY
@given(decimals())
def test_decimals_keep_every_digit_and_their_places(drawn: tuple[Type, Decimal]) -> None:
    """Written with exactly ``scale`` places, read back to the same digits."""
    kind, number = drawn
    written = write(number, kind)
    assert isinstance(written, str)
    assert len(written.partition(".")[2]) == kind.scale
    again = read(through_json(written), kind)
    assert isinstance(again, Decimal)
    assert again.as_tuple() == number.as_tuple()


@MANY
@given(decimals())
def test_a_decimal_may_come_as_a_number_too(drawn: tuple[Type, Decimal]) -> None:
    """A case file is read without binary fractions, so 0.1 is 0.1."""
    kind, number = drawn
    assert read(json.loads(format(number, "f"), parse_float=Decimal), kind) == number


@pytest.mark.parametrize("moment", ["1969-12-31T23:59:59.999999Z", "0001-01-01T00:00:00.000000Z"])
def test_times_before_1970_are_times(moment: str) -> None:
    assert write(read(moment, TIMESTAMP), TIMESTAMP) == moment


def test_the_epoch_is_zero() -> None:
    assert read("1970-01-01T00:00:00Z", TIMESTAMP) == read("1970-01-01", DATE) == 0
