"""Scalar sub-queries over time: one value per segment, beside every row that lives then (Q-6, Q-7).

Reads: plan, operators.  Read by: query.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate.operators.batch import BEFORE, NEVER, Batch, Changes
from tidegate.operators.evaluate import Evaluator
from tidegate.operators.timeline import sweep
from tidegate.operators.vector import LevelTable, Numbers, Vector, concatenate, nulls
from tidegate.plan.expressions import Expression, ScalarSubquery


@dataclass(frozen=True, slots=True)
class Segments:
    """What a scalar sub-query is from each start to the next: a value, NULL or an error, and the level of its row."""

    start: Numbers
    values: Vector
    level: Numbers


def segments_of(changes: Changes, place: Expression, evaluator: Evaluator) -> Segments:
    """One row or NULL; more than one is an error."""
    spans = sweep(np.zeros(len(changes), np.int64), changes.enter, changes.leave)
    count = spans.count()
    row = np.where(count == 1, spans.running(np.arange(len(changes), dtype=np.int64)), 0)
    many = evaluator.failures.number("SCALAR_MANY_ROWS", "a scalar sub-query has more than one row", place.span)
    only = changes.rows.columns[0]
    found = only.take(row) if len(changes) else nulls(only.type, 0)
    values = Vector(found.type, found.data, found.is_null() | (count == 0), np.where(count > 1, many, 0))
    values = Vector(values.type, values.data, values.is_null() & (count <= 1), values.failure)
    bottom = evaluator.levels.number(evaluator.levels.lattice.bottom)
    level = spans.levels(changes.rows.level, evaluator.levels)
    blank = nulls(only.type, 1)
    return Segments(np.r_[BEFORE - 1, spans.start], concatenate([blank, values]), np.r_[bottom, level])


def beside(changes: Changes, scalar: ScalarSubquery, segments: Segments, levels: LevelTable) -> Changes:
    """Each row once per segment that it lives in, with the segment's value beside it and its level raised."""
    first = np.searchsorted(segments.start, changes.enter, side="right") - 1
    behind = np.searchsorted(segments.start, changes.leave, side="left")
    counts = behind - first
    row = np.repeat(np.arange(len(changes)), counts)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    segment = np.repeat(first, counts) + offset
    ends = np.r_[segments.start[1:], NEVER]
    enter = np.maximum(changes.enter[row], segments.start[segment])
    leave = np.minimum(changes.leave[row], ends[segment])
    rows = changes.rows.take(row)
    level = levels.lub_of_pairs(rows.level, segments.level[segment])
    scalars = {**rows.scalars, scalar: segments.values.take(segment)}
    return Changes(Batch(rows.columns, level, scalars), enter, leave)
