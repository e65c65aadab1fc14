"""The two rules of flow (M-4), over every pair of several lattices."""

from __future__ import annotations

from itertools import product

import pytest

from tidegate.security.declare import declare
from tidegate.security.flow import Decision, decide_read, decide_write, may_read, may_write
from tidegate.security.lattice import Lattice, Level

DIAMOND = declare("lo < hi1, lo < hi2, hi1 < top, hi2 < top")
NATO = declare({"ranks": "U < S", "compartments": ["N", "C"]})


@pytest.mark.parametrize("lattice", [declare("blp4"), DIAMOND, NATO, declare("U")])
def test_read_what_you_dominate_and_write_at_your_level_only(lattice: Lattice) -> None:
    """M-4: simple security and the restricted star property."""
    for subject, target in product(lattice.levels(), repeat=2):
        assert may_read(lattice, subject, target) == (lattice.lub(subject, target) == subject)
        assert may_write(lattice, subject, target) == (subject == target)


@pytest.mark.parametrize("lattice", [declare("blp4"), DIAMOND, NATO])
def test_no_chain_of_flows_leads_down(lattice: Lattice) -> None:
    """M-10: whoever reads x and writes y has y above x, so any number of steps only rises."""
    for x, subject, y in product(lattice.levels(), repeat=3):
        if may_read(lattice, subject, x) and may_write(lattice, subject, y):
            assert lattice.dominates(y, x)


@pytest.mark.parametrize("pair", [("lo", "X"), ("X", "lo"), ("X", "X"), ("lo", ""), ("LO", "lo"), ("", "")])
def test_an_unknown_level_is_refused_and_does_not_raise(pair: tuple[str, str]) -> None:
    subject, target = map(Level, pair)
    assert not may_read(DIAMOND, subject, target)
    assert not may_write(DIAMOND, subject, target)
    assert not may_write(NATO, Level("S:X"), Level("S:X"))
    assert "is not a level" in decide_read(DIAMOND, subject, target).reason
    assert "is not a level" in decide_write(DIAMOND, subject, target).reason


def test_writing_compares_levels_and_not_their_spelling() -> None:
    assert may_write(NATO, Level("S:C,N"), Level("S:N,C"))


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (decide_read(DIAMOND, Level("top"), Level("hi1")), Decision(True, '"top" dominates "hi1"')),
        (
            decide_read(DIAMOND, Level("hi1"), Level("hi2")),
            Decision(False, 'no read up: "hi1" does not dominate "hi2"'),
        ),
        (decide_write(DIAMOND, Level("hi1"), Level("hi1")), Decision(True, '"hi1" is the level of the object')),
        (
            decide_write(DIAMOND, Level("hi1"), Level("top")),
            Decision(False, 'no write up: the object is at "top", not at "hi1"'),
        ),
        (
            decide_write(DIAMOND, Level("hi1"), Level("lo")),
            Decision(False, 'no write down: the object is at "lo", not at "hi1"'),
        ),
        (
            decide_write(DIAMOND, Level("hi1"), Level("hi2")),
            Decision(False, 'no write across: the object is at "hi2", not at "hi1"'),
        ),
    ],
)
def test_a_decision_carries_its_reason(decision: Decision, expected: Decision) -> None:
    assert decision == expected
    assert bool(decision) is expected.allowed
