"""Aggregates are functions of the bag: no order, no history, every digit (Q-7, Q-8)."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.reference.asking import aggregate, ask
from tests.reference.test_exact_sum import rounded_once
from tidegate.plan.expressions import Aggregate, Column
from tidegate.plan.types import BIGINT, DOUBLE, STRING, Type
from tidegate.scalars.aggregates import aggregate as compute
from tidegate.security.declare import declare

LATTICE = declare("lo < a, lo < b, a < hi, b < hi")
DOUBLES = st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False, width=32), max_size=8)


def over(name: str, values: list[Any], kind: Type = DOUBLE, distinct: bool = False) -> object:
    """An aggregate over a bag."""
    return compute(Aggregate(name, Column(0, "x", type=kind), kind, distinct), values, LATTICE)


@settings(max_examples=examples(200, 10_000))
@given(DOUBLES)
def test_average_variance_and_deviation_are_their_formulas(values: list[float | None]) -> None:
    """Q-8: AVG = SUM / n, VARIANCE = fsum((x - AVG)²) / (n - 1), STDDEV its root; NULL for n < 2."""
    present = [value for value in values if value is not None]
    if not present:
        assert [over(name, values) for name in ("SUM", "AVG", "VARIANCE", "STDDEV", "MIN", "MAX")] == [None] * 6
        return
    mean = rounded_once(present) / len(present)
    assert (over("SUM", values), over("AVG", values)) == (rounded_once(present), mean)
    if len(present) < 2:
        assert (over("VARIANCE", values), over("STDDEV", values)) == (None, None)
        return
    variance = rounded_once([(value - mean) * (value - mean) for value in present]) / (len(present) - 1)
    assert (over("VARIANCE", values), over("STDDEV", values)) == (variance, math.sqrt(variance))


@settings(max_examples=examples(100, 5_000))
@given(st.lists(st.none() | st.floats(), max_size=8), st.integers(0, 1_000))
def test_the_order_of_the_rows_does_not_matter(values: list[float | None], seed: int) -> None:
    """Q-8, Q-10: to the bit, with NaN, infinities and both zeros."""
    shuffled = random.Random(seed).sample(values, len(values))
    for name in ("COUNT", "SUM", "AVG", "VARIANCE", "STDDEV", "MIN", "MAX"):
        assert repr(over(name, shuffled)) == repr(over(name, values)), name


BAGS: list[tuple[str, str, list[Any], Any]] = [
    ("COUNT(*)", "x", [1.0, None], 2),
    ("COUNT(x)", "x", [1.0, None], 1),
    ("COUNT(DISTINCT x)", "x", [0.0, -0.0, "NaN", "NaN", None, 1.0], 3),
    ("MIN(x)", "x", ["NaN", 1.0, -1.0], -1.0),
    ("MAX(x)", "x", ["NaN", 1.0, "Infinity"], "NaN"),
    ("MIN(x)", "x", ["NaN"], "NaN"),
    ("MIN(x)", "x", [-0.0], 0.0),
    ("MAX(x)", "x", [None], None),
    ("SUM(x)", "x", [1e16, 1.0, -1e16], 1.0),
    ("SUM(x)", "x", [1.7976931348623157e308, 1.7976931348623157e308, -1.7976931348623157e308], 1.7976931348623157e308),
    ("SUM(b)", "b", [9223372036854775807, 1, -1], 9223372036854775807),
    ("SUM(b)", "b", [9223372036854775807, 1], "! OVERFLOW"),
    ("AVG(b)", "b", [9223372036854775807, 1], "! OVERFLOW"),
    ("SUM(a)", "a", [2147483647, 2147483647], 4294967294),
    ("AVG(a)", "a", [1, 2], 1.5),
    ("VARIANCE(a)", "a", [1, 2, 3, 4], 5 / 3),
    ("STDDEV(a)", "a", [1], None),
    ("MIN(s)", "s", ["b", "a", "Z"], "Z"),
    ("MAX(s)", "s", ["\uffff", "\U00010000"], "\U00010000"),
    ("MAX(d)", "d", ["2024-01-01", "2023-12-31"], "2024-01-01"),
    ("MAX(p)", "p", [False, True], True),
    ("SUM(m)", "m", ["0.10", "0.20"], "0.30"),
    ("AVG(m)", "m", ["0.10", "0.20"], 0.15),
    ("SUM(w)", "w", ["1" * 38, "1"], "1" * 37 + "2"),
    ("SUM(w)", "w", ["9" * 37, "1"], "1" + "0" * 37),
    ("SUM(w)", "w", ["6" * 38, "6" * 38], "! OVERFLOW"),
    ("MAX(w)", "w", ["1" * 38, "1" * 37 + "2"], "1" * 37 + "2"),
    ("MIN(w)", "w", ["-" + "1" * 38, "0"], "-" + "1" * 38),
]


@pytest.mark.parametrize(("text", "column", "values", "expected"), BAGS)
def test_aggregate(text: str, column: str, values: list[Any], expected: Any) -> None:
    found = aggregate(text, column, values)
    assert (repr(found), type(found)) == (repr(expected), type(expected))


def test_levels_have_a_least_upper_bound_and_no_order() -> None:
    """Q-6: LUB(level); MIN and MAX are refused."""
    assert over("LUB", ["a", "b"]) == "hi"
    assert over("LUB", ["lo", None]) == "lo"
    assert over("LUB", []) is None
    assert ask("SELECT MIN(level) AS v FROM V [ROWS 2]")[0]["error"]["code"] == "LEVEL_AGGREGATE"


def test_an_empty_ungrouped_aggregate_has_one_row_from_the_first_step_on() -> None:
    """Q-7: COUNT 0, else NULL."""
    [line] = ask("SELECT COUNT(*) AS n, SUM(a) AS s, MIN(s) AS m FROM V [ROWS 3] WHERE a > 100")
    assert (line["row"], line["level"]) == ({"n": 0, "s": None, "m": None}, "U")


def test_strings_and_numbers_are_counted_by_value() -> None:
    assert over("COUNT", ["NaN", "nan", "NaN"], STRING, distinct=True) == 2
    assert over("COUNT", [1, 1, 2], BIGINT, distinct=True) == 2
    assert over("COUNT", [float("nan"), float("nan"), 0.0, -0.0], DOUBLE, distinct=True) == 2
