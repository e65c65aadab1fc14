"""A store in memory, which counts what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidegate.engine.processor import LevelProcessor
from tidegate.engine.state import Kept, load, save


@dataclass
class MemoryStore:
    """Segments and a head."""

    head: bytes | None = None
    segments: dict[int, bytes] = field(default_factory=dict)
    written: int = 0

    def read_head(self) -> bytes | None:
        return self.head

    def write_head(self, data: bytes) -> None:
        self.head = data

    def read(self, number: int) -> bytes:
        return self.segments[number]

    def write(self, number: int, data: bytes) -> None:
        assert number not in self.segments, "a segment is written once"
        self.segments[number] = data
        self.written += len(data)

    def delete(self, number: int) -> None:
        del self.segments[number]


@dataclass
class PutAway:
    """Saves each processor and goes on with what can be loaded."""

    stores: dict[tuple[str, int], tuple[MemoryStore, Kept]] = field(default_factory=dict)
    times: int = 0

    def __call__(self, processor: LevelProcessor) -> LevelProcessor:
        key = processor.world.level, processor.shard
        store, kept = self.stores.get(key, (MemoryStore(), Kept()))
        save(processor, store, kept)
        processor.close()
        found = load(store, processor.shard, processor.shards)
        assert found is not None
        self.times += 1  # every other time what is kept is what was loaded, as after a crash
        self.stores[key] = store, found[1] if self.times % 2 else kept
        return found[0]
