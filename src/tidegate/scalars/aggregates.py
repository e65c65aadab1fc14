"""Aggregates as functions of a bag: no order, no running state, nothing left behind (Q-8).

Reads: plan, security, reference.  Read by: relations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from typing import Any

from tidegate.plan.expressions import Aggregate
from tidegate.plan.types import BIGINT_RANGE, Type
from tidegate.scalars.numbers import as_decimal, exact_sum, overflow
from tidegate.scalars.values import representative, same
from tidegate.security.lattice import Lattice
from tidegate.text import Span
from tidegate.values import WIDE, number_in


def aggregate(call: Aggregate, values: list[Any], lattice: Lattice) -> object:
    """The value over all rows of a group; NULLs do not count, except in COUNT(*)."""
    if call.argument is None:
        return len(values)
    present = [value for value in values if value is not None]
    if call.name == "COUNT":
        return len({same(value) for value in present}) if call.distinct else len(present)
    if call.name == "LUB":
        return lattice.lub_of(present) if present else None
    return _AGGREGATES[call.name](present, call.argument.type, call.span) if present else None


def _sum(values: list[Any], kind: Type, span: Span) -> object:
    """SUM of doubles is the exact sum rounded once; of integers it is exact, an error only if it leaves bigint."""
    if kind.is_integer:
        total = sum(values)
        return total if BIGINT_RANGE[0] <= total <= BIGINT_RANGE[1] else overflow(Type("bigint"), span)
    if kind.name == "decimal":
        exact = reduce(WIDE.add, map(as_decimal, values))
        widest = Type("decimal", 38, kind.scale)
        return number_in(exact, widest) if number_in(exact, widest) is not None else overflow(widest, span)
    return exact_sum(values)


def _average(values: list[Any], kind: Type, span: Span) -> object:
    """AVG = SUM / n, of the rounded SUM."""
    total = _sum(values, kind, span)
    return float(total) / len(values) if isinstance(total, int | float | Decimal) else total


def _variance(values: list[Any], kind: Type, span: Span) -> object:
    """VARIANCE = fsum((x - AVG)**2) / (n - 1); NULL for n < 2."""
    mean = _average(values, kind, span)
    if len(values) < 2 or not isinstance(mean, float):
        return None if len(values) < 2 else mean
    differences = [float(value) - mean for value in values]
    return exact_sum([difference * difference for difference in differences]) / (len(values) - 1)


def _deviation(values: list[Any], kind: Type, span: Span) -> object:
    """STDDEV is the root of VARIANCE."""
    variance = _variance(values, kind, span)
    return math.sqrt(variance) if isinstance(variance, float) else variance


def _order(value: Any) -> tuple[bool, Any]:
    """For MIN and MAX NaN is greatest, and -0.0 = 0.0."""
    nan = isinstance(value, float) and math.isnan(value)
    return nan, 0.0 if nan else value


_AGGREGATES: dict[str, Callable[[list[Any], Type, Span], object]] = {
    "SUM": _sum,
    "AVG": _average,
    "VARIANCE": _variance,
    "STDDEV": _deviation,
    "MIN": lambda values, kind, span: representative(min(values, key=_order)),
    "MAX": lambda values, kind, span: representative(max(values, key=_order)),
}
