"""The shepherd: one order, progress by ticks only, and each level's share (Q-1, M-4)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.gates.shepherd import Clock, Stamped, cut, in_order, share_of
from tidegate.security.declare import declare
from tidegate.security.lattice import Lattice, Level

CHAIN = declare("U < C < S < TS")
DIAMOND = declare("lo < hi1, lo < hi2, hi1 < top, hi2 < top")
NATO = declare({"ranks": "U < S", "compartments": ["N", "C"]})

# What may happen to a clock: a tick or the stamping of an entry, at an instant.
EVENTS = st.lists(st.tuples(st.sampled_from(["tick", "stamp"]), st.integers(0, 20)))


def test_before_the_first_tick_nothing_is_late() -> None:
    assert not Clock().is_late(0)
    assert Clock().stamp(0, "a") == Stamped(0, 1, "a")


@pytest.mark.parametrize(("instant", "late"), [(4, True), (5, True), (6, False)])
def test_late_is_what_the_last_tick_declared_complete(instant: int, late: bool) -> None:
    """Q-1: a tuple is late iff its instant <= the last tick."""
    clock = Clock()
    clock.tick(5)
    assert clock.is_late(instant) is late


def test_a_late_entry_comes_one_microsecond_after_the_last_tick() -> None:
    """Q-1: re-stamped to last tick + 1 µs."""
    clock = Clock()
    clock.tick(5)
    assert [clock.stamp(instant, "x").instant for instant in (0, 5, 6, 7)] == [6, 6, 6, 7]


def test_an_earlier_tick_takes_nothing_back() -> None:
    clock = Clock()
    clock.tick(5)
    clock.tick(3)
    assert clock.last_tick == 5


def test_no_tuple_moves_progress() -> None:
    """Q-1: progress comes from ticks only."""
    clock = Clock()
    clock.tick(5)
    clock.stamp(1_000, "far ahead")
    assert clock.last_tick == 5
    assert not clock.is_late(6)


@given(EVENTS)
def test_the_log_keeps_what_ticks_promised(events: list[tuple[str, int]]) -> None:
    """Q-1: after a tick t nothing is ever stamped at or before t, and arrivals are numbered without a gap."""
    clock, log, promised = Clock(), list[Stamped[int]](), -1
    for kind, instant in events:
        if kind == "tick":
            clock.tick(instant)
            promised = max(promised, instant)
        else:
            log.append(clock.stamp(instant, instant))
            assert log[-1].instant == max(instant, promised + 1)
    assert [entry.arrival for entry in log] == list(range(1, len(log) + 1))


@given(EVENTS)
def test_order_is_instant_then_arrival(events: list[tuple[str, int]]) -> None:
    """Q-1: ties of one instant stay in the order of their arrival, and nothing is lost."""
    clock, log = Clock(), list[Stamped[str]]()
    for kind, instant in events:
        if kind == "tick":
            clock.tick(instant)
        else:
            log.append(clock.stamp(instant, "x"))
    ordered = in_order(reversed(log))
    assert sorted(entry.arrival for entry in ordered) == [entry.arrival for entry in log]
    assert all((a.instant, a.arrival) < (b.instant, b.arrival) for a, b in pairwise(ordered))


def test_late_tuples_are_counted_at_their_own_level() -> None:
    """Q-1, Q-11: counted, and nobody below learns of them."""
    clock = Clock()
    for level in ("S", "U", "S"):
        clock.count_late(Level(level))
    assert clock.late == {"S": 2, "U": 1}
    assert Clock().late == {}


@pytest.mark.parametrize("lattice", [CHAIN, DIAMOND, NATO, declare("U")])
def test_a_level_receives_exactly_what_it_dominates(lattice: Lattice) -> None:
    """M-4: simple security, for every level and every label, in order."""
    every = [(label, f"{label} {n}") for n in range(2) for label in lattice.levels()]
    for level in lattice.levels():
        expected = [text for label, text in every if lattice.lub(level, label) == level]
        assert list(share_of(level, every, lattice)) == expected


@given(st.lists(st.sampled_from(list(DIAMOND.levels()))), st.sampled_from(list(DIAMOND.levels())))
def test_what_a_level_does_not_dominate_leaves_no_trace_in_its_share(labels: list[Level], level: Level) -> None:
    """Q-2: nothing invisible is noticed, not even as a gap."""
    labelled = list(enumerate(labels))
    visible = [(label, n) for n, label in labelled if DIAMOND.dominates(level, label)]
    share = list(share_of(level, ((label, n) for n, label in labelled), DIAMOND))
    assert share == list(share_of(level, visible, DIAMOND)) == [n for _, n in visible]


@pytest.mark.parametrize("label", ["X", "", "u", "lo "])
def test_an_unknown_label_goes_to_nobody(label: str) -> None:
    """M-4: nothing is decided about the unknown, so nobody receives it."""
    known = DIAMOND.knows(label)
    for level in DIAMOND.levels():
        assert list(share_of(level, [(Level(label), 1)], DIAMOND)) == ([1] if known else [])


@pytest.mark.parametrize(
    ("size", "pieces"),
    [(1, ["a", "bc", "d"]), (2, ["abc", "d"]), (3, ["abc", "d"]), (9, ["abcd"])],
)
def test_epochs_are_whole_instants(size: int, pieces: list[str]) -> None:
    """Q-1: cut between instants only, when enough entries that count have come."""
    log = [Stamped(1, 0, "a"), Stamped(2, 1, "b"), Stamped(2, 2, "c"), Stamped(3, 3, "d")]
    found = list(cut(log, size, lambda name: True))
    assert ["".join(entry.payload for entry in piece) for piece in found] == pieces


def test_only_what_counts_fills_an_epoch() -> None:
    """Ticks and statements travel along; nothing to cut gives no epoch."""
    log = [Stamped(instant, instant, name) for instant, name in enumerate("..a.b")]
    found = list(cut(log, 1, lambda name: name != "."))
    assert ["".join(entry.payload for entry in piece) for piece in found] == ["..a", ".b"]
    assert list(cut([], 1, lambda name: True)) == []
