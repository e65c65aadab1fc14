"""Small random changelogs, and what is there at each of their segments, found row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate.operators.batch import BEFORE, NEVER
from tidegate.operators.timeline import Sweep
from tidegate.operators.vector import Numbers


@dataclass(frozen=True)
class Lives:
    """The group of each row, and when it enters and leaves."""

    groups: Numbers
    enter: Numbers
    leave: Numbers

    def segments(self) -> list[tuple[int, int, int]]:
        """Every (group, start, end), by definition."""
        found = []
        for group in sorted(set(self.groups.tolist())):
            mine = self.groups == group
            instants = sorted({*self.enter[mine].tolist(), *self.leave[mine].tolist()} - {NEVER})
            found += [(group, a, b) for a, b in zip(instants, [*instants[1:], NEVER], strict=True)]
        return found

    def there(self, group: int, start: int) -> list[int]:
        """The rows of a group at an instant."""
        here = (self.groups == group) & (self.enter <= start) & (start < self.leave)
        return np.flatnonzero(here).tolist()


def in_order(chance: np.random.Generator, rows: int, groups: int, *, apart: int = 2, start: int = 0) -> Lives:
    """Rows that leave in the order in which they came: some were there before, some outlast the epoch."""
    enter = start + np.cumsum(chance.integers(0, apart + 1, rows))
    leave = np.maximum.accumulate(enter + 1 + chance.integers(0, 5 * apart + 1, rows))
    before, beyond = chance.integers(0, rows + 1, 2) // 3
    enter[:before] = BEFORE
    leave[rows - beyond :] = NEVER
    return Lives(chance.integers(0, groups, rows), enter, leave)


def in_any_order(chance: np.random.Generator, rows: int, groups: int, *, start: int = 0) -> Lives:
    """Rows that come and go as behind a join."""
    enter = start + chance.integers(0, 20, rows)
    leave = enter + chance.integers(1, 15, rows)
    enter[chance.random(rows) < 0.2] = BEFORE
    leave[chance.random(rows) < 0.2] = NEVER
    return Lives(chance.integers(0, groups, rows), enter, leave)


def shown(spans: Sweep) -> list[tuple[int, int, int]]:
    """The segments of a sweep."""
    return list(zip(spans.group.tolist(), spans.start.tolist(), spans.end.tolist(), strict=True))


def every_case(seed: int, tries: int) -> list[Lives]:
    """Of both kinds: no rows, one, many; one group and several; instants far from 0, and many tuples of one instant."""
    chance = np.random.default_rng(seed)
    found = []
    for _ in range(tries):
        rows, groups = int(chance.choice([0, 1, 2, 7, 40])), int(chance.choice([1, 1, 2, 5]))
        start = int(chance.choice([0, 3, 1_700_000_000_000_000]))
        found.append(in_order(chance, rows, groups, apart=int(chance.choice([0, 1, 2, 50])), start=start))
        found.append(in_any_order(chance, rows, groups, start=start))
    return found
