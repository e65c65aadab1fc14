"""MIN and MAX over time: the rows of a segment are a range of rows in order of arrival, and ranges have a table.

Where rows leave in the order in which they came, as in every window, the rows that are there are always a range. The
least of a range is the lesser of two overlapping powers of two, so one table of log2(longest range) columns answers
all segments at once. Where rows leave in another order (behind a join), the rows are gone through one by one.

Reads: operators.  Read by: aggregate.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tidegate.operators.timeline import Sweep
from tidegate.operators.vector import Array, Numbers, Vector
from tidegate.plan.types import DOUBLE

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_SIGN = np.int64(LEAST)


def leaves_in_order(groups: Numbers, enter: Numbers, leave: Numbers) -> Numbers | None:
    """The rows by (group, enter) if within each group they leave in that order too; else None."""
    order = np.lexsort((leave, enter, groups))
    group, going = groups[order], leave[order]
    falls = (group[1:] == group[:-1]) & (going[1:] < going[:-1])
    return None if falls.any() else order


def extremes(name: str, argument: Vector, spans: Sweep, order: Numbers) -> Vector:
    """MIN or MAX in every segment; NaN is greatest, NULLs do not count, no value gives NULL (Q-8)."""
    ranks, back = _ranks(argument)
    present = ~argument.is_null()
    signed = ranks if name == "MIN" else ~ranks  # the greatest is the least of the complements
    ranked = np.where(present, signed, MOST)[order]
    found = _least(ranked, *_ranges(spans))
    missing = spans.running(present.astype(np.int64)) == 0
    return Vector(argument.type, back(np.where(missing, 0, found if name == "MIN" else ~found)), missing)


def _ranges(spans: Sweep) -> tuple[Numbers, Numbers]:
    """For each segment the rows that are there, as positions in order: those that came, less those that went."""
    came = np.concatenate([[0], np.cumsum(spans.sign > 0)])
    went = np.concatenate([[0], np.cumsum(spans.sign < 0)])
    first = came[spans.base]  # as many rows entered in earlier groups
    return first + went[spans.last + 1] - went[spans.base], came[spans.last + 1]


def _least(values: Numbers, low: Numbers, high: Numbers) -> Numbers:
    """The least of each range low … high-1; MOST for an empty one."""
    length = high - low
    result = np.full(len(low), MOST)
    table, width = values, 1
    while width <= int(length.max(initial=0)):
        mine = np.flatnonzero((length >= width) & (length < 2 * width))
        result[mine] = np.minimum(table[low[mine]], table[high[mine] - width])
        table = np.minimum(table[: max(len(table) - width, 0)], table[width:])
        width *= 2
    return result


def _ranks(vector: Vector) -> tuple[Numbers, Callable[[Numbers], Array]]:
    """Values as integers of the same order, and the way back."""
    if vector.type == DOUBLE:
        return _double_ranks(vector.data), _doubles
    if vector.data.dtype == object:
        known = sorted({value for value, none in zip(vector.data, vector.is_null(), strict=True) if not none})
        places = {value: place for place, value in enumerate(known)}
        ranks = np.fromiter((places.get(value, 0) for value in vector.data), np.int64, len(vector))
        return ranks, lambda found: _objects(known, found)
    return vector.data.astype(np.int64), lambda found: found.astype(vector.data.dtype)


def _objects(known: list[object], places: Numbers) -> Array:
    result: Array = np.empty(len(places), object)
    result[:] = [known[place] if known else None for place in places]
    return result


def _double_ranks(values: Array) -> Numbers:
    """IEEE 754 bits as integers in the order of the values; NaN above all, -0.0 as 0.0."""
    clean = np.where(np.isnan(values), np.nan, values + 0.0)
    bits = clean.view(np.int64)
    return np.where(bits < 0, ~bits ^ _SIGN, bits)


def _doubles(ranks: Numbers) -> Array:
    bits = np.where(ranks < 0, ~(ranks ^ _SIGN), ranks)
    return bits.view(np.float64) + 0.0
