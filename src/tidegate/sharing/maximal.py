"""Maximal rectangles: those that no other contains, found without the ones that they contain.

The predicates of a maximal rectangle are what some queries have in common, so they are intersections of columns. Sparse
matrices have few; of dense ones a cap keeps the rows, the columns and as many others as it allows.

Reads: matrix, rectangles.  Read by: cover, bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import and_

from tidegate.sharing.matrix import Matrix, members
from tidegate.sharing.rectangles import Rectangle

MOST_RECTANGLES = 5_000
MOST_CELLS = 50_000_000
"""Rectangles times ones: what the search for a covering keeps in memory, in bits."""


def maximal_rectangles(matrix: Matrix, most: int = MOST_RECTANGLES) -> tuple[Rectangle, ...]:
    """Every maximal rectangle; beyond ``most`` only some of them, but always enough to cover every one.

    The order depends on nothing but the matrix.
    """
    most = min(most, MOST_CELLS // max(1, matrix.ones))
    columns = list(dict.fromkeys(column for column in matrix.columns if column))
    found = dict.fromkeys([*columns, *_closed_rows(matrix)])
    tall = _tall(columns)
    while tall and len(found) < most:
        fresh: dict[int, None] = {}
        for common in _intersections(tall, columns):
            if common and common not in found:
                found[common] = fresh[common] = None
                if len(found) >= most:
                    break
        tall = _tall(fresh)
    return tuple(Rectangle(predicates, matrix.holders(predicates)) for predicates in found)


def _closed_rows(matrix: Matrix) -> list[int]:
    """For each predicate, all predicates that every query with it has."""
    return [reduce(and_, (matrix.columns[query] for query in members(row))) for row in matrix.rows if row]


def _tall(sets: Sequence[int] | dict[int, None]) -> list[int]:
    """Those of three and more predicates: what shorter ones have in common with others is a row, or they themselves."""
    return [one for one in sets if one.bit_count() > 2]


def _intersections(sets: Sequence[int], columns: Sequence[int]) -> Iterator[int]:
    """Each set with each column; under a cap every set gets its turn before any has all."""
    for shift in range(len(columns)):
        for place, one in enumerate(sets):
            yield one & columns[(place + shift) % len(columns)]
