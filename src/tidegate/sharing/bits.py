"""From a matrix to its bits, all of them or as many as a budget allows (P-7).

Without selectivities the first rectangles of a covering are taken, those that cover most; with them, those that save
most invocations. Both orders are tried and the better is kept, by the measure that is known.

Reads: matrix, rectangles, maximal, cover, signatures, invocations.  Read by: cli.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from heapq import heapify, heappop, heappush
from math import prod

from tidegate.sharing.cover import cover
from tidegate.sharing.invocations import expected_invocations
from tidegate.sharing.matrix import Matrix, members
from tidegate.sharing.maximal import maximal_rectangles
from tidegate.sharing.rectangles import (
    Rectangle,
    greedy,
    prune,
    search_rectangles,
    strike,
    uncovered_ones,
)
from tidegate.sharing.signatures import Bits, bits_of

Choice = tuple[Rectangle, ...]


def assign_bits(matrix: Matrix, budget: int | None = None, selectivities: Sequence[float] | None = None) -> Bits:
    """Few bits for all predicates, or the best that were found within a budget.

    With all bits a query is invoked exactly if its cheap predicates hold (P-8); with fewer, at least then. With
    selectivities no more invocations are expected than without them. The same input gives the same bits.
    """
    rectangles = maximal_rectangles(matrix)
    whole = cover(matrix, rectangles)
    if budget is None or len(whole) <= budget:
        return bits_of(matrix, whole)
    choices: list[Choice] = [by_ones(matrix, whole, budget), by_ones(matrix, rectangles, budget)]
    most = bits_of(matrix, max(choices, key=partial(_covered, matrix)))
    if selectivities is None:
        return most
    saving = by_invocations(matrix, rectangles, budget, selectivities)
    tried = [bits_of(matrix, saving), most, *(bits_of(matrix, choice) for choice in choices)]
    return min(tried, key=lambda bits: expected_invocations(bits, selectivities))


def assign_bits_literally(
    matrix: Matrix,
    budget: int | None = None,
    selectivities: Sequence[float] | None = None,
    height: int | None = None,
) -> Bits:
    """The bits as paper 003 finds them: search, prune, greedy choice, removal of overlap (P-5 to P-8).

    EngineError where the matrix has too many rectangles for the search.
    """
    rectangles = prune(search_rectangles(matrix, height))
    if selectivities is None:
        return bits_of(matrix, greedy(matrix, rectangles)[:budget])
    chosen = by_invocations(matrix, rectangles, len(rectangles) if budget is None else budget, selectivities)
    if budget is None or len(chosen) < budget:  # what never fails saves nothing, and is covered last
        chosen = (chosen + _remaining(matrix, rectangles, chosen))[:budget]
    return bits_of(matrix, chosen)


def _remaining(matrix: Matrix, rectangles: Sequence[Rectangle], chosen: Choice) -> Choice:
    uncovered = list(matrix.rows)
    for one in chosen:
        strike(uncovered, one)
    left = Matrix(matrix.predicates, tuple(_column(uncovered, query) for query in range(len(matrix.columns))))
    return greedy(left, rectangles)


def _column(rows: Sequence[int], query: int) -> int:
    return sum(1 << predicate for predicate, row in enumerate(rows) if row >> query & 1)


def _covered(matrix: Matrix, choice: Choice) -> int:
    uncovered = list(matrix.rows)
    for one in choice:
        strike(uncovered, one)
    return matrix.ones - sum(row.bit_count() for row in uncovered)


# ------------------------------------------------------------------------------ the first k


def by_ones(matrix: Matrix, rectangles: Sequence[Rectangle], most: int) -> Choice:
    """At most so many rectangles, at each step one that covers most ones of those left.

    Of several such, one with most queries that have no bit yet: a first test saves more than a second.
    """
    uncovered, queries = list(matrix.rows), len(matrix.columns)
    untested = (1 << queries) - 1

    def gain(one: Rectangle) -> float:
        return uncovered_ones(uncovered, one) + (untested & one.queries).bit_count() / (queries + 1)

    def take(one: Rectangle) -> None:
        nonlocal untested
        untested &= ~one.queries
        strike(uncovered, one)

    return _best_first(rectangles, most, gain, take)


def by_invocations(
    matrix: Matrix, rectangles: Sequence[Rectangle], most: int, selectivities: Sequence[float]
) -> Choice:
    """At most so many rectangles, at each step the first with the largest fall in expected invocations."""
    tested = [0] * len(matrix.columns)
    passing = [1.0] * len(matrix.columns)

    def share(query: int, one: Rectangle) -> float:
        return prod(selectivities[predicate] for predicate in members(one.predicates & ~tested[query]))

    def fall(one: Rectangle) -> float:
        return sum(passing[query] * (1 - share(query, one)) for query in members(one.queries))

    def take(one: Rectangle) -> None:
        for query in members(one.queries):
            passing[query] *= share(query, one)
            tested[query] |= one.predicates

    return _best_first(rectangles, most, fall, take)


def _best_first(
    rectangles: Sequence[Rectangle],
    most: int,
    gain: Callable[[Rectangle], float],
    take: Callable[[Rectangle], None],
) -> Choice:
    """Greedy choice. Gains may only fall as rectangles are taken, so most need not be computed again."""
    queue = [(-gain(one), place) for place, one in enumerate(rectangles)]
    heapify(queue)
    chosen: list[Rectangle] = []
    while queue and len(chosen) < most:
        before, place = heappop(queue)
        now = -gain(rectangles[place])
        if now == before and now:
            chosen.append(rectangles[place])
            take(rectangles[place])
        elif now:
            heappush(queue, (now, place))
    return tuple(chosen)
