"""Ranks with compartments: a label is a rank and a set of compartments, ``S:NATO,CRYPTO``.

The lattice is the product of the order of ranks and the subsets of the compartments. It is
never listed unless asked for, so sixty-four compartments cost no more than two.

Reads: lattice, order.  Read by: declare.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tidegate.errors import CaseError
from tidegate.security.lattice import SPACES, Lattice, Level, UnknownLevel, check_name, shown
from tidegate.security.order import Order
from tidegate.text import did_you_mean, listed

Point = tuple[Level, int]


@dataclass(frozen=True, slots=True, init=False)
class Compartments(Lattice):
    """A higher rank alone does not dominate: ``TS`` does not dominate ``S:NATO``.

    Labels accept their compartments in any order and print them as declared. A compartment
    that is listed twice or named like a rank is refused.
    """

    ranks: Order
    compartments: tuple[str, ...]
    bit: Mapping[str, int] = field(compare=False, repr=False)

    def __init__(self, ranks: Order, compartments: Iterable[str]) -> None:
        bit: dict[str, int] = {}
        for name in compartments:
            if check_name(name, "compartment") in bit:
                raise CaseError(f'the compartment "{name}" is listed twice')
            if ranks.knows(name):
                raise CaseError(f'"{name}" names both a rank and a compartment')
            bit[name] = 1 << len(bit)
        object.__setattr__(self, "ranks", ranks)
        object.__setattr__(self, "compartments", tuple(bit))
        object.__setattr__(self, "bit", bit)

    @property
    def bottom(self) -> Level:
        return self.ranks.bottom

    @property
    def top(self) -> Level:
        return self._label(self.ranks.top, (1 << len(self.bit)) - 1)

    @property
    def size(self) -> int:
        return self.ranks.size << len(self.bit)

    def levels(self) -> Iterator[Level]:
        return self.dominated_by(self.top)

    def find(self, text: object) -> Level | None:
        point = self._point(text)
        return None if point is None else self._label(*point)

    def dominates(self, high: Level, low: Level) -> bool:
        (high_rank, high_mask), (low_rank, low_mask) = self._point_of(high), self._point_of(low)
        return self.ranks.dominates(high_rank, low_rank) and high_mask & low_mask == low_mask

    def lub(self, a: Level, b: Level) -> Level:
        (a_rank, a_mask), (b_rank, b_mask) = self._point_of(a), self._point_of(b)
        return self._label(self.ranks.lub(a_rank, b_rank), a_mask | b_mask)

    def glb(self, a: Level, b: Level) -> Level:
        (a_rank, a_mask), (b_rank, b_mask) = self._point_of(a), self._point_of(b)
        return self._label(self.ranks.glb(a_rank, b_rank), a_mask & b_mask)

    def dominated_by(self, level: Level) -> Iterator[Level]:
        rank, mask = self._point_of(level)
        return (self._label(low, part) for low in self.ranks.dominated_by(rank) for part in _subsets(mask))

    def unknown(self, text: object) -> UnknownLevel:
        if not isinstance(text, str):
            return UnknownLevel(f"{shown(text)} is not a level")
        text = text.strip(SPACES)
        rank, _, rest = text.partition(":")
        if not self.ranks.knows(rank):
            hint = did_you_mean(rank, self.ranks.names) or f"the ranks are {listed(self.ranks.names)}"
            return UnknownLevel(f"{shown(text)} is not a level: no rank is called {shown(rank)}", hint)
        for name in (name.strip(SPACES) for name in rest.split(",")):
            if name not in self.bit:
                hint = did_you_mean(name, self.bit) or f"the compartments are {listed(self.bit) or 'none'}"
                return UnknownLevel(f"{shown(text)} is not a level: no compartment is called {shown(name)}", hint)
        return UnknownLevel(f"{shown(text)} is not a level: a compartment stands twice")

    def _label(self, rank: Level, mask: int) -> Level:
        names = [name for name, bit in self.bit.items() if mask & bit]
        return Level(f"{rank}:{','.join(names)}" if names else rank)

    def _point(self, text: object) -> Point | None:
        """Rank and set of compartments of a label; None for anything that is no label."""
        if not isinstance(text, str):
            return None
        rank_text, colon, rest = text.partition(":")
        rank = self.ranks.find(rank_text)
        names = [name.strip(SPACES) for name in rest.split(",")] if colon else []
        if rank is None or len(set(names)) < len(names) or not self.bit.keys() >= set(names):
            return None
        return rank, sum(self.bit[name] for name in names)

    def _point_of(self, level: Level) -> Point:
        point = self._point(level)
        if point is None:
            raise self.unknown(level)
        return point


def _subsets(mask: int) -> Iterator[int]:
    """All subsets of a bit set, rising, so that each comes after its own subsets."""
    part = 0
    while part != mask:
        yield part
        part = (part - mask) & mask
    yield mask
