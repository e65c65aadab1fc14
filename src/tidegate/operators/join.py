"""Joins of changelogs: pairs of rows that are there at the same time; a pair lives as long as both do.

Reads: plan, operators.  Read by: query.
"""

from __future__ import annotations

import numpy as np

from tidegate.operators.batch import Batch, Changes
from tidegate.operators.vector import LevelTable, Numbers, codes, combined_codes, concatenate
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
    left before it enters begin at another (with the latest leaving so far in place of each row's own).
    """
    order = np.lexsort((right.enter, right_keys))
    keys, enter, leave = right_keys[order], right.enter[order], right.leave[order]
    instants = np.unique(np.concatenate([enter, leave, left.enter, left.leave])) if len(order) else enter
    width = len(instants) + 1
    latest = _latest_by_key(keys, np.searchsorted(instants, leave))
    starts = np.searchsorted(
        keys * width + latest, left_keys * width + np.searchsorted(instants, left.enter), side="right"
    )
    ends = np.searchsorted(
        keys * width + np.searchsorted(instants, enter),
        left_keys * width + np.searchsorted(instants, left.leave),
        side="left",
    )
    counts = np.maximum(ends - starts, 0)
    a = np.repeat(np.arange(len(left)), counts)
    offset = np.arange(len(a)) - np.repeat(np.cumsum(counts) - counts, counts)
    return a, order[np.repeat(starts, counts) + offset]


def _latest_by_key(keys: Numbers, leave: Numbers) -> Numbers:
    """The running maximum of the leaving times within each key."""
    if len(keys) == 0:
        return leave
    width = int(leave.max()) + 1
    highest: Numbers = np.maximum.accumulate(keys * width + leave)
    return highest - keys * width
