"""A processor put away and taken out again: segments of rows, the catalog, and a small head.

A window is kept as segments of at most a megabyte. Saving writes what is new, marks what has left, and deletes segments
of which nothing is left; small neighbours are merged, each time into one at least half as large again, so a row is
rewritten a few times at most. The head names the segments and carries a token: who holds a processor in memory may use
it only if the token is still the one in the store.

Reads: operators, plan, engine.  Read by: engine.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, Protocol

import numpy as np

from tidegate.catalog import RegisteredQuery, Table
from tidegate.engine.epochs import World
from tidegate.engine.processor import LevelProcessor
from tidegate.operators.arrow import decode, encode, from_record_batch, to_record_batch
from tidegate.operators.batch import stack
from tidegate.operators.commons import CommonWindow
from tidegate.operators.processor import Life
from tidegate.operators.query import QueryKernel
from tidegate.operators.tables import empty
from tidegate.operators.vector import LevelTable, Mask, Numbers
from tidegate.operators.windows import Held
from tidegate.plan import nodes
from tidegate.plan.schema import Schema

VERSION = 2
LARGEST = 1 << 20
"""Bytes of a segment: a store is slow with large values."""
MOST_DEAD = 4
"""A window is written anew when this many times more rows are stored than are left."""


class Store(Protocol):
    """Where a processor is kept: numbered segments, and one head."""

    def read_head(self) -> bytes | None:
        """The head, or None before the first save."""

    def write_head(self, data: bytes) -> None:
        """Replace the head."""

    def read(self, number: int) -> bytes:
        """A segment."""

    def write(self, number: int, data: bytes) -> None:
        """A new segment."""

    def delete(self, number: int) -> None:
        """Forget a segment."""


WindowKey = tuple[str, int, int, int, tuple[int, ...], int]
"""Kind, serial and birth of a query, the way to a sub-query, and the number of the window in it.

Of a window that queries share: COMMON and its number, and nothing else.
"""
COMMON = "common"


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment of a window: the places of its rows in the window's sequence."""

    segment: int
    sequence: Numbers


@dataclass(slots=True)
class Kept:
    """What is in the store."""

    token: str = ""
    following: int = 0
    world: list[int] = field(default_factory=list)
    saw: World | None = None
    """The world that is in those segments."""
    catalog: list[int] = field(default_factory=list)
    spoken: int = -1
    windows: dict[WindowKey, list[Piece]] = field(default_factory=dict)
    saved: dict[WindowKey, int] = field(default_factory=dict)
    """How many tuples of a window had arrived when it was saved last."""


# ------------------------------------------------------------------------------ saving


def save(processor: LevelProcessor, store: Store, kept: Kept) -> None:
    """Bring the store up to date; ``kept`` says what is in it, and is brought up to date too."""
    if kept.saw is not processor.world:
        for segment in kept.world:
            store.delete(segment)
        kept.world, kept.saw = _write_whole(pickle.dumps(processor.world, protocol=5), store, kept), processor.world
    if kept.spoken != processor.spoken:
        _save_catalog(processor, store, kept)
    windows = dict(_windows(processor))
    for key in kept.windows.keys() - windows.keys():
        _forget(kept.windows.pop(key), store)
        del kept.saved[key]
    alive = {key: _save_window(key, held, processor.levels, store, kept) for key, held in windows.items()}
    kept.token = os.urandom(8).hex()
    head = {
        "version": VERSION,
        "shards": processor.shards,
        "token": kept.token,
        "following": kept.following,
        "world": kept.world,
        "catalog": kept.catalog,
        "spoken": kept.spoken,
        "stepped": [kernel.has_stepped for life in processor.kernels.lives for _, kernel in _kernels(life.kernel)],
        "windows": {key: (held.arrived, alive[key]) for key, held in windows.items()},
    }
    store.write_head(pickle.dumps(head, protocol=5))


def _save_catalog(processor: LevelProcessor, store: Store, kept: Kept) -> None:
    lives = [_kept_life(life) for life in processor.kernels.lives]
    for segment in kept.catalog:
        store.delete(segment)
    kept.catalog = _write_whole(pickle.dumps((processor.sessions, processor.origins, lives), protocol=5), store, kept)
    kept.spoken = processor.spoken


@dataclass(frozen=True, slots=True)
class KeptLife:
    """A query as it is kept: its plan as it runs, where it began, and its places in common windows, if it shares."""

    entry: RegisteredQuery | Table
    plan: nodes.QueryPlan
    birth: tuple[int, int]
    is_part: bool
    seats: tuple[tuple[int, int], ...] | None


def _kept_life(life: Life) -> KeptLife:
    seats = tuple((seat.window.number, seat.start) for one in life.kernel.tree() for seat in one.seats.values())
    shares = life.commons is not None
    return KeptLife(life.entry, life.kernel.plan, life.birth, life.part is not None, seats if shares else None)


def _write_whole(data: bytes, store: Store, kept: Kept) -> list[int]:
    return [_write(data[start : start + LARGEST], store, kept) for start in range(0, len(data), LARGEST)]


def _save_window(
    key: WindowKey, held: Held, levels: LevelTable, store: Store, kept: Kept
) -> list[tuple[int, bytes | None]]:
    """Write new rows, with small older segments merged in; say which rows of each segment are still there."""
    before = kept.windows.get(key, [])
    fresh = int(len(held.sequence) - np.searchsorted(held.sequence, kept.saved.get(key, 0)))
    counts = [_alive_count(piece, held) for piece in before]
    stored = sum(len(piece.sequence) for piece in before)
    from_scratch = stored > MOST_DEAD * len(held.sequence) + 1024
    per_segment = _rows_per_segment(held)
    while before and (counts[-1] == 0 or from_scratch or (fresh and _merges(counts[-1], fresh, per_segment))):
        fresh += counts.pop()
        _forget([before.pop()], store)
    _forget([piece for piece, count in zip(before, counts, strict=True) if count == 0], store)
    pieces = [piece for piece, count in zip(before, counts, strict=True) if count]
    pieces += _write_rows(held, fresh, per_segment, levels, store, kept)
    kept.windows[key], kept.saved[key] = pieces, held.arrived
    return [(piece.segment, _bits(_alive(piece, held))) for piece in pieces]


def _merges(older: int, fresh: int, most: int) -> bool:
    return older <= 2 * fresh and older + fresh <= most


def _rows_per_segment(held: Held) -> int:
    return max(1, LARGEST * len(held.instants) // max(1, held.bytes))


def _write_rows(held: Held, count: int, most: int, levels: LevelTable, store: Store, kept: Kept) -> Iterator[Piece]:
    names = [str(number) for number in range(len(held.rows.columns))]
    for start in range(len(held.sequence) - count, len(held.sequence), most):
        part = held.take(np.arange(start, min(start + most, len(held.sequence))))
        beside = {"instant": part.instants, "number": part.number, "sequence": part.sequence}
        data = encode(to_record_batch(part.rows, names, levels, beside))
        yield Piece(_write(data, store, kept), part.sequence)


def _write(data: bytes, store: Store, kept: Kept) -> int:
    kept.following += 1
    store.write(kept.following, data)
    return kept.following


def _forget(pieces: list[Piece], store: Store) -> None:
    for piece in pieces:
        store.delete(piece.segment)


def _alive(piece: Piece, held: Held) -> Mask:
    place = np.searchsorted(held.sequence, piece.sequence)
    found: Mask = held.sequence[np.minimum(place, max(len(held.sequence) - 1, 0))] == piece.sequence
    return found


def _alive_count(piece: Piece, held: Held) -> int:
    return int(_alive(piece, held).sum()) if len(held.sequence) else 0


def _bits(alive: Mask) -> bytes | None:
    return None if alive.all() else np.packbits(alive).tobytes()


# ------------------------------------------------------------------------------ loading


def load(store: Store, shard: int, shards: int) -> tuple[LevelProcessor, Kept] | None:
    """The processor in the store; None if there is none yet."""
    data = store.read_head()
    if data is None:
        return None
    head: dict[str, Any] = pickle.loads(data)
    if (head["version"], head["shards"]) != (VERSION, shards):
        raise ValueError(
            f"the state was written by version {head['version']} for {head['shards']} shards; "
            f"this is version {VERSION} with {shards}"
        )
    processor = _load_catalog(head, store, shard, shards)
    kept = Kept(head["token"], head["following"], head["world"], processor.world, head["catalog"], head["spoken"])
    for key, (node, put) in _places(processor):
        if key in head["windows"]:
            arrived, segments = head["windows"][key]
            held, kept.windows[key] = _load_window(node.inputs[0].schema, arrived, segments, store, processor)
            kept.saved[key] = arrived
            put(held)
    return processor, kept


def token_of(head: bytes) -> str:
    """The token in a head."""
    token: str = pickle.loads(head)["token"]
    return token


def _load_catalog(head: dict[str, Any], store: Store, shard: int, shards: int) -> LevelProcessor:
    lives: list[KeptLife]
    sessions, origins, lives = _read_whole(head["catalog"], store)
    world: World = _read_whole(head["world"], store)
    processor = LevelProcessor(world, shard, shards)
    processor.sessions, processor.origins, processor.spoken = sessions, origins, head["spoken"]
    for kept in lives:
        _restore_life(kept, processor)
    stepped = iter(head["stepped"])
    for life in processor.kernels.lives:
        for _, kernel in _kernels(life.kernel):
            kernel.has_stepped = next(stepped)
    return processor


def _restore_life(kept: KeptLife, processor: LevelProcessor) -> None:
    kernels, part = processor.kernels, processor.part_of(kept.entry) if kept.is_part else None
    numbers = [number for number, _ in kept.seats or ()]
    kernels.following = count(max([next(kernels.following), *(number + 1 for number in numbers)]))
    life = kernels.begin(kept.entry, kept.birth, part, kept.plan)
    if life is not None and kept.seats is not None:
        life.commons = kernels.ground(life)
        life.kernel.take_seats(life.commons, life.user, kept.seats)


def _read_whole(segments: list[int], store: Store) -> Any:
    return pickle.loads(b"".join(store.read(segment) for segment in segments))


def _load_window(schema: Schema, arrived: int, segments: list[tuple[int, bytes | None]], store: Store,
                 processor: LevelProcessor) -> tuple[Held, list[Piece]]:  # fmt: skip
    parts, pieces = list[Held](), list[Piece]()
    for segment, bits in segments:
        batch = decode(store.read(segment))
        instants, number, sequence = (np.asarray(batch.column(len(schema) + n)) for n in (1, 2, 3))
        part = Held(from_record_batch(batch, schema, processor.levels), instants, number, sequence, arrived)
        pieces.append(Piece(segment, sequence))
        parts.append(part if bits is None else part.take(_rows_of(bits, len(sequence))))
    if not parts:
        return _nothing(schema, arrived), pieces
    whole = Held(
        stack([part.rows for part in parts]),
        np.concatenate([part.instants for part in parts]),
        np.concatenate([part.number for part in parts]),
        np.concatenate([part.sequence for part in parts]),
        arrived,
    )
    return whole, pieces


def _rows_of(bits: bytes, rows: int) -> Numbers:
    return np.flatnonzero(np.unpackbits(np.frombuffer(bits, np.uint8), count=rows))


def _nothing(schema: Schema, arrived: int) -> Held:
    none = np.zeros(0, np.int64)
    return Held(empty(schema), none, none, none, arrived)


# ------------------------------------------------------------------------------ where windows are


def _kernels(kernel: QueryKernel, way: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], QueryKernel]]:
    """A query and its sub-queries, each with the way to it."""
    yield way, kernel
    for number, inner in enumerate(kernel.inner.values()):
        yield from _kernels(inner, (*way, number))


Put = Callable[[Held], None]


def _places(processor: LevelProcessor) -> Iterator[tuple[WindowKey, tuple[nodes.Node, Put]]]:
    """Every node that may hold tuples, and how it is given them: windows in common first, each once."""
    common = dict[int, tuple[nodes.Node, CommonWindow]]()
    for life in processor.kernels.lives:
        for way, kernel in _kernels(life.kernel):
            for number, node in enumerate(kernel.every):
                if node in kernel.seats:
                    common[kernel.seats[node].window.number] = node, kernel.seats[node].window
                elif isinstance(node, nodes.Windowed | nodes.Panes):
                    yield _key(life, way, number), (node, partial(kernel.held.__setitem__, node))
    for number, (node, window) in common.items():
        yield (COMMON, number, 0, 0, (), 0), (node, partial(setattr, window, "held"))


def _key(life: Life, way: tuple[int, ...], number: int) -> WindowKey:
    """A query that was stopped and started is born again: its windows are others."""
    return life.entry.kind, life.entry.serial, *life.birth, way, number


def _windows(processor: LevelProcessor) -> Iterator[tuple[WindowKey, Held]]:
    """What is held, by windows of queries and by windows in common."""
    for life in processor.kernels.lives:
        for way, kernel in _kernels(life.kernel):
            for number, node in enumerate(kernel.every):
                if node in kernel.held:
                    yield _key(life, way, number), kernel.held[node]
    for ground in processor.kernels.grounds.values():
        for window in ground.windows.values():
            if window.held is not None:
                yield (COMMON, window.number, 0, 0, (), 0), window.held
