"""What a crash or a hand leaves in a gate's directory: torn lines, gaps, damage, half of a tick."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.faults.lean import Lean, S, U, rows
from tidegate.engine.epochs import Epoch
from tidegate.engine.journal import Lines
from tidegate.errors import EngineError
from tidegate.security.lattice import Level

SUM = "SELECT COUNT(*), SUM(bp) FROM V [ROWS 10]"


@pytest.fixture
def lean(lean: Lean) -> Lean:
    """With a query at each level that has answered something."""
    lean.say(SUM, S, "high")
    lean.say(SUM, U, "low")
    for number in range(3):
        lean.feed(rows(4, number))
        lean.tick()
    lean.answer()
    return lean


def check(lean: Lean, at_least: int = 10) -> None:
    """It goes on, and everything that it ever answered is what its log means."""
    lean.feed(rows(4))
    lean.tick()
    lean.answer()
    verdict = lean.verdict()
    assert (verdict.differing, verdict.queries) == ({}, 2)
    assert verdict.lines >= at_least


@pytest.mark.parametrize("journal", ["statements.jsonl", "log/ticks-000000000000.jsonl"])
@pytest.mark.parametrize("torn", [b"{", b'{"number":3,"last":0,"epo', b'{"kind":"statement","at":"S"}', b"\x00" * 5000])
def test_a_torn_last_line_is_cut_off(journal: str, torn: bytes, lean: Lean) -> None:
    """Q-10: nothing had acted on it."""
    before = (lean.directory / journal).read_bytes()
    lean.shepherd.close()
    (lean.directory / journal).write_bytes(before + torn)
    lean.open()
    check(lean)
    after = (lean.directory / journal).read_bytes()
    assert after.startswith(before)
    assert all(json.loads(line) for line in after.splitlines())


@pytest.mark.parametrize("journal", ["statements.jsonl", "log/ticks-000000000000.jsonl"])
def test_a_damaged_line_is_named(journal: str, lean: Lean) -> None:
    lean.shepherd.close()
    lines = (lean.directory / journal).read_bytes().splitlines(keepends=True)
    (lean.directory / journal).write_bytes(b"".join([lines[0], b"{oh\n", *lines[2:]]))
    with pytest.raises(EngineError, match=f"{journal}, line 2: this was damaged; restore"):
        lean.open()


def test_an_epoch_that_is_missing_is_an_error_and_not_a_gap(lean: Lean) -> None:
    """DESIGN 4: epochs are numbered without a gap."""
    epochs = lean.directory / "levels" / "S" / "epochs"
    (epochs / "0").rename(lean.directory / "elsewhere")
    with pytest.raises(ValueError, match=r"epoch 0 is missing in .*/levels/S/epochs, and later ones are there"):
        lean.told(S)
    (lean.directory / "elsewhere").rename(epochs / "0")
    check(lean)


@pytest.mark.parametrize("level", [S, U])
def test_a_tick_that_was_carried_out_half_way_is_carried_out_again(level: Level, lean: Lean) -> None:
    """Q-10: its line is in the journal, and the epochs of some levels are not there."""
    put = lean.shepherd.put

    def fail(at: Level, epoch: Epoch) -> None:
        if at == level:
            raise EngineError("no more")
        put(at, epoch)

    lean.shepherd.put = fail
    lean.feed(rows(4))
    with pytest.raises(EngineError, match="no more"):
        lean.tick()
    with pytest.raises(EngineError, match="open the gate again"):
        lean.tick()
    lean.reopen()
    lean.answer()
    check(lean)


def test_a_file_that_was_being_written_is_not_taken_for_whole(lean: Lean) -> None:
    place = lean.directory / "levels" / "S"
    (place / "epochs" / ".3").mkdir()
    (place / "epochs" / ".3" / "main.arrow").write_bytes(b"half")
    (place / "results" / "1" / ".3.arrow.12345").write_bytes(b"half")
    (place / "results" / "main-3-0-0.arrow.12345").write_bytes(b"half")
    (lean.directory / "streams" / "V" / "segments" / ".3.arrow.12345").write_bytes(b"half")
    lean.reopen()
    check(lean)
    lean.runtimes[S].results.clear_away()
    assert [path.name for path in (place / "results").rglob("*.12345")] == []
    check(lean)


def test_a_micro_batch_that_is_repeated_changes_nothing(lean: Lean) -> None:
    """Q-10: not the rows, and not what is counted; large results of the first time are gone already."""
    results = lean.runtimes[S].results
    before = {path: path.read_bytes() for path in results.directory.rglob("*.arrow")}
    counted, passed = {serial: (one.tuples, one.rows) for serial, one in results.measured.items()}, results.passed
    results.take(lean.told(S))
    results.take([one for one in lean.told(S) if one[0] > 0])
    assert {path: path.read_bytes() for path in results.directory.rglob("*.arrow")} == before
    assert {serial: (one.tuples, one.rows) for serial, one in results.measured.items()} == counted
    assert counted[1][0] == 12
    assert results.passed == passed
    assert passed["V"].tuples == 12
    check(lean)


def test_a_line_that_cannot_be_written_is_not_there(tmp_path: Path) -> None:
    """A directory in the place of the file: this fails for everybody, root included."""
    (tmp_path / "journal").mkdir()
    with pytest.raises(EngineError, match=r"cannot write .*/journal: Is a directory; mend that and open"):
        Lines(tmp_path / "journal")
