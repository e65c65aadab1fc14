"""The world of the crash tests: tuples with fixed times in files, and the queries that are asked of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

LEVELS = "U < C < S"
SCHEMA = {"sid": "int", "bp": "double"}
SECOND = 1_000_000
FIRST = 1_700_000_000 * SECOND
"""The instant of the first tuple."""
FILES, PER_FILE = 20, 20
BETWEEN = SECOND // PER_FILE
END = FIRST + (FILES + 6) * SECOND
"""By then the last tuple has left every window."""
BEFORE = datetime.fromtimestamp(FIRST / SECOND - 3, UTC)

EARLY = {
    "sums": ("S", "SELECT sid, COUNT(*), SUM(bp) FROM Vitals [RANGE 4 SECONDS] GROUP BY sid"),
    "panes": ("S", "SELECT t, AVG(bp), LUB(level) FROM Vitals GROUP BY time/5 AS t"),
    "large": ("S", "SELECT RSTREAM sid, bp FROM Vitals [ROWS 200]"),
    "last": ("U", "SELECT MAX(bp), COUNT(*) FROM Vitals [PARTITIONED BY sid ROWS 3]"),
}
"""Registered before the first tuple: what they answer is known."""


@dataclass(frozen=True, slots=True)
class Passing:
    """A query that comes on the way and may go again, at seconds of the stream."""

    name: str
    level: str
    text: str
    comes: int
    goes: int | None = None


PASSING = (
    Passing("guest", "S", "SELECT AVG(bp) FROM Vitals [ROWS 7]", 3, 11),
    Passing("late", "U", "SELECT sid, bp FROM Vitals [RANGE 2 SECONDS] WHERE bp > 60.0", 6),
    Passing("derived", "S", "SELECT COUNT(*) FROM high [ROWS 20]", 9, 16),
)
STREAM = "CREATE STREAM high AS SELECT sid, bp FROM Vitals [NOW] WHERE bp > 90.0"


def write_input(folder: Path) -> list[tuple[int, str, int, float]]:
    """One file per second of the stream; gives what is in them: instant, label, sid and bp."""
    folder.mkdir(parents=True)
    chance, tuples = Random(3), list[tuple[int, str, int, float]]()
    for number in range(FILES):
        first = FIRST + number * SECOND
        rows = [
            (first + place * BETWEEN, chance.choice("UUCS"), chance.randrange(6), chance.randrange(400, 1300) / 10)
            for place in range(PER_FILE)
        ]
        lines = [{"time": time / SECOND, "level": level, "sid": sid, "bp": bp} for time, level, sid, bp in rows]
        (folder / f"{number:03d}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        tuples += rows
    return tuples


def instant_of(number: int) -> int:
    """The instant of a tuple by its place in the input; behind the last one the end."""
    seconds, place = divmod(number, PER_FILE)
    return FIRST + seconds * SECOND + place * BETWEEN if seconds < FILES else END + 2 * SECOND
