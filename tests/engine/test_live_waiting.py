"""Tuples that wait for their tick: bounded, counted, and back after a crash; and what was counted is, too."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.engine.living import Living
from tests.engine.test_live_edges import SECOND, finish, put
from tidegate.case import StatementEntry, read_case
from tidegate.engine.epochs import Epoch
from tidegate.engine.herd import segments_of
from tidegate.engine.journal import MOST_SPANS, Counted, spans
from tidegate.errors import EngineError
from tidegate.security.lattice import Level

U, S = Level("U"), Level("S")
LONG = 60 * SECOND


@pytest.fixture
def living(tmp_path: Path) -> Iterator[Living]:
    """A gate over one stream, with a query at C, whose tuples may be a minute ahead."""
    case = read_case(json.dumps({"levels": "U < C < S", "streams": {"V": {"a": "int"}}}))
    found = Living(tmp_path / "gate", case, Random(1), tuple(case.lattice.levels()), skew=LONG)
    found.say(StatementEntry(Level("C"), "SELECT COUNT(*) FROM V [ROWS 2]", name="q"))
    yield found
    found.processors.close()
    found.shepherd.close()


def sizes(living: Living) -> list[int]:
    """The length of every tick's line."""
    return [
        len(line) for path in sorted((living.directory / "log").glob("*")) for line in path.read_text().splitlines()
    ]


def flow(living: Living, ticks: int, ahead: int = 0, every: int = 1) -> None:
    """A second and a segment a tick; every so many of them have a tuple that is ahead; the clock waits for a minute."""
    for number in range(ticks):
        instant = living.now + (ahead if number % every == 0 else -LONG)
        put(living, number, pa.array(["U", "S"]), max(1, instant))
        living.now += SECOND
        living.shepherd.tick(LONG + living.now, living.now)


@pytest.mark.parametrize(("ahead", "every"), [(LONG, 1), (LONG, 2), (LONG, 3)])
def test_a_ticks_line_does_not_grow_with_what_waits(living: Living, ahead: int, every: int) -> None:
    """Q-16: a steady stream of small segments and a long delay; the line names spans of ticks, not segments."""
    flow(living, 150, ahead, every)
    lengths = sizes(living)
    assert living.shepherd.herd.held > 100 // every
    assert len(living.shepherd.needed) > 50 // every
    assert max(lengths[75:]) <= max(lengths[:75]) + 40, "numbers have more digits, and there are no more of them"
    assert max(lengths) < 900
    held, waiting = living.shepherd.herd.held, living.shepherd.held_bytes()
    living.crash()
    assert (living.shepherd.herd.held, living.shepherd.held_bytes()) == (held, waiting)
    living.shepherd.tick(living.now + 9 * LONG, living.now + 3 * LONG)
    assert living.shepherd.herd.held == 0
    finish(living)


@given(some.sets(some.integers(0, 400), max_size=80))
def test_spans_are_few_and_have_every_number(numbers: set[int]) -> None:
    found = spans(numbers)
    inside = {number for first, last in found for number in range(first, last + 1)}
    assert len(found) <= MOST_SPANS
    assert numbers <= inside
    neighbours = sum(number + 1 not in numbers for number in numbers)
    assert neighbours > MOST_SPANS or inside == numbers


def test_what_waits_fills_the_log(living: Living) -> None:
    """Q-16: sources wait while it does; the clock, and nothing else, makes room."""
    living.shepherd.tick(SECOND // 2, SECOND // 2)
    put(living, 0, pa.array(["U"] * 1_000), LONG)
    before = living.shepherd.held_bytes()
    living.shepherd.tick(SECOND, SECOND)
    assert min(before, living.shepherd.held_bytes()) > 25_000
    living.shepherd.tick(LONG, LONG - SECOND)
    assert living.shepherd.held_bytes() > 25_000
    living.shepherd.tick(LONG + SECOND, LONG)
    assert living.shepherd.held_bytes() == 0
    finish(living)


def test_retention_drops_what_lies_between_tuples_that_wait(living: Living) -> None:
    """And a restart finds everything that waited, whichever ticks a span takes in."""
    flow(living, 100, LONG, 3)
    place = segments_of(living.directory, "V")
    living.shepherd.forget(time.time() + 60, living.now)
    kept = {int(path.stem) for path in place.iterdir()}
    assert len(spans(living.shepherd.needed)) == MOST_SPANS < len(living.shepherd.needed) < len(kept) + 1 < 30
    held = living.shepherd.herd.held
    living.crash()
    assert living.shepherd.herd.held == held
    living.shepherd.close()
    (place / f"{min(kept)}.arrow").unlink()
    with pytest.raises(EngineError, match="segments with tuples that wait are missing"):
        living.open()


@pytest.mark.parametrize("half", [False, True])
def test_what_was_counted_comes_back(living: Living, half: bool) -> None:
    """Q-1, Q-16: exactly, also where a crash came between the tick's line and its epochs."""
    flow(living, 10, -3 * SECOND)
    put(living, 10, pa.array(["U", "no such level", "S", "S"]), living.now + SECOND)
    if half:
        living.shepherd.put = no_room
        with pytest.raises(EngineError, match="no room"):
            living.shepherd.tick(living.now + SECOND, living.now + SECOND, [Level("C")])
    else:
        living.shepherd.tick(living.now + SECOND, living.now + SECOND, [Level("C")])
    living.now += SECOND
    expected = Counted({U: 11, S: 12}, {U: 9, S: 9}, {Level("C"): 1}, 1)
    for _ in range(2):
        living.crash()
        assert living.shepherd.herd.counted == expected
    living.shepherd.tick(living.now + SECOND, living.now + SECOND)
    living.crash()
    assert living.shepherd.herd.counted == expected


def no_room(level: Level, epoch: Epoch) -> None:
    """A disk that is full."""
    raise EngineError("no room")
