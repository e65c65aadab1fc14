"""Processors that are awake in this worker process, so that an epoch need not begin by reading state back.

Reads: engine.  Read by: worker.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tidegate.engine.epochs import read_epoch
from tidegate.engine.processor import LevelProcessor, Result
from tidegate.engine.state import Kept, Store, load, save, token_of

LARGE = 1 << 16
"""Bytes of a result that does not pass through Spark but lies in a file: each crossing costs more than the kernels."""
MOST_AWAKE = 1024

Key = tuple[str, str, int]
"""The directory of a level, a processor, a shard; a streaming query that is restarted finds, or replaces, its own."""

_awake: OrderedDict[Key, tuple[LevelProcessor, Kept]] = OrderedDict()


def run_epochs(key: Key, shards: int, paths: Sequence[tuple[int, str]], store: Store,
               results: str) -> Iterator[tuple[int, Result]]:  # fmt: skip
    """Run epochs, each a number and a file, in order; then save. Gives results with the epoch that they are of."""
    found = _awaken(key, shards, store)
    for number, path in paths:
        epoch = read_epoch(path)
        if found is None:
            if epoch.world is None:
                raise ValueError(f"epoch {number} of {key[1]} came before its first")
            found = LevelProcessor(epoch.world, key[2], shards), Kept()
        files = dict[int, tuple[bytes, str]]()
        for place, result in enumerate(found[0].advance(epoch)):
            if len(result.body) > LARGE:
                path = os.path.join(results, f"{key[1]}-{number}-{key[2]}-{place}.arrow")
                result = replace(result, body=b"", path=_put(path, result.body, files))
            yield number, result
    if found is not None:
        save(found[0], store, found[1])
        _keep(key, found)
        yield paths[-1][0], found[0].statistics()


def _put(path: str, body: bytes, files: dict[int, tuple[bytes, str]]) -> str:
    """Write beside its place and move there: an epoch that is run again overwrites its own results.

    Queries that share a result give the same bytes, which lie in one file; ``files`` are those of the epoch so far.
    """
    if id(body) not in files:
        with open(f"{path}.{os.getpid()}", "wb") as file:
            file.write(body)
        os.replace(file.name, path)
        files[id(body)] = body, path  # kept, so that nothing else gets its identity
    return files[id(body)][1]


def _awaken(key: Key, shards: int, store: Store) -> tuple[LevelProcessor, Kept] | None:
    """The processor in memory if its state is the one in the store; else from the store."""
    head = store.read_head()
    awake = _awake.pop(key, None)
    if awake is not None and head is not None and awake[1].token == token_of(head):
        return awake
    if awake is not None:
        awake[0].close()
    return load(store, key[2], shards)


def _keep(key: Key, found: tuple[LevelProcessor, Kept]) -> None:
    _awake[key] = found
    while len(_awake) > MOST_AWAKE:
        _, (oldest, _) = _awake.popitem(last=False)
        oldest.close()
