"""Arithmetic: integers of 64 bits, doubles by IEEE 754, decimals exactly (Q-7, Q-9).

Reads: plan (types), values, reference (rows).  Read by: evaluate, builtins.
"""

from __future__ import annotations

import math
from decimal import Decimal

from tidegate.plan.types import BIGINT_RANGE, Type
from tidegate.scalars.values import Failure
from tidegate.text import Span
from tidegate.values import FIRST_TIMESTAMP, LAST_TIMESTAMP, WIDE, number_in


def overflow(kind: Type, span: Span) -> Failure:
    """A number beyond the range of its type."""
    return Failure("OVERFLOW", f"a number beyond the range of {kind}", span)


def by_zero(span: Span) -> Failure:
    """Division by zero is an error for every type of number."""
    return Failure("DIVISION_BY_ZERO", "division by zero", span)


def checked(value: int, kind: Type, span: Span) -> object:
    """Q-7: integer arithmetic is 64-bit."""
    return value if BIGINT_RANGE[0] <= value <= BIGINT_RANGE[1] else overflow(kind, span)


def calculate(operator: str, left: object, right: object, kind: Type, span: Span) -> object:
    """``left operator right`` for values that are neither NULL nor errors."""
    if kind.name == "double":
        assert isinstance(left, float)
        assert isinstance(right, float)
        return _doubles(operator, left, right, span)
    if kind.name == "decimal":
        return _decimals(operator, left, right, kind, span)
    assert isinstance(left, int)
    assert isinstance(right, int)
    if kind.name == "timestamp":
        moved = left + right if operator == "+" else left - right
        return moved if FIRST_TIMESTAMP <= moved <= LAST_TIMESTAMP else overflow(kind, span)
    return _integers(operator, left, right, kind, span)


def _integers(operator: str, left: int, right: int, kind: Type, span: Span) -> object:
    if operator in ("/", "%") and right == 0:
        return by_zero(span)
    match operator:
        case "+":
            return checked(left + right, kind, span)
        case "-":
            return checked(left - right, kind, span)
        case "*":
            return checked(left * right, kind, span)
        case "/":
            return checked(truncated(left, right), kind, span)
        case _:
            return left - right * truncated(left, right)


def truncated(left: int, right: int) -> int:
    """Q-7: integer division truncates toward zero."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _doubles(operator: str, left: float, right: float, span: Span) -> object:
    if operator in ("/", "%") and right == 0:
        return by_zero(span)
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
        case _:
            return math.nan if math.isinf(left) else math.fmod(left, right)


def _decimals(operator: str, left: object, right: object, kind: Type, span: Span) -> object:
    a, b = as_decimal(left), as_decimal(right)
    if operator in ("/", "%") and b == 0:
        return by_zero(span)
    match operator:
        case "+":
            exact = WIDE.add(a, b)
        case "-":
            exact = WIDE.subtract(a, b)
        case "*":
            exact = WIDE.multiply(a, b)
        case "/":
            exact = WIDE.divide(a, b)
        case _:
            exact = WIDE.remainder(a, b)
    rounded = number_in(exact, kind)
    return overflow(kind, span) if rounded is None else rounded


def negated(value: object, kind: Type, span: Span) -> object:
    """-x."""
    if isinstance(value, Decimal):
        return WIDE.minus(value)
    assert isinstance(value, int | float)
    return checked(-value, kind, span) if isinstance(value, int) else -value


def as_decimal(value: object) -> Decimal:
    """An integer or a decimal as a decimal."""
    assert isinstance(value, int | Decimal)
    return Decimal(value)


def exact_sum(values: list[float]) -> float:
    """Q-8: the exact real sum rounded once; NaN for any NaN or both infinities, beyond the range an infinity."""
    if any(math.isnan(value) for value in values):
        return math.nan
    infinities = {value for value in values if math.isinf(value)}
    if infinities:
        return math.nan if len(infinities) > 1 else infinities.pop()
    try:
        return math.fsum(values) + 0.0
    except OverflowError:
        return _sum_of_integers(values)


def _sum_of_integers(values: list[float]) -> float:
    """Fsum gives up where a partial sum overflows; in units of 2**-1074 every double is an integer."""
    unit = 1 << 1074
    total = sum(numerator * (unit // denominator) for numerator, denominator in map(float.as_integer_ratio, values))
    try:
        return total / unit
    except OverflowError:
        return math.inf if total > 0 else -math.inf
