"""When a query steps in an epoch: at some instants, and at every boundary of some slides (Q-2).

Boundaries are not written out before they are needed: between two tuples there may be billions of them. Who wants to
know whether there is a step, or which is the first, needs one; RSTREAM needs those at which a row is there.

Reads: operators (batch, vector).  Read by: query.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate.operators.batch import NEVER, Changes
from tidegate.operators.vector import Numbers, rising

MOST_BOUNDARIES = 1 << 20
"""So many are written out at once; an epoch with more is run in portions."""


class TooManyBoundaries(Exception):
    """More boundaries than fit a portion; up to ``instant`` they fit."""

    def __init__(self, instant: int) -> None:
        super().__init__(instant)
        self.instant = instant


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of the epoch (last, now]: ``instants`` in any order, and all multiples of each of the ``slides``.

    Among the instants NEVER is none.
    """

    last: int
    now: int
    instants: tuple[Numbers, ...] = ()
    slides: frozenset[int] = frozenset()

    @property
    def exist(self) -> bool:
        """Whether there is any step."""
        return self._boundary <= self.now or self.first != NEVER

    @property
    def first(self) -> int:
        """The first step; NEVER if there is none."""
        found = [int(instants.min()) for instants in self.instants if len(instants)]
        boundary = [self._boundary] if self._boundary <= self.now else []
        return min((*found, *boundary), default=int(NEVER))

    @property
    def _boundary(self) -> int:
        """The first boundary after ``last``, in this epoch or beyond."""
        return min(((self.last // slide + 1) * slide for slide in self.slides), default=int(NEVER))

    def during(self, changes: Changes) -> Numbers:
        """The steps in order, but boundaries only where some row is there: at the others there is nothing to tell."""
        if not self.slides:
            return self._written_out()
        start, end = _inhabited(np.maximum(changes.enter, self.last + 1), np.minimum(changes.leave, self.now + 1))
        return rising([self._written_out(), *(_multiples(slide, start, end) for slide in self.slides)])

    def _written_out(self) -> Numbers:
        found = rising(self.instants)
        return found[:-1] if len(found) and found[-1] == NEVER else found


def _inhabited(enter: Numbers, leave: Numbers) -> tuple[Numbers, Numbers]:
    """The stretches of time in which some row is there, in order and apart from one another."""
    there = np.flatnonzero(enter < leave)
    order = there[np.argsort(enter[there], kind="stable")]
    start, end = enter[order], np.maximum.accumulate(leave[order])
    apart = np.flatnonzero(start[1:] > end[:-1]) + 1
    return start[np.r_[0, apart][: len(start)]], end[np.r_[apart - 1, len(end) - 1][: len(end)]]


def _multiples(slide: int, start: Numbers, end: Numbers) -> Numbers:
    """All multiples within stretches [start, end)."""
    first, behind = -(-start // slide), -(-end // slide)
    counts = behind - first
    upto = np.cumsum(counts)
    if len(upto) and upto[-1] > MOST_BOUNDARIES:
        place = int(np.searchsorted(upto, MOST_BOUNDARIES, side="right"))
        fits = MOST_BOUNDARIES - int(upto[place] - counts[place])
        raise TooManyBoundaries((int(first[place]) + fits) * slide - 1)
    return (np.repeat(first - (upto - counts), counts) + np.arange(int(counts.sum()))) * slide
