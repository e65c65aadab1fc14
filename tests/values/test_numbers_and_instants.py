"""Rounding of decimals, and how instants are printed."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tidegate.plan.types import decimal
from tidegate.values import LAST_TIMESTAMP, instant_text, number_in, round_to


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (0, "0.0"),
        (1, "0.000001"),
        (10, "0.00001"),
        (100_000, "0.1"),
        (999_999, "0.999999"),
        (1_000_000, "1.0"),
        (61_000_001, "61.000001"),
        (10_000_000, "10.0"),
        (LAST_TIMESTAMP, "253402300799.999999"),
    ],
)
def test_an_instant_prints_as_seconds_with_a_point(instant: int, text: str) -> None:
    """CASES.md: 1.0, and never 1 or 1.000000."""
    assert instant_text(instant) == text


@settings(max_examples=examples(100, 5_000))
@given(st.integers(0, LAST_TIMESTAMP))
def test_the_text_of_an_instant_is_the_instant(instant: int) -> None:
    """To the microsecond for every instant, where a double would begin to round."""
    text = instant_text(instant)
    assert Fraction(text) == Fraction(instant, 1_000_000)
    assert text.endswith(".0") or not text.endswith("0")


@settings(max_examples=examples(100, 5_000))
@given(st.integers(-(10**38) + 1, 10**38 - 1), st.integers(0, 38), st.integers(0, 38))
def test_rounding_is_half_away_from_zero(unscaled: int, places: int, scale: int) -> None:
    with localcontext() as wide:
        wide.prec = 200
        number = Decimal(unscaled).scaleb(-places)
        expected = number.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP)
        exact = abs(Fraction(number) - Fraction(expected))
    assert round_to(number, scale) == expected
    assert exact <= Fraction(1, 2 * 10**scale)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("999.99", "999.99"),
        ("999.994", "999.99"),
        ("999.995", None),
        ("-999.995", None),
        ("-999.994", "-999.99"),
        ("0.005", "0.01"),
        ("-0.005", "-0.01"),
        ("1e500", None),
        ("1e-500", "0.00"),
        ("NaN", None),
    ],
)
def test_a_number_is_rounded_into_its_type_or_does_not_fit(number: str, expected: str | None) -> None:
    found = number_in(Decimal(number), decimal(5, 2))
    assert found == (None if expected is None else Decimal(expected))


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("scale", [0, 1, 19, 38])
def test_the_largest_decimals_fit(sign: str, scale: int) -> None:
    """38 digits are 38 digits: nothing rounds to 28 on the way."""
    largest = Decimal(f"{sign}{'9' * (38 - scale)}.{'9' * scale}")
    assert number_in(largest, decimal(38, scale)) == largest
