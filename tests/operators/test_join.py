"""A join holds every pair of rows that share some time, as long as they do."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.conftest import examples
from tests.operators.changelogs import Lives, in_any_order, in_order
from tidegate.operators.batch import Batch, Changes
from tidegate.operators.join import joined
from tidegate.operators.vector import LevelTable, Vector
from tidegate.plan.expressions import Column, Compare
from tidegate.plan.types import BIGINT, BOOLEAN
from tidegate.security.declare import declare

LATTICE = declare("lo < a, lo < b, a < top, b < top")
SAME_KEY = Compare("=", Column(0, "k", type=BIGINT), Column(2, "k", type=BIGINT), type=BOOLEAN)


def side(lives: Lives, chance: np.random.Generator) -> Changes:
    """The group as key, and the number of the row."""
    rows = len(lives.groups)
    columns = (Vector(BIGINT, lives.groups), Vector(BIGINT, np.arange(rows)))
    return Changes(Batch(columns, chance.integers(0, 4, rows)), lives.enter, lives.leave)


def by_definition(left: Changes, right: Changes, levels: LevelTable, *, keyed: bool) -> Counter[object]:
    found = Counter[object]()
    for a in range(len(left)):
        for b in range(len(right)):
            enter, leave = max(left.enter[a], right.enter[b]), min(left.leave[a], right.leave[b])
            equal = left.rows.columns[0].data[a] == right.rows.columns[0].data[b]
            if enter < leave and (equal or not keyed):
                one, another = levels.labels[left.rows.level[a]], levels.labels[right.rows.level[b]]
                found[a, b, LATTICE.lub(one, another), int(enter), int(leave)] += 1
    return found


@pytest.mark.parametrize("keyed", [True, False], ids=["by key", "every pair"])
@pytest.mark.parametrize("start", [0, 2**58], ids=["close together", "far apart"])
def test_every_pair_that_shares_some_time(keyed: bool, start: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    for _ in range(examples(60, 3_000)):
        levels = LevelTable(LATTICE)
        levels.encode(list(LATTICE.levels()))
        left, right = (
            side(draw(chance, int(chance.choice([0, 1, 9, 30])), 3, start=first), chance)
            for draw, first in (((in_order, in_any_order)[chance.integers(2)], 0), (in_any_order, start))
        )
        pairs = joined(left, right, SAME_KEY if keyed else None, levels)
        columns = [pairs.rows.columns[n].data.tolist() for n in (1, 3)]
        labels = [levels.labels[number] for number in pairs.rows.level]
        found = Counter(zip(*columns, labels, pairs.enter.tolist(), pairs.leave.tolist(), strict=True))
        assert found == by_definition(left, right, levels, keyed=keyed)


def test_keys_and_instants_that_no_number_holds_together() -> None:
    """Eight times this width goes around to 0: key 8 would be taken for key 0."""
    chance, levels, keys = np.random.default_rng(1), LevelTable(LATTICE), np.arange(9)
    levels.encode(list(LATTICE.levels()))
    left = side(Lives(keys, np.zeros(9, np.int64), np.append(np.full(8, 10), 2**61 - 3)), chance)
    right = side(Lives(keys, np.full(9, 5), np.full(9, 30)), chance)
    pairs = joined(left, right, SAME_KEY, levels)
    assert (pairs.rows.columns[0].data == pairs.rows.columns[2].data).all()
    assert sorted(pairs.rows.columns[0].data) == keys.tolist()
