"""Whole segments at once: the decisions of admission and of the clock, one for each distinct label (Q-1, Q-11).

A segment is what a source delivered together. Only its labels and instants are looked at here; the rows stay where they
are and follow the numbers. What is decided about a tuple depends on the tuple, on what the administrator said about its
source and on the trusted clock, and on no other tuple.

Reads: security, gates (admit).  Read by: engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidegate.gates.admit import read_instant
from tidegate.security.flow import may_read
from tidegate.security.lattice import Lattice, Level

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

RESTAMP, QUARANTINE_LATE = "restamp", "quarantine"
REASONS = (
    "",
    "no level",
    "unknown level",
    "forbidden level",
    "no time",
    "time before 1970 or after the year 9999",
    "not as declared",
    "late",
    "ahead of the clock",
)
_NO_LEVEL, _UNKNOWN, _FORBIDDEN, _NO_TIME, _IMPOSSIBLE, UNFIT, _LATE, _AHEAD = range(1, len(REASONS))
NO_LABEL = -1


@dataclass(frozen=True, slots=True)
class Terms:
    """What the administrator lets a source send: labels from one level to another, how late, and how far ahead."""

    low: Level
    high: Level
    late: str = RESTAMP
    skew: int = 10_000_000

    def allows(self, level: Level, lattice: Lattice) -> bool:
        """Whether a label lies in the range (Q-14)."""
        return may_read(lattice, self.high, level) and may_read(lattice, level, self.low)


@dataclass(frozen=True, slots=True)
class Offered:
    """What a source claims: a label (by its place among the distinct texts) and an instant for each tuple.

    ``timeless`` marks tuples without a time, ``unfit`` those that are not as their stream declares.
    """

    texts: Sequence[object]
    labels: Numbers
    instants: Numbers
    timeless: Mask
    unfit: Mask


@dataclass(frozen=True, slots=True)
class Judged:
    """Each tuple's reason to stay out (0: it is admitted), its label among ``levels``, and its stamped instant.

    What stays out is stamped like what is late: its own word about its time is not believed.
    """

    levels: Sequence[Level]
    labels: Numbers
    instants: Numbers
    reasons: Numbers
    late: Mapping[Level, int]


def judge(offered: Offered, terms: Terms, last_tick: int, clock: int, lattice: Lattice) -> Judged:
    """Decide about every tuple of a segment, in the order of admission: label, instant, values, then the clock."""
    levels, labels, verdicts = _judge_labels(offered.texts, terms, lattice)
    number = np.append(labels, NO_LABEL)[offered.labels]  # the last place is that of "no label", which is -1
    reasons = np.append(verdicts, _NO_LEVEL)[offered.labels]
    reasons[offered.unfit & (offered.labels == NO_LABEL)] = UNFIT  # a record that was not decoded has no label to miss
    _mark(reasons, offered.timeless, _NO_TIME)
    _mark(reasons, ~_possible(offered.instants), _IMPOSSIBLE)
    _mark(reasons, offered.unfit, UNFIT)
    is_late = (reasons == 0) & (offered.instants <= last_tick)
    late = {levels[place]: int((is_late & (number == place)).sum()) for place in np.unique(number[is_late]).tolist()}
    if terms.late == QUARANTINE_LATE:
        _mark(reasons, is_late, _LATE)
    _mark(reasons, offered.instants > clock + terms.skew, _AHEAD)
    instants = np.where((reasons == 0) & ~is_late, offered.instants, last_tick + 1)
    return Judged(levels, number, instants, reasons, late)


def _judge_labels(texts: Sequence[object], terms: Terms, lattice: Lattice) -> tuple[list[Level], Numbers, Numbers]:
    """One decision for each distinct text: the level that it names, and whether the source may use it."""
    places: dict[Level, int] = {}
    labels, verdicts = list[int](), list[int]()
    for text in texts:
        level = lattice.find(text)
        labels.append(NO_LABEL)
        if level is None:
            verdicts.append(_NO_LEVEL if text is None else _UNKNOWN)
        elif not terms.allows(level, lattice):
            verdicts.append(_FORBIDDEN)
        else:
            verdicts.append(0)
            labels[-1] = places.setdefault(level, len(places))  # two texts may name one level
    return list(places), np.array(labels, np.int64), np.array(verdicts, np.int64)


def _mark(reasons: Numbers, where: Mask, reason: int) -> None:
    """The first reason stands."""
    reasons[where & (reasons == 0)] = reason


def _possible(instants: Numbers) -> Mask:
    found: Mask = (instants >= 0) & (instants < END_OF_TIME)
    return found


END_OF_TIME = (read_instant(253_402_300_799) or 0) + 1_000_000
"""The first microsecond of the year 10000."""


def share_mask(level: Level, levels: Sequence[Level], labels: Numbers, lattice: Lattice) -> Mask:
    """Which tuples a processor at a level receives: exactly those whose label it dominates (M-4)."""
    readable = np.array([may_read(lattice, level, label) for label in levels], np.bool_)
    if len(readable) == 0:
        return np.zeros(len(labels), np.bool_)
    found: Mask = readable[labels]
    return found
