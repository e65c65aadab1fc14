"""Explicit orders: look-up, order of listing, value semantics, what is refused when built."""

from __future__ import annotations

import pickle
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import CaseError
from tidegate.security.lattice import COMPARISONS, Level, UnknownLevel
from tidegate.security.order import Order

DIAMOND = Order(["lo", "hi2", "hi1", "top"], [("lo", "hi1"), ("lo", "hi2"), ("hi1", "top"), ("hi2", "top")])
LO, HI1, HI2, TOP = (Level(text) for text in ("lo", "hi1", "hi2", "top"))


def test_ties_are_listed_as_declared() -> None:
    assert list(DIAMOND.levels()) == ["lo", "hi2", "hi1", "top"]
    assert list(DIAMOND.dominated_by(HI1)) == ["lo", "hi1"]


def test_levels_come_by_height_above_the_bottom() -> None:
    order = Order("abcde", [("a", "b"), ("b", "c"), ("a", "d"), ("c", "e"), ("d", "e")])
    assert list(order.levels()) == list("abdce")


def test_incomparable_levels_are_in_no_order() -> None:
    """Q-4: incomparable gives false for every order comparison, and true for <>."""
    outcomes = {symbol: decide(DIAMOND, HI1, HI2) for symbol, decide in COMPARISONS.items()}
    assert outcomes == {"<=": False, "<": False, ">=": False, ">": False, "=": False, "<>": True}


def test_comparable_levels_compare_by_dominance() -> None:
    below = {symbol: decide(DIAMOND, LO, HI2) for symbol, decide in COMPARISONS.items()}
    equal = {symbol: decide(DIAMOND, HI1, HI1) for symbol, decide in COMPARISONS.items()}
    assert below == {"<=": True, "<": True, ">=": False, ">": False, "=": False, "<>": True}
    assert equal == {"<=": True, "<": False, ">=": True, ">": False, "=": True, "<>": False}


def test_the_lub_of_nothing_is_the_bottom() -> None:
    """Q-6: an ungrouped empty aggregate has the bottom level."""
    assert DIAMOND.lub_of([]) == LO
    assert DIAMOND.lub_of(iter([HI1, LO])) == HI1
    assert DIAMOND.lub_of([HI1, HI2]) == TOP


def test_look_up_is_exact_but_for_outer_spaces() -> None:
    assert DIAMOND.level("hi1") == DIAMOND.level(" hi1\t") == HI1
    assert DIAMOND.find("HI1") is None
    assert not DIAMOND.knows("hi 1")


@pytest.mark.parametrize("value", [None, 1, b"lo", ["lo"], {"lo": 1}, "", " ", "lo,hi1", "hi3"])
def test_what_is_no_level_is_not_known_and_raises(value: object) -> None:
    """Q-11: no, an unknown or a malformed level; look-up is total so that the gate can quarantine."""
    assert not DIAMOND.knows(value)
    with pytest.raises(UnknownLevel):
        DIAMOND.level(value)


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("Top", '"Top" is not a level', 'did you mean "top"?'),
        ("xyz", '"xyz" is not a level', 'the levels are "lo", "hi2", "hi1", "top"'),
        (7, "a value that is not a text is not a level", 'the levels are "lo", "hi2", "hi1", "top"'),
        ("a\x1b[2J\nb", '"a\\u001b[2J\\nb" is not a level', 'the levels are "lo", "hi2", "hi1", "top"'),
        ("z" * 60, f'"{"z" * 60}" is not a level', 'the levels are "lo", "hi2", "hi1", "top"'),
        ("z" * 61, f'"{"z" * 60}…" is not a level', 'the levels are "lo", "hi2", "hi1", "top"'),
    ],
)
def test_an_unknown_level_says_what_may_have_been_meant(text: object, problem: str, hint: str) -> None:
    with pytest.raises(UnknownLevel) as caught:
        DIAMOND.level(text)
    assert (caught.value.problem, caught.value.hint, str(caught.value)) == (problem, hint, f"{problem}; {hint}")


def test_an_unknown_level_is_a_case_error_that_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(UnknownLevel("problem", "hint")))
    assert issubclass(UnknownLevel, CaseError)
    assert (error.problem, error.hint, str(error)) == ("problem", "hint", "problem; hint")
    assert str(UnknownLevel("problem")) == "problem"


@pytest.mark.parametrize("ask", [DIAMOND.dominates, DIAMOND.lub, DIAMOND.glb, DIAMOND.incomparable])
def test_no_question_about_an_unknown_level_is_answered(ask: object) -> None:
    for pair in [(LO, Level("X")), (Level("X"), LO), (Level("X"), Level("X"))]:
        with pytest.raises(UnknownLevel):
            ask(*pair)  # type: ignore[operator]
    with pytest.raises(UnknownLevel):
        DIAMOND.dominated_by(Level("X"))


def test_orders_are_values() -> None:
    again = Order(iter(["lo", "hi2", "hi1", "top"]), [("hi2", "top"), ("hi1", "top"), ("lo", "hi2"), ("lo", "hi1")])
    assert again == DIAMOND == pickle.loads(pickle.dumps(DIAMOND))
    assert hash(again) == hash(DIAMOND)
    assert Order(["lo", "top"], [("lo", "top")]) != DIAMOND
    with pytest.raises(AttributeError):
        DIAMOND.names = ()  # type: ignore[misc]


@pytest.mark.parametrize(
    ("names", "pairs", "message"),
    [
        ([], [], "the levels must be listed once each, and there must be one"),
        (["a", "a"], [], "the levels must be listed once each, and there must be one"),
        (["a"], [("a", "b")], '"a" < "b" uses a level that is not listed'),
        (["a"], [("b", "a")], '"b" < "a" uses a level that is not listed'),
        (["a"], [("a", "a")], "the levels form a cycle: a < a"),
        (["a:b"], [], '"a:b" cannot name a level: the character : is reserved'),
        ([" a"], [], '" a" cannot name a level: it has outer spaces or unprintable characters'),
    ],
)
def test_what_is_no_order_is_refused(names: list[str], pairs: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(CaseError) as caught:
        Order(names, pairs)
    assert str(caught.value) == message


@given(st.integers(1, 40), st.randoms(use_true_random=False))
def test_subsets_closed_under_union_are_a_lattice_by_inclusion(count: int, random: object) -> None:
    """M-1, larger orders with many incomparable pairs: dominance is inclusion, lub is union."""
    family = {0} | {random.getrandbits(5) for _ in range(count)}  # type: ignore[attr-defined]
    while more := {a | b for a, b in combinations(family, 2)} - family:
        family |= more
    members = sorted(family, key=lambda _: random.random())  # type: ignore[attr-defined]
    order = Order(map(str, members), [(str(a), str(b)) for a in members for b in members if a != b and a & b == a])
    for a, b in combinations(members, 2):
        assert order.lub(Level(str(a)), Level(str(b))) == str(a | b)
        assert order.dominates(Level(str(a)), Level(str(b))) == (a & b == b)
        below = [c for c in members if c & a == c and c & b == c]
        assert int(order.glb(Level(str(a)), Level(str(b)))) == max(below, key=int.bit_count)
