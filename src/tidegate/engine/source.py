"""The source of a level's streaming query: which epochs are there, as references.

The offset is the number of the next epoch. Tuples do not pass through Spark: a row names an epoch's file, and the task
that needs it maps it into memory (decision 7). Every shard is named in every epoch, so that each is called, by a key
that Spark hashes to a partition of its own: two shards in one task would take turns.

Reads: nothing.  Read by: pipeline.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from functools import cache

from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader
from pyspark.sql.types import StructType

NAME = "tidegate_epochs"
SCHEMA = "slot long, processor string, shard int, epoch long, path string"

Reference = tuple[int, str, int, int, str]


class EpochReader(SimpleDataSourceStreamReader):
    """Reads a directory of epochs: one directory per number, one file per processor."""

    def __init__(self, root: str, shards: int, most: int) -> None:
        self.root, self.shards, self.most = root, shards, most

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """Epochs are numbered from 0."""
        return {"epoch": 0}

    def read(self, start: dict[str, int]) -> tuple[Iterator[Reference], dict[str, int]]:
        """What is ready, at most so many epochs of it."""
        first, ready = start["epoch"], {int(name) for name in os.listdir(self.root) if name.isdigit()}
        end = first
        while end in ready and end - first < self.most:
            end += 1
        if end == first and any(number > first for number in ready):
            raise ValueError(f"epoch {first} is missing in {self.root}, and later ones are there")
        return self.readBetweenOffsets(start, {"epoch": end}), {"epoch": end}

    def readBetweenOffsets(self, start: dict[str, int], end: dict[str, int]) -> Iterator[Reference]:  # noqa: N802
        """The same references each time it is asked."""
        found: list[Reference] = []
        for number in range(start["epoch"], end["epoch"]):
            directory = os.path.join(self.root, str(number))
            for file in sorted(os.listdir(directory)):
                path, name = os.path.join(directory, file), file.removesuffix(".arrow")
                found += [(slot(name, shard, self.shards), name, shard, number, path) for shard in range(self.shards)]
        return iter(found)  # Spark copies it, as it can a list's iterator

    def commit(self, end: dict[str, int]) -> None:
        """Epochs are kept by whoever wrote them."""


class EpochSource(DataSource):
    """``spark.readStream.format("tidegate_epochs").option("path", …).option("shards", n).option("most", k)``."""

    @classmethod
    def name(cls) -> str:
        """How Spark knows it."""
        return NAME

    def schema(self) -> str | StructType:
        """References."""
        return SCHEMA

    def simpleStreamReader(self, schema: StructType) -> SimpleDataSourceStreamReader:  # noqa: N802 - Spark's name
        """Reading in the driver: references are few and small."""
        return EpochReader(self.options["path"], int(self.options["shards"]), int(self.options["most"]))


# ------------------------------------------------------------------------------ keys

_WORD = 0xFFFFFFFF


@cache
def slot(processor: str, shard: int, shards: int) -> int:
    """A key for a shard of a processor: its own, and hashed to the partition that is its turn."""
    number = zlib.crc32(processor.encode())
    wanted = (number + shard) % shards
    candidates = ((number << 24) + (shard << 16) + attempt for attempt in range(1 << 16))
    return next(key for key in candidates if partition_of(key, shards) == wanted)


def partition_of(key: int, partitions: int) -> int:
    """Where Spark puts a long: Murmur3 with 42, as a signed number, modulo the partitions."""
    found = 42
    for half in (key & _WORD, (key >> 32) & _WORD):
        half = _turned((half * 0xCC9E2D51) & _WORD, 15) * 0x1B873593 & _WORD
        found = (_turned(found ^ half, 13) * 5 + 0xE6546B64) & _WORD
    found ^= 8
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        found = ((found ^ (found >> shift)) * factor) & _WORD
    return (found - ((found & 0x80000000) << 1)) % partitions


def _turned(word: int, places: int) -> int:
    return ((word << places) | (word >> (32 - places))) & _WORD
