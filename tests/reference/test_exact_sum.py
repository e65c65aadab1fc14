"""SUM of doubles is the exact real sum rounded once (Q-8), against rational arithmetic."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tidegate.scalars.numbers import exact_sum

MAX = 1.7976931348623157e308
TINY = 5e-324
FINITE = st.floats(allow_nan=False, allow_infinity=False)
# Doubles that make partial sums overflow, cancel, or sit at half an ulp.
EDGES = st.sampled_from(
    [MAX, -MAX, MAX / 2, 2.0**970, -(2.0**970), TINY, -TINY, 2.0**-1022, 1.0, -1.0, 2.0**53, 0.0, -0.0]
)


def rounded_once(values: list[float]) -> float:
    """The sum as a fraction, rounded to the nearest double, ties to even; beyond the range an infinity."""
    total = sum((Fraction(value) for value in values), Fraction(0))
    try:
        return total.numerator / total.denominator
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def bits(number: float) -> bytes:
    """A double to the bit; every NaN is one NaN."""
    return b"NaN" if math.isnan(number) else struct.pack(">d", number)


@settings(max_examples=examples(300, 20_000))
@given(st.lists(FINITE | EDGES, max_size=30))
@example([MAX, MAX, -MAX])
@example([MAX, MAX, -MAX, -MAX, TINY])
@example([MAX, 2.0**969])
@example([MAX, 2.0**970])
@example([MAX, 2.0**970, -TINY])
@example([-MAX, -(2.0**970)])
@example([1.0, 2.0**-53, 2.0**-106])
@example([1e16, 1.0, -1e16])
@example([TINY, TINY, -TINY])
@example([-0.0])
@example([])
def test_the_sum_is_the_exact_one_rounded_once(values: list[float]) -> None:
    assert bits(exact_sum(values)) == bits(rounded_once(values))


@settings(max_examples=examples(100, 5_000))
@given(st.lists(st.floats() | EDGES, max_size=12), st.randoms(use_true_random=False))
def test_the_sum_is_a_function_of_the_bag(values: list[float], chance: object) -> None:
    """Q-8: no order, no history. NaN and infinities included."""
    shuffled = list(values)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert bits(exact_sum(shuffled)) == bits(exact_sum(values))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([math.nan], math.nan),
        ([math.nan, math.inf], math.nan),
        ([math.inf, -math.inf], math.nan),
        ([math.inf, -math.inf, math.nan], math.nan),
        ([math.inf, math.inf], math.inf),
        ([-math.inf, MAX, MAX], -math.inf),
        ([math.inf, -MAX, -MAX], math.inf),
        ([MAX, MAX], math.inf),
        ([-MAX, -MAX], -math.inf),
        ([-0.0, -0.0], 0.0),
        ([], 0.0),
    ],
)
def test_unusual_sums(values: list[float], expected: float) -> None:
    """Q-8: any NaN or both infinities give NaN, one infinity itself, beyond the range an infinity; no -0.0."""
    assert bits(exact_sum(values)) == bits(expected)
