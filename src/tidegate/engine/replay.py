"""Cases through Spark: every processor of every case, the processors of one case each in a streaming query of its own.

Reads: case, gates, engine.  Read by: cli.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.case import Case
from tidegate.engine.epochs import write_epoch
from tidegate.engine.lines import Line, refusal_line, result_lines
from tidegate.engine.processor import STATISTICS, Result
from tidegate.engine.share import EPOCH, Assignment, Refused, Shepherd
from tidegate.gates.release import may_see
from tidegate.security.lattice import Level

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from tidegate.engine.pipeline import Told

MOST_EPOCHS = 1_000

Progress = Callable[[str, int, int], None]
"""Hears of progress: what is done, how much of how much."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """How a replay is cut: tuples per epoch, and whether each epoch is a micro-batch of its own."""

    epoch: int | None = None
    micro_batch: int | None = None
    shards: int = 2

    def size(self, case: Case) -> int:
        """Tuples per epoch: as asked, as the case says, or as is best."""
        return self.micro_batch or self.epoch or (max(1, int(case.epoch)) if case.epoch is not None else EPOCH)

    @property
    def most(self) -> int:
        """Epochs per micro-batch."""
        return 1 if self.micro_batch else MOST_EPOCHS


@dataclass(slots=True)
class Load:
    """Several cases, run together."""

    cases: Sequence[Case]
    cuts: Cuts
    trusted: bool = False
    off: frozenset[str] = frozenset()
    assignments: list[list[Assignment]] = field(default_factory=list)
    refused: list[list[Refused]] = field(default_factory=list)
    results: dict[tuple[int, int, int, int], list[Result]] = field(default_factory=dict)
    """By case, processor of the case, epoch and shard: a repeated micro-batch replaces its own."""

    def __post_init__(self) -> None:
        for case in self.cases:
            assignments, refused = Shepherd(case, self.cuts.size(case), self.trusted, self.off).assignments()
            self.assignments.append(assignments)
            self.refused.append(refused)

    def run(self, spark: SparkSession, work: Path, told: Progress = lambda *_: None) -> None:
        """Write all epochs, run all streaming queries to their end, and stop them."""
        from tidegate.engine.pipeline import start

        count = max((len(assignments) for assignments in self.assignments), default=0)
        for number in range(count):
            self._write(number, work / str(number))
        queries: list[StreamingQuery] = []
        try:
            queries += (
                start(spark, work / str(number), self.cuts.shards, self.cuts.most, self._taker(number))
                for number in range(count)
            )
            for number, query in enumerate(queries):
                query.processAllAvailable()
                told("levels", number + 1, count)
        finally:
            for query in queries:
                query.stop()

    def _write(self, number: int, directory: Path) -> None:
        """The epochs of the processor of this number in every case that has so many."""
        for case, assignments in enumerate(self.assignments):
            for epoch in assignments[number].epochs if number < len(assignments) else ():
                place = directory / "epochs" / str(epoch.number)
                place.mkdir(parents=True, exist_ok=True)
                write_epoch(epoch, place / f"{case}.arrow")

    def _taker(self, number: int) -> Callable[[list[Told]], None]:
        def take(told: list[Told]) -> None:
            found: dict[tuple[int, int, int, int], list[Result]] = {}
            for one in told:
                if one.result.kind != STATISTICS:
                    found.setdefault((int(one.processor), number, one.epoch, one.shard), []).append(one.result)
            self.results |= found

        return take

    def lines(self, case: int, reader: Level | None = None) -> Iterator[str]:
        """The lines of a case in order; with a reader only those of streams that the reader may see (Q-6)."""
        lattice = self.cases[case].lattice
        found: list[Line] = [refusal_line(one) for one in self.refused[case]]
        for (owner, number, _, _), results in self.results.items():
            if owner == case:
                orders = dict(enumerate(self.assignments[case][number].orders))
                found += result_lines(results, orders, lattice)
        for line in sorted(found, key=lambda line: line.place):
            if reader is None or may_see(reader, line.level, lattice):
                yield line.text
