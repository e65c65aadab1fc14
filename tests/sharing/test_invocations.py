"""Counted invocations on a matrix shaped like the paper's, as in its Figures 9 and 10 (P-7, P-11).

`examples/network.matrix` is made up; of the paper's queries only the shape is known.
"""

from __future__ import annotations

import random
from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sharing.matrices import NETWORK, NETWORK_SELECTIVITIES, SHARED, matrices
from tidegate.sharing.bits import assign_bits, assign_bits_literally
from tidegate.sharing.invocations import count_invocations, expected_invocations
from tidegate.sharing.matrix import Matrix
from tidegate.sharing.signatures import Bits

ALL_BITS = 35
TUPLES = 4_000


def expected(bits: Bits) -> float:
    """Invocations per tuple in the network."""
    return expected_invocations(bits, NETWORK_SELECTIVITIES)


def tuples() -> list[int]:
    """Made-up packets: predicates hold independently, with the selectivities of the network."""
    chance = random.Random(1)
    return [
        sum(1 << place for place, share in enumerate(NETWORK_SELECTIVITIES) if chance.random() < share)
        for _ in range(TUPLES)
    ]


def test_figure_9_expected_invocations_fall_from_50_to_below_10() -> None:
    """P-11: all bits, by the literal algorithm and by ours."""
    assert expected(assign_bits(NETWORK, 0)) == 50
    assert expected(assign_bits(NETWORK)) < 10
    assert expected(assign_bits_literally(NETWORK)) == pytest.approx(expected(assign_bits(NETWORK)))


def test_figure_9_more_bits_are_better_and_selectivities_help_until_all_bits_fit() -> None:
    """P-7, P-11."""
    budgets = (0, 1, 2, 4, 10, 16, 24, ALL_BITS)
    without = [expected(assign_bits(NETWORK, budget)) for budget in budgets]
    knowing = [expected(assign_bits(NETWORK, budget, NETWORK_SELECTIVITIES)) for budget in budgets]
    assert without == sorted(without, reverse=True)
    assert knowing == sorted(knowing, reverse=True)
    assert all(one <= other for one, other in zip(knowing, without, strict=True))
    assert sum(one < other for one, other in zip(knowing, without, strict=True)) >= 5
    assert knowing[-1] == without[-1]


def test_figure_10_four_bits_give_a_third_of_the_saving_and_ten_half() -> None:
    """P-11: 4 of 35 bits took the processor from over 80 % to below 70 %, all of them to 47 %."""
    saved = {budget: 50 - expected(assign_bits(NETWORK, budget)) for budget in (4, 10, ALL_BITS)}
    assert saved[4] > saved[ALL_BITS] / 3
    assert saved[10] > saved[ALL_BITS] / 2


def test_figure_10_predicates_of_single_queries_save_too() -> None:
    """P-11: with the 14 shared predicates alone 58 %, with all 47 %."""
    shared = assign_bits(Matrix(SHARED, tuple(column & (1 << SHARED) - 1 for column in NETWORK.columns)))
    assert expected(assign_bits(NETWORK)) < expected(shared) / 2 < 25


@pytest.mark.parametrize("budget", [0, 4, 10, ALL_BITS])
@pytest.mark.parametrize("selectivities", [None, NETWORK_SELECTIVITIES], ids=["without", "with selectivities"])
def test_counted_invocations_are_those_expected(budget: int, selectivities: tuple[float, ...] | None) -> None:
    """P-7, P-11: over made-up packets, within three hundredths."""
    bits = assign_bits(NETWORK, budget, selectivities)
    assert count_invocations(bits, tuples()) / TUPLES == pytest.approx(expected(bits), rel=0.03)


@given(matrices(predicates=5, queries=5), st.integers(0, 4))
def test_what_is_expected_is_the_mean_over_all_assignments(matrix: Matrix, budget: int) -> None:
    """P-7: each assignment as often as independent predicates make it."""
    shares = [0.1, 0.25, 0.5, 0.75, 1.0][: matrix.predicates]
    bits = assign_bits(matrix, budget)
    mean = 0.0
    for holds in product([False, True], repeat=matrix.predicates):
        chance = prod(share if hold else 1 - share for share, hold in zip(shares, holds, strict=True))
        mean += chance * count_invocations(bits, [sum(1 << place for place, hold in enumerate(holds) if hold)])
    assert expected_invocations(bits, shares) == pytest.approx(mean)
