"""The literal search of paper 003, and the maximal rectangles found without it (P-4 to P-6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sharing.matrices import FIGURE_3, NETWORK, matrices, sets
from tidegate.errors import EngineError
from tidegate.sharing.matrix import Matrix, members
from tidegate.sharing.maximal import maximal_rectangles
from tidegate.sharing.rectangles import Rectangle, greedy, prune, search_rectangles


def covered(rectangles: tuple[Rectangle, ...]) -> set[tuple[int, int]]:
    """The cells of rectangles."""
    return {(p, q) for one in rectangles for p in members(one.predicates) for q in members(one.queries)}


def ones(matrix: Matrix) -> set[tuple[int, int]]:
    """The ones of a matrix."""
    return {(p, q) for q, column in enumerate(matrix.columns) for p in members(column)}


def test_figure_3_has_18_rectangles_of_which_6_are_left_after_pruning() -> None:
    """P-6."""
    found = search_rectangles(FIGURE_3)
    assert (len(found), len(prune(found))) == (18, 6)


def test_the_greedy_choice_for_figure_3_is_the_overlapping_covering_of_figure_5() -> None:
    """P-6: most uncovered ones first."""
    chosen = greedy(FIGURE_3, prune(search_rectangles(FIGURE_3)))
    assert sets(tuple(one.predicates for one in chosen)) == [[1, 2, 3], [5, 6], [1], [1, 4]]


def test_a_cap_on_the_height_leaves_out_what_is_taller_but_no_column() -> None:
    """P-5."""
    found = search_rectangles(FIGURE_3, height=2)
    assert [sets((one.predicates,))[0] for one in found if one.height > 2] == [[1, 2, 3], [1, 2, 3, 4], [1, 5, 6]]
    assert all(one.queries.bit_count() == 1 for one in found if one.height > 2)
    assert len(found) == 17


@given(matrices(predicates=6, queries=6), st.none() | st.integers(1, 4))
def test_rectangles_cover_ones_and_nothing_else(matrix: Matrix, height: int | None) -> None:
    """P-4, P-5: before pruning, after it, and as chosen."""
    found = search_rectangles(matrix, height)
    assert covered(found) == covered(prune(found)) == covered(greedy(matrix, prune(found))) == ones(matrix)


@given(matrices(predicates=7, queries=7))
def test_the_maximal_rectangles_are_those_that_pruning_leaves(matrix: Matrix) -> None:
    assert set(maximal_rectangles(matrix)) == set(prune(search_rectangles(matrix)))


@given(matrices(predicates=8, queries=8), st.integers(0, 30))
def test_a_cap_on_rectangles_still_leaves_every_one_covered(matrix: Matrix, most: int) -> None:
    found = maximal_rectangles(matrix, most)
    every = set(maximal_rectangles(matrix))
    assert set(found) <= every
    assert covered(found) == ones(matrix)
    assert len(found) <= max(most, matrix.predicates + len(matrix.columns))


def test_the_literal_search_gives_up_on_too_many_rectangles() -> None:
    """Two queries that share 30 predicates have a thousand million rectangles."""
    with pytest.raises(EngineError, match="more than 50,000 rectangles"):
        search_rectangles(Matrix(30, ((1 << 30) - 1,) * 2))


def test_the_network_has_the_shape_of_figure_6() -> None:
    """P-11: 47 × 50, 14 predicates shared and 33 not, 46 queries with any, 44 main rectangles, the tallest of 6 rows.

    The paper counts 116 rectangles before pruning; 6 rows in 2 queries alone are 57 taller than one row, so with rows
    and columns the literal search cannot find fewer than 117.
    """
    widths = [row.bit_count() for row in NETWORK.rows]
    assert (NETWORK.predicates, len(NETWORK.columns)) == (47, 50)
    assert (sum(width > 1 for width in widths), widths.count(1)) == (14, 33)
    assert sum(map(bool, NETWORK.columns)) == 46
    found = search_rectangles(NETWORK)
    assert (len(found), len(prune(found))) == (150, 44)
    assert max(one.height for one in found if one.queries.bit_count() > 1) == 6
