"""Windows as lifetimes: when each tuple enters the relation and when it leaves it (Q-3).

A window keeps the tuples that are in it or still to come into it, and nothing else: its state is as large as the
window, of a partitioned one as its live keys. Batches may be cut anywhere between instants: the lifetimes are the same.

Reads: plan (windows), operators.  Read by: query.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tidegate.operators.batch import BEFORE, NEVER, Batch, Changes, stack
from tidegate.operators.tables import where
from tidegate.operators.vector import Numbers, by_group, codes, combined_codes, rising
from tidegate.plan.windows import Range, Rows, Unbounded, Window


@dataclass(frozen=True, slots=True)
class Held:
    """The tuples of a window: rows, their instants, and their number in their partition, counted from 1.

    ``sequence`` is each tuple's place among all ``arrived`` ones, counted from 0: it rises, and no tuple gets the place
    of another, so whoever keeps the window elsewhere knows which tuples are new and which have gone.
    """

    rows: Batch
    instants: Numbers
    number: Numbers
    sequence: Numbers
    arrived: int

    @property
    def bytes(self) -> int:
        """About how much memory it takes; a text counts as 32 bytes."""
        widths = [32 if column.data.dtype == object else column.data.itemsize for column in self.rows.columns]
        return len(self.instants) * (sum(widths) + 32)

    def take(self, kept: Numbers | slice) -> Held:
        """Some of them."""
        return Held(self.rows.take(kept), self.instants[kept], self.number[kept], self.sequence[kept], self.arrived)


def gathered(held: Held | None, fresh: Batch, instants: Numbers) -> Held:
    """Old and new tuples in one order, numbered as of one partition."""
    before = held.arrived if held is not None else 0
    arrived = before + len(instants)
    places = np.arange(before, arrived, dtype=np.int64)
    if held is None or len(held.instants) == 0:
        return Held(fresh, instants, places + 1, places, arrived)
    return Held(
        stack([held.rows, fresh]),
        np.concatenate([held.instants, instants]),
        np.concatenate([held.number, places + 1]),
        np.concatenate([held.sequence, places]),
        arrived,
    )


@dataclass(frozen=True, slots=True)
class Advanced:
    """A window after an epoch: what it holds, what happened, and where slide boundaries by rows fell.

    ``sequence`` is the place of each row of the changes among all tuples that ever arrived.
    """

    held: Held
    changes: Changes
    sequence: Numbers
    boundaries: Numbers


def advance(window: Window, partition: tuple[int, ...], held: Held | None, fresh: Batch, instants: Numbers,
            last: int, now: int) -> Advanced:  # fmt: skip
    """Take in the tuples of an epoch (last, now], and say how long each tuple lives."""
    every, keys = _together(partition, held, fresh, instants)
    boundaries = np.zeros(0, np.int64)
    match window:
        case Unbounded():
            enter, leave = every.instants, np.full(len(every.instants), NEVER)
        case Range(width, None):
            enter, leave = every.instants, every.instants + width + 1
        case Range(width, slide):
            step = slide or 1
            enter, leave = -(-every.instants // step) * step, -(-(every.instants + width) // step) * step
        case Rows():
            enter, leave = _counted(window, every, keys if partition else None)
            boundaries = _row_boundaries(window, every, last)
    enter, leave = np.where(enter > now, NEVER, enter), np.where(leave > now, NEVER, leave)
    kept = _kept(window, every, keys if partition else None, leave)
    there = where((enter != NEVER) & (leave > np.maximum(enter, last)))
    return Advanced(kept, _lived(every, enter, leave, last).take(there), every.sequence[there], boundaries)


def _together(partition: tuple[int, ...], held: Held | None, fresh: Batch, instants: Numbers) -> tuple[Held, Numbers]:
    """Old and new tuples in one order, with the partition of each and its number in it."""
    every = gathered(held, fresh, instants)
    keys = combined_codes([codes(every.rows.columns[index]) for index in partition], len(every.instants))
    if not partition:
        return every, keys
    fresh_numbers = _numbers_in_partition(keys, held, len(instants))
    number = np.concatenate([held.number, fresh_numbers]) if held is not None else fresh_numbers
    return replace(every, number=number), keys


def _numbers_in_partition(keys: Numbers, held: Held | None, fresh: int) -> Numbers:
    """Continue each partition's count where its last held tuple left it."""
    old = len(keys) - fresh
    count = np.zeros(int(keys.max(initial=-1)) + 1, np.int64)
    if held is not None:
        np.maximum.at(count, keys[:old], held.number)
    order = by_group(keys[old:])
    sorted_keys = keys[old:][order]
    first = np.flatnonzero(np.r_[True, sorted_keys[1:] != sorted_keys[:-1]]) if fresh else np.zeros(0, np.int64)
    rank = np.arange(fresh) - np.repeat(first, np.diff(np.r_[first, fresh]))
    numbers = np.empty(fresh, np.int64)
    numbers[order] = count[sorted_keys] + rank + 1
    return numbers


def _counted(window: Rows, every: Held, keys: Numbers | None) -> tuple[Numbers, Numbers]:
    """Tuple k enters when m·⌈k/m⌉ have arrived and leaves when m·⌈(k+n)/m⌉ have, or when its range ends."""
    if window.slide is None:
        steps = np.full(len(every.number), window.count)
        enter, leave = every.instants, _instant_after(every, keys, steps)
    else:
        enters = -(-every.number // window.slide) * window.slide - every.number
        leaves = -(-(every.number + window.count) // window.slide) * window.slide - every.number
        enter, leave = _instant_after(every, keys, enters), _instant_after(every, keys, leaves)
    if window.width is not None:
        leave = np.minimum(leave, every.instants + window.width + 1)
    return enter, leave


def _instant_after(every: Held, keys: Numbers | None, steps: Numbers) -> Numbers:
    """The instant of the tuple that comes so many later in the same partition; NEVER if it has not come."""
    instants, order = every.instants, None if keys is None else by_group(keys)
    place = np.arange(len(instants))
    if order is not None:
        place[order] = np.arange(len(order))
    target = place + steps
    reached = target < len(instants)
    target[~reached] = 0
    if order is not None and keys is not None:
        target = order[target]
        reached &= keys[target] == keys
    return np.where(reached, instants[target], NEVER)


def _row_boundaries(window: Rows, every: Held, last: int) -> Numbers:
    """Instants of this epoch at which some partition has received a multiple of the slide."""
    if window.slide is None:
        return np.zeros(0, np.int64)
    return rising([every.instants[(every.number % window.slide == 0) & (every.instants > last)]])


def _kept(window: Window, every: Held, keys: Numbers | None, leave: Numbers) -> Held:
    """What has not left; of a partition within a slide also its last tuple, which carries the count.

    Only how far a partition is within its slide matters: one that has ended a slide and holds nothing is forgotten.
    """
    kept = leave == NEVER
    if isinstance(window, Rows) and window.width is not None and window.slide and keys is not None and len(keys):
        newest = np.zeros(int(keys.max()) + 1, np.int64)
        np.maximum.at(newest, keys, every.number)
        kept |= (every.number == newest[keys]) & (every.number % window.slide != 0)
    return every.take(np.flatnonzero(kept))  # a copy: the file of the epoch may go


def _lived(every: Held, enter: Numbers, leave: Numbers, last: int) -> Changes:
    """Lifetimes as an epoch sees them: what entered before it was there before."""
    return Changes(every.rows, np.where(enter <= last, BEFORE, enter), leave)
