"""All small orders: every lattice obeys the laws, everything else is refused for a reason that holds (M-1).

Orders are made here without the code under test: an order on 0 … n-1 is the set of pairs (low, high),
low < high as numbers, closed under transitivity. Every finite order can be numbered like that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import combinations, pairwise, permutations, product

import pytest

from tidegate.errors import CaseError
from tidegate.security.lattice import Level
from tidegate.security.order import Order

Relation = frozenset[tuple[int, int]]
LATTICES_UP_TO_ISOMORPHISM = {1: 1, 2: 1, 3: 1, 4: 2, 5: 5, 6: 15}  # OEIS A006966


@cache
def orders(size: int) -> tuple[Relation, ...]:
    """All strict orders on 0 … size-1 whose pairs rise: add a last element above any down-closed set."""
    if size == 0:
        return (frozenset(),)
    last = size - 1
    return tuple(
        smaller | {(low, last) for low in lows}
        for smaller in orders(last)
        for lows in subsets(last)
        if all(lower in lows for lower, higher in smaller if higher in lows)
    )


def subsets(size: int) -> Iterator[tuple[int, ...]]:
    return (chosen for count in range(size + 1) for chosen in combinations(range(size), count))


def at_most(relation: Relation, low: int, high: int) -> bool:
    return low == high or (low, high) in relation


def upper_bounds(relation: Relation, size: int, a: int, b: int) -> set[int]:
    return {c for c in range(size) if at_most(relation, a, c) and at_most(relation, b, c)}


def least(relation: Relation, members: set[int]) -> set[int]:
    return {low for low in members if all(at_most(relation, low, other) for other in members)}


def minimal(relation: Relation, members: set[int]) -> set[int]:
    return {low for low in members if not any((other, low) in relation for other in members)}


def is_lattice(relation: Relation, size: int) -> bool:
    """One bottom, and a least upper bound for every two."""
    pairs = product(range(size), repeat=2)
    return bool(least(relation, set(range(size)))) and all(
        least(relation, upper_bounds(relation, size, a, b)) for a, b in pairs
    )


def canonical(relation: Relation, size: int) -> tuple[tuple[int, int], ...]:
    return min(tuple(sorted((p[low], p[high]) for low, high in relation)) for p in permutations(range(size)))


@cache
def lattices(size: int) -> tuple[Relation, ...]:
    return tuple(relation for relation in orders(size) if is_lattice(relation, size))


def built(relation: Relation, size: int) -> Order:
    return Order([name(i) for i in range(size)], [(name(low), name(high)) for low, high in sorted(relation)])


def name(number: int) -> Level:
    return Level("abcdefg"[number])


@pytest.mark.parametrize("size", LATTICES_UP_TO_ISOMORPHISM)
def test_the_enumeration_finds_every_lattice(size: int) -> None:
    shapes = {canonical(relation, size) for relation in lattices(size)}
    assert len(shapes) == LATTICES_UP_TO_ISOMORPHISM[size]


def test_the_enumeration_finds_every_order() -> None:
    assert [len(orders(size)) for size in range(1, 6)] == [1, 2, 7, 40, 357]  # OEIS A006455


@pytest.mark.parametrize("size", LATTICES_UP_TO_ISOMORPHISM)
def test_dominance_and_bounds_are_those_of_the_order(size: int) -> None:
    """M-1: dominance, strict dominance, equality and incomparability, against the definitions."""
    for relation in lattices(size):
        order = built(relation, size)
        turned = frozenset((high, low) for low, high in relation)
        for a, b in product(range(size), repeat=2):
            assert order.dominates(name(a), name(b)) == at_most(relation, b, a)
            assert order.strictly_dominates(name(a), name(b)) == ((b, a) in relation)
            assert order.incomparable(name(a), name(b)) == (not {(a, b), (b, a)} & relation and a != b)
            assert {order.lub(name(a), name(b))} == set(map(name, least(relation, upper_bounds(relation, size, a, b))))
            assert {order.glb(name(a), name(b))} == set(map(name, least(turned, upper_bounds(turned, size, a, b))))


@pytest.mark.parametrize("size", LATTICES_UP_TO_ISOMORPHISM)
def test_lattice_laws(size: int) -> None:
    for relation in lattices(size):
        order = built(relation, size)
        lub, glb, members = order.lub, order.glb, list(order.levels())
        for a in members:
            assert lub(a, a) == a == glb(a, a)
            assert lub(a, order.bottom) == a == glb(a, order.top)
            assert glb(a, order.bottom) == order.bottom
            assert lub(a, order.top) == order.top
        for a, b in product(members, repeat=2):
            assert lub(a, b) == lub(b, a)
            assert glb(a, b) == glb(b, a)
            assert lub(a, glb(a, b)) == a == glb(a, lub(a, b))
            assert order.dominates(a, b) == (lub(a, b) == a) == (glb(a, b) == b)
        for a, b, c in product(members, repeat=3):
            assert lub(lub(a, b), c) == lub(a, lub(b, c)) == order.lub_of([c, a, b])
            assert glb(glb(a, b), c) == glb(a, glb(b, c))


@pytest.mark.parametrize("size", LATTICES_UP_TO_ISOMORPHISM)
def test_levels_come_bottom_up_and_once(size: int) -> None:
    for relation in lattices(size):
        order = built(relation, size)
        members = list(order.levels())
        assert sorted(members) == [name(i) for i in range(size)]
        assert (members[0], members[-1], len(members)) == (order.bottom, order.top, order.size)
        assert not any(order.strictly_dominates(a, b) for a, b in combinations(members, 2))
        for level in members:
            assert list(order.dominated_by(level)) == [low for low in members if order.dominates(level, low)]


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_every_other_order_is_refused_with_a_pair_that_offends(size: int) -> None:
    refused = [relation for relation in orders(size) if not is_lattice(relation, size)]
    assert len(refused) + len(lattices(size)) == len(orders(size))
    assert refused
    for relation in refused:
        with pytest.raises(CaseError) as caught:
            built(relation, size)
        assert_offends(relation, size, str(caught.value))


def assert_offends(relation: Relation, size: int, message: str) -> None:
    """The message names two levels, and what it says about them is true."""
    a, b, *others = ["abcdefg".index(quoted) for quoted in re.findall(r'"([a-g])"', message)]
    assert a != b
    bounds = upper_bounds(relation, size, a, b)
    if message.startswith("no level lies below all others"):
        assert {a, b} <= minimal(relation, set(range(size)))
    elif "no upper bound" in message:
        assert not bounds
    else:
        assert "no least upper bound" in message
        assert set(others) == minimal(relation, bounds)
        assert len(others) > 1


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_any_set_of_pairs_is_taken_exactly_if_its_closure_is_a_lattice(size: int) -> None:
    """All directed graphs, cycles and redundant pairs included."""
    every = [(a, b) for a, b in product(range(size), repeat=2) if a != b]
    taken = 0
    for chosen in product([False, True], repeat=len(every)):
        pairs = [pair for pair, here in zip(every, chosen, strict=True) if here]
        closure = closed(pairs)
        try:
            order = Order(map(name, range(size)), [(name(low), name(high)) for low, high in pairs])
        except CaseError as error:
            assert_refused_rightly(closure, size, str(error))
        else:
            taken += 1
            assert is_lattice(closure, size)
            for a, b in product(range(size), repeat=2):
                assert order.dominates(name(a), name(b)) == at_most(closure, b, a)
    assert taken > 0


def closed(pairs: list[tuple[int, int]]) -> Relation:
    relation = set(pairs)
    while more := {(a, d) for (a, b), (c, d) in product(relation, repeat=2) if b == c} - relation:
        relation |= more
    return frozenset(relation)


def assert_refused_rightly(closure: Relation, size: int, message: str) -> None:
    if message.startswith("the levels form a cycle: "):
        round_trip = ["abcdefg".index(one) for one in message.removeprefix("the levels form a cycle: ").split(" < ")]
        assert round_trip[0] == round_trip[-1]
        assert all((low, high) in closure for low, high in pairwise(round_trip))
    else:
        assert not any((a, a) in closure for a in range(size))
        assert_offends(closure, size, message)
