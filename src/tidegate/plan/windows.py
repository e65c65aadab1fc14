"""Windows as data (Q-3), and durations as people write them.

Times are whole microseconds. ``[NOW]`` is a range of 0, ``[1 min]`` a range of a minute, ``EVERY d UPDATE e`` a
range that slides: three spellings, one value, so that equal windows are equal.

Reads: nothing.  Read by: language, plan, reference, operators.
"""

from __future__ import annotations

from dataclasses import dataclass

MICROSECOND = 1
MILLISECOND = 1_000
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

UNITS: dict[str, int] = {
    **dict.fromkeys(("microsecond", "microseconds", "us"), MICROSECOND),
    **dict.fromkeys(("millisecond", "milliseconds", "ms"), MILLISECOND),
    **dict.fromkeys(("second", "seconds", "sec", "secs", "s"), SECOND),
    **dict.fromkeys(("minute", "minutes", "min", "mins", "m"), MINUTE),
    **dict.fromkeys(("hour", "hours", "h"), HOUR),
    **dict.fromkeys(("day", "days", "d"), DAY),
}
_NAMES = {
    DAY: "DAY",
    HOUR: "HOUR",
    MINUTE: "MINUTE",
    SECOND: "SECOND",
    MILLISECOND: "MILLISECOND",
    MICROSECOND: "MICROSECOND",
}


def duration_text(microseconds: int) -> str:
    """A duration in its largest whole unit.

    >>> duration_text(90_000_000), duration_text(60_000_000)
    ('90 SECONDS', '1 MINUTE')
    """
    unit = next(unit for unit in _NAMES if microseconds % unit == 0)
    count = microseconds // unit
    return f"{count} {_NAMES[unit]}{'' if count == 1 else 'S'}"


@dataclass(frozen=True, slots=True)
class Unbounded:
    """Everything that ever arrived."""

    def __str__(self) -> str:
        return "UNBOUNDED"


@dataclass(frozen=True, slots=True)
class Range:
    """The tuples of the last ``width``; with a slide it moves at multiples of the slide only."""

    width: int
    slide: int | None = None

    def __str__(self) -> str:
        if self.width == 0 and self.slide is None:
            return "NOW"
        slide = f" SLIDE {duration_text(self.slide)}" if self.slide else ""
        return f"RANGE {duration_text(self.width)}{slide}"


@dataclass(frozen=True, slots=True)
class Rows:
    """The last ``count`` tuples, of each value of the partition attributes where there are any."""

    count: int
    slide: int | None = None
    partition: tuple[str, ...] = ()
    width: int | None = None

    def __str__(self) -> str:
        slide = f" SLIDE {self.slide}" if self.slide else ""
        width = "" if self.width is None else f" RANGE {duration_text(self.width)}"
        partition = f"PARTITIONED BY {', '.join(self.partition)} " if self.partition else ""
        return f"{partition}ROWS {self.count}{slide}{width}"


Window = Unbounded | Range | Rows
