"""The trusted clock: the only thing that moves progress (Q-1).

Reads: nothing.  Read by: gate.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

MICROSECONDS = 1_000_000


@dataclass(slots=True)
class Clock:
    """The time of day; or, for the past at speed, a clock of its own that begins at ``start``.

    >>> Clock(datetime(2022, 1, 3, tzinfo=UTC), speed=60).now() >= 1_641_168_000_000_000
    True
    """

    start: datetime | None = None
    speed: float = 1.0
    _pace: tuple[int, float, float] = field(init=False)
    """From which instant, since which moment, and how fast: one value, because another thread reads it."""

    def __post_init__(self) -> None:
        if not 0 < self.speed < float("inf"):
            raise ValueError("a clock's speed is above 0")
        if self.start is None and self.speed != 1.0:
            self.start = datetime.now(UTC)
        begin = 0 if self.start is None else round(self.start.timestamp() * MICROSECONDS)
        self._pace = begin, time.monotonic(), self.speed

    def now(self) -> int:
        """Microseconds since 1970."""
        if self.start is None:
            return time.time_ns() // 1000
        begin, since, speed = self._pace
        return begin + round((time.monotonic() - since) * speed * MICROSECONDS)

    def run_at(self, speed: float) -> None:
        """Go on at another speed; slowly until the past is loaded, say, and then fast."""
        if self.start is None:
            raise ValueError("the time of day runs at its own speed; give the clock a start")
        if not 0 < speed < float("inf"):
            raise ValueError("a clock's speed is above 0")
        self.speed, self._pace = speed, (self.now(), time.monotonic(), speed)

    def resume(self, instant: int) -> None:
        """Go on from an instant: a clock of its own stood still while nobody was there; the time of day did not."""
        if self.start is not None:
            self._pace = max(instant, self._pace[0]), time.monotonic(), self.speed
