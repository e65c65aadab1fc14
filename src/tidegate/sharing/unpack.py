"""Unpacking attributes in groups: which to unpack together, at the least cost found (P-9).

To find where a header begins costs more than to read one more field of it, so a group may be cheaper than its fields
one by one. Which groups to take is weighted set covering, solved greedily.

Reads: nothing.  Read by: nobody yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """Fields that are unpacked together at a cost; a field of its own is a group of one."""

    fields: frozenset[str]
    cost: float


def choose_groups(wanted: Iterable[str], groups: Sequence[Group]) -> tuple[Group, ...]:
    """Groups that hold all wanted fields, at each step the cheapest per field still missing; none is redundant.

    The cost is at most 1 + 1/2 + … + 1/n times the least, for n wanted fields. ValueError if a field is in no group.
    """
    missing = set(wanted)
    every = frozenset(missing)
    chosen: list[Group] = []
    while missing:
        useful = [group for group in groups if group.fields & missing]
        if not useful:
            raise ValueError(f"no group has the field {min(missing)!r}")
        chosen.append(min(useful, key=lambda group: group.cost / len(group.fields & missing)))
        missing -= chosen[-1].fields
    return _without_redundant(chosen, every)


def _without_redundant(chosen: Sequence[Group], wanted: frozenset[str]) -> tuple[Group, ...]:
    """The dearest that the others make needless goes first."""
    kept = list(chosen)
    for group in sorted(chosen, key=lambda group: -group.cost):
        others = [other for other in kept if other is not group]
        if wanted <= frozenset().union(*(other.fields for other in others)):
            kept = others
    return tuple(kept)
