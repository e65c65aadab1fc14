"""Aggregates over a changelog: one row per group and segment of time, equal to the reference to the bit (Q-8).

Reads: plan, operators, scalars.  Read by: query.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tidegate.operators import exact
from tidegate.operators.evaluate import Evaluator
from tidegate.operators.extremes import extremes, leaves_in_order
from tidegate.operators.timeline import Sweep, sweep
from tidegate.operators.vector import Array, Mask, Numbers, Vector, codes, combined_codes, from_values, to_values
from tidegate.plan.expressions import Aggregate
from tidegate.plan.types import BIGINT, DOUBLE, LEVEL
from tidegate.scalars import aggregates as scalar_aggregates
from tidegate.scalars.numbers import overflow
from tidegate.scalars.values import Failure


def aggregated(call: Aggregate, argument: Vector | None, spans: Sweep, groups: Numbers, evaluator: Evaluator,
               lifetimes: tuple[Numbers, Numbers]) -> Vector:  # fmt: skip
    """The value of an aggregate in every segment."""
    if argument is None:
        return Vector(BIGINT, spans.running(np.ones(len(groups), np.int64)))
    present = ~argument.is_null()
    if call.name == "COUNT":
        counted = (
            _distinct(argument, present, groups, lifetimes, spans)
            if call.distinct
            else spans.running(present.astype(np.int64))
        )
        return Vector(BIGINT, counted)
    if call.name == "LUB":
        there = spans.present(argument.data, len(evaluator.levels.labels), present)
        missing = ~np.any(there, axis=1)
        return Vector(LEVEL, evaluator.levels.lub_of_sets(there), missing)
    counts = spans.running(present.astype(np.int64))
    if call.name in ("SUM", "AVG") and argument.data.dtype != object:
        return _sum(call, argument, present, counts, spans, evaluator)
    if call.name in ("MIN", "MAX") and (order := leaves_in_order(groups, *lifetimes)) is not None:
        return extremes(call.name, argument, spans, order)
    return _by_rows(call, argument, spans, evaluator)


# ------------------------------------------------------------------------------ sums


def _sum(
    call: Aggregate, argument: Vector, present: Mask, counts: Numbers, spans: Sweep, evaluator: Evaluator
) -> Vector:
    total = _doubles(argument, present, spans) if argument.type == DOUBLE else None
    empty = counts == 0
    if total is not None:
        data = total if call.name == "SUM" else total / np.maximum(counts, 1)
        return Vector(DOUBLE, data, empty)
    whole, over = _integers(argument, present, spans)
    failure = np.where(over, _overflow(call, evaluator), 0)
    if call.name == "SUM":
        return Vector(BIGINT, whole, empty, failure)
    return Vector(DOUBLE, whole.astype(np.float64) / np.maximum(counts, 1), empty, failure)


def _overflow(call: Aggregate, evaluator: Evaluator) -> int:
    what = overflow(BIGINT, call.span)
    return evaluator.failures.number(what.code, what.problem, what.span)


def _totals(limbs: exact.Limbs, spans: Sweep) -> exact.Limbs:
    running = limbs.added_up(spans.sign, spans.row)
    return exact.Limbs(_since_base(running.limbs, spans), limbs.exponent)


def _since_base(running: Numbers, spans: Sweep) -> Numbers:
    padded = np.vstack([np.zeros((1, running.shape[1]), np.int64), running])
    result: Numbers = padded[spans.last + 1] - padded[spans.base]
    return result


def _doubles(argument: Vector, present: Mask, spans: Sweep) -> Array:
    """NaN for any NaN or both infinities, one infinity itself, else the exact sum rounded once."""
    finite = present & np.isfinite(argument.data)
    total = exact.rounded(_totals(exact.limbs_of_doubles(np.where(finite, argument.data, 0.0)), spans))
    if finite.sum() == present.sum():
        return total
    up, down = (spans.running((present & (argument.data == bound)).astype(np.int64)) > 0 for bound in (np.inf, -np.inf))
    unknown = (spans.running((present & np.isnan(argument.data)).astype(np.int64)) > 0) | (up & down)
    return np.where(unknown, np.nan, np.where(up, np.inf, np.where(down, -np.inf, total)))


def _integers(argument: Vector, present: Mask, spans: Sweep) -> tuple[Numbers, Mask]:
    """The exact total, and where it leaves 64 bits."""
    totals = _totals(exact.limbs_of_integers(np.where(present, argument.data, 0)), spans).limbs
    carry, low = totals[:, 0] >> exact.LIMB, totals[:, 0] & exact.MASK
    high = totals[:, 1] + carry
    over = (high < -(2**31)) | (high > 2**31 - 1)
    return (np.where(over, 0, high) << exact.LIMB) | low, over


# ------------------------------------------------------------------------------ the rest


def _distinct(
    argument: Vector, present: Mask, groups: Numbers, lifetimes: tuple[Numbers, Numbers], spans: Sweep
) -> Numbers:
    """COUNT(DISTINCT x): how many values are there, each of which is there while some row with it is."""
    rows = np.flatnonzero(present)
    pairs = combined_codes([groups[rows], codes(argument.take(rows))], len(rows))
    inner = sweep(pairs, lifetimes[0][rows], lifetimes[1][rows])
    there = inner.running(np.ones(len(rows), np.int64)) > 0
    before = np.r_[False, there[:-1]] & np.r_[False, inner.group[1:] == inner.group[:-1]] if len(there) else there
    change = there.astype(np.int64) - before.astype(np.int64)
    group_of_pair = np.zeros(int(pairs.max(initial=-1)) + 1, np.int64)
    group_of_pair[pairs] = groups[rows]
    return _at(group_of_pair[inner.group], inner.start, change, spans)


def _at(group: Numbers, instant: Numbers, change: Numbers, spans: Sweep) -> Numbers:
    """The sum of all changes of a segment's group up to its start."""
    order = np.lexsort((instant, group))
    totals = np.concatenate([[0], np.cumsum(change[order])])
    group, instant = group[order], instant[order]
    result = np.empty(len(spans.start), np.int64)
    for number in np.unique(spans.group):
        mine = spans.group == number
        low, high = np.searchsorted(group, [number, number + 1])
        upto = low + np.searchsorted(instant[low:high], spans.start[mine], side="right")
        result[mine] = totals[upto] - totals[low]
    return result


def _by_rows(call: Aggregate, argument: Vector, spans: Sweep, evaluator: Evaluator) -> Vector:
    """What has no running form: the scalar aggregate over the rows of each segment."""
    assert call.argument is not None
    values = to_values(argument)
    results = [
        scalar_aggregates.aggregate(call, [values[row] for row in rows], evaluator.levels.lattice)
        for rows in members(spans)
    ]
    numbers = [evaluator.failures.number(v.code, v.problem, v.span) if isinstance(v, Failure) else 0 for v in results]
    found = from_values([None if isinstance(v, Failure) else v for v in results], call.type)
    return Vector(call.type, found.data, found.null, np.array(numbers, np.int64))


def members(spans: Sweep) -> Iterator[list[int]]:
    """For each segment the rows that are there."""
    there: dict[int, None] = {}
    event = 0
    for number, last in enumerate(spans.last):
        if event == spans.base[number]:
            there = {}
        while event <= last:
            row = int(spans.row[event])
            if spans.sign[event] > 0:
                there[row] = None
            else:
                there.pop(row, None)
            event += 1
        yield list(there)
