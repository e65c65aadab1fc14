"""Q-2, Q-3: slide boundaries at which nothing is there cost nothing, and many of them are gone through in portions."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.operators.kernels import Given, Running, lines_of
from tidegate.operators import steps
from tidegate.operators.batch import BEFORE, NEVER, Batch, Changes
from tidegate.operators.steps import Steps, TooManyBoundaries

SECOND = 1_000_000
FAR = 40_000_000 * SECOND
QUERIES = (
    "SELECT COUNT(*) AS n FROM s [RANGE 3 MICROSECONDS SLIDE 2 MICROSECONDS]",
    "SELECT RSTREAM COUNT(*) AS n FROM s [RANGE 3 MICROSECONDS SLIDE 2 MICROSECONDS]",
    "SELECT RSTREAM n FROM s [RANGE 3 MICROSECONDS SLIDE 2 MICROSECONDS] WHERE n > 1",
    "SELECT MAX(k) AS m FROM (SELECT COUNT(*) AS k FROM s [RANGE 5 MICROSECONDS SLIDE 3 MICROSECONDS]) [ROWS 2] AS i",
    "SELECT RSTREAM n FROM s [ROWS 2] WHERE n >= (SELECT COUNT(*) AS k FROM s [RANGE 4 US SLIDE 2 US])",
    "SELECT RSTREAM k FROM (SELECT g AS k FROM s [RANGE 3 US SLIDE 3 US]) [RANGE 4 US] AS i",
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT RSTREAM n FROM s [RANGE 2 SECONDS SLIDE 1 SECOND]", [(0, 7), (1, 7)]),
        ("SELECT RSTREAM DISTINCT n FROM s [RANGE 2 SECONDS SLIDE 1 MICROSECOND] WHERE n < 0", []),
        ("SELECT RSTREAM n, COUNT(*) AS k FROM s [RANGE 1 SECOND SLIDE 1 SECOND] GROUP BY n", [(0, 7)]),
        ("SELECT RSTREAM n FROM (SELECT n FROM s [RANGE 1 SECOND SLIDE 1 SECOND]) [RANGE 1 SECOND] AS i",
         [(0, 7), (1, 7)]),
        ("SELECT COUNT(*) AS k FROM s [RANGE 1 SECOND SLIDE 1 MICROSECOND]", [(-40_000_000, 0), (0, 1), (1, 0)]),
    ],
)  # fmt: skip
def test_a_gap_in_which_nothing_is_there_costs_nothing(text: str, expected: list[tuple[int, int]]) -> None:
    """A processor may have been started long before the first tuple comes, or be given it in one epoch."""
    lines = Running(text).take([Given(FAR, n=7)], -1, FAR + 10 * SECOND)
    assert [((instant - FAR) // SECOND, values[0]) for instant, values, _ in lines] == expected


def test_a_boundary_before_the_first_tuple_is_the_first_step() -> None:
    """Q-2 with Q-7: the row of an empty aggregate is there from the first boundary on."""
    running = Running("SELECT COUNT(*) AS k FROM s [RANGE 1 SECOND SLIDE 1 SECOND]")
    assert running.take([], SECOND // 2, FAR) == [(SECOND, (0,), "U")]
    assert running.take([], FAR, 2 * FAR) == []


@pytest.mark.parametrize("text", QUERIES)
def test_portions_do_not_show(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Q-10: an epoch with more boundaries than are written out at once gives the same rows."""
    chance = random.Random(text)
    for _ in range(6):
        instants = sorted(chance.choices(range(60), k=12))
        tuples = [Given(instant, n=chance.randrange(4), g=chance.randrange(3)) for instant in instants]
        expected, end = lines_of(text, tuples, 1), instants[-1] + 19
        assert Running(text).take(tuples, -1, end) == expected
        with monkeypatch.context() as patch:
            patch.setattr(steps, "MOST_BOUNDARIES", chance.choice((1, 2, 5)))
            assert Running(text).take(tuples, -1, end) == expected


def test_boundaries_are_written_out_only_where_a_row_is_there() -> None:
    none = Batch((), np.zeros(3, np.int64))
    changes = Changes(none, np.array([BEFORE, 40, 45]), np.array([12, 46, NEVER]))
    found = Steps(9, 50, (np.array([30, 20]),), frozenset([5]))
    assert found.during(changes).tolist() == [10, 20, 30, 40, 45, 50]
    assert (found.first, Steps(9, 50).first, Steps(11, 14, (), frozenset([5])).exist) == (10, NEVER, False)


def test_what_does_not_fit_says_how_far_it_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MOST_BOUNDARIES", 3)
    changes = Changes(Batch((), np.zeros(1, np.int64)), np.array([BEFORE]), np.array([NEVER]))
    with pytest.raises(TooManyBoundaries) as found:
        Steps(0, 100, (), frozenset([10])).during(changes)
    assert len(Steps(0, found.value.instant, (), frozenset([10])).during(changes)) == 3
