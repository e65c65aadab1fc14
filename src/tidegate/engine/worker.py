"""The stateful operator: Spark calls it with the epochs of a shard, and keeps its state.

Spark also loads this file to ask which state there is, so what runs epochs is loaded only when there are some.

Reads: engine.  Read by: pipeline.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

RESULTS = (
    "processor string, shard int, epoch long, statement int, serial int, level string, kind string, name string, "
    "body binary, path string"
)


class SparkStore:
    """Spark's state of one key, as a store of segments."""

    def __init__(self, head: Any, segments: Any) -> None:
        self._head, self._segments = head, segments

    def read_head(self) -> bytes | None:
        """The head, or None before the first save."""
        found = self._head.get()
        return None if found is None else bytes(found[0])

    def write_head(self, data: bytes) -> None:
        """Replace the head."""
        self._head.update((data,))

    def read(self, number: int) -> bytes:
        """A segment."""
        return bytes(self._segments.getValue((number,))[0])

    def write(self, number: int, data: bytes) -> None:
        """A new segment."""
        self._segments.updateValue((number,), (data,))

    def delete(self, number: int) -> None:
        """Forget a segment."""
        self._segments.removeKey((number,))


class EpochOperator(StatefulProcessor):
    """One instance per task; a key is a shard of a processor."""

    def __init__(self, home: str, shards: int, results: str) -> None:
        self.home, self.shards, self.results = home, shards, results

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Spark's part of the state: a head and numbered segments."""
        self.head = handle.getValueState("head", "data binary")
        self.segments = handle.getMapState("segments", "number long", "data binary")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Run the epochs of a micro-batch in order, then save."""
        from tidegate.engine.awake import run_epochs

        given = sorted(rows, key=lambda row: row.epoch)
        owners = {(row.processor, row.shard) for row in given}
        if len(owners) > 1:
            raise ValueError(f"two shards have the key {key}")
        ((name, shard),) = owners
        store = SparkStore(self.head, self.segments)
        paths = [(row.epoch, row.path) for row in given]
        for epoch, result in run_epochs((self.home, name, shard), self.shards, paths, store, self.results):
            yield Row(processor=name, shard=shard, epoch=epoch, statement=result.statement, serial=result.serial,
                      level=result.level, kind=result.kind, name=result.name, body=result.body,
                      path=result.path)  # fmt: skip

    def close(self) -> None:
        """Processors stay awake: the next micro-batch comes soon."""
