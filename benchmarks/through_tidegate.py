"""A contestant: tidegate through Spark, over epochs that lie ready, as in bench_spark; results are read, not kept.

What is switched off is said in the first epoch.

Reads: contest, bench_spark's way to drive a level.  Read by: bench_against, bench_prefilter.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from contest import Answer, Request, serve

from tidegate.engine.pipeline import Told, start
from tidegate.engine.processor import STATISTICS
from tidegate.engine.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHARDS = 2


def answer(spark: SparkSession, request: Request) -> Answer:
    """All epochs of a directory, from an empty checkpoint: the rows, and if asked for, what they say, by statement."""
    directory = Path(request["directory"])
    rows, kept = 0, {number: list[list[object]]() for number in range(request.get("keep", 0))}

    def take(told: list[Told]) -> None:
        nonlocal rows
        for result in (one.result for one in told if one.result.kind != STATISTICS):
            assert result.kind == "+", result
            data = result.body if result.path is None else pa.memory_map(result.path).read_buffer()
            batch = pa.ipc.open_stream(data).read_next_batch()
            rows += batch.num_rows
            if result.statement in kept:
                kept[result.statement] += map(list, zip(*(column.to_pylist() for column in batch.columns), strict=True))

        for path in {one.result.path for one in told if one.result.path is not None}:
            os.remove(path)  # queries that share a result name the same file

    for left_over in ("checkpoint", "results"):
        shutil.rmtree(directory / left_over, ignore_errors=True)
    begin = time.perf_counter()
    query = start(spark, directory, SHARDS, request["most"], take)
    try:
        query.processAllAvailable()
        seconds = time.perf_counter() - begin
    finally:
        query.stop()
    return {"seconds": seconds, "rows": rows, "kept": kept}


def main() -> None:
    """One session for all questions."""
    work = Path(sys.argv[1], "tidegate")
    work.mkdir()
    with spark_session(work) as spark:
        serve(lambda request: answer(spark, request))


if __name__ == "__main__":
    main()
