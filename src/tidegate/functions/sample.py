"""Rows to try a function on: the edges of each type first, then ordinary values.

The same arguments give the same rows on every machine, so that a verdict can be repeated.

Reads: definition.  Read by: check's callers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

from tidegate.functions.definition import arrow_type

_YEAR_1, _YEAR_9999 = -719_162, 2_932_896  # days from 1970 to the first and the last date
_DAY = 86_400_000_000

_EDGES: dict[pa.DataType, tuple[Any, ...]] = {
    pa.int32(): (0, 1, -1, 2**31 - 1, -(2**31)),
    pa.int64(): (0, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63)),
    pa.float64(): (0.0, -0.0, 1.0, -1.5, math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308),
    pa.bool_(): (True, False),
    pa.string(): ("", " ", "a", "NULL", "é", "e\u0301", "\U0001f300", "\x00", "a" * 1000),
    pa.timestamp("us", "UTC"): (0, -1, 951_782_400_000_000, _YEAR_1 * _DAY, (_YEAR_9999 + 1) * _DAY - 1),
    pa.date32(): (0, -1, 11_016, _YEAR_1, _YEAR_9999),
    pa.binary(): (b"", b"\x00", b"\xff\xfe", bytes(range(256))),
}
_ORDINARY: dict[pa.DataType, Callable[[Random], Any]] = {
    pa.int32(): lambda random: random.randint(-1000, 1000),
    pa.int64(): lambda random: random.randint(-(10**12), 10**12),
    pa.float64(): lambda random: random.uniform(-1000, 1000),
    pa.bool_(): lambda random: random.random() < 0.5,
    pa.string(): lambda random: "".join(random.choices("abcxyz 019", k=random.randint(1, 12))),
    pa.timestamp("us", "UTC"): lambda random: random.randint(0, 2 * 10**15),
    pa.date32(): lambda random: random.randint(0, 20_000),
    pa.binary(): lambda random: random.randbytes(random.randint(1, 12)),
}


def sample(types: Sequence[str], rows: int, seed: int) -> list[pa.Array]:
    """One column per type name, each with NULL and all edges of its type if there are rows enough (11 are)."""
    return [_column(arrow_type(name), rows, Random(f"{seed} {index} {name}")) for index, name in enumerate(types)]


def _column(arrow: pa.DataType, rows: int, random: Random) -> pa.Array:
    edges, ordinary = _recipe(arrow)
    values = [None, *edges, *(ordinary(random) if random.random() < 0.9 else None for _ in range(rows))][:rows]
    random.shuffle(values)
    return pa.array(values, arrow)


def _recipe(arrow: pa.DataType) -> tuple[tuple[Any, ...], Callable[[Random], Any]]:
    """The edges of a type and how to draw from its middle."""
    if not pa.types.is_decimal(arrow):
        return _EDGES[arrow], _ORDINARY[arrow]
    largest = 10**arrow.precision - 1
    unscaled = (0, 1, -1, largest, -largest)
    return tuple(_decimal(number, arrow) for number in unscaled), lambda random: _decimal(
        random.randint(-min(largest, 10**6), min(largest, 10**6)), arrow
    )


def _decimal(unscaled: int, arrow: pa.DataType) -> Decimal:
    sign, digits, _ = Decimal(unscaled).as_tuple()
    return Decimal((sign, digits, -arrow.scale))
