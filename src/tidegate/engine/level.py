"""The runtime of one level: epochs written for it, its streaming query, its results.

Reads: engine, operators.  Read by: system.
"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.engine.checkpoint import clear_checkpoint
from tidegate.engine.epochs import Epoch, write_epoch
from tidegate.engine.journal import cannot_write
from tidegate.engine.results import Results
from tidegate.security.lattice import Lattice, Level

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from tidegate.engine.pipeline import Told

MOST_EPOCHS = 64
"""Epochs that a micro-batch takes at most: what is behind catches up, and no batch is endless."""
MAIN, DROPPED = "main", "dropped"


@dataclass(slots=True)
class LevelRuntime:
    """A level that is awake."""

    level: Level
    directory: Path
    lattice: Lattice
    shards: int
    results: Results = field(init=False)
    written: int = -1
    """The newest epoch that was written."""
    committed: int = -1
    """Epochs up to here are in Spark's checkpoint: nobody will ask for them again."""
    query: StreamingQuery | None = None
    _taken: int = -1
    """The newest epoch that this run of the query has given: the first micro-batch may be one that is repeated."""
    latency: float = 0.0
    """Seconds from the writing of the newest answered epoch to its answer."""
    _moments: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.results = Results(self.directory / "results", self.lattice)
        (self.directory / "epochs").mkdir(parents=True, exist_ok=True)

    # ---------------------------------------------------------------- epochs

    def write(self, epoch: Epoch) -> None:
        """Put an epoch where the streaming query finds it, whole or not at all; one that is there stays as it is."""
        place = self.directory / "epochs" / str(epoch.number)
        if not place.exists():
            try:
                self._write(epoch, place)
            except OSError as error:
                raise cannot_write(self.directory.parent, error) from None  # everybody hears it: it names no level
            self._moments[epoch.number] = time.monotonic()
        self.written = max(self.written, epoch.number)

    def _write(self, epoch: Epoch, place: Path) -> None:
        unfinished = place.with_name(f".{place.name}")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        write_epoch(epoch, unfinished / f"{MAIN}.arrow")
        unfinished.rename(place)

    @property
    def behind(self) -> int:
        """Epochs written and not yet answered."""
        return self.written - self.results.done

    def waiting_bytes(self) -> int:
        """Bytes of epochs written and not yet answered."""
        numbers = range(max(0, self.results.done + 1), self.written + 1)
        return sum(_size(self.directory / "epochs" / str(number) / f"{MAIN}.arrow") for number in numbers)

    def forget(self, before: float, *, has_ended: bool = False) -> None:
        """Drop epochs and results that were written before a moment of the wall clock, and are no longer needed.

        Where the level has ended, those that nobody has answered go as well: they would fill the disk for ever.
        """
        oldest_kept = self.committed
        for number in sorted(int(name) for name in os.listdir(self.directory / "epochs") if name.isdigit()):
            place = self.directory / "epochs" / str(number)
            if place.stat().st_mtime >= before:
                oldest_kept = min(oldest_kept, number)
            elif number <= self.committed or has_ended:
                if number > self.committed:
                    self._note_dropped()
                shutil.rmtree(place)
        self.results.forget(oldest_kept)
        if has_ended:
            self._moments.clear()

    def _note_dropped(self) -> None:
        (self.directory / DROPPED).touch()

    @property
    def is_lost(self) -> bool:
        """Whether epochs were dropped that the streaming query has not seen: it cannot go on."""
        return (self.directory / DROPPED).exists()

    # ---------------------------------------------------------------- Spark

    def start(self, spark: SparkSession) -> None:
        """Start or restart the streaming query; it goes on where its checkpoint says."""
        from tidegate.engine.pipeline import start

        self._taken = -1
        self.results.clear_away()
        clear_checkpoint(self.directory / "checkpoint")
        self.query = start(spark, self.directory, self.shards, MOST_EPOCHS, self._take)

    def _take(self, told: list[Told]) -> None:
        """Runs inside a micro-batch: those that this run of the query took before it are committed."""
        self.committed = max(self.committed, self._taken)
        self.results.take([(one.epoch, one.result) for one in told])
        self._taken = max((one.epoch for one in told), default=self._taken)
        self._measure()

    def _measure(self) -> None:
        answered = [number for number in list(self._moments) if number <= self.results.done]  # epochs go on coming
        if answered:
            self.latency = time.monotonic() - self._moments[max(answered)]
        for number in answered:
            del self._moments[number]

    def failure(self) -> Exception | None:
        """Why the streaming query has ended, if it has by itself."""
        if self.query is None or self.query.isActive:
            return None
        return self.query.exception() or RuntimeError("it was stopped")

    def stop(self) -> None:
        """End the streaming query."""
        if self.query is not None:
            self.query.stop()
            self.query = None

    def wait(self, epoch: int, seconds: float) -> bool:
        """Whether the results of an epoch are there, after waiting for them at most so long."""
        end = time.monotonic() + seconds
        with self.results.changed:
            while self.results.done < epoch:
                left = end - time.monotonic()
                if left <= 0 or self.failure() is not None:
                    return False
                self.results.changed.wait(min(left, 0.2))
        return True


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
