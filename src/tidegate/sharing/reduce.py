"""A covering problem made smaller without making its best answer worse.

Three steps, repeated while they help: take the set that alone holds an element, forget elements that are covered
whenever another is, forget sets that lie within another. Sparse matrices are often solved by this alone.

Reads: matrix.  Read by: cover.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tidegate.sharing.matrix import Matrix, members

Sets = Mapping[int, int]
"""Sets of elements, as masks, by their number."""


@dataclass(frozen=True, slots=True)
class Core:
    """What is left to decide: the elements, the sets that could cover them, and what has been taken already."""

    taken: tuple[int, ...]
    elements: int
    sets: Sets


def reduced(elements: int, sets: Sets) -> Core:
    """A problem of which every best answer, with what is taken, is a best answer of the problem given."""
    taken: list[int] = []
    before = None
    while before != (elements, len(sets)):
        before = (elements, len(sets))
        holders = held_by(elements, sets)
        alone = {who[0]: None for who in holders.values() if len(who) == 1}
        taken += alone
        for number in alone:
            elements &= ~sets[number]
        elements = _hardest(elements, sets, holders)
        sets = _largest(elements, sets)
    return Core(tuple(taken), elements, sets)


def held_by(elements: int, sets: Sets) -> dict[int, list[int]]:
    """The numbers of the sets that hold each element."""
    holders: dict[int, list[int]] = {element: [] for element in members(elements)}
    for number, mask in sets.items():
        for element in members(mask & elements):
            holders[element].append(number)
    return holders


def _hardest(elements: int, sets: Sets, holders: Mapping[int, Sequence[int]]) -> int:
    """Elements less those that all sets of another one hold."""
    for element in members(elements):
        if elements >> element & 1:
            always = elements
            for number in holders[element]:
                always &= sets[number]
            elements &= ~always | 1 << element
    return elements


def _largest(elements: int, sets: Sets) -> Sets:
    """Sets cut down to the elements, less those that lie within another; of equal ones the first stays."""
    kept: dict[int, int] = {}
    cut = {number: mask & elements for number, mask in sets.items()}
    holders: dict[int, list[int]] = {element: [] for element in members(elements)}
    for number in sorted(cut, key=lambda number: -cut[number].bit_count()):
        mask = cut[number]
        if mask and not any(mask & ~cut[other] == 0 for other in min((holders[one] for one in members(mask)), key=len)):
            kept[number] = mask
            for element in members(mask):
                holders[element].append(number)
    return kept


def independent(elements: int, sets: Sets) -> int:
    """How many elements were found of which no two lie in one set: no covering is smaller."""
    holders = held_by(elements, sets)
    reach = {element: _union(sets[number] for number in who) for element, who in holders.items()}
    count, left = 0, elements
    for element in sorted(reach, key=lambda element: reach[element].bit_count()):
        if left >> element & 1:
            count += 1
            left &= ~reach[element]
    return count


def components(core: Core) -> list[Core]:
    """Parts that share no set, each to be decided alone."""
    parts: list[Core] = []
    holders = held_by(core.elements, core.sets)
    left = core.elements
    while left:
        part, ahead, numbers = 0, left & -left, set[int]()
        while ahead:
            part |= ahead
            fresh = {number for element in members(ahead) for number in holders[element]} - numbers
            numbers |= fresh
            ahead = _union(core.sets[number] for number in fresh) & ~part
        parts.append(Core((), part, {number: core.sets[number] for number in core.sets if number in numbers}))
        left &= ~part
    return parts


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def hard_ones(matrix: Matrix) -> list[int]:
    """By rows, the ones that suffice: whatever maximal rectangles cover them cover all.

    A one at (p, q) is covered along with the one at (r, s) if p is wherever r is, and q has all that s has.
    """
    rows, columns = _first_of_equals(matrix.rows), _first_of_equals(matrix.columns)
    queries = _mask(columns)
    within = {q: _mask(s for s in columns if not matrix.columns[s] & ~matrix.columns[q]) for q in columns}
    hard = [0] * matrix.predicates
    for p in rows:
        rarer = [r for r in rows if not matrix.rows[r] & ~matrix.rows[p] and r != p]
        for q in members(matrix.rows[p] & queries):
            implied = any(matrix.rows[r] & within[q] for r in rarer) or matrix.rows[p] & within[q] & ~(1 << q)
            hard[p] |= 0 if implied else 1 << q
    return hard


def _first_of_equals(masks: Sequence[int]) -> list[int]:
    first: dict[int, int] = {}
    for place, mask in enumerate(masks):
        if mask:
            first.setdefault(mask, place)
    return list(first.values())


def _mask(places: Iterable[int]) -> int:
    return sum(1 << place for place in places)
