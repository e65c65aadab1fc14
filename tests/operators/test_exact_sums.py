"""Q-8: sums in words and in limbs are the exact sum rounded once; where words would not be, they are refused."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

import numpy as np
import pytest

from tests.conftest import examples
from tests.operators.changelogs import in_any_order, in_order
from tidegate.operators import exact, words
from tidegate.operators.aggregate import aggregated
from tidegate.operators.evaluate import Evaluator
from tidegate.operators.timeline import Sweep, sweep
from tidegate.operators.vector import Array, Failures, LevelTable, Numbers, from_values, to_values
from tidegate.plan.expressions import Aggregate, Literal
from tidegate.plan.types import DOUBLE
from tidegate.scalars.aggregates import aggregate
from tidegate.scalars.numbers import exact_sum
from tidegate.security.declare import declare

LARGEST = 1.7976931348623157e308
SMALLEST = 5e-324
Draw = Callable[[np.random.Generator, int], Array]
COLUMNS: dict[str, Draw] = {
    "close together": lambda chance, rows: chance.uniform(50, 250, rows),
    "whole numbers": lambda chance, rows: chance.integers(-1000, 1000, rows).astype(np.float64),
    "halves of many sizes": lambda chance, rows: np.ldexp(1.0, chance.integers(-40, 5, rows)),
    "two signs around zero": lambda chance, rows: chance.normal(0, 1, rows),
    "ties between doubles": lambda chance, rows: chance.choice([2.0**53, 1.0, -1.0, 2.0**-1, 3.0], rows),
    "a wide range": lambda chance, rows: np.ldexp(chance.uniform(-1, 1, rows), chance.integers(-60, 60, rows)),
    "every exponent": lambda chance, rows: np.ldexp(chance.uniform(-1, 1, rows), chance.integers(-1100, 1020, rows)),
    "subnormals": lambda chance, rows: chance.integers(-5, 6, rows) * SMALLEST,
    "near the normal": lambda chance, rows: np.ldexp(chance.uniform(-1, 1, rows), -1020),
    "huge, and cancelling": lambda chance, rows: chance.choice([1e300, -1e300, 1e284, 1.0], rows),
    "the largest": lambda chance, rows: chance.choice([LARGEST, -LARGEST, 1e292, -1e292], rows),
    "huge beside tiny": lambda chance, rows: chance.choice([1e300, -1e300, SMALLEST, 1e-300], rows),
    "large beside tiny": lambda chance, rows: chance.choice([1e30, -1e30, SMALLEST, 1e-290], rows),
    "zeros": lambda chance, rows: chance.choice([0.0, -0.0], rows),
}


def bits(values: Array) -> list[bytes]:
    return [struct.pack("<d", value) for value in values.tolist()]


def by_limbs(values: Array, spans: Sweep) -> Array:
    limbs = exact.limbs_of_doubles(values)
    totals = [spans.running(limbs.limbs[:, k]) for k in range(limbs.limbs.shape[1])]
    return exact.rounded(exact.Limbs(np.stack(totals, axis=1), limbs.exponent))


def expected(values: Array, spans: Sweep) -> Array:
    return np.array([exact_sum(values[rows].tolist()) for rows in spans.members()], np.float64)


def longest(spans: Sweep) -> int:
    return int(spans.count().max(initial=0))


@pytest.mark.parametrize("name", COLUMNS)
def test_words_and_limbs_give_the_exact_sum_rounded_once(name: str, seed: int) -> None:
    chance = np.random.default_rng(seed)
    for number in range(examples(60, 5_000)):
        draw = in_order if number % 2 else in_any_order
        lives = draw(chance, int(chance.choice([1, 2, 30, 60])), int(chance.choice([1, 3])))
        spans = sweep(lives.groups, lives.enter, lives.leave)
        values = COLUMNS[name](chance, len(lives.groups))
        right = bits(expected(values, spans))
        assert bits(by_limbs(values, spans)) == right
        quick = words.sums(values, spans, longest(spans))
        assert quick is None or bits(quick) == right


@pytest.mark.parametrize(
    "name, quick",
    [
        ("close together", True),
        ("whole numbers", True),
        ("two signs around zero", True),
        ("halves of many sizes", True),
        ("zeros", True),
        ("every exponent", False),
        ("subnormals", False),
        ("huge beside tiny", False),
        ("large beside tiny", False),
    ],
)
def test_words_are_taken_where_they_suffice_and_refused_where_not(name: str, quick: bool) -> None:
    chance = np.random.default_rng(1)
    lives = in_order(chance, 1000, 1)
    spans = sweep(lives.groups, lives.enter, lives.leave)
    assert (words.sums(COLUMNS[name](chance, 1000), spans, longest(spans)) is not None) == quick


ODD = [1e300, -1e300, 5e-324, 1e-200, 1e25, math.inf, -math.inf, math.nan, LARGEST]


@pytest.mark.parametrize("name", ["close together", "two signs around zero", "every exponent"])
def test_a_few_odd_values_among_many(name: str, seed: int) -> None:
    """The quick form with limbs for some segments only, as SUM takes it, and NULLs beside."""
    chance = np.random.default_rng(seed)
    evaluator = Evaluator(LevelTable(declare("blp4")), Failures(), lambda *_: [])
    call = Aggregate("SUM", Literal(None, type=DOUBLE), DOUBLE)
    for odd in (0, 1, 3, 60):
        lives = in_order(chance, 400, int(chance.choice([1, 3])))
        spans = sweep(lives.groups, lives.enter, lives.leave)
        values: list[float | None] = COLUMNS[name](chance, 400).tolist()
        for place in chance.integers(0, 400, odd):
            values[place] = ODD[chance.integers(len(ODD))]
        values[7] = None
        found = aggregated(
            call, from_values(values, DOUBLE), spans, lives.groups, evaluator, (lives.enter, lives.leave)
        )
        right = [aggregate(call, [values[row] for row in rows], evaluator.levels.lattice) for rows in spans.members()]
        assert [repr(value) for value in to_values(found)] == [repr(value) for value in right]


def window(rows: int, size: int) -> Sweep:
    enter = np.arange(rows)
    return sweep(np.zeros(rows, np.int64), enter, enter + size)


@pytest.mark.parametrize("size", [1, 2, 100, 511, 512, 513, 1023, 1024, 5000])
def test_windows_of_many_sizes_whose_prefix_sums_go_around(size: int) -> None:
    """Prefix sums leave 64 bits again and again; what is in a window does not."""
    values = np.random.default_rng(size).uniform(2**40, 2**41, 6000)
    found = words.sums(values, window(6000, size), size)
    assert found is not None
    places = [0, size - 1, size, 3000, 5999]
    sums = [math.fsum(values[max(0, n - size + 1) : n + 1]) for n in places]
    assert [found[n] for n in places] == sums


def test_no_rows() -> None:
    spans = sweep(*[np.zeros(0, np.int64)] * 3)
    assert words.sums(np.zeros(0), spans, 0) is not None
    assert exact.rounded(exact.limbs_of_doubles(np.zeros(0))).tolist() == []


@pytest.mark.parametrize("greatest, quick", [(2**62 - 1, True), (2**62, False), (2**63 - 1, False), (-(2**63), False)])
def test_integers_are_summed_in_words_where_no_sum_can_leave_64_bits(greatest: int, quick: bool) -> None:
    values: Numbers = np.array([greatest, 1, 2], np.int64)
    found = words.integers(values, window(3, 2), 2)
    assert (found is not None) == quick
    if found is not None:
        assert found.tolist() == [greatest, greatest + 1, 3, 2, 0]
