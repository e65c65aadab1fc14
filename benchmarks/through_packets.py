"""A contestant: the 50 network-monitoring queries in plain Spark, each an ordinary streaming query over the same files.

Each as a good user would write it: condition, watermark, window of a minute, groups, sum and count, appended once a
window is over. Only what the query reads is read from Parquet. The same in meaning as tidegate's panes, but for the
last ones: they wait for a packet of the query's own that is later, and none comes.

Reads: contest, plain_spark.  Read by: bench_prefilter.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contest import Answer, Request, serve
from plain_spark import keep_all, plain_session, run_all, stream_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def query(spark: SparkSession, directory: str, seconds: int, watch: dict[str, Any]) -> DataFrame:
    """One query: minute, groups, sum of lengths, count."""
    from pyspark.sql import functions

    packets = stream_of(spark, directory, "Packets")
    wanted = packets.where(watch["where"]) if watch["where"] else packets
    minute = functions.window("ts", f"{seconds} seconds")
    groups = wanted.withWatermark("ts", "0 seconds").groupBy(minute, *watch["keys"])
    sums = groups.agg(functions.sum("len").alias("bytes"), functions.count("*").alias("packets"))
    return sums.selectExpr(f"unix_seconds(window.start) DIV {seconds} AS t", *watch["keys"], "bytes", "packets")


def answer(spark: SparkSession, work: Path, request: Request) -> Answer:
    """Run the queries, or keep all that they say, open windows included."""
    directory, seconds = request["directory"], request["seconds"]
    queries = [partial(query, spark, directory, seconds, watch) for watch in request["watches"]]
    return keep_all(queries, "complete") if request.get("keep") else run_all(work, queries)


def main() -> None:
    """One session for all questions."""
    work = Path(sys.argv[1], "packets")
    work.mkdir()
    with plain_session(work) as spark:
        serve(lambda request: answer(spark, work, request))


if __name__ == "__main__":
    main()
