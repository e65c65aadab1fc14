"""A query shows itself, and what follows it ends with it, without Spark: the level's results are written by hand."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.engine.living import Living
from tests.sinks.answers import answer
from tidegate.case import read_case
from tidegate.engine.results import Results
from tidegate.security.lattice import Level
from tidegate.system.gate import Gate
from tidegate.system.session import Query

CASE = {"levels": "U < C < S", "streams": {"V": {"n": "int"}}, "queries": [], "input": []}
LEVEL = Level("C")


@pytest.fixture
def query(tmp_path: Path) -> Iterator[Query]:
    """A query whose gate is a desk, a shepherd and results; it is registered, and three epochs are answered."""
    case = read_case(json.dumps(CASE))
    living = Living(tmp_path / "gate", case, Random(1), tuple(case.lattice.levels()))
    living.desk.speak("SELECT n FROM V", LEVEL, None, "q 1")
    entry = living.desk.interpreter(LEVEL).query("q 1")
    assert entry is not None
    results = Results(tmp_path / "results", case.lattice)
    for epoch in range(3):
        answer(results, epoch, 2, entry.serial)
    runtime = SimpleNamespace(results=results, written=2)
    gate = SimpleNamespace(desk=living.desk, lock=threading.RLock(), runtimes={LEVEL: runtime}, is_open=True,
                           shepherd=living.shepherd, lattice=case.lattice, check_sound=lambda *_: None)  # fmt: skip
    yield Query(cast(Gate, gate), LEVEL, "ana", entry)
    living.shepherd.close()


def runtime_of(query: Query) -> Any:
    """Its level's."""
    return query.gate.runtimes[LEVEL]


def drop(query: Query) -> None:
    """As a session says it."""
    query.gate.desk.speak("DROP QUERY `q 1`", LEVEL, None)


def test_a_query_shows_its_newest_rows_until_it_ends(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    query.gate.is_open = False  # type: ignore[misc]
    query.show(rows=2)
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == ["100", "101", "200", "201"], "of the last two epochs"
    assert lines[0] == "00:00:01.000 q 1@C U: n=100, t=text 100"


def test_ctrl_c_ends_it_cleanly(
    query: Query, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Query, "_wait", interrupted)
    query.show()
    shown = capsys.readouterr()
    assert (len(shown.out.splitlines()), shown.err) == (6, "")


def test_a_query_that_was_dropped_ends_although_its_level_is_always_behind(query: Query) -> None:
    """Later epochs do not matter: only that in which the end was said."""
    runtime, is_over = runtime_of(query), query.when_dropped()
    assert not is_over()
    drop(query)
    assert not is_over(), "epoch 3 will say so, and may bring more rows"
    batches = query.results()
    assert [next(batches).num_rows for _ in range(3)] == [2, 2, 2]
    for epoch in (3, 4):
        runtime.written = 100 * epoch  # never caught up with
        answer(runtime.results, epoch, 1, query.entry.serial)
        assert is_over()
    assert len(list(batches)) == 2


def test_a_query_that_was_stopped_and_started_goes_on(query: Query) -> None:
    desk, is_over = query.gate.desk, query.when_dropped()
    desk.speak("STOP `q 1`", LEVEL, None)
    runtime_of(query).written = 50
    assert not is_over(), "a sink waits for START"
    desk.speak("START `q 1`", LEVEL, None)
    assert not is_over()
