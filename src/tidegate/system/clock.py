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
    _from: int = field(init=False)
    _since: float = field(init=False)

    def __post_init__(self) -> None:
        if self.speed <= 0:
            raise ValueError("a clock's speed is above 0")
        if self.start is None and self.speed != 1.0:
            self.start = datetime.now(UTC)
        self._since = time.monotonic()
        self._from = 0 if self.start is None else round(self.start.timestamp() * MICROSECONDS)

    def now(self) -> int:
        """Microseconds since 1970."""
        if self.start is None:
            return time.time_ns() // 1000
        return self._from + round((time.monotonic() - self._since) * self.speed * MICROSECONDS)

    def run_at(self, speed: float) -> None:
        """Go on at another speed; slowly until the past is loaded, say, and then fast."""
        if self.start is None:
            raise ValueError("the time of day runs at its own speed; give the clock a start")
        if speed <= 0:
            raise ValueError("a clock's speed is above 0")
        self._from, self._since, self.speed = self.now(), time.monotonic(), speed

    def resume(self, instant: int) -> None:
        """Go on from an instant: a clock of its own stood still while nobody was there; the time of day did not."""
        if self.start is not None:
            self._from, self._since = max(instant, self._from), time.monotonic()
