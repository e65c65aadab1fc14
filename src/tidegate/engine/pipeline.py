"""One Spark streaming query per level: source, stateful operator, results.

Reads: engine.  Read by: engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tidegate.engine.processor import Result
from tidegate.engine.quiet import register_once
from tidegate.engine.session import short_farewell
from tidegate.engine.source import NAME, EpochSource
from tidegate.engine.worker import RESULTS, EpochOperator
from tidegate.security.lattice import Level

Taken = Callable[[list["Told"]], None]
"""Takes what a micro-batch gave; the same again if it is run again after a crash."""


@dataclass(frozen=True, slots=True)
class Told:
    """Something that a shard of a processor gave in an epoch."""

    processor: str
    shard: int
    epoch: int
    result: Result


def start(spark: SparkSession, directory: Path, shards: int, most: int, taken: Taken) -> StreamingQuery:
    """Start the streaming query of a level over ``epochs`` in a directory, with checkpoint and large results beside.

    A processor has so many shards, and a micro-batch takes as many epochs as are there, up to ``most``.
    """
    spark.conf.set("spark.sql.shuffle.partitions", shards)
    register_once(spark, EpochSource)
    references = (
        spark.readStream.format(NAME)
        .option("path", str(directory / "epochs"))
        .option("shards", shards)
        .option("most", most)
        .load()
    )
    (directory / "results").mkdir(exist_ok=True)
    operator = EpochOperator(str(directory), shards, str(directory / "results"))
    results = references.groupBy("slot").transformWithState(operator, RESULTS, "append", "none")

    def take(batch: DataFrame, _: int) -> None:
        """One action: a second one would run the epochs again."""
        with short_farewell():
            rows = batch.collect()
        taken([_told(row) for row in rows])

    return results.writeStream.foreachBatch(take).option("checkpointLocation", str(directory / "checkpoint")).start()


def _told(row: Row) -> Told:
    result = Result(row.statement, row.serial, Level(row.level), row.kind, row.name, bytes(row.body), row.path)
    return Told(row.processor, row.shard, row.epoch, result)
