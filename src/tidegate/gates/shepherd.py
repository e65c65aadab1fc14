"""The shepherd: one order for everything that arrives, and each level's share of it (Q-1).

Progress comes from ticks only: no tuple of any level moves it. A tuple is late iff its instant is not after the last
tick; it is then stamped anew, one microsecond after that tick, or put into quarantine, as the stream says.

Reads: security, gates (admit).  Read by: reference, system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Generic, TypeVar

from tidegate.security.flow import may_read
from tidegate.security.lattice import Lattice, Level

Payload = TypeVar("Payload")


@dataclass(frozen=True, slots=True)
class Stamped(Generic[Payload]):
    """An entry of the log: when, in which order, and what."""

    instant: int
    arrival: int
    payload: Payload


@dataclass(slots=True)
class Clock:
    """The last tick, the next arrival number, and how many tuples came late, per level."""

    last_tick: int = -1
    arrivals: int = 0
    late: dict[Level, int] = field(default_factory=dict)

    def tick(self, instant: int) -> None:
        """Every instant up to this one is complete; an earlier tick takes nothing back."""
        self.last_tick = max(self.last_tick, instant)

    def is_late(self, instant: int) -> bool:
        """Whether an instant was already declared complete."""
        return instant <= self.last_tick

    def stamp(self, instant: int, payload: Payload) -> Stamped[Payload]:
        """Give an entry its place; a late one comes right after the last tick."""
        self.arrivals += 1
        return Stamped(max(instant, self.last_tick + 1), self.arrivals, payload)

    def count_late(self, level: Level) -> None:
        """Late tuples are counted at their own level: nobody below learns of them."""
        self.late[level] = self.late.get(level, 0) + 1


def in_order(log: Iterable[Stamped[Payload]]) -> list[Stamped[Payload]]:
    """The log by (instant, arrival)."""
    return sorted(log, key=lambda entry: (entry.instant, entry.arrival))


def share_of(level: Level, labelled: Iterable[tuple[Level, Payload]], lattice: Lattice) -> Iterator[Payload]:
    """What a processor at a level receives: exactly what its level dominates (M-4)."""
    return (payload for label, payload in labelled if may_read(lattice, level, label))


def cut(
    log: Iterable[Stamped[Payload]], size: int, counts: Callable[[Payload], bool]
) -> Iterator[list[Stamped[Payload]]]:
    """A level's share as epochs: whole instants, as many as it takes to reach a number of entries that count.

    Only the share itself decides where it is cut: nothing that the level may not see moves a cut.
    """
    waiting, counted = list[Stamped[Payload]](), 0
    for _, together in groupby(log, key=lambda entry: entry.instant):
        for entry in together:
            waiting.append(entry)
            counted += counts(entry.payload)
        if counted >= size:
            yield waiting
            waiting, counted = [], 0
    if waiting:
        yield waiting
