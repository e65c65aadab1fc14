"""Relation to stream: what enters, what leaves, or all that is there (Q-5).

Rows of one instant are a bag. Whoever needs an order, a printer or a window over a derived stream, asks for the
printed one: it takes the JSON text of every row that meets another, which is far dearer than the rest.

Reads: plan, values, operators.  Read by: query.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

import numpy as np

from tidegate.operators.batch import BEFORE, NEVER, Batch, Changes
from tidegate.operators.vector import LevelTable, Mask, Numbers, Vector, codes, combined_codes, dense, to_values
from tidegate.plan.schema import Schema
from tidegate.plan.types import DOUBLE, LEVEL
from tidegate.values import write


@dataclass(frozen=True, slots=True)
class Emitted:
    """Rows of a stream with their instants, which do not fall."""

    rows: Batch
    instants: Numbers


def difference(changes: Changes, schema: Schema, levels: LevelTable, *, inserted: bool) -> Emitted:
    """ISTREAM or DSTREAM: the bag difference of consecutive steps over (values, level)."""
    entering, leaving = np.flatnonzero(changes.enter != BEFORE), np.flatnonzero(changes.leave != NEVER)
    entered, left = changes.enter[entering], changes.leave[leaving]
    mine, other, when, then = (entering, leaving, entered, left) if inserted else (leaving, entering, left, entered)
    if _rises(when) and _rises(then):
        kept = _not_replaced(changes.rows, mine, other, when, then)
        return Emitted(changes.rows.take(mine[kept]), when[kept])
    if _few_meet(when) and _few_meet(then):
        unmatched = _unmatched(changes.rows, mine, other, when, then)
        if unmatched is not None:
            return by_instant(changes.rows.take(mine[unmatched]), when[unmatched])
    exactly = _cancelled(mine, other, when, then, _codes(changes.rows, exact=True))
    mine, when, other, then = mine[exactly[0]], when[exactly[0]], other[exactly[1]], then[exactly[1]]
    if _has_doubles(changes.rows) and len(mine) and len(other):
        same = _codes(changes.rows, exact=False)
        left_over = _cancelled(mine, other, when, then, same)[0]
        if len(left_over) < len(mine):
            left_over = _cancel_by_text(changes.rows, mine, other, when, then, same, schema, levels)
        mine, when = mine[left_over], when[left_over]
    return by_instant(changes.rows.take(mine), when)


def _rises(instants: Numbers) -> bool:
    """Whether no two rows share an instant, and they come in order: the usual case, and the quick one."""
    return bool((instants[1:] > instants[:-1]).all())


def _not_replaced(rows: Batch, mine: Numbers, other: Numbers, when: Numbers, then: Numbers) -> Numbers:
    """Rows whose instant has no row of the other side, or one that is not the same."""
    place = np.minimum(np.searchsorted(then, when), max(len(then) - 1, 0))
    meets = np.flatnonzero(then[place] == when) if len(then) else np.zeros(0, np.int64)
    equal = _equal_rows(rows.take(mine[meets]), rows.take(other[place[meets]]))
    kept = np.ones(len(mine), np.bool_)
    kept[meets[equal]] = False
    return np.flatnonzero(kept)


MOST_MEETING = 4


def _few_meet(instants: Numbers) -> bool:
    """Whether at most a few rows share an instant."""
    ordered = np.sort(instants, kind="stable")
    return not (ordered[MOST_MEETING:] == ordered[:-MOST_MEETING]).any() if len(ordered) > MOST_MEETING else True


def _unmatched(rows: Batch, mine: Numbers, other: Numbers, when: Numbers, then: Numbers) -> Numbers | None:
    """Match rows of one instant pair by pair, each with one of the other side at the most.

    None where a zero meets a zero of the other sign: which of them remains is then decided by text.
    """
    order, place = np.argsort(when, kind="stable"), np.argsort(then, kind="stable")
    when, then = when[order], then[place]
    first = np.searchsorted(then, when)
    rank = np.arange(len(when)) - np.searchsorted(when, when)
    free, taken = np.ones(len(when), np.bool_), np.zeros(len(then), np.bool_)
    for turn in range(int(rank.max(initial=-1)) + 1):
        for offset in range(MOST_MEETING):
            at = first + offset
            able = free & (rank == turn) & (at < len(then))
            candidates = np.flatnonzero(able)
            candidates = candidates[(then[at[candidates]] == when[candidates]) & ~taken[at[candidates]]]
            one, another = rows.take(mine[order[candidates]]), rows.take(other[place[at[candidates]]])
            if _zeros_of_two_signs(one, another):
                return None
            hit = candidates[_equal_rows(one, another)]
            free[hit], taken[at[hit]] = False, True
    return order[free]


def _zeros_of_two_signs(one: Batch, another: Batch) -> bool:
    pairs = [(a.data, b.data) for a, b in zip(one.columns, another.columns, strict=True) if a.type == DOUBLE]
    return any(((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))).any() for a, b in pairs)


def _equal_rows(one: Batch, another: Batch) -> Mask:
    """Row by row, whether values and levels are the same."""
    equal: Mask = one.level == another.level
    for left, right in zip(one.columns, another.columns, strict=True):
        equal = equal & _same(left, right)
    return equal


def _same(left: Vector, right: Vector) -> Mask:
    """Row by row, with NaN = NaN and NULL = NULL; -0.0 = 0.0 anyway (Q-8)."""
    equal: Mask = np.asarray(left.data == right.data, np.bool_)
    if left.type == DOUBLE:
        equal |= np.isnan(left.data) & np.isnan(right.data)
    return (equal & ~left.is_null() & ~right.is_null()) | (left.is_null() & right.is_null())


def _has_doubles(rows: Batch) -> bool:
    """Only doubles have values that are the same without being equal to the bit."""
    return any(column.type == DOUBLE for column in rows.columns)


def _codes(rows: Batch, *, exact: bool) -> Numbers:
    """Equal for rows that are equal to the bit, or that are the same (Q-8)."""
    columns = [_bits(column) if exact and column.type == DOUBLE else codes(column) for column in rows.columns]
    return combined_codes([*columns, rows.level], len(rows))


def _bits(column: Vector) -> Numbers:
    clean = np.where(np.isnan(column.data), np.nan, column.data)
    found = dense(clean.view(np.int64)) + 1
    return dense(found if column.null is None else np.where(column.null, 0, found))


def _cancelled(mine: Numbers, other: Numbers, when: Numbers, then: Numbers, kind: Numbers) -> tuple[Numbers, Numbers]:
    """The places of both sides that remain when equal rows of one instant cancel one another."""
    together = combined_codes(
        [dense(np.concatenate([when, then])), np.concatenate([kind[mine], kind[other]])], len(mine) + len(other)
    )
    a, b = together[: len(mine)], together[len(mine) :]
    size = int(together.max(initial=-1)) + 1
    count_a, count_b = np.bincount(a, minlength=size), np.bincount(b, minlength=size)
    return _beyond(a, count_b), _beyond(b, count_a)


def _beyond(classes: Numbers, cancelled: Numbers) -> Numbers:
    """Of each class, the members after the first so many."""
    order = np.argsort(classes, kind="stable")
    ordered = classes[order]
    first = np.searchsorted(ordered, ordered, side="left")
    rank = np.arange(len(ordered)) - first
    return np.sort(order[rank >= cancelled[ordered]])


def _cancel_by_text(rows: Batch, mine: Numbers, other: Numbers, when: Numbers, then: Numbers, same: Numbers,
                    schema: Schema, levels: LevelTable) -> Numbers:  # fmt: skip
    """Rows that are only the same, such as 0.0 and -0.0, cancel in the order of their text."""
    budget = Counter(zip(then.tolist(), same[other].tolist(), strict=True))
    texts = row_texts(rows.take(mine), schema, levels)
    kept = np.ones(len(mine), np.bool_)
    for place in sorted(range(len(mine)), key=lambda n: (when[n], texts[n])):
        key = (int(when[place]), int(same[mine[place]]))
        if budget[key] > 0:
            budget[key] -= 1
            kept[place] = False
    return np.flatnonzero(kept)


def snapshots(changes: Changes, steps: Numbers) -> Emitted:
    """RSTREAM: the whole relation at each of some steps."""
    first = np.searchsorted(steps, changes.enter, side="left")
    behind = np.searchsorted(steps, changes.leave, side="left")
    counts = np.maximum(behind - first, 0)
    rows = np.repeat(np.arange(len(changes)), counts)
    offset = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return by_instant(changes.rows.take(rows), steps[np.repeat(first, counts) + offset])


def by_instant(rows: Batch, instants: Numbers) -> Emitted:
    """Rows in the order of their instants."""
    order = np.argsort(instants, kind="stable")
    return Emitted(rows.take(order), instants[order])


def in_printed_order(emitted: Emitted, schema: Schema, levels: LevelTable) -> Emitted:
    """By instant, then by the JSON text of the row, then by level; texts are made only where two rows meet."""
    rows, instants = emitted.rows, emitted.instants
    order, ordered = np.arange(len(instants)), instants
    meets = np.zeros(len(order), np.bool_)
    if len(order) > 1:
        equal = ordered[1:] == ordered[:-1]
        meets[1:] |= equal
        meets[:-1] |= equal
    crowded = order[meets]
    if len(crowded):
        texts = row_texts(rows.take(crowded), schema, levels)
        labels = [levels.labels[number] for number in rows.level[crowded]]
        ranked = sorted(range(len(crowded)), key=lambda n: (instants[crowded[n]], texts[n], labels[n]))
        order[meets] = crowded[ranked]
    return Emitted(rows.take(order), instants[order])


def row_texts(rows: Batch, schema: Schema, levels: LevelTable) -> list[str]:
    """The JSON text of each row, as CASES.md prints it."""
    columns = [shown(vector, levels) for vector in rows.columns]
    names = [column.name for column in schema]
    return [json.dumps(dict(zip(names, values, strict=True))) for values in zip(*columns, strict=True)]


def shown(vector: Vector, levels: LevelTable) -> list[object]:
    """A column as JSON values."""
    values = to_values(vector)
    if vector.type == LEVEL:
        return [None if value is None else levels.labels[value] for value in values]  # type: ignore[call-overload]
    return [write(value, vector.type) for value in values]
