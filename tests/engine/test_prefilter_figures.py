"""N-8: what a prefilter did is counted by stream, goes on when queries come and go, and is seen at its level (X-2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.faults.lean import Lean, Row, S, U
from tidegate.engine.feeds import Passed
from tidegate.security.lattice import Level
from tidegate.system.session import Query
from tidegate.system.status import status_of

PEAKS = "SELECT sid FROM V WHERE bp > 120"
LOW: list[Row] = [("U", 1, 130.0), ("U", 2, 90.0), ("U", 3, 80.0), ("U", 4, 70.0)]
HIGH: list[Row] = [("S", 5, 140.0), ("S", 6, 150.0)]
INT, DOUBLE = 8, 8
"""Bytes of a value of sid and of bp as they lie in an epoch."""


@pytest.fixture
def lean(tmp_path: Path) -> Iterator[Lean]:
    """A gate without Spark, with a query that wants few tuples and reads one of two columns, at both levels."""
    found = Lean(tmp_path / "gate")
    found.say(PEAKS, U, "low")
    found.say(PEAKS, S, "high")
    yield found
    found.close()


def after(lean: Lean, *batches: list[Row]) -> None:
    """Each batch in a tick of its own, and answered."""
    for batch in batches:
        lean.feed(batch)
        lean.tick()
        lean.answer()


def passed(lean: Lean, level: Level) -> Passed:
    """What was left of V at a level."""
    return lean.runtimes[level].results.passed["V"]


def test_tuples_and_bytes_are_counted_before_and_after(lean: Lean) -> None:
    """P-14: one of four tuples is wanted, and one of two columns."""
    after(lean, LOW)
    assert passed(lean, U) == Passed(4, 1, 4 * (INT + DOUBLE), INT)


def test_counting_goes_on_when_other_queries_run(lean: Lean) -> None:
    after(lean, LOW)
    lean.say("SELECT bp FROM V", U, "all")
    after(lean, LOW)
    assert passed(lean, U) == Passed(8, 5, 8 * (INT + DOUBLE), INT + 4 * (INT + DOUBLE))
    lean.say("DROP QUERY all", U)
    after(lean, LOW)
    assert passed(lean, U) == Passed(12, 6, 12 * (INT + DOUBLE), 2 * INT + 4 * (INT + DOUBLE))


def test_a_stream_that_nobody_reads_is_left_where_it_is(lean: Lean) -> None:
    lean.say("DROP QUERY low", U)
    after(lean, LOW)
    assert passed(lean, U) == Passed(4, 0, 4 * (INT + DOUBLE), 0)


def test_tuples_and_queries_above_change_no_figure_below(lean: Lean, tmp_path: Path) -> None:
    """X-2: not even where the level above wants everything."""
    other = Lean(tmp_path / "other")
    other.say(PEAKS, U, "low")
    lean.say("SELECT * FROM V", S, "every")
    after(lean, [*LOW, *HIGH], LOW)
    after(other, LOW, LOW)
    assert passed(lean, U) == passed(other, U) == Passed(8, 2, 8 * (INT + DOUBLE), 2 * INT)
    assert passed(lean, S).tuples == passed(lean, S).taken == 10
    other.close()


# ------------------------------------------------------------------------------ where they are seen


def gate_of(lean: Lean) -> Any:
    """As much of a gate as is asked for figures."""
    sinks = SimpleNamespace(status=lambda: ())
    return cast(Any, SimpleNamespace(
        reserved=(U, S), runtimes=lean.runtimes, shepherd=lean.shepherd, desk=lean.desk, ended={}, bindings={},
        outlets=sinks, tick_seconds=1.0,
    ))  # fmt: skip


def test_the_administrator_sees_the_figures_of_every_level(lean: Lean) -> None:
    after(lean, [*LOW, *HIGH])
    seen = status_of(gate_of(lean))
    assert [(one.level, one.stream, one.passed) for one in seen.prefilters] == [
        (level, "V", passed(lean, level)) for level in (U, S)
    ]
    assert "prefilter of" in str(seen)


def test_a_query_tells_the_figures_of_its_own_level_only(lean: Lean) -> None:
    after(lean, [*LOW, *HIGH])
    for level, name in ((U, "low"), (S, "high")):
        entry = lean.desk.interpreter(level).query(name)
        assert entry is not None
        assert Query(gate_of(lean), level, "ana", entry).metrics().prefilter == {"V": passed(lean, level)}
    assert passed(lean, U) != passed(lean, S)


def test_a_query_over_a_derived_stream_has_no_prefilter_of_its_own(lean: Lean) -> None:
    lean.say("CREATE STREAM V2 AS SELECT sid FROM V", U)
    lean.say("SELECT sid FROM V2", U, "second")
    after(lean, LOW)
    entry = lean.desk.interpreter(U).query("second")
    assert entry is not None
    assert Query(gate_of(lean), U, "ana", entry).metrics().prefilter == {}
