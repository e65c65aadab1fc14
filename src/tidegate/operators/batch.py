"""Rows side by side: the columns of a relation, the level of each row, and the scalar sub-queries that stand beside it;
with the instants at which they arrive, or enter and leave.

Reads: plan, operators (vector).  Read by: operators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tidegate.operators.vector import Mask, Numbers, Vector, concatenate
from tidegate.plan.expressions import Expression, ScalarSubquery


@dataclass(frozen=True, slots=True)
class Batch:
    """Columns of one length; ``level`` numbers the level of each row in a LevelTable."""

    columns: tuple[Vector, ...]
    level: Numbers
    scalars: Mapping[ScalarSubquery, Vector] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.level)

    def take(self, rows: Numbers | Mask | slice) -> Batch:
        """Some rows, by number or by mask."""
        scalars = {scalar: vector.take(rows) for scalar, vector in self.scalars.items()}
        return Batch(tuple(column.take(rows) for column in self.columns), self.level[rows], scalars)


def stack(batches: Sequence[Batch]) -> Batch:
    """The rows of several batches of one shape."""
    columns = tuple(concatenate(together) for together in zip(*(batch.columns for batch in batches), strict=True))
    return Batch(columns, np.concatenate([batch.level for batch in batches]))


@dataclass(frozen=True, slots=True)
class Bits:
    """Conditions that were tested already, for tuples that stood at some places then (None: at all of them)."""

    masks: Mapping[Expression, Mask]
    places: Numbers | None = None

    def all_of(self, conditions: Sequence[Expression]) -> Mask | None:
        """For which tuples all of some conditions hold; None if one of them was not tested."""
        if not conditions or any(one not in self.masks for one in conditions):
            return None
        found: Mask = np.logical_and.reduce([self.masks[one] for one in conditions])
        return found if self.places is None else found[self.places]

    def take(self, rows: Numbers | slice) -> Bits:
        """Of some of the tuples."""
        if not self.masks or (isinstance(rows, slice) and rows == slice(None)):
            return self
        if self.places is not None:
            return Bits(self.masks, self.places[rows])
        return Bits(self.masks, rows if not isinstance(rows, slice) else np.arange(self._tested)[rows])

    @property
    def _tested(self) -> int:
        return len(next(iter(self.masks.values())))


NO_BITS = Bits({})


@dataclass(frozen=True, slots=True)
class Arrived:
    """Tuples of one stream in order: their columns (with the hidden ones), levels and instants.

    ``every`` are the instants of all tuples, those that nobody wants included: they are steps all the same (Q-2).
    """

    rows: Batch
    instants: Numbers
    every: Numbers
    bits: Bits = NO_BITS

    def between(self, last: int, now: int) -> Arrived:
        """Those of (last, now]."""
        low, high = np.searchsorted(self.instants, [last, now], side="right")
        first, behind = np.searchsorted(self.every, [last, now], side="right")
        if low == 0 and high == len(self.instants) and first == 0 and behind == len(self.every):
            return self
        part = slice(int(low), int(high))
        return Arrived(self.rows.take(part), self.instants[part], self.every[first:behind], self.bits.take(part))

    def take(self, rows: Numbers | slice) -> Arrived:
        """Some of the tuples; all were there."""
        return Arrived(self.rows.take(rows), self.instants[rows], self.every, self.bits.take(rows))


def arrived(rows: Batch, instants: Numbers) -> Arrived:
    """Tuples, all of them wanted."""
    return Arrived(rows, instants, instants)


@dataclass(frozen=True, slots=True)
class Changes:
    """A relation over an epoch, as a changelog: each row with the instants at which it enters and leaves.

    A row is there while ``enter <= now < leave``. Rows that were there before the epoch enter at BEFORE, rows that
    outlast it leave at NEVER.
    """

    rows: Batch
    enter: Numbers
    leave: Numbers

    def __len__(self) -> int:
        return len(self.enter)

    def take(self, rows: Numbers | Mask | slice) -> Changes:
        """Some rows, by number or by mask."""
        return Changes(self.rows.take(rows), self.enter[rows], self.leave[rows])

    def with_rows(self, rows: Batch) -> Changes:
        """The same lifetimes, other columns."""
        return Changes(rows, self.enter, self.leave)


BEFORE = -1
NEVER = np.iinfo(np.int64).max


def existing(rows: Batch, enter: Numbers, leave: Numbers) -> Changes:
    """A changelog without the rows that leave as they enter: tuples of one instant arrive together (Q-2)."""
    kept = enter < leave
    return Changes(rows, enter, leave) if kept.all() else Changes(rows.take(kept), enter[kept], leave[kept])
