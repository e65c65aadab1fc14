"""Shards run beside each other: each has a partition of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as sf

from tidegate.engine.source import partition_of, slot

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_key_is_hashed_as_spark_hashes_it(spark: SparkSession) -> None:
    keys = [0, 1, -1, 7, 2**31, -(2**40), 2**63 - 1, -(2**63)]
    rows = spark.createDataFrame([(key,) for key in keys], "key long").select(sf.pmod(sf.hash("key"), sf.lit(7)))
    assert [row[0] for row in rows.collect()] == [partition_of(key % 2**64, 7) for key in keys]


def test_shards_of_a_processor_have_partitions_of_their_own() -> None:
    for shards in (1, 2, 3, 8):
        slots = [slot("main", shard, shards) for shard in range(shards)]
        assert len({partition_of(key, shards) for key in slots}) == shards


def test_no_two_processors_share_a_key() -> None:
    keys = {slot(str(number), shard, 2) for number in range(500) for shard in range(2)}
    assert len(keys) == 1000
