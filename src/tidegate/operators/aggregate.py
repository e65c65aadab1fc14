"""Aggregates over a changelog: one row per group and segment of time, equal to the reference to the bit (Q-8).

Reads: plan, operators, scalars.  Read by: query.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate.operators import exact, words
from tidegate.operators.evaluate import Evaluator
from tidegate.operators.extremes import by_enter, extremes
from tidegate.operators.timeline import Ranges, Sweep, sweep
from tidegate.operators.vector import Array, Mask, Numbers, Vector, codes, combined_codes, from_values, to_values
from tidegate.plan.expressions import Aggregate
from tidegate.plan.types import BIGINT, DOUBLE, LEVEL
from tidegate.scalars import aggregates as scalar_aggregates
from tidegate.scalars.numbers import overflow
from tidegate.scalars.values import Failure

FEW = 0.25  # of the segments


@dataclass(slots=True)
class Sums:
    """The sum of an argument in every segment and where it leaves 64 bits, once somebody has asked: SUM, AVG, both."""

    total: Array | None = None
    over: Mask | None = None


def aggregated(call: Aggregate, argument: Vector | None, spans: Sweep, groups: Numbers, evaluator: Evaluator,
               lifetimes: tuple[Numbers, Numbers], sums: Sums | None = None) -> Vector:  # fmt: skip
    """The value of an aggregate in every segment."""
    if argument is None:
        return Vector(BIGINT, spans.count())
    if call.name == "COUNT":
        distinct = call.distinct
        return Vector(BIGINT, _distinct(argument, groups, lifetimes, spans) if distinct else _how_many(argument, spans))
    if call.name == "LUB":
        there = None if argument.null is None else ~argument.null
        level = spans.levels(argument.data, evaluator.levels, there)
        return Vector(LEVEL, level, _how_many(argument, spans) == 0)
    if call.name in ("SUM", "AVG") and argument.data.dtype != object:
        return _sum(call, argument, spans, evaluator, sums or Sums())
    if call.name in ("MIN", "MAX"):
        ranges = spans if isinstance(spans, Ranges) else by_enter(groups, *lifetimes)
        if ranges is not None:
            return extremes(call.name, argument, ranges)
    return _by_rows(call, argument, spans, evaluator)


def _how_many(argument: Vector, spans: Sweep) -> Numbers:
    """How many values are there that are not NULL."""
    return spans.count() if argument.null is None else spans.running((~argument.null).astype(np.int64))


# ------------------------------------------------------------------------------ sums


def _sum(call: Aggregate, argument: Vector, spans: Sweep, evaluator: Evaluator, sums: Sums) -> Vector:
    counts = _how_many(argument, spans)
    empty = counts == 0 if int(counts.min(initial=0)) == 0 else None
    if sums.total is None:
        longest = int(spans.count().max(initial=0))
        if argument.type == DOUBLE:
            sums.total = _doubles(argument, spans, longest)
        else:
            sums.total, sums.over = _integers(argument, spans, longest)
    failure = None if sums.over is None else np.where(sums.over, _overflow(call, evaluator), 0)
    if call.name == "SUM":
        return Vector(call.type, sums.total, empty, failure)
    return Vector(DOUBLE, sums.total.astype(np.float64) / np.maximum(counts, 1), empty, failure)


def _overflow(call: Aggregate, evaluator: Evaluator) -> int:
    what = overflow(BIGINT, call.span)
    return evaluator.failures.number(what.code, what.problem, what.span)


def _doubles(argument: Vector, spans: Sweep, longest: int) -> Array:
    """NaN for any NaN or both infinities, one infinity itself, else the exact sum rounded once."""
    data = argument.data if argument.null is None else np.where(argument.null, 0.0, argument.data)
    finite = np.isfinite(data)
    if finite.all():
        return _finite(data, spans, longest)
    total = _finite(np.where(finite, data, 0.0), spans, longest)
    up, down = (spans.running((data == bound).astype(np.int64)) > 0 for bound in (np.inf, -np.inf))
    unknown = (spans.running(np.isnan(data).astype(np.int64)) > 0) | (up & down)
    return np.where(unknown, np.nan, np.where(up, np.inf, np.where(down, -np.inf, total)))


def _finite(data: Array, spans: Sweep, longest: int) -> Array:
    """In words; or in words but for the segments with odd values; or in limbs."""
    total = words.sums(data, spans, longest)
    if total is not None:
        return total
    if isinstance(spans, Ranges):
        odd = words.odd_ones(data, longest)
        touched = spans.running(odd.astype(np.int64)) > 0
        total = words.sums(np.where(odd, 0.0, data), spans, longest) if touched.mean() < FEW else None
        if total is not None:
            rows, some = spans.only(touched)
            total[touched] = _by_limbs(data[rows], some)
            return total
    return _by_limbs(data, spans)


def _by_limbs(data: Array, spans: Sweep) -> Array:
    return exact.rounded(_totals(exact.limbs_of_doubles(data), spans))


def _integers(argument: Vector, spans: Sweep, longest: int) -> tuple[Numbers, Mask | None]:
    """The exact total, and where it leaves 64 bits."""
    data = argument.data if argument.null is None else np.where(argument.null, 0, argument.data)
    quick = words.integers(data, spans, longest)
    if quick is not None:
        return quick, None
    totals = _totals(exact.limbs_of_integers(data), spans).limbs
    carry, low = totals[:, 0] >> exact.LIMB, totals[:, 0] & exact.MASK
    high = totals[:, 1] + carry
    over = (high < -(2**31)) | (high > 2**31 - 1)
    return (np.where(over, 0, high) << exact.LIMB) | low, over


def _totals(limbs: exact.Limbs, spans: Sweep) -> exact.Limbs:
    columns = [spans.running(limbs.limbs[:, k]) for k in range(limbs.limbs.shape[1])]
    return exact.Limbs(np.stack(columns, axis=1), limbs.exponent)


# ------------------------------------------------------------------------------ the rest


def _distinct(argument: Vector, groups: Numbers, lifetimes: tuple[Numbers, Numbers], spans: Sweep) -> Numbers:
    """COUNT(DISTINCT x): how many values are there, each of which is there while some row with it is."""
    rows = np.flatnonzero(~argument.is_null())
    pairs = combined_codes([groups[rows], codes(argument.take(rows))], len(rows))
    inner = sweep(pairs, lifetimes[0][rows], lifetimes[1][rows])
    there = inner.count() > 0
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
        for rows in spans.members()
    ]
    numbers = [evaluator.failures.number(v.code, v.problem, v.span) if isinstance(v, Failure) else 0 for v in results]
    found = from_values([None if isinstance(v, Failure) else v for v in results], call.type)
    return Vector(call.type, found.data, found.null, np.array(numbers, np.int64))
