"""A gate without Spark: its real directory, journals, segments, epochs and results, and nothing that lives elsewhere.

Each level is answered by a processor that runs all epochs from the first one on, as they lie on the disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from tidegate.engine.epochs import Epoch, read_epoch, schema_from
from tidegate.engine.herd import path_name, segments_of
from tidegate.engine.level import LevelRuntime
from tidegate.engine.live import STREAM, Line, LiveShepherd
from tidegate.engine.processor import LevelProcessor, Result
from tidegate.engine.segments import numbers_in, segment_schema, write_segment
from tidegate.engine.source import EpochReader
from tidegate.engine.verify import Verdict, verify
from tidegate.functions.host import FunctionHost
from tidegate.functions.limits import MEBIBYTE, Limits
from tidegate.security.declare import declare
from tidegate.security.lattice import Lattice, Level
from tidegate.system.desk import Desk

LEVELS = "U < S"
SCHEMA = {"sid": "int", "bp": "double"}
SECOND = 1_000_000
U, S = Level("U"), Level("S")
AMPLE = Limits(memory_bytes=128 * MEBIBYTE, seconds=60.0)
"""Of a function: a busy machine must fail no test."""

Row = tuple[str, int, float]
"""Label, sid and bp."""


@dataclass
class Lean:
    """A gate's directory that is opened, fed, ticked and answered by hand."""

    directory: Path
    limits: Limits = AMPLE
    now: int = 0
    lattice: Lattice = field(init=False)
    shepherd: LiveShepherd = field(init=False)
    desk: Desk = field(init=False)
    runtimes: dict[Level, LevelRuntime] = field(init=False)

    def __post_init__(self) -> None:
        self.lattice = declare(LEVELS)
        self.open()
        terms = {"low": U, "high": S, "late": "restamp", "skew": 10 * SECOND}
        self.desk.declare(Line(STREAM, U, {"name": "V", "schema": SCHEMA, "terms": terms, "timed": True}))

    def open(self) -> None:
        """Open the directory, for the first time or again; whatever was in memory is gone."""
        self.runtimes = {}
        self.shepherd = LiveShepherd(self.lattice, LEVELS, self.directory, self._put, 0, (U, S))
        self.desk = Desk(self.shepherd)
        self.now = max(self.now, self.shepherd.latest.instant)

    def close(self) -> None:
        """Let the journals go."""
        self.shepherd.close()

    def reopen(self) -> None:
        """As after a crash."""
        self.close()
        self.open()

    def _put(self, level: Level, epoch: Epoch) -> None:
        if level not in self.runtimes:
            place = self.directory / "levels" / path_name(level)
            self.runtimes[level] = LevelRuntime(level, place, self.lattice, 1)
        self.runtimes[level].write(epoch)

    # ---------------------------------------------------------------- what happens

    def say(self, text: str, level: Level = S, name: str | None = None) -> None:
        """A statement."""
        self.desk.speak(text, level, "ana", name)

    def feed(self, rows: Sequence[Row]) -> Path:
        """A segment with these tuples, a millisecond apart, now."""
        place = segments_of(self.directory, "V")
        place.mkdir(parents=True, exist_ok=True)
        number = max(numbers_in(place), default=-1) + 1
        times = [self.now + 1_000 * (count + 1) for count in range(len(rows))]
        columns: list[Any] = [*([row[n] for row in rows] for n in (1, 2, 0)), times, [None] * len(rows)]
        wanted = segment_schema(schema_from(SCHEMA))
        arrays = [pa.array(column, one.type) for column, one in zip(columns, wanted, strict=True)]
        write_segment(pa.Table.from_arrays(arrays, schema=wanted), place / f"{number}.arrow")
        return place / f"{number}.arrow"

    def tick(self) -> None:
        """A second passes."""
        self.now += SECOND
        assert self.shepherd.tick(self.now, self.now)

    def told(self, level: Level) -> list[tuple[int, Result]]:
        """What the processor of a level gives for all epochs that it was ever given."""
        root = str(self.directory / "levels" / path_name(level) / "epochs")
        references, _ = EpochReader(root, 1, 1_000_000).read({"epoch": 0})
        found, processor = list[tuple[int, Result]](), None
        for _, _, _, number, path in references:
            epoch = read_epoch(path)
            if processor is None:
                assert epoch.world is not None
                processor = LevelProcessor(epoch.world)
                processor.hosts._hosts[level] = FunctionHost(self.limits)
            found += [(number, result) for result in processor.advance(epoch)]
            found.append((number, processor.statistics()))
        if processor is not None:
            processor.close()
        return found

    def answer(self) -> None:
        """Every level answers what it has not answered yet, and what is suspended is written down."""
        for level, runtime in self.runtimes.items():
            runtime.results.take([one for one in self.told(level) if one[0] > runtime.results.done])
            for serial, problem in sorted(runtime.results.suspended.items()):
                self.desk.suspend(level, serial, problem["epoch"])

    # ---------------------------------------------------------------- what is shown

    def verdict(self) -> Verdict:
        """Every answer against the reference over the gate's own log."""
        return verify(self.directory, {"levels": LEVELS})

    def runs(self, name: str, level: Level = S) -> bool:
        """Whether a query is running, as its level knows it."""
        found = self.desk.interpreter(level).query(name)
        return found is not None and found.running


def rows(count: int, first: int = 0) -> list[Row]:
    """Some tuples at both levels."""
    return [("US"[number % 2], number % 5, number / 4) for number in range(first, first + count)]
