"""Outlets: nothing lost, nothing doubled, nobody held back (Q-16)."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from tests.sinks.answers import (
    FOLLOWED,
    LATTICE,
    PATIENCE,
    SERIAL,
    answer,
    given,
    outlet,
    pass_by,
    run_out,
    wait_until,
)
from tidegate.engine.results import Results, about
from tidegate.errors import EngineError
from tidegate.security.lattice import Level
from tidegate.sinks.callback import CallbackSink
from tidegate.sinks.sink import ENDED, FOLLOWING, RETRYING, Followed, Outlet


@dataclass
class Kept:
    """A sink that keeps what it gets, and fails where it is told to."""

    failing: set[int] = field(default_factory=set)
    epochs: list[int] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)
    closed: int = 0

    def open(self, followed: Followed, after: int) -> int:
        """Note it."""
        assert followed == FOLLOWED
        self.opened.append(after)
        return after

    def write(self, epoch: int, batch: pa.RecordBatch) -> None:
        """Fail once at each epoch that is to fail."""
        assert about(batch)["epoch"] == str(epoch)
        if epoch in self.failing:
            self.failing.remove(epoch)
            raise OSError(5, "no\nluck")
        self.epochs.append(epoch)

    def close(self) -> None:
        """Note it."""
        self.closed += 1


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """No results yet."""
    return Results(tmp_path / "results", LATTICE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a position lies."""
    return tmp_path / "sinks" / "s.json"


def position(path: Path) -> int:
    """What the file says."""
    found: int = json.loads(path.read_text())["position"]
    return found


def test_everything_comes_once_and_in_order_over_many_restarts(results: Results, path: Path) -> None:
    sink = Kept()
    for epoch in range(30):
        (answer if epoch % 3 else pass_by)(results, epoch)
        if epoch % 4 == 0:
            run_out(outlet(results, sink, path))
    run_out(outlet(results, sink, path))
    assert sink.epochs == [epoch for epoch in range(30) if epoch % 3]
    assert position(path) == 29, "epochs without rows are behind it too"
    assert sink.closed == len(sink.opened) == 9


class Killed(BaseException):
    """What no program can catch: nothing after it happens."""


def test_a_kill_at_any_point_repeats_at_most_the_epoch_in_hand(results: Results, path: Path) -> None:
    """The position is written behind the batch: killed between the two, that epoch comes again, and no other."""
    for epoch in range(20):
        answer(results, epoch)
    chance, seen = Random(5), list[int]()

    def write(epoch: int, batch: pa.RecordBatch) -> None:
        if chance.random() < 0.3:
            raise Killed
        seen.append(epoch)
        if chance.random() < 0.3:
            raise Killed

    while position(path) < 19 if path.exists() else True:
        with contextlib.suppress(Killed):
            one = Outlet("s", FOLLOWED, CallbackSink(write), path, lambda: results, lambda: True)
            one._follow()
    assert [epoch for epoch, _ in groupby(seen)] == list(range(20))
    assert len(seen) > 20


def test_a_failing_sink_is_tried_again_where_it_was_and_then_forgiven(results: Results, path: Path) -> None:
    sink = Kept(failing={2, 3})
    for epoch in range(5):
        answer(results, epoch)
    one = outlet(results, sink, path)
    one.start()
    wait_until(lambda: sink.epochs == [0, 1, 2, 3, 4])
    wait_until(lambda: one.state == FOLLOWING and one.failure is None and one.attempts == 0)
    assert sink.opened == [-1, 1, 2]
    assert sink.closed == 2
    one.stop(time.monotonic() + PATIENCE)
    assert (one.state, one.rows) == (ENDED, 5)


@pytest.mark.parametrize("error", [ValueError("bad\x1b[2J"), SystemExit(3), KeyError()])
def test_a_sink_that_always_fails_says_why_and_disturbs_no_other(
    results: Results, path: Path, error: BaseException
) -> None:
    def fail(epoch: int, batch: pa.RecordBatch) -> None:
        raise error

    answer(results, 0)
    sick, well = outlet(results, CallbackSink(fail), path), outlet(results, Kept(), path.with_name("t.json"), "t")
    sick.start()
    well.start()
    wait_until(lambda: sick.attempts > 3 and well.rows == 1)
    assert sick.state == RETRYING
    assert (sick.failure or "").startswith(type(error).__name__)
    assert (sick.failure or "").isprintable()
    for one in (sick, well):
        one.stop(time.monotonic() + PATIENCE)
        assert not one.is_alive
    assert (position(path), position(well.path)) == (-1, 0)


def test_a_sink_that_hangs_holds_back_neither_results_nor_the_end(results: Results, path: Path) -> None:
    """Q-16: and what it does after it was left alone moves no position."""
    hanging, going_on = threading.Event(), threading.Event()

    def hang(epoch: int, batch: pa.RecordBatch) -> None:
        hanging.set()
        going_on.wait(PATIENCE)

    answer(results, 0)
    one = outlet(results, CallbackSink(hang), path)
    one.start()
    assert hanging.wait(PATIENCE)
    for epoch in range(1, 50):
        answer(results, epoch)
    assert (results.done, one.behind) == (49, 50)
    one.stop(time.monotonic())
    assert one.is_alive
    going_on.set()
    wait_until(lambda: not one.is_alive)
    assert position(path) == -1
    sink = Kept()
    run_out(outlet(results, sink, path))
    assert sink.epochs == list(range(50))


def test_what_was_dropped_by_age_before_it_was_out_is_counted_once(results: Results, path: Path) -> None:
    """Q-16: never silently."""
    sink = Kept()
    for epoch in range(3):
        answer(results, epoch)
    run_out(outlet(results, sink, path))
    for epoch in range(3, 10):
        answer(results, epoch)
    results.forget(7)
    for _ in range(2):
        one = outlet(Results(results.directory, LATTICE), sink, path)
        run_out(one)
        assert one.gap == 4, "3, 4, 5 and 6; also after a restart"
    assert sink.epochs == [0, 1, 2, 7, 8, 9]


def test_a_new_sink_begins_with_what_is_kept_and_misses_nothing(results: Results, path: Path) -> None:
    for epoch in range(5):
        answer(results, epoch)
    results.forget(3)
    sink = Kept()
    one = outlet(results, sink, path)
    run_out(one)
    assert (one.gap, sink.opened, sink.epochs) == (0, [2], [3, 4])


def test_results_dropped_while_they_are_being_read_are_a_gap_and_no_failure(results: Results, path: Path) -> None:
    for epoch in range(6):
        answer(results, epoch)
    seen, opened = list[int](), list[int]()

    def begin(after: int) -> int:
        opened.append(after)
        return after

    def slow(epoch: int, batch: pa.RecordBatch) -> None:
        seen.append(epoch)
        results.forget(4)

    one = outlet(results, CallbackSink(slow, begin), path)
    one.start()
    wait_until(lambda: one.position == 5)
    assert (seen, one.gap, opened) == ([0, 4, 5], 3, [-1])
    one.stop(time.monotonic() + PATIENCE)


def test_a_receiver_that_knows_better_says_where_to_go_on(results: Results, path: Path) -> None:
    for epoch in range(6):
        answer(results, epoch)
    run_out(outlet(results, Kept(), path))
    seen: list[int] = []
    run_out(outlet(results, CallbackSink(lambda epoch, _: seen.append(epoch), begin=lambda after: after - 2), path))
    assert seen == [4, 5]


def test_a_level_that_is_asleep_is_waited_for(results: Results, path: Path) -> None:
    found: list[Results] = []
    sink = Kept()
    one = Outlet("s", FOLLOWED, sink, path, lambda: found[0] if found else None)
    one.start()
    wait_until(lambda: sink.opened == [-1])
    answer(results, 0)
    found.append(results)
    wait_until(lambda: sink.epochs == [0])
    one.stop(time.monotonic() + PATIENCE)


def test_it_ends_behind_the_last_row_of_a_query_that_is_gone(results: Results, path: Path) -> None:
    sink = Kept()
    for epoch in range(4):
        answer(results, epoch)
    one = Outlet("s", FOLLOWED, sink, path, lambda: results, lambda: True)
    one.start()
    wait_until(lambda: not one.is_alive)
    assert (one.state, sink.epochs, sink.closed, position(path)) == (ENDED, [0, 1, 2, 3], 1, 3)


def test_a_name_belongs_to_one_query(results: Results, path: Path) -> None:
    run_out(outlet(results, Kept(), path))
    for level, serial in (("C", SERIAL + 1), ("S", SERIAL)):
        other = Followed("other", Level(level), serial, LATTICE)
        with pytest.raises(EngineError, match='sink "s" has followed another query, "q 1"; give it another name'):
            Outlet("s", other, Kept(), path, lambda: results)


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", '{"position": 1}'])
def test_a_damaged_position_is_refused_and_not_guessed(results: Results, path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(EngineError, match="was damaged"):
        outlet(results, Kept(), path)


def test_a_callback_gets_arrow_batches_as_a_reader_does(results: Results, path: Path) -> None:
    for epoch in range(3):
        answer(results, epoch, 4)
    seen: list[pa.RecordBatch] = []
    run_out(outlet(results, CallbackSink(lambda _, batch: seen.append(batch)), path))
    assert seen == given(results)
    assert seen[1].schema.names == ["n", "t", "row_level", "row_time"]
    assert about(seen[1]) == {"epoch": "1", "level": "C", "query": "q 1", "op": "+"}
