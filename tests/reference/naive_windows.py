"""Windows once more, from the sentences of Q-3: what a window holds, given everything that arrived.

Nothing here is kept from instant to instant: each answer looks at the whole past.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from tidegate.plan.windows import Range, Rows, Unbounded, Window


@dataclass(frozen=True, slots=True)
class Arrival:
    """A tuple: when, in which order, of which partition."""

    instant: int
    number: int
    key: object = 0


def held(window: Window, past: list[Arrival], now: int, start: int) -> set[Arrival]:
    """The content at ``now`` of a window that began, empty, just before ``start``; ``past`` is in order."""
    arrived = [one for one in past if one.instant <= now]
    match window:
        case Unbounded():
            return set(arrived)
        case Range(width, None):
            return {one for one in arrived if one.instant <= now <= one.instant + width}
        case Range(width, slide):
            assert slide is not None
            boundary = now - now % slide
            return {one for one in arrived if boundary >= start and boundary - width < one.instant <= boundary}
        case Rows():
            return _counted(window, arrived, now)


def _counted(window: Rows, arrived: list[Arrival], now: int) -> set[Arrival]:
    """With c tuples arrived, per partition, the last n of the first m·⌊c/m⌋; RANGE limits it too."""
    partitions: dict[object, list[Arrival]] = defaultdict(list)
    for one in arrived:
        partitions[one.key if window.partition else None].append(one)
    kept: set[Arrival] = set()
    for members in partitions.values():
        settled = len(members) - len(members) % (window.slide or 1)
        kept |= set(members[max(0, settled - window.count) : settled])
    return {one for one in kept if window.width is None or now <= one.instant + window.width}


def at_boundary(window: Window, past: list[Arrival], now: int) -> bool:
    """Whether a SLIDE boundary falls at this instant: of time, or of some partition's count."""
    match window:
        case Range(_, slide):
            return slide is not None and now % slide == 0
        case Rows(_, slide) if slide is not None:
            return any(_rank(window, past, one) % slide == 0 for one in past if one.instant == now)
        case _:
            return False


def _rank(window: Rows, past: list[Arrival], one: Arrival) -> int:
    """The how-manieth tuple of its partition this is."""
    return sum(other.number <= one.number and (other.key == one.key or not window.partition) for other in past)
