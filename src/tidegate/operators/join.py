"""Joins of changelogs: pairs of rows that are there at the same time; a pair lives as long as both do.

Reads: plan, operators.  Read by: query.
"""

from __future__ import annotations

import numpy as np

from tidegate.operators.batch import NEVER, Batch, Changes
from tidegate.operators.timeline import spread
from tidegate.operators.vector import LevelTable, Numbers, by_group, codes, combined_codes, concatenate, rising
from tidegate.plan.expressions import And, Column, Compare, Expression, can_fail


def joined(left: Changes, right: Changes, condition: Expression | None, levels: LevelTable) -> Changes:
    """Every pair that shares some time; where the condition asks for equal columns, only pairs that have them.

    The condition itself is tested afterwards. Leaving pairs out beforehand is safe only if it cannot fail: NULL AND
    error is an error (Q-9).
    """
    keys = (
        _equal_columns(condition, len(left.rows.columns)) if condition is not None and not can_fail(condition) else []
    )
    left_keys, right_keys = _common_codes(left, right, keys)
    a, b = _overlapping(left, right, left_keys, right_keys)
    enter, leave = np.maximum(left.enter[a], right.enter[b]), np.minimum(left.leave[a], right.leave[b])
    there = enter < leave
    a, b = a[there], b[there]
    columns = (*(column.take(a) for column in left.rows.columns), *(column.take(b) for column in right.rows.columns))
    level = levels.lub_of_pairs(left.rows.level[a], right.rows.level[b])
    return Changes(Batch(columns, level), enter[there], leave[there])


def _equal_columns(condition: Expression, width: int) -> list[tuple[int, int]]:
    """Pairs of columns, one on each side, that a conjunct demands to be equal."""
    found: list[tuple[int, int]] = []
    for part in condition.operands if isinstance(condition, And) else (condition,):
        match part:
            case Compare("=", Column() as one, Column() as other):
                low, high = sorted((one.index, other.index))
                if low < width <= high:
                    found.append((low, high - width))
            case _:
                pass
    return found


def _common_codes(left: Changes, right: Changes, pairs: list[tuple[int, int]]) -> tuple[Numbers, Numbers]:
    usable = [(low, high) for low, high in pairs if high < len(right.rows.columns)]
    columns = [codes(concatenate([left.rows.columns[low], right.rows.columns[high]])) for low, high in usable]
    together = combined_codes(columns, len(left) + len(right))
    return together[: len(left)], together[len(left) :]


def _overlapping(left: Changes, right: Changes, left_keys: Numbers, right_keys: Numbers) -> tuple[Numbers, Numbers]:
    """Candidates: for each row of the left, the rows of the right with its key that may share some time with it.

    The right is sorted by (key, enter). Rows that entered before the left row leaves end at one place, rows that have
    left before it enters begin at another (with the latest leaving so far in place of each row's own). The left is
    asked by key, because a look-up near the one before is quick.
    """
    left_enter, left_leave, enter, leave, width = _close_together(left, right, max(len(left), len(right)))
    order, asked = _by_key_and_instant(right_keys, enter), by_group(left_keys)
    keys, left_keys = right_keys[order] * width, left_keys[asked] * width
    starts, ends = np.empty(len(left), np.int64), np.empty(len(left), np.int64)
    latest = np.maximum.accumulate(keys + leave[order])
    starts[asked] = np.searchsorted(latest, left_keys + left_enter[asked], side="right")
    ends[asked] = np.searchsorted(keys + enter[order], left_keys + left_leave[asked], side="left")
    counts = np.maximum(ends - starts, 0)
    a = np.repeat(np.arange(len(left)), counts)
    offset = np.arange(len(a)) - np.repeat(np.cumsum(counts) - counts, counts)
    return a, order[np.repeat(starts, counts) + offset]


def _by_key_and_instant(keys: Numbers, instants: Numbers) -> Numbers:
    """Where instants rise it is enough to sort by key."""
    return by_group(keys) if (instants[1:] >= instants[:-1]).all() else np.lexsort((instants, keys))


def _close_together(left: Changes, right: Changes, keys: int) -> tuple[Numbers, Numbers, Numbers, Numbers, int]:
    """Enter and leave of both sides as numbers below some width, in the same order; so many keys times it fit."""
    columns = (left.enter, left.leave, right.enter, right.leave)
    floor, width = spread(np.concatenate([left.enter, right.enter]), np.concatenate([left.leave, right.leave]))
    if (keys + 1) * width < NEVER:
        a, b, c, d = (np.clip(column, floor, floor + width - 1) - floor for column in columns)
    else:
        instants = rising(columns)
        a, b, c, d = (np.searchsorted(instants, column) for column in columns)
        width = len(instants) + 1
    return a, b, c, d, width
