"""Q-5: ISTREAM and DSTREAM are the bag difference of consecutive steps over (values, level)."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from tests.conftest import examples
from tests.operators.changelogs import Lives, every_case
from tidegate.operators.batch import BEFORE, NEVER, Batch, Changes
from tidegate.operators.difference import difference
from tidegate.operators.emit import Emitted
from tidegate.operators.vector import LevelTable, Vector, from_values, to_values
from tidegate.plan.schema import Field
from tidegate.plan.types import DOUBLE, STRING
from tidegate.security.declare import declare

SCHEMA = (Field("x", DOUBLE), Field("s", STRING))
VALUES = [0.0, -0.0, math.nan, -math.nan, math.inf, None, 1.0, 1e300]


def table() -> LevelTable:
    levels = LevelTable(declare("blp4"))
    levels.encode(list(levels.lattice.levels()))
    return levels


def changelog(chance: np.random.Generator, lives: Lives) -> Changes:
    """Few values, so that many rows are the same."""
    rows = len(lives.groups)
    doubles = from_values([VALUES[n] for n in chance.integers(0, len(VALUES), rows)], DOUBLE)
    strings = from_values([("a", None)[n] for n in chance.integers(0, 2, rows)], STRING)
    return Changes(Batch((doubles, strings), chance.integers(0, 2, rows)), lives.enter, lives.leave)


def bag(rows: Batch) -> list[tuple[object, ...]]:
    """Rows that are the same are equal here: NaN = NaN, -0.0 = 0.0, NULL = NULL (Q-8)."""
    doubles = ["NaN" if value is not None and math.isnan(value) else value for value in to_values(rows.columns[0])]  # type: ignore[arg-type]
    return list(zip(doubles, *map(to_values, rows.columns[1:]), rows.level.tolist(), strict=True))


def counted(emitted: Emitted) -> Counter[object]:
    assert (emitted.instants[1:] >= emitted.instants[:-1]).all()
    return Counter(zip(emitted.instants.tolist(), bag(emitted.rows), strict=True))


def by_definition(changes: Changes, *, inserted: bool) -> Counter[object]:
    rows, found = bag(changes.rows), Counter[object]()
    for instant in {*changes.enter.tolist(), *changes.leave.tolist()} - {BEFORE, NEVER}:
        before = Counter(r for r, a, b in zip(rows, changes.enter, changes.leave, strict=True) if a < instant <= b)
        now = Counter(r for r, a, b in zip(rows, changes.enter, changes.leave, strict=True) if a <= instant < b)
        found.update({(instant, row): n for row, n in (now - before if inserted else before - now).items()})
    return found


@pytest.mark.parametrize("inserted", [True, False], ids=["ISTREAM", "DSTREAM"])
def test_what_comes_and_goes_is_the_bag_difference(inserted: bool, seed: int) -> None:
    chance = np.random.default_rng(seed)
    for lives in every_case(seed, examples(150, 5_000)):
        changes = changelog(chance, lives)
        found = difference(changes, SCHEMA, table(), inserted=inserted)
        assert counted(found) == by_definition(changes, inserted=inserted)


@pytest.mark.parametrize("inserted", [True, False], ids=["ISTREAM", "DSTREAM"])
def test_crowds_of_the_same_cancel_one_by_one(inserted: bool, seed: int) -> None:
    """Many rows of few kinds and instants: as many cancel as have a partner, and no more."""
    chance = np.random.default_rng(seed)
    for _ in range(examples(100, 5_000)):
        enter = chance.integers(0, 3, 30)
        rows = Batch((Vector(DOUBLE, chance.choice([0.0, -0.0, 1.0], 30)),), np.zeros(30, np.int64))
        changes = Changes(rows, enter, enter + chance.integers(1, 4, 30))
        found = difference(changes, SCHEMA[:1], table(), inserted=inserted)
        assert counted(found) == by_definition(changes, inserted=inserted)


def test_segments_of_groups_replace_one_another(seed: int) -> None:
    """As an aggregate gives them: by group, each row leaving as the next one comes; values often stay."""
    chance = np.random.default_rng(seed)
    for _ in range(examples(100, 5_000)):
        starts = [np.sort(chance.choice(30, int(chance.integers(1, 12)), replace=False)) for _ in range(3)]
        enter = np.concatenate(starts)
        leave = np.concatenate([np.append(start[1:], NEVER) for start in starts])
        changes = changelog(chance, Lives(np.zeros(len(enter), np.int64), enter, leave))
        for inserted in (True, False):
            found = difference(changes, SCHEMA, table(), inserted=inserted)
            assert counted(found) == by_definition(changes, inserted=inserted)


def test_of_two_zeros_the_one_that_is_equal_to_the_bit_goes() -> None:
    """Both zeros come as one goes: what remains is the other one, whichever stands first."""
    for one, another in ((0.0, -0.0), (-0.0, 0.0)):
        rows = Batch((Vector(DOUBLE, np.array([0.0, one, another])),), np.zeros(3, np.int64))
        changes = Changes(rows, np.array([BEFORE, 5, 5]), np.array([5, NEVER, NEVER]))
        found = difference(changes, SCHEMA[:1], table(), inserted=True)
        assert np.signbit(found.rows.columns[0].data).tolist() == [True]


def test_nothing_comes_and_nothing_goes() -> None:
    nothing = np.zeros(0, np.int64)
    rows = Batch((Vector(DOUBLE, np.zeros(0)), from_values([], STRING)), nothing)
    assert len(difference(Changes(rows, nothing, nothing), SCHEMA, table(), inserted=True).instants) == 0
