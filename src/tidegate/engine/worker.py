"""The stateful operator: Spark calls it with the epochs of a shard, and keeps its state.

Reads: engine.  Read by: pipeline.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from tidegate.engine.epochs import read_epoch
from tidegate.engine.processor import LevelProcessor
from tidegate.engine.state import Kept, load, save, token_of

RESULTS = (
    "processor string, shard int, epoch long, statement int, serial int, level string, kind string, name string, "
    "body binary, path string"
)
LARGE = 1 << 16
"""Bytes of a result that does not pass through Spark but lies in a file: each crossing costs more than the kernels."""
MOST_KEPT = 1024

Key = tuple[str, str, int]
_awake: OrderedDict[Key, tuple[LevelProcessor, Kept]] = OrderedDict()
"""Processors of this worker process, so that an epoch need not be begun by reading state back."""


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
    """One instance per task; the keys are (processor, shard)."""

    def __init__(self, run: str, shards: int, results: str) -> None:
        self.run, self.shards, self.results = run, shards, results

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Spark's part of the state: a head and numbered segments."""
        self.head = handle.getValueState("head", "data binary")
        self.segments = handle.getMapState("segments", "number long", "data binary")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Run the epochs of a micro-batch in order, then save."""
        name, shard = key
        store = SparkStore(self.head, self.segments)
        references = sorted((row.epoch, row.path) for row in rows)
        found = self._awaken((self.run, name, shard), store)
        for number, path in references:
            epoch = read_epoch(path)
            if found is None:
                if epoch.world is None:
                    raise ValueError(f"epoch {number} of {name} came before its first")
                found = LevelProcessor(epoch.world, shard, self.shards), Kept()
            for place, result in enumerate(found[0].advance(epoch)):
                path = None
                if len(result.body) > LARGE:
                    path = self._put(f"{name}-{number}-{shard}-{place}.arrow", result.body)
                yield Row(processor=name, shard=shard, epoch=number, statement=result.statement, serial=result.serial,
                          level=result.level, kind=result.kind, name=result.name, body=b"" if path else result.body,
                          path=path)  # fmt: skip
        if found is not None:
            save(found[0], store, found[1])
            self._keep((self.run, name, shard), found)

    def _put(self, name: str, data: bytes) -> str:
        """Write beside its place and move there: an epoch that is run again overwrites its own results."""
        path = os.path.join(self.results, name)
        with open(f"{path}.{os.getpid()}", "wb") as file:
            file.write(data)
        os.replace(file.name, path)
        return path

    def _awaken(self, key: Key, store: SparkStore) -> tuple[LevelProcessor, Kept] | None:
        """The processor in memory if its state is the one in the store; else from the store."""
        head = store.read_head()
        awake = _awake.pop(key, None)
        if awake is not None and head is not None and awake[1].token == token_of(head):
            return awake
        if awake is not None:
            awake[0].close()
        return load(store, key[2], self.shards)

    def _keep(self, key: Key, found: tuple[LevelProcessor, Kept]) -> None:
        _awake[key] = found
        while len(_awake) > MOST_KEPT:
            _, (oldest, _) = _awake.popitem(last=False)
            oldest.close()

    def close(self) -> None:
        """Processors stay awake: the next micro-batch comes soon."""
