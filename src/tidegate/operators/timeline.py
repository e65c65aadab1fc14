"""Sweeping a changelog: groups over time, as segments between one change and the next.

Reads: operators (batch, vector).  Read by: aggregate, distinct, scalar sub-queries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate.operators.batch import NEVER
from tidegate.operators.vector import LevelTable, Mask, Numbers


@dataclass(frozen=True, slots=True)
class Sweep:
    """Events of rows entering and leaving, in order of (group, instant), and the segments that they bound.

    ``row`` and ``sign`` say what happens at each event; ``last`` is the last event of each segment, ``base`` how many
    events lie before the segment's group; a segment of ``group`` lasts from ``start`` to ``end``.
    """

    row: Numbers
    sign: Numbers
    last: Numbers
    base: Numbers
    group: Numbers
    start: Numbers
    end: Numbers

    def running(self, amounts: Numbers) -> Numbers:
        """For each segment the sum of a number over the rows that are there."""
        totals = np.concatenate([[0], np.cumsum(amounts[self.row] * self.sign)])
        result: Numbers = totals[self.last + 1] - totals[self.base]
        return result

    def present(self, labels: Numbers, count: int, rows: Mask | None = None) -> Mask:
        """For each segment which of some labels occur among the rows that are there."""
        columns = [
            self.running(((labels == label) & (True if rows is None else rows)).astype(np.int64)) > 0
            for label in range(count)
        ]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.last), 0), np.bool_)

    def levels(self, labels: Numbers, table: LevelTable) -> Numbers:
        """For each segment the lub of the levels of the rows that are there (Q-6)."""
        return table.lub_of_sets(self.present(labels, len(table.labels)))


def _by_group_and_instant(groups: Numbers, instants: Numbers) -> Numbers:
    """Two stable sorts: instants come nearly in order, and few groups are sorted by counting."""
    order = np.argsort(instants, kind="stable")
    few = int(groups.max(initial=0)) < 2**16
    ordered = groups[order].astype(np.uint16) if few else groups[order]
    return order[np.argsort(ordered, kind="stable")]


def sweep(groups: Numbers, enter: Numbers, leave: Numbers) -> Sweep:
    """The events and segments of a changelog; groups are numbered from 0."""
    leaving = np.flatnonzero(leave != NEVER)
    row = np.concatenate([np.arange(len(enter)), leaving])
    instant = np.concatenate([enter, leave[leaving]])
    sign = np.concatenate([np.ones(len(enter), np.int64), np.full(len(leaving), -1, np.int64)])
    order = _by_group_and_instant(groups[row], instant)
    row, instant, sign = row[order], instant[order], sign[order]
    group = groups[row]
    ends = np.r_[(group[1:] != group[:-1]) | (instant[1:] != instant[:-1]), True] if len(row) else np.zeros(0, np.bool_)
    last = np.flatnonzero(ends)
    group_of, start = group[last], instant[last]
    same_group = np.r_[group_of[1:] == group_of[:-1], False] if len(last) else np.zeros(0, np.bool_)
    end = np.where(same_group, np.r_[start[1:], NEVER] if len(start) else start, NEVER)
    base = np.searchsorted(group, group_of, side="left")
    return Sweep(row, sign, last, base, group_of, start, end)
