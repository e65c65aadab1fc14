"""Ranks with compartments: labels as text, and the product order against its own enumeration (M-1)."""

from __future__ import annotations

import pickle
from itertools import combinations, islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import CaseError
from tidegate.security.compartments import Compartments
from tidegate.security.lattice import Level, UnknownLevel
from tidegate.security.order import Order

CHAIN = Order(["U", "S", "TS"], [("U", "S"), ("S", "TS")])
DIAMOND = Order(["lo", "hi1", "hi2", "top"], [("lo", "hi1"), ("lo", "hi2"), ("hi1", "top"), ("hi2", "top")])
NATO = Compartments(CHAIN, ["NATO", "CRYPTO"])
WIDE = Compartments(CHAIN, [f"c{i}" for i in range(64)])


def at(text: str) -> Level:
    return NATO.level(text)


def test_a_higher_rank_alone_does_not_dominate() -> None:
    assert not NATO.dominates(at("TS"), at("S:NATO"))
    assert NATO.incomparable(at("TS"), at("S:NATO"))
    assert NATO.dominates(at("TS:NATO"), at("S:NATO"))
    assert NATO.strictly_dominates(at("S:NATO,CRYPTO"), at("S:NATO"))
    assert NATO.dominates(at("U"), at("U"))


def test_bounds_join_ranks_and_compartments() -> None:
    assert NATO.lub(at("TS:NATO"), at("S:CRYPTO")) == "TS:NATO,CRYPTO"
    assert NATO.glb(at("TS:NATO"), at("S:NATO,CRYPTO")) == "S:NATO"
    assert NATO.glb(at("TS:NATO"), at("S:CRYPTO")) == "S"
    assert (NATO.bottom, NATO.top, NATO.size) == ("U", "TS:NATO,CRYPTO", 12)


@pytest.mark.parametrize("text", ["S:CRYPTO,NATO", "S:NATO,CRYPTO", " S : CRYPTO , NATO ", "S:NATO,\tCRYPTO"])
def test_labels_are_accepted_in_any_order_and_printed_as_declared(text: str) -> None:
    assert NATO.level(text) == "S:NATO,CRYPTO"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s", '"s" is not a level: no rank is called "s"; did you mean "S"?'),
        ("X:NATO", '"X:NATO" is not a level: no rank is called "X"; the ranks are "U", "S", "TS"'),
        ("", '"" is not a level: no rank is called ""; the ranks are "U", "S", "TS"'),
        ("NATO", '"NATO" is not a level: no rank is called "NATO"; the ranks are "U", "S", "TS"'),
        ("S:NAT0", '"S:NAT0" is not a level: no compartment is called "NAT0"; did you mean "NATO"?'),
        ("S:", '"S:" is not a level: no compartment is called ""; the compartments are "NATO", "CRYPTO"'),
        ("S:NATO,", '"S:NATO," is not a level: no compartment is called ""; the compartments are "NATO", "CRYPTO"'),
        ("S:NATO,NATO", '"S:NATO,NATO" is not a level: a compartment stands twice'),
        ("S:U", '"S:U" is not a level: no compartment is called "U"; the compartments are "NATO", "CRYPTO"'),
        (None, "a value that is not a text is not a level"),
    ],
)
def test_what_is_no_label_is_refused_by_name(text: object, message: str) -> None:
    assert NATO.find(text) is None
    with pytest.raises(UnknownLevel) as caught:
        NATO.level(text)
    assert str(caught.value) == message


@pytest.mark.parametrize("ask", [NATO.dominates, NATO.lub, NATO.glb])
def test_no_question_about_an_unknown_label_is_answered(ask: object) -> None:
    for pair in product([Level("U"), Level("S:X")], repeat=2):
        if pair != ("U", "U"):
            with pytest.raises(UnknownLevel):
                ask(*pair)  # type: ignore[operator]
    with pytest.raises(UnknownLevel):
        NATO.dominated_by(Level("S:X"))


@pytest.mark.parametrize(
    ("compartments", "message"),
    [
        (["A", "B", "A"], 'the compartment "A" is listed twice'),
        (["A", "S"], '"S" names both a rank and a compartment'),
        (["A,B"], '"A,B" cannot name a compartment: the character , is reserved'),
        ([""], "the name of a compartment is empty"),
        (["A "], '"A " cannot name a compartment: it has outer spaces or unprintable characters'),
    ],
)
def test_compartments_that_could_be_misread_are_refused(compartments: list[str], message: str) -> None:
    with pytest.raises(CaseError) as caught:
        Compartments(CHAIN, compartments)
    assert str(caught.value) == message


def test_without_compartments_the_ranks_remain() -> None:
    plain = Compartments(CHAIN, [])
    assert list(plain.levels()) == ["U", "S", "TS"]
    with pytest.raises(UnknownLevel, match="the compartments are none"):
        plain.level("S:NATO")


def test_sixty_four_compartments_work_without_listing_the_levels() -> None:
    assert WIDE.size == 3 * 2**64
    assert WIDE.top == "TS:" + ",".join(f"c{i}" for i in range(64))
    assert WIDE.lub(Level("U:c63"), Level("S:c0")) == "S:c0,c63"
    assert list(islice(WIDE.levels(), 5)) == ["U", "U:c0", "U:c1", "U:c0,c1", "U:c2"]
    assert list(WIDE.dominated_by(Level("S:c9,c63"))) == [
        *("U", "U:c9", "U:c63", "U:c9,c63"),
        *("S", "S:c9", "S:c63", "S:c9,c63"),
    ]


def test_compartment_lattices_are_values() -> None:
    assert pickle.loads(pickle.dumps(NATO)) == NATO == Compartments(CHAIN, iter(["NATO", "CRYPTO"]))
    assert hash(NATO) == hash(Compartments(CHAIN, ("NATO", "CRYPTO")))
    assert Compartments(CHAIN, ["CRYPTO", "NATO"]) != NATO


@pytest.mark.parametrize("ranks", [CHAIN, DIAMOND, Order(["U"], [])])
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_it_agrees_with_the_order_that_lists_it(ranks: Order, count: int) -> None:
    """The same levels as an explicit order, made from the definition: rank above rank, set within set."""
    names = "xyz"[:count]
    points = [(r, frozenset(c)) for r in ranks.levels() for k in range(count + 1) for c in combinations(names, k)]
    lattice = Compartments(ranks, names)
    label = {point: lattice.level(f"{point[0]}:{','.join(point[1])}".rstrip(":")) for point in points}
    flat = {label[p]: Level(f"{p[0]}.{''.join(sorted(p[1]))}") for p in points}
    pairs = [(p, q) for p, q in product(points, repeat=2) if p != q]
    below = [(flat[label[p]], flat[label[q]]) for p, q in pairs if ranks.dominates(q[0], p[0]) and p[1] <= q[1]]
    order = Order(flat.values(), below)
    assert sorted(lattice.levels()) == sorted(flat)
    assert lattice.size == order.size
    assert (flat[lattice.bottom], flat[lattice.top]) == (order.bottom, order.top)
    for a, b in product(flat, repeat=2):
        assert lattice.dominates(a, b) == order.dominates(flat[a], flat[b])
        assert flat[lattice.lub(a, b)] == order.lub(flat[a], flat[b])
        assert flat[lattice.glb(a, b)] == order.glb(flat[a], flat[b])
    for a in flat:
        assert {flat[low] for low in lattice.dominated_by(a)} == set(order.dominated_by(flat[a]))


def test_levels_come_bottom_up_and_once() -> None:
    members = list(Compartments(DIAMOND, ["x", "y", "z"]).levels())
    lattice = Compartments(DIAMOND, ["x", "y", "z"])
    assert len(members) == len(set(members)) == 32
    assert not any(lattice.strictly_dominates(a, b) for a, b in combinations(members, 2))


@st.composite
def labels(draw: st.DrawFn, count: int) -> tuple[Compartments, list[Level]]:
    """A random compartment lattice and some of its labels, written in random order."""
    ranks = draw(st.sampled_from([CHAIN, DIAMOND]))
    lattice = Compartments(ranks, [f"c{i}" for i in range(draw(st.integers(0, 70)))])
    chosen = st.lists(st.sampled_from(lattice.compartments), unique=True) if lattice.compartments else st.just([])
    texts = [(draw(st.sampled_from(ranks.names)), draw(chosen)) for _ in range(count)]
    return lattice, [lattice.level(f"{rank}:{' , '.join(names)}" if names else rank) for rank, names in texts]


@given(labels(3))
def test_lattice_laws_hold_for_random_compartments(drawn: tuple[Compartments, list[Level]]) -> None:
    lattice, (a, b, c) = drawn
    lub, glb = lattice.lub, lattice.glb
    assert lub(a, a) == a == glb(a, a)
    assert lub(a, b) == lub(b, a)
    assert glb(a, b) == glb(b, a)
    assert lub(lub(a, b), c) == lub(a, lub(b, c)) == lattice.lub_of([a, b, c])
    assert glb(glb(a, b), c) == glb(a, glb(b, c))
    assert lub(a, glb(a, b)) == a == glb(a, lub(a, b))
    assert lattice.dominates(a, b) == (lub(a, b) == a) == (glb(a, b) == b)
    assert lub(a, lattice.bottom) == a == glb(a, lattice.top)
    assert lattice.level(a) == a


@given(labels(2))
def test_dominance_is_rank_above_rank_and_set_within_set(drawn: tuple[Compartments, list[Level]]) -> None:
    lattice, (a, b) = drawn
    (rank_a, _, rest_a), (rank_b, _, rest_b) = a.partition(":"), b.partition(":")
    within = set(filter(None, rest_b.split(","))) <= set(filter(None, rest_a.split(",")))
    assert lattice.dominates(a, b) == (lattice.ranks.dominates(Level(rank_a), Level(rank_b)) and within)
