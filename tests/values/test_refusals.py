"""What a type cannot hold exactly is refused, never adjusted, with a reason that quotes no data (Q-11, Q-9)."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tidegate.plan.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DECLARABLE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    decimal,
)
from tidegate.values import Unfit, read

MONEY = decimal(5, 2)

REFUSED: list[tuple[Type, object]] = [
    (INT, True),
    (INT, "1"),
    (INT, Decimal("1.0")),
    (INT, 2**31),
    (INT, -(2**31) - 1),
    (INT, [1]),
    (BIGINT, 2**63),
    (BIGINT, -(2**63) - 1),
    (BIGINT, Decimal("1e3")),
    (BIGINT, False),
    (DOUBLE, True),
    (DOUBLE, "1.0"),
    (DOUBLE, "nan"),
    (DOUBLE, "inf"),
    (DOUBLE, "+Infinity"),
    (DOUBLE, Decimal("1.8e308")),
    (DOUBLE, Decimal("-1e400")),
    (DOUBLE, 10**400),
    (DOUBLE, {}),
    (BOOLEAN, 1),
    (BOOLEAN, 0),
    (BOOLEAN, "true"),
    (STRING, 1),
    (STRING, ["a"]),
    (STRING, "a\ud800b"),
    (TIMESTAMP, 0),
    (TIMESTAMP, ""),
    (TIMESTAMP, "2024"),
    (TIMESTAMP, "2024-13-01T00:00:00Z"),
    (TIMESTAMP, "2023-02-29T00:00:00Z"),
    (TIMESTAMP, "2024-01-01T24:00:00Z"),
    (TIMESTAMP, "2024-01-01T00:60:00Z"),
    (TIMESTAMP, "2024-01-01T00:00:60Z"),
    (TIMESTAMP, "2024-01-01T00:00:00.1234567Z"),
    (TIMESTAMP, "2024-01-01T00:00:00+25:00"),
    (TIMESTAMP, "2024-01-01T00Z"),
    (TIMESTAMP, "20240101T000000Z"),
    (TIMESTAMP, "0000-01-01T00:00:00Z"),
    (TIMESTAMP, "10000-01-01T00:00:00Z"),
    (TIMESTAMP, "２０２４-01-01T00:00:00Z"),
    (TIMESTAMP, "0001-01-01T00:00:00+00:01"),  # in UTC this is before year 1
    (TIMESTAMP, "9999-12-31T23:59:59-00:01"),  # and this after 9999
    (DATE, 0),
    (DATE, "2024-1-1"),
    (DATE, "2023-02-29"),
    (DATE, "2024-01-01T00:00:00Z"),
    (DATE, "2024-W01-1"),
    (DATE, "20240101"),
    (DATE, "0000-01-01"),
    (MONEY, True),
    (MONEY, "1.234"),
    (MONEY, "1000"),
    (MONEY, "-1000.00"),
    (MONEY, Decimal("999.995")),
    (MONEY, "1e3"),
    (MONEY, "NaN"),
    (MONEY, "Infinity"),
    (MONEY, ""),
    (MONEY, "."),
    (MONEY, "1,5"),
    (MONEY, "1_0"),
    (MONEY, "1e99999"),
    (MONEY, Decimal("1e999999")),
    (MONEY, Decimal("1e-999999")),
    (MONEY, "0x10"),
    (MONEY, "٣"),
    (MONEY, []),
    (BINARY, 1),
    (BINARY, "a"),
    (BINARY, "a==="),
    (BINARY, "YW Jj"),
    (BINARY, "é"),
    (BINARY, "YQ==YQ=="),
]


@pytest.mark.parametrize(("kind", "value"), REFUSED, ids=str)
def test_refused(kind: Type, value: object) -> None:
    with pytest.raises(Unfit) as caught:
        read(value, kind)
    assert str(caught.value)
    assert "\n" not in str(caught.value)


ACCEPTED: list[tuple[Type, object, object]] = [
    (INT, -(2**31), -(2**31)),
    (INT, 2**31 - 1, 2**31 - 1),
    (BIGINT, 2**63 - 1, 2**63 - 1),
    (DOUBLE, 1, 1.0),
    (DOUBLE, 2**53 + 1, 2.0**53),
    (DOUBLE, Decimal("1e-400"), 0.0),
    (DOUBLE, Decimal("1.7976931348623157e308"), 1.7976931348623157e308),
    (DOUBLE, "Infinity", math.inf),
    (DOUBLE, "-Infinity", -math.inf),
    (TIMESTAMP, "1970-01-01", 0),
    (TIMESTAMP, "1970-01-01T00:01", 60_000_000),
    (TIMESTAMP, "1970-01-01 00:00:01", 1_000_000),
    (TIMESTAMP, "1970-01-01T00:00:00.5", 500_000),
    (TIMESTAMP, "1970-01-01T01:00:00+01:00", 0),
    (TIMESTAMP, "1970-01-01T01:00:00+0100", 0),
    (TIMESTAMP, "1969-12-31T19:00:00-05:00", 0),
    (TIMESTAMP, "2024-02-29T00:00:00Z", 1_709_164_800_000_000),
    (DATE, "2024-02-29", 19_782),
    (MONEY, 999, Decimal("999.00")),
    (MONEY, "999.99", Decimal("999.99")),
    (MONEY, "-999.990", Decimal("-999.99")),
    (MONEY, "1e2", Decimal("100.00")),
    (MONEY, ".5", Decimal("0.50")),
    (MONEY, "5.", Decimal("5.00")),
    (decimal(38, 0), "9" * 38, Decimal("9" * 38)),
    (decimal(38, 38), "-0." + "9" * 38, Decimal("-0." + "9" * 38)),
    (BINARY, "", b""),
    (BINARY, "AP8=", b"\x00\xff"),
]


@pytest.mark.parametrize(("kind", "given_value", "expected"), ACCEPTED, ids=str)
def test_accepted_at_the_edge(kind: Type, given_value: object, expected: object) -> None:
    found = read(given_value, kind)
    assert found == expected
    assert type(found) is type(expected)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=examples(300, 10_000))
@given(JSON_VALUES, st.sampled_from([*DECLARABLE.values(), MONEY, decimal(38, 38)]))
def test_whatever_comes_is_read_or_unfit(value: object, kind: Type) -> None:
    """Q-11: nothing else may happen, whatever the value."""
    if isinstance(value, Decimal) and not value.is_finite():
        return  # JSON has no such number
    try:
        reason = f"read as {type(read(value, kind)).__name__}"
    except Unfit as problem:
        reason = str(problem)
    assert not isinstance(value, str) or len(value) < 4 or value not in reason
