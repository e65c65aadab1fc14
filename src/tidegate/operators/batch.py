"""Rows side by side: the columns of a relation, the level of each row, and the scalar sub-queries that stand beside it;
with the instants at which they arrive, or enter and leave.

Reads: plan, operators (vector).  Read by: operators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tidegate.operators.vector import Mask, Numbers, Vector, concatenate
from tidegate.plan.expressions import ScalarSubquery


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
class Arrived:
    """Tuples of one stream in order: their columns (with the hidden ones), levels and instants."""

    rows: Batch
    instants: Numbers

    def between(self, last: int, now: int) -> Arrived:
        """Those of (last, now]."""
        low, high = np.searchsorted(self.instants, [last, now], side="right")
        whole = low == 0 and high == len(self.instants)
        return self if whole else Arrived(self.rows.take(slice(low, high)), self.instants[low:high])


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
