"""MIN and MAX over time: the rows of a segment are a range of rows in order of arrival, and ranges have a table.

Where rows leave in another order than they came (behind a join), the rows are gone through one by one: see aggregate.

Reads: operators.  Read by: aggregate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tidegate.operators.ranges import folded
from tidegate.operators.timeline import Ranges, in_order
from tidegate.operators.vector import Array, Numbers, Vector
from tidegate.plan.types import DOUBLE

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def by_enter(groups: Numbers, enter: Numbers, leave: Numbers) -> Ranges | None:
    """The segments with the rows sorted by (group, enter) if within each group they leave in that order; else None."""
    return in_order(groups, enter, leave, np.lexsort((leave, enter, groups)))


def extremes(name: str, argument: Vector, spans: Ranges) -> Vector:
    """MIN or MAX in every segment; NaN is greatest, NULLs do not count, no value gives NULL (Q-8)."""
    values, back = _comparable(argument)
    combine, nothing = _rule(name, values)
    if argument.null is None:
        missing = spans.low == spans.high
    else:
        values = np.where(argument.null, nothing, values)
        missing = spans.running((~argument.null).astype(np.int64)) == 0
    found = folded(combine, spans.ordered(values), spans.low, spans.high, nothing)
    if not missing.any():
        return Vector(argument.type, back(found))
    return Vector(argument.type, back(np.where(missing, 0, found)), missing)


def _rule(name: str, values: Array) -> tuple[np.ufunc, Any]:
    """The function, and the value that it never prefers: what stands for no value at all."""
    if values.dtype == np.float64:  # fmin prefers any number to NaN, maximum prefers NaN to any number
        return (np.fmin, np.nan) if name == "MIN" else (np.maximum, -np.inf)
    return (np.minimum, MOST) if name == "MIN" else (np.maximum, LEAST)


def _comparable(vector: Vector) -> tuple[Array, Callable[[Array], Array]]:
    """Values as doubles (-0.0 as 0.0, every NaN the same) or as integers of the same order, and the way back."""
    if vector.type == DOUBLE:
        return _one_of_a_kind(vector.data), lambda found: found
    if vector.data.dtype == object:
        known = sorted({value for value, none in zip(vector.data, vector.is_null(), strict=True) if not none})
        places = {value: place for place, value in enumerate(known)}
        ranks = np.fromiter((places.get(value, 0) for value in vector.data), np.int64, len(vector))
        return ranks, lambda found: _objects(known, found)
    return vector.data.astype(np.int64), lambda found: found.astype(vector.data.dtype)


def _one_of_a_kind(values: Array) -> Array:
    unknown = np.isnan(values)
    clean: Array = values + 0.0
    if unknown.any():
        clean[unknown] = np.nan
    return clean


def _objects(known: list[object], places: Numbers) -> Array:
    result: Array = np.empty(len(places), object)
    result[:] = [known[place] if known else None for place in places]
    return result
