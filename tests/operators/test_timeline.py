"""Segments as ranges are the segments found by sorting events, and both are the definition."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import examples
from tests.operators.changelogs import Lives, every_case, in_order, shown
from tidegate.operators import timeline
from tidegate.operators.batch import BEFORE, NEVER
from tidegate.operators.timeline import Events, Ranges, Sweep, sweep
from tidegate.operators.vector import LevelTable
from tidegate.security.declare import declare
from tidegate.security.lattice import Lattice

MANY = declare({"ranks": "U < S", "compartments": [f"c{i}" for i in range(7)]})


def both_forms(lives: Lives) -> list[Sweep]:
    """By events, and as ranges where rows leave as they came."""
    ranges = timeline.in_order(lives.groups, lives.enter, lives.leave)
    events = timeline.events(lives.groups, lives.enter, lives.leave)
    return [events] if ranges is None else [events, ranges]


def test_both_forms_find_the_segments_and_rows_of_the_definition(seed: int) -> None:
    chance = np.random.default_rng(seed)
    for lives in every_case(seed, examples(1_000, 50_000)):
        rows = [lives.there(group, start) for group, start, _ in lives.segments()]
        amounts = chance.integers(-(2**62), 2**62, len(lives.groups))
        for spans in both_forms(lives):
            assert shown(spans) == lives.segments()
            assert [sorted(there) for there in spans.members()] == rows
            assert spans.count().tolist() == [len(there) for there in rows]
            exact = [sum(amounts[there].tolist()) for there in rows]
            assert [(int(a) - b) % 2**64 for a, b in zip(spans.running(amounts), exact, strict=True)] == [0] * len(rows)


def test_rows_that_leave_as_they_came_need_no_events(seed: int) -> None:
    chance = np.random.default_rng(seed)
    for groups in (1, 3, 300, 70_000):
        lives = in_order(chance, 500, groups)
        assert isinstance(sweep(lives.groups, lives.enter, lives.leave), Ranges)


def test_some_segments_alone_hold_the_same_rows(seed: int) -> None:
    chance = np.random.default_rng(seed)
    for lives in every_case(seed, examples(200, 5_000)):
        spans = sweep(lives.groups, lives.enter, lives.leave)
        if isinstance(spans, Ranges):
            some = chance.random(len(spans.start)) < 0.3
            rows, alone = spans.only(some)
            there = [rows for rows, chosen in zip(spans.members(), some, strict=True) if chosen]
            assert [rows[places].tolist() for places in alone.members()] == there
            assert shown(alone) == [segment for segment, chosen in zip(shown(spans), some, strict=True) if chosen]
            assert sorted(rows) == sorted({row for found in there for row in found})


def test_an_overtaking_row_needs_events() -> None:
    spans = sweep(np.array([0, 0]), np.array([1, 2]), np.array([9, 5]))
    assert isinstance(spans, Events)
    assert shown(spans) == [(0, 1, 2), (0, 2, 5), (0, 5, 9), (0, 9, NEVER)]


def test_groups_and_instants_that_no_number_holds_together_need_events() -> None:
    """Eight times this width goes around to 0: group 8 would be taken for group 0."""
    groups, enter, leave = np.array([0, 8, 9]), np.array([0, 5, 40]), np.array([10, 30, 2**61 - 3])
    spans = sweep(groups, enter, leave)
    assert isinstance(spans, Events)
    assert shown(spans) == Lives(groups, enter, leave).segments()


def test_rows_that_were_always_there_and_stay() -> None:
    spans = sweep(np.array([0, 1, 0]), np.full(3, BEFORE), np.full(3, NEVER))
    assert shown(spans) == [(0, BEFORE, NEVER), (1, BEFORE, NEVER)]
    assert spans.count().tolist() == [2, 1]


@pytest.mark.parametrize(
    "lattice",
    [declare("blp4"), declare("lo < a, lo < b, a < top, b < top"), MANY],
    ids=["chain", "diamond", "compartments"],
)
def test_the_level_of_a_segment_is_the_lub_of_its_rows(lattice: Lattice, seed: int) -> None:
    """Q-6, also where more labels occur than a number has bits."""
    chance = np.random.default_rng(seed)
    for lives in every_case(seed, examples(100, 5_000)):
        table = LevelTable(lattice)
        table.encode(list(lattice.levels()))
        labels = chance.integers(0, len(table.labels), len(lives.groups))
        some = chance.random(len(labels)) < 0.7
        for spans in both_forms(lives):
            rows = [lives.there(group, start) for group, start, _ in lives.segments()]
            for chosen in (None, some):
                kept = [[n for n in there if chosen is None or chosen[n]] for there in rows]
                expected = [lattice.lub_of(table.labels[n] for n in labels[there]) for there in kept]
                found = spans.levels(labels, table, chosen)
                assert [table.labels[number] for number in found] == expected


def test_far_more_labels_than_bits_at_once() -> None:
    table = LevelTable(MANY)
    labels = table.encode(list(MANY.levels()))
    assert len(labels) > timeline.MOST_LABELS
    rows = len(labels)
    spans = sweep(np.zeros(rows, np.int64), np.arange(rows), np.full(rows, NEVER))
    found = [table.labels[number] for number in spans.levels(labels, table)]
    assert found == [MANY.lub_of(list(MANY.levels())[: n + 1]) for n in range(rows)]
