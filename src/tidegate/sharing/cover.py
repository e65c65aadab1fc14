"""The covering used by default: few rectangles, found in seconds for a thousand queries (P-4).

Finding the fewest is hard in general. So: all maximal rectangles up to a cap, what must be taken is taken
(`sharing/reduce.py`), and of the rest a greedy choice is improved: take some rectangles out, fill up greedily, drop
what became redundant, keep the result if it is not worse. The same matrix always gives the same covering.

Reads: matrix, rectangles, maximal, reduce.  Read by: bits.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from tidegate.sharing.matrix import Matrix, members
from tidegate.sharing.rectangles import Rectangle
from tidegate.sharing.reduce import Core, Sets, components, hard_ones, held_by, independent, reduced

ROUNDS = 200
"""How often an answer is taken apart and put together again, for each part of the problem …"""
MOST_WORK = 1_000_000
"""… unless elements and sets, times rounds, are more than this: large parts get fewer rounds."""

MOST_ONES = 100_000
"""Ones beyond which nothing is searched: so dense a matrix hardly has a covering smaller than its rows."""

Holders = Mapping[int, Sequence[int]]
"""The numbers of the sets that hold each element."""


def cover(matrix: Matrix, rectangles: Sequence[Rectangle], rounds: int = ROUNDS) -> tuple[Rectangle, ...]:
    """Few of the rectangles, which together cover every one of the matrix, in the order given.

    The rectangles must be maximal and cover every one, as `maximal_rectangles` gives them.
    """
    ones = hard_ones(matrix)
    if sum(row.bit_count() for row in ones) > MOST_ONES:
        return _rows_or_columns(matrix, rectangles)
    elements, sets = _as_sets(ones, rectangles)
    core = reduced(elements, sets)
    chosen = [*core.taken, *(number for part in components(core) for number in _solve(part, rounds))]
    return tuple(rectangles[number] for number in sorted(chosen))


def _rows_or_columns(matrix: Matrix, rectangles: Sequence[Rectangle]) -> tuple[Rectangle, ...]:
    """A rectangle for each different row, or for each different column, whichever are fewer."""
    rows, columns = set(matrix.rows), set(matrix.columns)
    by_row = tuple(one for one in rectangles if one.queries in rows)
    by_column = tuple(one for one in rectangles if one.predicates in columns)
    return min(by_row, by_column, key=len)


def _as_sets(ones: Sequence[int], rectangles: Sequence[Rectangle]) -> tuple[int, Sets]:
    """Ones as elements, rectangles as sets of them."""
    numbers: dict[tuple[int, int], int] = {}
    for predicate, row in enumerate(ones):
        for query in members(row):
            numbers[predicate, query] = len(numbers)
    sets = {}
    for number, one in enumerate(rectangles):
        cells = [(p, q) for p in members(one.predicates) for q in members(ones[p] & one.queries)]
        if cells:
            sets[number] = sum(1 << numbers[cell] for cell in cells)
    return (1 << len(numbers)) - 1, sets


# ------------------------------------------------------------------------------ the search


def _solve(part: Core, rounds: int) -> list[int]:
    """A small choice of sets that cover a part; the search ends early where none can be smaller."""
    least = independent(part.elements, part.sets)
    holders = held_by(part.elements, part.sets)
    chance = random.Random(1)
    best = _filled(part, holders, [], chance)
    for _ in range(min(rounds, MOST_WORK // (len(part.sets) + len(holders)))):
        if len(best) == least:
            break
        out = chance.randint(1, min(len(best), 8))
        kept = set(chance.sample(best, len(best) - out))
        tried = _filled(part, holders, [number for number in best if number in kept], chance)
        best = min(tried, best, key=len)  # of equally many the new one: it leads elsewhere
    return best


def _filled(part: Core, holders: Holders, chosen: list[int], chance: random.Random) -> list[int]:
    """The sets chosen and others until all elements are covered, none of them redundant."""
    left, filled = part.elements, list(chosen)
    for number in chosen:
        left &= ~part.sets[number]
    near = sorted({number for element in members(left) for number in holders[element]})
    queue = [(-(part.sets[number] & left).bit_count(), chance.random(), number) for number in near]
    heapify(queue)
    while left:
        gain, tie, number = heappop(queue)
        now = -(part.sets[number] & left).bit_count()
        if now == gain:
            filled.append(number)
            left &= ~part.sets[number]
        elif now:  # gains only fall, so the first whose gain is still true has the greatest
            heappush(queue, (now, tie, number))
    return _without_redundant(part.sets, filled)


def _without_redundant(sets: Sets, chosen: Sequence[int]) -> list[int]:
    """The chosen sets less those whose elements others hold, the smallest tried first."""
    kept = sorted(chosen, key=lambda number: sets[number].bit_count())
    while True:
        once = _held_once(sets[number] for number in kept)
        redundant = next((number for number in kept if not sets[number] & once), None)
        if redundant is None:
            return kept
        kept.remove(redundant)


def _held_once(masks: Iterable[int]) -> int:
    """The elements that exactly one of the sets holds."""
    some = several = 0
    for mask in masks:
        several |= some & mask
        some |= mask
    return some & ~several
