"""Which query has which cheap predicate (P-4): the matrix that the prefilter's bits are made from.

Sets of predicates, and of queries, are whole numbers used as bit masks, bit *n* for the one at place *n*: Python
intersects and counts a thousand of them in some microseconds. A query without cheap predicates is an empty column.

Reads: errors.  Read by: everything about the prefilter.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from tidegate.errors import CaseError

LONG = 2_000
"""Bits from which a mask is long."""

Predicate = TypeVar("Predicate", bound=Hashable)


@dataclass(frozen=True)
class Matrix:
    """Predicates by queries: ``columns`` holds the set of predicates of each query.

    >>> Matrix(3, (0b011, 0b010)).rows
    (1, 3, 0)
    """

    predicates: int
    columns: tuple[int, ...]

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """The set of queries of each predicate."""
        rows = [0] * self.predicates
        for query, column in enumerate(self.columns):
            for predicate in members(column):
                rows[predicate] |= 1 << query
        return tuple(rows)

    @property
    def ones(self) -> int:
        """How often a query has a predicate."""
        return sum(column.bit_count() for column in self.columns)

    def holders(self, conjunction: int) -> int:
        """The set of queries that have all of these predicates; every query has all of none."""
        queries = (1 << len(self.columns)) - 1
        for predicate in members(conjunction):
            queries &= self.rows[predicate]
        return queries


def members(mask: int) -> Iterator[int]:
    """The places of a set, in order.

    >>> list(members(0b1101))
    [0, 2, 3]
    """
    if mask.bit_length() > LONG:
        yield from _members_of_long(mask)
        return
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _members_of_long(mask: int) -> list[int]:
    """The same by NumPy: Python would copy a long mask for each member."""
    octets = np.frombuffer(mask.to_bytes((mask.bit_length() + 7) // 8, "little"), np.uint8)
    found: list[int] = np.flatnonzero(np.unpackbits(octets, bitorder="little")).tolist()
    return found


def matrix_of(
    queries: Iterable[Iterable[Predicate]], cheap: Callable[[Predicate], bool] = lambda predicate: True
) -> tuple[Matrix, tuple[Predicate, ...]]:
    """The matrix of queries given by their predicates, and the predicate of each row, in order of first use (P-2).

    Equal predicates are one row, so pass them in normal form (P-1); what is not cheap stays out and in its query.

    >>> matrix_of([["udp"], ["udp", "slow", "port"]], lambda predicate: predicate != "slow")
    (Matrix(predicates=2, columns=(1, 3)), ('udp', 'port'))
    """
    places: dict[Predicate, int] = {}
    columns = []
    for query in queries:
        found = [places.setdefault(predicate, len(places)) for predicate in query if cheap(predicate)]
        columns.append(sum({1 << place for place in found}))
    return Matrix(len(places), tuple(columns)), tuple(places)


def read_matrix(text: str) -> Matrix:
    """A matrix from text: a line of 0 and 1 for each predicate, a character for each query; blanks may stand between.

    CaseError, which names the line, for anything else.
    """
    lines = text.strip().splitlines()
    if not lines:
        raise CaseError("the matrix is empty; write a line of 0 and 1 for each predicate, a character for each query")
    rows = [_cells(number, line) for number, line in enumerate(lines, start=1)]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise CaseError(f"line {number} has {len(row)} of 0 and 1, but line 1 has {len(rows[0])}")
    return Matrix(len(rows), tuple(_mask(cells) for cells in zip(*rows, strict=True)))


def _mask(cells: Iterable[str]) -> int:
    return sum(1 << place for place, cell in enumerate(cells) if cell == "1")


def _cells(number: int, line: str) -> str:
    cells = "".join(line.split())
    strange = next((character for character in cells if character not in "01"), None)
    if strange is not None:
        raise CaseError(f"line {number}: {json.dumps(strange, ensure_ascii=False)} is neither 0 nor 1")
    return cells


def read_selectivities(text: str, predicates: int) -> tuple[float, ...]:
    """A number from 0 to 1 for each predicate, in order: the share of tuples for which it holds.

    Numbers are separated by blanks or line ends, or stand in a JSON list. CaseError, which names the place, otherwise.
    """
    given = _listed(text)
    for place, one in enumerate(given, start=1):
        if not 0 <= one <= 1:
            raise CaseError(f"selectivity {place} is {one:g}; it is a share, from 0 to 1")
    if len(given) != predicates:
        raise CaseError(f"selectivities: {len(given)} given for {predicates} predicates")
    return given


def _listed(text: str) -> tuple[float, ...]:
    words: Sequence[object] = text.split()
    if text.lstrip().startswith("["):
        try:
            words = json.loads(text)
        except (ValueError, RecursionError):
            raise CaseError("selectivities: begins like a JSON list, but is none") from None
    return tuple(_number(place, word) for place, word in enumerate(words, start=1))


def _number(place: int, word: object) -> float:
    try:
        if isinstance(word, str | int | float) and not isinstance(word, bool) and math.isfinite(number := float(word)):
            return number
    except (ValueError, OverflowError):
        pass
    shown = str(word)
    raise CaseError(f"selectivity {place} is not a number: {json.dumps(shown[:40], ensure_ascii=False)}")
