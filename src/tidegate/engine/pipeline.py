"""One Spark streaming query per level: source, stateful operator, results.

Reads: engine.  Read by: engine.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tidegate.engine.processor import Result
from tidegate.engine.source import NAME, EpochSource
from tidegate.engine.worker import RESULTS, EpochOperator
from tidegate.security.lattice import Level

Taken = Callable[[str, int, int, list[Result]], None]
"""Takes the results of a processor's shard in an epoch; the same again after a crash."""


@dataclass(frozen=True, slots=True)
class Passage:
    """How epochs pass through Spark: how many shards a processor has, how many epochs a micro-batch takes."""

    shards: int = 2
    most: int = 1_000


def start(spark: SparkSession, directory: Path, passage: Passage, taken: Taken) -> StreamingQuery:
    """Start the streaming query of a level over ``epochs`` in a directory; its checkpoint lies beside them."""
    spark.conf.set("spark.sql.shuffle.partitions", passage.shards)
    spark.dataSource.register(EpochSource)
    references = (
        spark.readStream.format(NAME)
        .option("path", str(directory / "epochs"))
        .option("shards", passage.shards)
        .option("most", passage.most)
        .load()
    )
    operator = EpochOperator(uuid.uuid4().hex, passage.shards)
    results = references.groupBy("processor", "shard").transformWithState(operator, RESULTS, "append", "none")

    def take(batch: DataFrame, _: int) -> None:
        """One action: a second one would run the epochs again."""
        together: dict[tuple[str, int, int], list[Result]] = {}
        for row in batch.collect():
            result = Result(row.statement, row.serial, Level(row.level), row.kind, row.name, bytes(row.body))
            together.setdefault((row.processor, row.shard, row.epoch), []).append(result)
        for key, found in together.items():
            taken(*key, found)

    return results.writeStream.foreachBatch(take).option("checkpointLocation", str(directory / "checkpoint")).start()
