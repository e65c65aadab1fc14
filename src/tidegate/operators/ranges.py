"""One answer per range of a column: the least, the greatest, or every bit that occurs, of rows low … high-1.

A range is covered by two overlapping powers of two, so a table that doubles its width log2(longest range) times
answers all ranges at once, whatever their lengths.

Reads: operators (vector).  Read by: extremes, timeline.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidegate.operators.vector import Array, Numbers


def folded(combine: np.ufunc, values: Array, low: Numbers, high: Numbers, nothing: Any) -> Array:
    """Each range combined by a function that does not mind rows counted twice; ``nothing`` for an empty range."""
    length = high - low
    longest, shortest = int(length.max(initial=0)), int(length.min(initial=0))
    if shortest > 0 and shortest.bit_length() == longest.bit_length():
        return _covered(combine, _table(combine, values, shortest), low, high)
    doublings = np.frexp(length.astype(np.float64))[1].astype(np.uint8)  # 0 for none, 1 for one, 2 for two and three
    result = np.full(len(low), nothing, values.dtype)
    table, width = values, 1
    for doubling in range(1, longest.bit_length() + 1):
        mine = np.flatnonzero(doublings == doubling)
        if len(mine):
            result[mine] = combine(table[low[mine]], table[high[mine] - width])
        table = combine(table[: max(len(table) - width, 0)], table[width:])
        width *= 2
    return result


def _table(combine: np.ufunc, values: Array, length: int) -> tuple[Array, int]:
    """Every range of the greatest power of two that is not longer than ``length``, and that power."""
    width = 1
    while 2 * width <= length:
        values = combine(values[:-width], values[width:])
        width *= 2
    return values, width


def _covered(combine: np.ufunc, table: tuple[Array, int], low: Numbers, high: Numbers) -> Array:
    values, width = table
    result: Array = combine(values[low], values[high - width])
    return result
