"""Stream to relation: what each window holds at an instant (Q-3).

Reads: plan (windows), reference (rows).  Read by: query.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tidegate.plan.windows import Range, Rows, Unbounded, Window
from tidegate.reference.rows import Tuple, key_of


@dataclass(slots=True)
class WindowState:
    """One window of one query. ``advance`` is called at every instant that may matter, in order."""

    held: list[Tuple] = field(default_factory=list)
    at_boundary: bool = False

    def advance(self, now: int, arrived: list[Tuple]) -> bool:
        """Take in what arrived, let go what leaves; whether anything left."""
        self.held = [*self.held, *arrived]
        return False

    def next_event(self, after: int, every_boundary: bool) -> int | None:
        """The next instant at which something leaves or a boundary falls, if nothing more arrives."""
        return None


@dataclass(slots=True)
class RangeState(WindowState):
    """``[RANGE d]`` holds a tuple of instant t while now is in [t, t + d]; it leaves at t + d + 1 µs."""

    width: int = 0

    def advance(self, now: int, arrived: list[Tuple]) -> bool:
        everything = [*self.held, *arrived]
        self.held = [tuple_ for tuple_ in everything if now <= tuple_.instant + self.width]
        return len(self.held) < len(everything)

    def next_event(self, after: int, every_boundary: bool) -> int | None:
        return min((tuple_.instant + self.width + 1 for tuple_ in self.held), default=None)


@dataclass(slots=True)
class SlidingRangeState(WindowState):
    """``[RANGE d SLIDE e]``: at boundary B, a multiple of e, it holds (B - d, B]; between them it stands still."""

    width: int = 0
    slide: int = 1
    buffer: list[Tuple] = field(default_factory=list)

    def advance(self, now: int, arrived: list[Tuple]) -> bool:
        self.buffer += arrived
        self.at_boundary = now % self.slide == 0
        if not self.at_boundary:
            return False
        before = self.held
        self.held = [tuple_ for tuple_ in self.buffer if now - self.width < tuple_.instant <= now]
        self.buffer = list(self.held)
        return any(tuple_ not in self.held for tuple_ in before)

    def next_event(self, after: int, every_boundary: bool) -> int | None:
        """The next boundary; where only changes matter, the next at which the window can change."""
        following = (after // self.slide + 1) * self.slide
        if every_boundary:
            return following
        enters = [self._boundary(tuple_.instant) for tuple_ in self.buffer]
        leaves = [self._boundary(tuple_.instant + self.width) for tuple_ in self.buffer]
        return min((boundary for boundary in (*enters, *leaves) if boundary >= following), default=None)

    def _boundary(self, instant: int) -> int:
        return -(-instant // self.slide) * self.slide


@dataclass(slots=True)
class RowsState(WindowState):
    """``[ROWS n SLIDE m]``: with c tuples arrived the last n of the first m·⌊c/m⌋, per partition, RANGE too."""

    count: int = 1
    slide: int = 1
    partition: tuple[int, ...] = ()
    width: int | None = None
    arrived: dict[tuple[object, ...], list[Tuple]] = field(default_factory=dict)
    counted: dict[tuple[object, ...], int] = field(default_factory=dict)

    def advance(self, now: int, arrived: list[Tuple]) -> bool:
        before, self.at_boundary = self.held, False
        for tuple_ in arrived:
            self._take(tuple_)
        if self.width is not None:
            self._forget(now - self.width)
        if arrived or self.width is not None:
            self.held = [tuple_ for key in self.arrived for tuple_ in self._visible(key)]
        return len(self.held) < len(before) or bool(arrived)

    def _take(self, tuple_: Tuple) -> None:
        key = key_of(tuple(tuple_.row.values[index] for index in self.partition))
        recent = self.arrived.setdefault(key, [])
        recent.append(tuple_)
        self.counted[key] = self.counted.get(key, 0) + 1
        self.at_boundary |= self.counted[key] % self.slide == 0
        del recent[: max(0, len(recent) - self.count - self.slide + 1)]

    def _forget(self, before: int) -> None:
        """Let go what is too old; of a key that holds nothing only its place within a slide matters."""
        for key, recent in list(self.arrived.items()):
            self.arrived[key] = [tuple_ for tuple_ in recent if tuple_.instant >= before]
            if not self.arrived[key]:
                del self.arrived[key]
                if self.counted[key] % self.slide == 0:
                    del self.counted[key]

    def _visible(self, key: tuple[object, ...]) -> list[Tuple]:
        recent = self.arrived[key]
        settled = max(0, len(recent) - self.counted[key] % self.slide)
        return recent[:settled][-self.count :]

    def next_event(self, after: int, every_boundary: bool) -> int | None:
        if self.width is None or not self.held:
            return None
        return min(tuple_.instant for tuple_ in self.held) + self.width + 1


def new_state(window: Window, partition: tuple[int, ...]) -> WindowState:
    """An empty window: windows start empty, shared or not (Q-13)."""
    match window:
        case Unbounded():
            return WindowState()
        case Range(width, None):
            return RangeState(width=width)
        case Range(width, slide):
            return SlidingRangeState(width=width, slide=slide or 1)
        case Rows(count, slide, _, width):
            return RowsState(count=count, slide=slide or 1, partition=partition, width=width)
