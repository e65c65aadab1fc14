"""Arithmetic on columns: doubles by IEEE 754, integers of 64 bits with every overflow found (Q-7, Q-9).

Reads: plan, scalars, operators (vector).  Read by: evaluate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidegate.operators.vector import Array, Failures, Mask, Vector
from tidegate.plan.expressions import Arithmetic
from tidegate.scalars import numbers
from tidegate.values import FIRST_TIMESTAMP, LAST_TIMESTAMP

SMALL = 2**31


def calculate(node: Arithmetic, left: Vector, right: Vector, failures: Failures) -> Vector:
    """``left operator right`` for doubles, integers and timestamps."""
    failure = np.where(left.failures() > 0, left.failures(), right.failures())
    null = (left.is_null() | right.is_null()) & (failure == 0)
    usable = ~(null | (failure > 0))
    by_zero = usable & (right.data == 0) if node.operator in ("/", "%") else np.zeros(len(left), np.bool_)
    divisor = np.where(by_zero, 1, right.data).astype(right.data.dtype)
    if node.type.name == "double":
        data, over = _doubles(node.operator, left.data, divisor), np.zeros(len(left), np.bool_)
    elif node.type.name == "timestamp":
        data, over = _moments(node.operator, left.data, right.data)
    else:
        data, over = _integers(node.operator, left.data, divisor)
    failure = _mark(failure, by_zero, failures, numbers.by_zero(node.span))
    failure = _mark(failure, usable & over & ~by_zero, failures, numbers.overflow(node.type, node.span))
    return Vector(node.type, data, null, failure)


def _mark(failure: Array, rows: Mask, failures: Failures, what: Any) -> Array:
    return np.where(rows, failures.number(what.code, what.problem, what.span), failure) if rows.any() else failure


def _doubles(operator: str, left: Array, right: Array) -> Array:
    rules: dict[str, Any] = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "%": np.fmod}
    with np.errstate(all="ignore"):
        result: Array = rules[operator](left, right)
    return result


def _moments(operator: str, left: Array, right: Array) -> tuple[Array, Mask]:
    moved = left + right if operator == "+" else left - right
    return moved, (moved < FIRST_TIMESTAMP) | (moved > LAST_TIMESTAMP)


def _integers(operator: str, left: Array, right: Array) -> tuple[Array, Mask]:
    """Two's complement, and where it went beyond 64 bits."""
    with np.errstate(all="ignore"):
        match operator:
            case "+":
                result = left + right
                return result, ((left ^ result) & (right ^ result)) < 0
            case "-":
                result = left - right
                return result, ((left ^ right) & (left ^ result)) < 0
            case "*":
                return _products(left, right)
            case "/":
                return _quotients(left, right)
            case _:
                return np.fmod(left, np.where(right == -1, 1, right)), np.zeros(len(left), np.bool_)


def _products(left: Array, right: Array) -> tuple[Array, Mask]:
    """Small factors cannot overflow; for the others Python's integers decide."""
    result = left * right
    over = np.zeros(len(left), np.bool_)
    for row in np.flatnonzero((np.abs(left.astype(np.float64)) >= SMALL) | (np.abs(right.astype(np.float64)) >= SMALL)):
        over[row] = int(left[row]) * int(right[row]) != int(result[row])
    return result, over


def _quotients(left: Array, right: Array) -> tuple[Array, Mask]:
    """Q-7: integer division truncates toward zero; only the least integer over -1 overflows."""
    over = (left == np.iinfo(np.int64).min) & (right == -1)
    divisor = np.where(over, 1, right)
    floor = left // divisor
    inexact = floor * divisor != left
    return floor + (inexact & ((left < 0) != (divisor < 0))), over
