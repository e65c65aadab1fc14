"""The status of a gate, as a person sees it."""

from __future__ import annotations

from tidegate.engine.feeds import Passed
from tidegate.security.lattice import Level
from tidegate.system.status import LevelStatus, PrefilterStatus, SinkStatus, Status, StreamStatus

GOING = LevelStatus(Level("U"), awake=True, queries=2, tuples=1_234_567, late=3, shed=0, epochs=40, behind=1)
ENDED = LevelStatus(
    Level("S"), awake=True, queries=1, tuples=8, late=0, shed=5, epochs=40, behind=30, failure="no more"
)
ASLEEP = LevelStatus(Level("TS"), awake=False, queries=0, tuples=0, late=0, shed=0, epochs=0, behind=0)
STREAMS = (StreamStatus("Vitals", 39, None), StreamStatus("Ships", 2, "a file is gone\x1b[31m"))
SINK = SinkStatus("to [red]disk", "peaks", Level("U"), "waits", 38, 2, 512, 0, 3, "no room & no <way>")
FILTERED = PrefilterStatus(Level("U"), "Vitals", Passed(1_234_567, 4_321, 56_000_000, 120_000))
STATUS = Status(40, 1_700_000_000_000_000, 17, 4, (GOING, ENDED, ASLEEP), STREAMS, (SINK,), (FILTERED,))


def test_a_status_prints_as_tables() -> None:
    lines = str(STATUS).splitlines()
    assert lines[0] == ("tick 40, complete up to 2023-11-14 22:13:20 UTC; 17 tuples wait for their tick, 4 quarantined")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if line.startswith("│")]
    assert rows == [
        ["U", "awake", "2", "1,234,567", "3", "0", "40", "1"],
        ["S", "ended", "1", "8", "0", "5", "40", "30"],
        ["TS", "asleep", "0", "0", "0", "0", "0", "0"],
        ["Vitals", "running", "39"],
        ["Ships", "ended", "2"],
        ["U", "Vitals", "1,234,567", "4,321", "56,000,000", "120,000"],
        ["to [red]disk", "peaks", "U", "waits", "38", "2", "512", "0"],
    ]
    assert lines[-3:] == ["S: no more", "Ships: a file is gone\\x1b[31m", "to [red]disk: no room & no <way>"]


def test_every_number_has_a_name_above_it() -> None:
    heads = [line.replace("┃", " ").split() for line in str(STATUS).splitlines() if line.startswith("┃")]
    assert heads[0] == ["level", "is", "queries", "tuples", "late", "shed", "epochs", "behind"]
    assert heads[1:] == [
        ["stream", "source", "is", "segments"],
        ["level", "prefilter", "of", "tuples", "taken", "bytes", "bytes", "taken"],
        ["sink", "query", "level", "is", "epoch", "behind", "rows", "missed"],
    ]


def test_what_there_is_none_of_has_no_table() -> None:
    assert str(Status(-1, 0, 0, 0, (GOING,), ())).count("┏") == 1


def test_a_notebook_shows_the_same() -> None:
    shown = STATUS._repr_html_()
    assert shown.startswith("<pre>tick 40, ")
    assert "no room &amp; no &lt;way&gt;" in shown
    assert "1,234,567" in shown
