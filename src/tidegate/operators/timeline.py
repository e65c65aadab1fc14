"""Sweeping a changelog: groups over time, as segments between one change and the next.

Mostly the rows of a group leave in the order in which they came, as they do from every window. Then the rows that are
there in a segment are a range of rows, and nothing has to be sorted. Otherwise, behind joins, rows enter and leave as
events in order of time.

Reads: operators (batch, ranges, vector).  Read by: aggregate, extremes, join, query, scalar, words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tidegate.operators.batch import BEFORE, NEVER
from tidegate.operators.ranges import folded
from tidegate.operators.vector import LevelTable, Mask, Numbers, by_group, dense

MOST_LABELS = 63  # as bits of one number


@dataclass(frozen=True, slots=True)
class Sweep(ABC):
    """Segments in order of (group, start): each of one ``group``, from ``start`` to ``end``."""

    group: Numbers
    start: Numbers
    end: Numbers

    @abstractmethod
    def running(self, amounts: Numbers) -> Numbers:
        """For each segment the sum of a number over the rows that are there; exact modulo 2^64."""

    @abstractmethod
    def count(self) -> Numbers:
        """For each segment how many rows are there."""

    @abstractmethod
    def members(self) -> Iterator[list[int]]:
        """For each segment the rows that are there."""

    @abstractmethod
    def sets(self, bits: Numbers) -> Numbers:
        """For each segment all bits of the rows that are there."""

    def levels(self, labels: Numbers, table: LevelTable, rows: Mask | None = None) -> Numbers:
        """For each segment the lub of the levels of the rows that are there, or of some of them (Q-6)."""
        known = np.arange(len(table.labels))
        if len(known) > MOST_LABELS:
            labels, known = dense(labels), np.unique(labels)
        if len(known) > MOST_LABELS:
            return table.lub_of_sets(self._present(labels, len(known), rows), known)
        bits = np.left_shift(1, labels)
        return table.lub_of_bits(self.sets(bits if rows is None else np.where(rows, bits, 0)), known)

    def _present(self, labels: Numbers, count: int, rows: Mask | None) -> Mask:
        """For each segment which of very many labels occur."""
        mine = [(labels == label) if rows is None else (labels == label) & rows for label in range(count)]
        return np.stack([self.running(found.astype(np.int64)) > 0 for found in mine], axis=1)


def spread(enter: Numbers, leave: Numbers) -> tuple[int, int]:
    """An instant before all others, to stand for BEFORE, and how many numbers reach from it beyond the last one."""
    comes = int(enter.view(np.uint64).min(initial=np.uint64(NEVER)))  # without its sign BEFORE is never the least
    earliest = min(comes, int(leave.min(initial=NEVER)))
    if earliest == NEVER:  # nothing happens
        return BEFORE, 2
    latest = max(int(enter.max()), int((leave + 1).max()) - 1)  # NEVER + 1 goes around to the least
    return earliest - 1, max(latest - earliest, 0) + 3


# ------------------------------------------------------------------------------ rows that leave as they came


@dataclass(frozen=True, slots=True)
class Ranges(Sweep):
    """Segments as ranges: the rows at places ``low`` … ``high - 1`` of ``order`` (None: of the rows as they stand)."""

    order: Numbers | None
    low: Numbers
    high: Numbers

    def running(self, amounts: Numbers) -> Numbers:
        """Prefix sums over the rows; they may go around, their differences do not mind."""
        totals = np.zeros(len(amounts) + 1, np.int64)
        np.cumsum(self.ordered(amounts), out=totals[1:])
        result: Numbers = totals[self.high] - totals[self.low]
        return result

    def count(self) -> Numbers:
        """The length of each range."""
        return self.high - self.low

    def members(self) -> Iterator[list[int]]:
        """The rows of each range."""
        order = np.arange(int(self.high.max(initial=0))) if self.order is None else self.order
        for low, high in zip(self.low, self.high, strict=True):
            yield order[low:high].tolist()

    def sets(self, bits: Numbers) -> Numbers:
        """As narrow numbers as will do, because every doubling goes over all of them."""
        widest = int(bits.max(initial=0))
        kind = np.min_scalar_type(widest)
        return folded(np.bitwise_or, self.ordered(bits.astype(kind)), self.low, self.high, 0).astype(np.int64)

    def only(self, some: Mask) -> tuple[Numbers, Ranges]:
        """Some segments alone: the rows that are there in any of them, and their ranges among these."""
        low, high = self.low[some], self.high[some]
        size = int(self.high.max(initial=0)) + 1
        used = np.cumsum(np.bincount(low, minlength=size) - np.bincount(high, minlength=size)) > 0
        place: Numbers = np.cumsum(used) - used
        rows = np.flatnonzero(used) if self.order is None else self.order[np.flatnonzero(used)]
        return rows, Ranges(self.group[some], self.start[some], self.end[some], None, place[low], place[high])

    def ordered(self, column: Numbers) -> Numbers:
        """A column in the order of the ranges."""
        return column if self.order is None else column[self.order]


def in_order(groups: Numbers, enter: Numbers, leave: Numbers, order: Numbers | None = None) -> Ranges | None:
    """The segments if the rows of each group enter and leave in order; else None.

    ``order`` are the rows by group; where it is not given, rows of one group stay in the order in which they stand.
    """
    if order is None and int(groups.max(initial=0)) == 0:
        return _of_one_group(enter, leave)
    order = by_group(groups) if order is None else order
    floor, width = spread(enter, leave)
    if (int(groups.max(initial=0)) + 1) * width > NEVER:
        return None  # one number cannot hold a group and an instant
    group = groups[order]
    offset = group * width - floor
    coming = np.maximum(enter, floor)[order] + offset
    going = np.minimum(leave, floor + width - 1)[order] + offset  # what never leaves goes at the end of its group
    if not (_rises(coming) and _rises(going)):
        return None
    start, low, high = _merged(coming, going, leave[order] != NEVER)
    group = group[high - 1]
    start -= group * width - floor
    if len(enter) and enter.min() == BEFORE:
        start[start == floor] = BEFORE
    end = _until_next(start)
    end[:-1][group[1:] != group[:-1]] = NEVER
    return Ranges(group, start, end, order, low, high)


def _of_one_group(enter: Numbers, leave: Numbers) -> Ranges | None:
    if not (_rises(enter) and _rises(leave)):
        return None
    start, low, high = _merged(enter, leave, leave != NEVER)
    return Ranges(np.zeros(len(start), np.int64), start, _until_next(start), None, low, high)


def _until_next(start: Numbers) -> Numbers:
    end = np.full(len(start), NEVER)
    end[:-1] = start[1:]
    return end


def _rises(numbers: Numbers) -> bool:
    return bool((numbers[1:] >= numbers[:-1]).all())


def _merged(coming: Numbers, going: Numbers, leaves: Mask) -> tuple[Numbers, Numbers, Numbers]:
    """The distinct instants of two rising columns, and how many rows have gone and come by each.

    Rows that do not leave count as gone from the next instant on, which is of another group, but make no instant.
    """
    if len(coming) == 0:
        return coming, coming, coming
    high = np.append(np.flatnonzero(coming[1:] != coming[:-1]), len(coming) - 1) + 1
    start = coming[high - 1]
    place = np.searchsorted(start, going)
    apart = (start[np.minimum(place, len(start) - 1)] != going) & leaves
    if not apart.any():
        return start, _how_many_before(place, len(start)), high
    extra = np.flatnonzero(apart & np.append(True, going[1:] != going[:-1]))
    nth = np.zeros(len(going), np.int64)
    nth[extra] = 1
    nth = np.cumsum(nth)
    total = len(start) + len(extra)
    old = np.arange(len(start)) + _how_many_before(place[extra], len(start))
    new = place[extra] + np.arange(len(extra))
    start, high = (
        _scattered(total, old, start, new, going[extra]),
        _scattered(total, old, high, new, high[place[extra] - 1]),
    )
    return start, _how_many_before(place + nth - apart, total), high


def _how_many_before(places: Numbers, size: int) -> Numbers:
    """For each of so many places how many of some lie there or before."""
    return np.cumsum(np.bincount(places, minlength=size + 1)[:size])


def _scattered(size: int, at: Numbers, values: Numbers, others_at: Numbers, others: Numbers) -> Numbers:
    result = np.empty(size, np.int64)
    result[at], result[others_at] = values, others
    return result


# ------------------------------------------------------------------------------ rows that leave in any order


@dataclass(frozen=True, slots=True)
class Events(Sweep):
    """Rows entering and leaving, in order of (group, instant).

    ``row`` and ``sign`` say what happens at each event; ``last`` is the last event of each segment, ``base`` how many
    events lie before the segment's group.
    """

    row: Numbers
    sign: Numbers
    last: Numbers
    base: Numbers

    def running(self, amounts: Numbers) -> Numbers:
        """Prefix sums over the events, less what they were before the group."""
        totals = np.concatenate([[0], np.cumsum(amounts[self.row] * self.sign)])
        result: Numbers = totals[self.last + 1] - totals[self.base]
        return result

    def count(self) -> Numbers:
        """Those that came, less those that went."""
        totals = np.concatenate([[0], np.cumsum(self.sign)])
        result: Numbers = totals[self.last + 1] - totals[self.base]
        return result

    def members(self) -> Iterator[list[int]]:
        """Event by event."""
        there: dict[int, None] = {}
        event = 0
        for number, last in enumerate(self.last):
            if event == self.base[number]:
                there = {}
            while event <= last:
                row = int(self.row[event])
                if self.sign[event] > 0:
                    there[row] = None
                else:
                    there.pop(row, None)
                event += 1
            yield list(there)

    def sets(self, bits: Numbers) -> Numbers:
        """Bit by bit: it is there while a row with it is."""
        result = np.zeros(len(self.last), np.int64)
        for bit in range(int(bits.max(initial=0)).bit_length()):
            result |= (self.running((bits >> bit) & 1) > 0).astype(np.int64) << bit
        return result


def sweep(groups: Numbers, enter: Numbers, leave: Numbers) -> Sweep:
    """The segments of a changelog; groups are numbered from 0."""
    return in_order(groups, enter, leave) or events(groups, enter, leave)


def events(groups: Numbers, enter: Numbers, leave: Numbers) -> Events:
    """The segments of any changelog, by sorting."""
    leaving = np.flatnonzero(leave != NEVER)
    row = np.concatenate([np.arange(len(enter)), leaving])
    instant = np.concatenate([enter, leave[leaving]])
    sign = np.concatenate([np.ones(len(enter), np.int64), np.full(len(leaving), -1, np.int64)])
    order = np.argsort(instant, kind="stable")  # instants come nearly in order
    order = order[by_group(groups[row[order]])]
    row, instant, sign = row[order], instant[order], sign[order]
    group = groups[row]
    ends = np.r_[(group[1:] != group[:-1]) | (instant[1:] != instant[:-1]), True] if len(row) else np.zeros(0, np.bool_)
    last = np.flatnonzero(ends)
    group_of, start = group[last], instant[last]
    end = _until_next(start)
    end[:-1][group_of[1:] != group_of[:-1]] = NEVER
    base = np.searchsorted(group, group_of, side="left")
    return Events(group_of, start, end, row, sign, last, base)
