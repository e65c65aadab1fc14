"""A disk that is full: an error that says where, nothing half done, and all goes on when there is space again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.disk import fill, free
from tests.faults.lean import Lean, S, U, rows
from tidegate.errors import EngineError
from tidegate.system.directory import GateDirectory

SUM = "SELECT COUNT(*), SUM(bp) FROM V [ROWS 10]"
FULL = "No space left on device; free some space"


@pytest.fixture
def lean(small_disk: Path) -> Iterator[Lean]:
    """A gate on a small disk; the level U is asleep."""
    found = Lean(small_disk / "gate")
    found.say(SUM, S, "high")
    found.feed(rows(6))
    found.tick()
    found.answer()
    yield found
    found.close()


def check(lean: Lean, queries: int = 1) -> None:
    """With space again: open, go on, and everything ever answered is what the log means."""
    free(lean.directory.parent)
    lean.reopen()
    lean.feed(rows(4))
    lean.tick()
    lean.answer()
    verdict = lean.verdict()
    assert (verdict.differing, verdict.queries) == ({}, queries)
    assert verdict.lines >= 8


def test_a_statement_that_finds_no_space_was_not_said(lean: Lean) -> None:
    """Q-13: and said again, when there is space, it is said once."""
    fill(lean.directory.parent)
    before = (lean.directory / "statements.jsonl").read_bytes()
    text = f"SELECT COUNT(*) FROM V [ROWS 3] WHERE bp <> 1.0{' ' * 10_000}"
    with pytest.raises(EngineError, match=f"cannot write .*/statements.jsonl: {FULL}"):
        lean.say(text, U, "low")
    assert (lean.directory / "statements.jsonl").read_bytes() == before
    assert lean.desk.interpreter(U).query("low") is None
    free(lean.directory.parent)
    lean.say(text, U, "low")
    lean.feed(rows(4))
    lean.tick()
    check(lean, queries=2)


def tick_often(lean: Lean) -> None:
    """The last block of a journal has room for some more lines."""
    for _ in range(100):
        lean.tick()


def test_a_tick_that_finds_no_space_did_not_happen(lean: Lean) -> None:
    lean.say("DROP QUERY high")
    lean.say("CREATE STREAM s AS SELECT sid FROM V [NOW]", U)
    lean.tick()
    lean.shepherd.put = lambda level, epoch: None  # so that only the journal needs space
    fill(lean.directory.parent)
    with pytest.raises(EngineError, match=f"cannot write .*/log/ticks-000000000000.jsonl: {FULL}"):
        tick_often(lean)
    before = lean.shepherd.latest
    free(lean.directory.parent)
    lean.tick()
    assert lean.shepherd.latest.number == before.number + 1


def test_an_epoch_that_finds_no_space_is_written_when_the_gate_is_opened_again(lean: Lean) -> None:
    """Q-10: the tick is in the journal, so its tuples are in the epoch, and in no other."""
    lean.feed(rows(300))
    fill(lean.directory.parent)
    with pytest.raises(EngineError, match=f"cannot write .*/levels: {FULL}"):
        lean.tick()
    check(lean)


def test_a_segment_that_finds_no_space_leaves_nothing(lean: Lean) -> None:
    fill(lean.directory.parent)
    with pytest.raises(EngineError, match=f"cannot write .*/segments/1.arrow: {FULL}"):
        lean.feed(rows(300))
    assert [path.name for path in (lean.directory / "streams" / "V" / "segments").iterdir()] == ["0.arrow"]
    check(lean)


def test_results_that_find_no_space_are_given_again(lean: Lean) -> None:
    """Q-10: nobody was told of the epoch."""
    lean.feed(rows(300))
    lean.tick()
    fill(lean.directory.parent)
    with pytest.raises(EngineError, match=f"cannot write .*/levels/S/results/1/1.arrow: {FULL}"):
        lean.answer()
    assert lean.runtimes[S].results.done == 0
    check(lean)


def test_a_gate_cannot_begin_on_a_full_disk(small_disk: Path) -> None:
    fill(small_disk, leave=0)
    with pytest.raises(EngineError, match=f"cannot use {small_disk}/gate: No space left on device"):
        GateDirectory(small_disk / "gate")
    free(small_disk)
    home = GateDirectory(small_disk / "gate")
    fill(small_disk, leave=0)
    with pytest.raises(EngineError, match=r"cannot write .*/gate.json: No space left on device; free some space"):
        home.agree({"levels": "U"})
    free(small_disk)
    assert home.agree({"levels": "U"})["levels"] == "U"
    home.close()
