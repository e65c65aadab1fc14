"""Rectangles of the matrix, searched and chosen as paper 003 says (P-5): the literal algorithm.

A rectangle is a set of predicates and a set of queries that all have them all; neither need be adjacent. The search
tries every subset of predicates that two queries share, so its size is exponential in how many they share. What runs by
default is `sharing/maximal.py` and `sharing/cover.py`; this is kept because its counts are the paper's.

Reads: matrix.  Read by: maximal, cover, bits, cli.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tidegate.errors import EngineError
from tidegate.sharing.matrix import Matrix, members

MOST_SEARCHED = 50_000
"""Rectangles after which the literal search gives up: a dozen predicates shared by two queries are 4,096 of them."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Predicates and queries, as masks; every one of these queries has every one of these predicates."""

    predicates: int
    queries: int

    @property
    def height(self) -> int:
        """How many predicates it has."""
        return self.predicates.bit_count()

    @property
    def ones(self) -> int:
        """How many ones of the matrix it covers."""
        return self.predicates.bit_count() * self.queries.bit_count()

    def contains(self, other: Rectangle) -> bool:
        """Whether it covers all that the other covers."""
        return not (other.predicates & ~self.predicates or other.queries & ~self.queries)


def search_rectangles(matrix: Matrix, height: int | None = None, most: int = MOST_SEARCHED) -> tuple[Rectangle, ...]:
    """All rows, all columns, and every set of up to ``height`` predicates that more than one query has, each once.

    EngineError beyond ``most`` rectangles.
    """
    rows = [Rectangle(1 << place, queries) for place, queries in enumerate(matrix.rows) if queries]
    columns = [Rectangle(held, 1 << query) for query, held in enumerate(matrix.columns) if held]
    found = dict.fromkeys([*rows, *columns])
    grown = rows
    for _ in range(1, matrix.predicates if height is None else height):
        grown = list(islice((taller for one in grown for taller in _taller(one, rows)), most + 1))
        found.update(dict.fromkeys(grown))
        if len(found) > most:
            raise EngineError(f"the matrix has more than {most:,} rectangles, too many for the literal algorithm")
    return tuple(found)


def _taller(one: Rectangle, rows: Iterable[Rectangle]) -> Iterator[Rectangle]:
    """With one predicate more; predicates are added in rising order, so that each set is reached once."""
    for row in rows:
        queries = one.queries & row.queries
        if row.predicates > one.predicates and queries.bit_count() > 1:
            yield Rectangle(one.predicates | row.predicates, queries)


def prune(rectangles: Iterable[Rectangle]) -> tuple[Rectangle, ...]:
    """Those that no other contains, in their order."""
    kept: list[Rectangle] = []
    for one in sorted(set(rectangles), key=lambda one: -one.ones):
        if not any(other.contains(one) for other in kept):
            kept.append(one)
    large = set(kept)
    return tuple(one for one in dict.fromkeys(rectangles) if one in large)


def uncovered_ones(uncovered: Sequence[int], one: Rectangle) -> int:
    """How many ones a rectangle would cover of those that are left, given by rows."""
    return sum((uncovered[predicate] & one.queries).bit_count() for predicate in members(one.predicates))


def strike(uncovered: list[int], one: Rectangle) -> None:
    """Take away what a rectangle covers."""
    for predicate in members(one.predicates):
        uncovered[predicate] &= ~one.queries


def greedy(matrix: Matrix, rectangles: Sequence[Rectangle]) -> tuple[Rectangle, ...]:
    """Rectangles until every one is covered, at each step the first that covers most of those that are left."""
    uncovered = list(matrix.rows)
    chosen: list[Rectangle] = []
    while any(uncovered):
        chosen.append(max(rectangles, key=lambda one: uncovered_ones(uncovered, one)))
        strike(uncovered, chosen[-1])
    return tuple(chosen)
