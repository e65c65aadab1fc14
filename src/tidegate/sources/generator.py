"""The generator: made-up tuples as a stream, so many per second of the wall clock.

The offset is the number of the next row, with the instants that row 0 stands for. The world goes on while the system is
down: after a pause the rows that fell due meanwhile are made in several micro-batches, and no row differs from what it
would have been.

Reads: sources (generate, source).  Read by: system.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from tidegate.engine.quiet import register_once
from tidegate.errors import SourceError
from tidegate.sources.generate import LEVEL, TIME, Recipe, attributes, batch
from tidegate.sources.source import Source

NAME = "tidegate_generator"
MOST = 500_000  # rows of a micro-batch
BATCH = 32_768  # rows of a record batch
LEAST = 20_000  # rows that are worth a task of their own

Offset = dict[str, int]


def generator(
    spark: SparkSession,
    kind: str,
    *,
    rate: float,
    levels: Mapping[str, float],
    seed: int = 0,
    skew: float = 0.0,
    speed: float = 1.0,
    start: datetime | None = None,
    disorder: float = 0.0,
    most: int = MOST,
) -> Source:
    """A stream of made-up tuples; a micro-batch has at most ``most`` rows, and a restart repeats none and skips none.

    ``start`` is the instant of row 0, by default the moment at which the stream first starts.
    """
    recipe = Recipe(kind, dict(levels), rate, seed, speed, skew, disorder)
    if most < 1:
        raise SourceError("a micro-batch needs at least one row", hint="leave out most, or raise it")
    if start is not None and start.tzinfo is None:
        raise SourceError("the start of made-up tuples has no time zone", hint="add tzinfo=UTC")
    first = None if start is None else round(start.timestamp() * 1_000_000)
    options = {"recipe": asdict(recipe), "start": first, "most": most, "tasks": spark.sparkContext.defaultParallelism}
    register_once(spark, GeneratorSource)
    frame = spark.readStream.format(NAME).option("options", json.dumps(options)).load()
    return Source(frame, attributes(kind), TIME, LEVEL)


class GeneratorSource(DataSource):
    """``spark.readStream.format("tidegate_generator")``; its one option is JSON that ``generator`` writes."""

    @classmethod
    def name(cls) -> str:
        """How Spark knows it."""
        return NAME

    def schema(self) -> str:
        """Time, label, attributes."""
        declared = attributes(json.loads(self.options["options"])["recipe"]["kind"])
        return ", ".join([f"{TIME} timestamp", f"{LEVEL} string", *map(str, declared)])

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Rows are made in the tasks."""
        options = json.loads(self.options["options"])
        return GeneratorReader(Recipe(**options["recipe"]), options["start"], options["most"], options["tasks"])


@dataclass
class Piece(InputPartition):
    """The rows that one task makes."""

    first: int
    count: int
    start: int


class GeneratorReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Says which rows are due, and makes them."""

    def __init__(self, recipe: Recipe, start: int | None, most: int, tasks: int) -> None:
        self.recipe, self.start, self.most, self.tasks = recipe, start, most, tasks
        self.until: float | None = None  # with a trigger that ends: the moment that it ends at

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's name
        """Row 0 is due now."""
        now = _microseconds(datetime.now(UTC).timestamp())
        return {"next": 0, "began": now, "start": now if self.start is None else self.start}

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> Offset:  # noqa: N802 - Spark's name
        """As far as the wall clock and the bound of a micro-batch allow; never back."""
        passed = (self.until or time.time()) - start["began"] / 1e6
        due = int(max(0.0, passed) * self.recipe.rate)
        return {**start, "next": max(start["next"], min(due, start["next"] + self.most))}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """What is due now is all there is."""
        self.until = time.time()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Even pieces in order."""
        first, last = start["next"], end["next"]
        pieces = max(1, min(self.tasks, (last - first) // LEAST))
        cuts = [first + (last - first) * piece // pieces for piece in range(pieces + 1)]
        return [Piece(a, b - a, end["start"]) for a, b in pairwise(cuts) if b > a]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a piece."""
        assert isinstance(partition, Piece)
        last = partition.first + partition.count
        for first in range(partition.first, last, BATCH):
            yield batch(self.recipe, partition.start, first, min(BATCH, last - first))


def _microseconds(seconds: float) -> int:
    return round(seconds * 1_000_000)
