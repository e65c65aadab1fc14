"""One answer per range of a column: the least, the greatest, or every bit that occurs, of rows low … high-1.

A range is covered by two overlapping powers of two, so a table that doubles its width log2(longest range) times
answers all ranges at once, whatever their lengths.

Reads: operators (vector).  Read by: extremes, timeline.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tidegate.operators.vector import Array, Numbers


def folded(combine: np.ufunc, values: Array, low: Numbers, high: Numbers, nothing: Any) -> Array:
    """Each range combined by a function that does not mind rows counted twice; ``nothing`` for an empty range."""
    length = high - low
    longest, shortest = int(length.max(initial=0)), int(length.min(initial=0))
    tables = _tables(combine, values, longest)
    if shortest > 0 and shortest.bit_length() == longest.bit_length():
        *_, (table, width) = tables
        return _pairs(combine, table[low], table[high - width])
    doublings = np.frexp(length.astype(np.float64))[1].astype(np.uint8)  # 0 for none, 1 for one, 2 for two and three
    result = np.full(len(low), nothing, values.dtype)
    for doubling, (table, width) in enumerate(tables, 1):
        mine = np.flatnonzero(doublings == doubling)
        if len(mine):
            result[mine] = _pairs(combine, table[low[mine]], table[high[mine] - width])
    return result


def _pairs(combine: np.ufunc, one: Array, another: Array) -> Array:
    result: Array = combine(one, another, out=one)
    return result


def _tables(combine: np.ufunc, values: Array, longest: int) -> Iterator[tuple[Array, int]]:
    """Every range of 1, 2, 4, … rows, no more than ``longest``; each table lasts until the one after the next."""
    spare = (np.empty(len(values), values.dtype), np.empty(len(values), values.dtype))
    for doubling in range(longest.bit_length()):
        if doubling:
            reach = 1 << (doubling - 1)
            values = combine(values[:-reach], values[reach:], out=spare[doubling % 2][: len(values) - reach])
        yield values, 1 << doubling
