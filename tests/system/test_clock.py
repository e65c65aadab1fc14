"""The trusted clock: the time of day, or one of its own that stands still while nobody is there (Q-1)."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from tidegate.system.clock import MICROSECONDS, Clock

NEW_YEAR = datetime(2024, 1, 1, tzinfo=UTC)
BEGIN = round(NEW_YEAR.timestamp() * MICROSECONDS)


def test_without_a_start_it_is_the_time_of_day() -> None:
    before = time.time_ns() // 1000
    assert before <= Clock().now() <= time.time_ns() // 1000


def test_with_a_start_it_runs_from_there_at_its_speed() -> None:
    slow, fast = Clock(NEW_YEAR), Clock(NEW_YEAR, speed=1_000)
    time.sleep(0.05)
    first, second = slow.now() - BEGIN, fast.now() - BEGIN
    assert 0 < first < second
    assert second > 100 * first


def test_another_speed_goes_on_from_the_same_instant() -> None:
    clock = Clock(NEW_YEAR, speed=3_600)
    time.sleep(0.02)
    before = clock.now()
    clock.run_at(1.0)
    assert before <= clock.now() < before + 60 * MICROSECONDS


def test_it_resumes_where_it_stood_and_never_goes_back() -> None:
    clock = Clock(NEW_YEAR)
    clock.resume(BEGIN + 500 * MICROSECONDS)
    assert clock.now() >= BEGIN + 500 * MICROSECONDS
    clock.resume(BEGIN)
    assert clock.now() >= BEGIN + 500 * MICROSECONDS


def test_the_time_of_day_did_not_stand_still() -> None:
    clock = Clock()
    clock.resume(0)
    assert clock.now() > BEGIN


def test_a_speed_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        Clock(NEW_YEAR, speed=0)
    with pytest.raises(ValueError, match="its own speed"):
        Clock().run_at(2.0)
