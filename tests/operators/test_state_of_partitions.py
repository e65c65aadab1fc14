"""Q-3: a partitioned window keeps what its live keys need, and forgets keys that hold nothing."""

from __future__ import annotations

import pytest

from tests.operators.kernels import Given, Running
from tidegate.plan.windows import Rows
from tidegate.reference.rows import Row, Tuple
from tidegate.reference.windows import RowsState, new_state
from tidegate.security.lattice import Level

KEYS = 300
WINDOWS = (
    ("PARTITIONED BY g ROWS 1 RANGE 2 MICROSECONDS", Rows(1, None, ("g",), 2), 1, 3),
    ("PARTITIONED BY g ROWS 2 SLIDE 2 RANGE 5 MICROSECONDS", Rows(2, 2, ("g",), 5), 2, 6),
    ("PARTITIONED BY g ROWS 1 SLIDE 2 RANGE 5 MICROSECONDS", Rows(1, 2, ("g",), 5), 2, 6),
)


@pytest.mark.parametrize(("text", "_", "each", "most"), WINDOWS)
def test_dead_keys_leave_no_state(text: str, _: Rows, each: int, most: int) -> None:
    """Each key comes so many times, one microsecond after the other, and never again."""
    running, sizes = Running(f"SELECT g FROM s [{text}]"), list[int]()
    for instant in range(KEYS * each):
        running.take([Given(instant, g=instant // each)], instant - 1, instant)
        sizes += [len(held.instants) for held in running.kernel.held.values()]
    assert max(sizes) <= most
    running.take([], KEYS * each, KEYS * each + 100)
    assert [len(held.instants) for held in running.kernel.held.values()] == [0]


@pytest.mark.parametrize(("_", "window", "each", "most"), WINDOWS)
def test_the_reference_forgets_them_too(_: str, window: Rows, each: int, most: int) -> None:
    state = new_state(window, (0,))
    assert isinstance(state, RowsState)
    for instant in range(KEYS * each):
        state.advance(instant, [Tuple(instant, Row((instant // each,), Level("U")))])
        assert len(state.arrived) <= most
        assert len(state.counted) <= most


def test_a_key_within_a_slide_is_remembered_by_one_tuple() -> None:
    """How many have arrived decides where its next boundary falls, however long ago they came."""
    running = Running("SELECT n FROM s [PARTITIONED BY g ROWS 2 SLIDE 3 RANGE 4 MICROSECONDS]")
    running.take([Given(1, n=1), Given(2, n=2)], 0, 2)
    assert running.take([], 2, 50) == []
    assert [len(held.instants) for held in running.kernel.held.values()] == [1]
    assert running.take([Given(60, n=3)], 50, 60) == [(60, (3,), "U")]
