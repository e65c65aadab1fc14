"""An explicit finite order as a lattice: who is above whom, as bit masks.

Levels are numbered bottom-up, so in any set of levels the lowest bit is a minimal member and
the highest bit a maximal one. The common upper bounds of two levels are one AND; their least
one, if there is one, can only be the lowest bit.

Reads: lattice.  Read by: declare, compartments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import combinations

from tidegate.errors import CaseError
from tidegate.security.lattice import SPACES, Lattice, Level, UnknownLevel, check_name, shown
from tidegate.text import did_you_mean, listed

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, init=False)
class Order(Lattice):
    """The lattice of the listed names in which the first of each pair lies below the second.

    Refused when built, with the levels that offend: a cycle, two minimal levels, two levels
    without a least upper bound, a pair that uses an unlisted name. Building costs one AND for
    every two levels, a question afterwards one or two.
    """

    names: tuple[Level, ...]
    above: tuple[int, ...]
    below: tuple[int, ...] = field(compare=False, repr=False)
    number: Mapping[str, int] = field(compare=False, repr=False)

    def __init__(self, names: Iterable[str], pairs: Iterable[Pair]) -> None:
        listed_pairs = list(pairs)
        ordered = _bottom_up([check_name(name, "level") for name in names], listed_pairs)
        number = {name: place for place, name in enumerate(ordered)}
        numbered = [(number[low], number[high]) for low, high in listed_pairs]
        object.__setattr__(self, "names", tuple(map(Level, ordered)))
        object.__setattr__(self, "number", number)
        object.__setattr__(self, "above", _reachable(reversed(range(len(ordered))), numbered))
        object.__setattr__(self, "below", _reachable(range(len(ordered)), [(high, low) for low, high in numbered]))
        _check_bottom(self)
        _check_bounds(self)

    @property
    def bottom(self) -> Level:
        return self.names[0]

    @property
    def top(self) -> Level:
        return self.names[-1]

    @property
    def size(self) -> int:
        return len(self.names)

    def levels(self) -> Iterator[Level]:
        return iter(self.names)

    def find(self, text: object) -> Level | None:
        place = self.number.get(text.strip(SPACES)) if isinstance(text, str) else None
        return None if place is None else self.names[place]

    def dominates(self, high: Level, low: Level) -> bool:
        return bool(self.above[self._number_of(low)] >> self._number_of(high) & 1)

    def lub(self, a: Level, b: Level) -> Level:
        return self.names[_lowest(self.above[self._number_of(a)] & self.above[self._number_of(b)])]

    def glb(self, a: Level, b: Level) -> Level:
        return self.names[_highest(self.below[self._number_of(a)] & self.below[self._number_of(b)])]

    def dominated_by(self, level: Level) -> Iterator[Level]:
        return self.named(self.below[self._number_of(level)])

    def unknown(self, text: object) -> UnknownLevel:
        text = text.strip(SPACES) if isinstance(text, str) else text
        guess = did_you_mean(text, self.names) if isinstance(text, str) else ""
        return UnknownLevel(f"{shown(text)} is not a level", guess or f"the levels are {listed(self.names)}")

    def named(self, mask: int) -> Iterator[Level]:
        """The levels whose bits are set, bottom-up."""
        return (name for place, name in enumerate(self.names) if mask >> place & 1)

    def _number_of(self, level: Level) -> int:
        return self.number[self.level(level)]


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _highest(mask: int) -> int:
    return mask.bit_length() - 1


def _bottom_up(names: list[str], pairs: list[Pair]) -> list[str]:
    """The names, each after those below it, ties as listed; a cycle is refused and shown."""
    place = {name: number for number, name in enumerate(names)}
    if len(place) < len(names) or not names:
        raise CaseError("the levels must be listed once each, and there must be one")
    graph: dict[str, list[str]] = {name: [] for name in names}
    for low, high in pairs:
        if low not in place or high not in place:
            raise CaseError(f"{shown(low)} < {shown(high)} uses a level that is not listed")
        graph[high].append(low)
    sorter = TopologicalSorter(graph)
    try:
        sorter.prepare()
    except CycleError as error:
        raise CaseError(f"the levels form a cycle: {' < '.join(error.args[1])}") from None
    ordered: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=place.__getitem__)
        ordered.extend(ready)
        sorter.done(*ready)
    return ordered


def _reachable(numbers: Iterable[int], steps: list[tuple[int, int]]) -> tuple[int, ...]:
    """For each number the mask of those reached from it, itself included.

    ``numbers`` must be such that every step goes from a later one to an earlier one.
    """
    following: dict[int, list[int]] = {}
    for start, end in steps:
        following.setdefault(start, []).append(end)
    masks: dict[int, int] = {}
    for number in numbers:
        masks[number] = 1 << number
        for end in following.get(number, ()):
            masks[number] |= masks[end]
    return tuple(masks[number] for number in sorted(masks))


def _check_bottom(order: Order) -> None:
    """The first level is minimal; refuse another one that is."""
    for place, name in enumerate(order.names[1:], start=1):
        if order.below[place] == 1 << place:
            raise CaseError(f'no level lies below all others: nothing is below "{order.bottom}", nor below "{name}"')


def _check_bounds(order: Order) -> None:
    """Refuse the first two levels whose common upper bounds have no least member."""
    for (a, above_a), (b, above_b) in combinations(zip(order.names, order.above, strict=True), 2):
        common = above_a & above_b
        if not common:
            raise CaseError(f'"{a}" and "{b}" have no upper bound: declare a level above both')
        if order.above[_lowest(common)] != common:
            least = listed(order.named(_minimal(order, common)))
            raise CaseError(f'"{a}" and "{b}" have no least upper bound: above both are {least}, none below the others')


def _minimal(order: Order, mask: int) -> int:
    """Of a set of levels, those that dominate no other of it."""
    return sum(1 << place for place, below in enumerate(order.below) if below & mask == 1 << place)
