"""Bits and signatures: what a tuple is tested for, and which bits each query asks for (P-3, P-8).

A bit stands for a composite: a conjunction of cheap predicates. A query asks for every bit whose predicates it has; it
is invoked if those bits are all set, so one without cheap predicates asks for none and is always invoked (P-1).

Reads: matrix, rectangles.  Read by: invocations, bits, cli.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tidegate.sharing.matrix import Matrix, members
from tidegate.sharing.rectangles import Rectangle


@dataclass(frozen=True, slots=True)
class Bits:
    """The predicates of each bit, and the bits of each query, both as masks; bit *n* is the composite at place *n*."""

    composites: tuple[int, ...]
    signatures: tuple[int, ...]

    def tested(self, query: int) -> int:
        """The predicates that are known to hold when a query is invoked: never others than its own."""
        found = 0
        for bit in members(self.signatures[query]):
            found |= self.composites[bit]
        return found

    def shown(self, query: int) -> str:
        """A signature as text, the first bit first.

        >>> Bits((0b1, 0b110), (0b10,)).shown(0)
        '01'
        """
        return "".join("01"[self.signatures[query] >> bit & 1] for bit in range(len(self.composites)))


def bits_of(matrix: Matrix, rectangles: Iterable[Rectangle]) -> Bits:
    """A bit for each rectangle, overlap removed, in order of their predicates.

    Each query is tested for exactly those of its predicates that the rectangles cover, or for more of its own.
    """
    composites = without_overlap(one.predicates for one in rectangles)
    return with_signatures(matrix, sorted(composites, key=lambda one: tuple(members(one))))


def with_signatures(matrix: Matrix, composites: Iterable[int]) -> Bits:
    """The composites as bits; a query asks for each bit of which it has all predicates."""
    bits = tuple(composites)
    signatures = [0] * len(matrix.columns)
    for bit, composite in enumerate(bits):
        for query in members(matrix.holders(composite)):
            signatures[query] |= 1 << bit
    return Bits(bits, tuple(signatures))


def without_overlap(composites: Iterable[int]) -> tuple[int, ...]:
    """Composites less the parts that have a bit of their own, as often as there is one (P-8).

    Whoever has all predicates of a composite has those of its parts, and so asks for their bits as well.

    >>> [bin(one) for one in without_overlap([0b001, 0b111])]
    ['0b1', '0b110']
    """
    kept = set(composites)
    changed = True
    while changed:
        changed = False
        for one in sorted(kept, key=_small_first):
            rest = _rest(one, kept)
            if rest != one:
                kept = kept - {one} | ({rest} if rest else set())
                changed = True
    return tuple(sorted(kept, key=_small_first))


def _rest(one: int, others: Iterable[int]) -> int:
    rest = one
    for part in sorted((other for other in others if other != one and not other & ~one), key=_small_first):
        if not part & ~rest:
            rest &= ~part
    return rest


def _small_first(mask: int) -> tuple[int, int]:
    return mask.bit_count(), mask
