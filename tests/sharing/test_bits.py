"""Bits, signatures and budgets (P-1, P-3, P-6 to P-8)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.sharing.matrices import FIGURE_3, NETWORK, matrices, sets
from tests.sharing.test_rectangles import covered
from tidegate.sharing.bits import assign_bits, assign_bits_literally, by_invocations, by_ones
from tidegate.sharing.invocations import expected_invocations, invoked, outcome
from tidegate.sharing.matrix import Matrix, matrix_of
from tidegate.sharing.maximal import maximal_rectangles
from tidegate.sharing.signatures import Bits, with_signatures, without_overlap

Way = Callable[..., Bits]
BOTH = pytest.mark.parametrize("way", [assign_bits, assign_bits_literally])


def shown(bits: Bits) -> list[str]:
    """All signatures as text."""
    return [bits.shown(query) for query in range(len(bits.signatures))]


@BOTH
def test_figure_3_has_its_four_bits_and_six_signatures(way: Way) -> None:
    """P-6."""
    bits = way(FIGURE_3)
    assert sets(bits.composites) == [[1], [2, 3], [4], [5, 6]]
    assert shown(bits) == ["1100", "1110", "1010", "1000", "1001", "0001"]


def test_figure_1_has_its_signatures_and_invokes_q1_and_q3() -> None:
    """P-3: the three predicates of the introduction, one bit each."""
    matrix, predicates = matrix_of([["UDP"], ["UDP", "dest_port=53"], ["UDP", "src_port=53"]])
    order = [predicates.index(name) for name in ("UDP", "src_port=53", "dest_port=53")]
    bits = with_signatures(matrix, [1 << place for place in order])
    assert shown(bits) == ["100", "101", "110"]
    udp_from_53 = 1 << order[0] | 1 << order[1]
    assert outcome(bits, udp_from_53) == 0b011  # 110, the first bit first
    assert invoked(bits, outcome(bits, udp_from_53)) == [0, 2]


@BOTH
def test_five_predicates_of_the_introduction_fit_three_bits(way: Way) -> None:
    """P-3."""
    matrix, _ = matrix_of([["UDP"], ["UDP", "dest_port=53", "qr=0"], ["UDP", "src_port=53", "qr=1"]])
    bits = way(matrix)
    assert sets(bits.composites) == [[1], [2, 3], [4, 5]]
    assert shown(bits) == ["100", "110", "101"]


@BOTH
@given(matrix=matrices(predicates=10, queries=12))
@settings(max_examples=examples(60, 5_000))
def test_a_query_is_invoked_exactly_if_its_predicates_hold(way: Way, matrix: Matrix) -> None:
    """P-8: for all assignments; a query without predicates is always invoked (P-1)."""
    bits = way(matrix)
    for holding in range(1 << matrix.predicates):
        wanted = [query for query, column in enumerate(matrix.columns) if not column & ~holding]
        assert invoked(bits, outcome(bits, holding)) == wanted


@BOTH
@given(matrix=matrices(predicates=6, queries=8), budget=st.integers(0, 5))
def test_within_a_budget_no_query_is_missed(way: Way, matrix: Matrix, budget: int) -> None:
    """P-7: for all assignments, with and without selectivities."""
    for selectivities in (None, [0.5] * matrix.predicates, [1.0] * matrix.predicates):
        bits = way(matrix, budget, selectivities)
        assert len(bits.composites) <= budget
        for holding in range(1 << matrix.predicates):
            wanted = {query for query, column in enumerate(matrix.columns) if not column & ~holding}
            assert wanted <= set(invoked(bits, outcome(bits, holding)))


@BOTH
@given(matrix=matrices(predicates=7, queries=8), data=st.data())
def test_with_enough_bits_selectivities_change_no_invocation(way: Way, matrix: Matrix, data: st.DataObject) -> None:
    """P-7: also where some predicates always hold, and so save nothing."""
    shares = st.sampled_from([0.0, 0.1, 0.5, 1.0])
    selectivities = data.draw(st.lists(shares, min_size=matrix.predicates, max_size=matrix.predicates))
    for budget in (None, 100):
        bits = way(matrix, budget, selectivities)
        assert [bits.tested(query) for query in range(len(matrix.columns))] == list(matrix.columns)


@given(st.lists(st.integers(1, 255), max_size=8))
def test_removing_overlap_keeps_every_conjunction_and_leaves_no_part_with_its_own_bit(composites: list[int]) -> None:
    """P-8: whoever had all predicates of a composite has bits for exactly these."""
    simpler = without_overlap(composites)
    assert len(simpler) <= len(set(composites))
    assert not [(one, part) for one in simpler for part in simpler if one != part and not part & ~one]
    for composite in composites:
        found = 0
        for one in simpler:
            found |= one if not one & ~composite else 0
        assert found == composite


def test_overlap_is_removed_again_where_its_removal_makes_new_parts() -> None:
    """P-8: more than one pass. {2} leaves {1} of {1, 2}, and only then is {1} a part of {1, 3}."""
    assert sets(tuple(sorted(without_overlap([0b010, 0b011, 0b101])))) == [[1], [2], [3]]


def test_equal_and_empty_rows_and_columns_cost_no_bits() -> None:
    matrix = Matrix(6, (0b000110, 0, 0b000110, 0b110110, 0))
    bits = assign_bits(matrix)
    assert sets(bits.composites) == [[2, 3], [5, 6]]
    assert shown(bits) == ["10", "00", "10", "11", "00"]


@BOTH
def test_no_queries_or_no_predicates_need_no_bits(way: Way) -> None:
    assert way(Matrix(3, ())) == Bits((), ())
    assert way(Matrix(2, (0, 0))) == way(Matrix(6, (0, 0)), 3) == Bits((), (0, 0))


# ------------------------------------------------------------------------------ budgets


def test_the_first_bits_are_those_that_cover_most_ones() -> None:
    """P-7: the order of the greedy choice in P-6."""
    assert sets(assign_bits(FIGURE_3, 1).composites) == [[1, 2, 3]]
    assert sets(assign_bits(FIGURE_3, 2).composites) == [[1, 2, 3], [5, 6]]
    assert shown(assign_bits(FIGURE_3, 2)) == ["10", "10", "00", "00", "01", "01"]


def test_with_selectivities_the_first_bit_saves_most_invocations() -> None:
    """P-7: predicate 1 seldom holds and is in five queries; the tall rectangle would save two invocations at most."""
    bits = assign_bits(FIGURE_3, 1, [0.01, 0.5, 0.5, 0.5, 0.5, 0.5])
    assert sets(bits.composites) == [[1]]
    assert expected_invocations(bits, [0.01] + [0.5] * 5) == pytest.approx(1.05)


@given(matrices(predicates=7, queries=8), st.integers(1, 6), st.randoms(use_true_random=False))
def test_selectivities_never_make_it_worse(matrix: Matrix, budget: int, chance: object) -> None:
    """P-7: by what they let expect."""
    selectivities = [chance.choice([0.0, 0.05, 0.3, 0.9, 1.0]) for _ in range(matrix.predicates)]  # type: ignore[attr-defined]
    with_them, without = assign_bits(matrix, budget, selectivities), assign_bits(matrix, budget)
    assert expected_invocations(with_them, selectivities) <= expected_invocations(without, selectivities)


@given(matrices(predicates=6, queries=7), st.integers(1, 5))
def test_each_choice_covers_most_or_saves_most_of_what_is_left(matrix: Matrix, most: int) -> None:
    """P-7: the queue gives what looking at every rectangle at every step gives."""
    rectangles = maximal_rectangles(matrix)
    for chosen in (by_ones(matrix, rectangles, most), by_invocations(matrix, rectangles, most, [0.0] * 6)):
        assert len(set(chosen)) == len(chosen) <= most
    before: set[tuple[int, int]] = set()
    for one in by_ones(matrix, rectangles, most):
        best = max(len(covered((other,)) - before) for other in rectangles)
        assert len(covered((one,)) - before) == best
        before |= covered((one,))


def test_a_larger_budget_tests_more_of_the_network() -> None:
    """P-7: predicates known to hold when queries are invoked, for rising budgets."""
    tested = [
        sum(bits.tested(query).bit_count() for query in range(50))
        for bits in (assign_bits(NETWORK, budget) for budget in (0, 4, 16, 35))
    ]
    assert tested == sorted(tested)
    assert (tested[0], tested[-1]) == (0, NETWORK.ones)
