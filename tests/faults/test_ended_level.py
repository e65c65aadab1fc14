"""A level whose streaming query has ended for good: its epochs go by age, and nobody else can tell."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.faults.lean import Lean, S, U, rows
from tidegate.security.lattice import Level

SUM = "SELECT COUNT(*), SUM(bp) FROM V [ROWS 10]"
KEEP = 5


def run(place: Path, *, has_ended: bool) -> tuple[Lean, list[int]]:
    """Forty seconds; all answer after ten, and then there is retention. How many epochs S has, after each."""
    lean, counts = Lean(place), list[int]()
    lean.say(SUM, S, "high")
    lean.say(SUM, U, "low")
    for number in range(40):
        lean.feed(rows(4, number))
        lean.tick()
        if number == 10:
            lean.answer()
            lean.runtimes[S].committed = 10
        lean.runtimes[U].committed = number
        for level in (U, S) if number >= 10 else ():
            age(epochs(lean, level), number - KEEP)
            lean.runtimes[level].forget(time.time() - 60, has_ended=has_ended and level == S)
        counts.append(len(list(epochs(lean, S).iterdir())))
    lean.close()
    return lean, counts


def epochs(lean: Lean, level: Level) -> Path:
    """Where a level's epochs lie."""
    return lean.directory / "levels" / level / "epochs"


def age(place: Path, newest: int) -> None:
    """Epochs up to one are an hour old."""
    for path in place.iterdir():
        if int(path.name) <= newest:
            os.utime(path, (time.time() - 3600,) * 2)


def everything(place: Path) -> dict[str, bytes]:
    """Every file below a directory."""
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def test_its_epochs_do_not_fill_the_disk(tmp_path: Path) -> None:
    """Q-16: what is not answered is kept as long as everything else, and then goes; one that goes on needs it all."""
    ended, counts = run(tmp_path / "ended", has_ended=True)
    assert max(counts[15:]) == KEEP
    assert ended.runtimes[S].is_lost
    going, counts = run(tmp_path / "going", has_ended=False)
    assert counts[-1] == 40 - 11
    assert not going.runtimes[S].is_lost


def test_nothing_at_other_levels_changes_by_it(tmp_path: Path) -> None:
    """N-2: epochs, results and numbers of U are the same bytes."""
    found = [
        everything(run(tmp_path / name, has_ended=name == "ended")[0].directory / "levels" / "U")
        for name in ("ended", "going")
    ]
    assert found[0] == found[1]
    assert len(found[0]) > KEEP
