"""How many queries are invoked: for given tuples, or expected from selectivities (P-3, P-7).

A tuple is here the set of predicates that hold for it. Without bits every query is invoked for every tuple.

Reads: matrix, signatures.  Read by: bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from tidegate.sharing.matrix import members
from tidegate.sharing.signatures import Bits


def outcome(bits: Bits, holding: int) -> int:
    """The bit vector B of a tuple for which exactly these predicates hold."""
    return sum(1 << bit for bit, composite in enumerate(bits.composites) if not composite & ~holding)


def invoked(bits: Bits, vector: int) -> list[int]:
    """The queries to invoke, in order: those whose bits are all set, B & S = S.

    >>> invoked(Bits((1, 2, 4), (0b001, 0b101, 0b011)), 0b011)
    [0, 2]
    """
    return [query for query, signature in enumerate(bits.signatures) if vector & signature == signature]


def count_invocations(bits: Bits, tuples: Iterable[int]) -> int:
    """How often queries are invoked for tuples, each given by the predicates that hold for it."""
    return sum(len(invoked(bits, outcome(bits, holding))) for holding in tuples)


def expected_invocations(bits: Bits, selectivities: Sequence[float]) -> float:
    """How many queries a tuple invokes on average, if predicates hold independently of each other."""
    return sum(
        prod(selectivities[predicate] for predicate in members(bits.tested(query)))
        for query in range(len(bits.signatures))
    )
