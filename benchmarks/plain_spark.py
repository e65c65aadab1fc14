"""A session and streaming queries as a good user of Spark has them, without tidegate; all run at the same time.

Two cores, as many shuffle partitions, large Arrow batches, no adaptive execution (streaming does not use it), no UI. A
micro-batch takes ten files, which is as much as tidegate's takes. State is kept as is Spark's default. One thing few
users know: the way of writing checkpoints that starts no process for every file, since tidegate has it too.

Reads: contest.  Read by: through_spark, through_spark_packets.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from contest import Answer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES_PER_BATCH = 10
CHECKPOINTING = "org.apache.spark.sql.execution.streaming.checkpointing"
SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
    "spark.driver.memory": "4g",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.streaming.checkpointFileManagerClass": f"{CHECKPOINTING}.FileSystemBasedCheckpointFileManager",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
}


@contextmanager
def plain_session(work: Path) -> Iterator[SparkSession]:
    """A local session on two cores."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # workers load what is beside this file
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").appName("plain")
    for name, value in {**SETTINGS, "spark.local.dir": str(work)}.items():
        builder = builder.config(name, value)
    spark = builder.config("spark.sql.warehouse.dir", str(work / "warehouse")).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


def stream_of(spark: SparkSession, directory: str, name: str) -> DataFrame:
    """A stream over the Parquet files of a directory, in the order in which they were written."""
    path = str(Path(directory, name))
    schema = spark.read.parquet(path).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", FILES_PER_BATCH).parquet(path)


def run_all(work: Path, queries: Sequence[Callable[[], DataFrame]]) -> Answer:
    """One streaming query each, at the same time, to the end of the input; results are thrown away."""
    checkpoints = work / "checkpoints"
    shutil.rmtree(checkpoints, ignore_errors=True)
    begin = time.perf_counter()
    running = [
        query()
        .writeStream.format("noop")
        .option("checkpointLocation", str(checkpoints / str(number)))
        .trigger(availableNow=True)
        .start()
        for number, query in enumerate(queries)
    ]
    for one in running:
        one.awaitTermination()
    return {"seconds": time.perf_counter() - begin}


def keep_all(queries: Sequence[Callable[[], DataFrame]], mode: str = "append") -> Answer:
    """The rows of each, for small inputs."""
    begin = time.perf_counter()
    frames = [query() for query in queries]
    running = [
        frame.writeStream.format("memory").queryName(f"kept{n}").outputMode(mode).trigger(availableNow=True).start()
        for n, frame in enumerate(frames)
    ]
    kept = {}
    for number, (frame, one) in enumerate(zip(frames, running, strict=True)):
        one.awaitTermination()
        kept[number] = [list(row) for row in frame.sparkSession.table(f"kept{number}").collect()]
        frame.sparkSession.catalog.dropTempView(f"kept{number}")
    return {"seconds": time.perf_counter() - begin, "kept": kept}
