"""Python's operators over Arrow columns, inside the child.

Where pyarrow has an operator, this is the same kernel: arithmetic is checked (overflow and division by zero raise),
``/`` of integers cuts towards zero, NULL gives NULL. Added is what it lacks: a plain value on the left, comparisons,
``%`` and ``//`` with Python's signs, and ``& | ^ ~`` of booleans by SQL's three-valued logic.

Reads: nothing.  Read by: child.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

COLUMN = (pa.Array, pa.ChunkedArray, pa.Scalar)

PYTHON: dict[str, Callable[..., Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "MatMult": operator.matmul,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "Invert": operator.invert,
    "USub": operator.neg,
    "UAdd": operator.pos,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}

KERNELS = {
    "Add": "add_checked",
    "Sub": "subtract_checked",
    "Mult": "multiply_checked",
    "Div": "divide_checked",
    "Mod": "modulo_checked",
    "Pow": "power_checked",
    "LShift": "shift_left_checked",
    "RShift": "shift_right_checked",
    "BitAnd": "bit_wise_and",
    "BitOr": "bit_wise_or",
    "BitXor": "bit_wise_xor",
    "Invert": "bit_wise_not",
    "USub": "negate_checked",
    "Eq": "equal",
    "NotEq": "not_equal",
    "Lt": "less",
    "LtE": "less_equal",
    "Gt": "greater",
    "GtE": "greater_equal",
}

BOOLEAN_KERNELS = {"BitAnd": "and_kleene", "BitOr": "or_kleene", "BitXor": "xor", "Invert": "invert"}


def operate(symbol: str, *operands: Any) -> Any:
    """One operator, by its name in Python's grammar: Arrow's where a column takes part, else Python's own."""
    columns = [operand for operand in operands if isinstance(operand, COLUMN)]
    if not columns:
        return PYTHON[symbol](*operands)
    if symbol == "FloorDiv":
        return _floor_divide(*operands)
    if symbol == "UAdd":
        return operands[0]
    boolean = symbol in BOOLEAN_KERNELS and any(column.type == pa.bool_() for column in columns)
    return pc.call_function(BOOLEAN_KERNELS[symbol] if boolean else KERNELS[symbol], list(map(_argument, operands)))


def compare(symbols: tuple[str, ...], *operands: Any) -> Any:
    """A comparison or a chain of them; each operand is evaluated once."""
    parts = [operate(symbol, *operands[index : index + 2]) for index, symbol in enumerate(symbols)]
    return reduce(lambda left, right: operate("BitAnd", left, right), parts)


def truth(value: Any) -> Any:
    """The value, unless it is a column: that one has no single truth, and Python would take its length for it."""
    if isinstance(value, COLUMN):
        raise TypeError("a column is not a condition: use & | ~ and pc.if_else")
    return value


def _argument(operand: Any) -> Any:
    """An operand as ``call_function`` takes it."""
    if isinstance(operand, COLUMN):
        return operand
    return (
        pa.array(operand)
        if hasattr(operand, "__len__") and not isinstance(operand, str | bytes)
        else pa.scalar(operand)
    )


def _floor_divide(left: Any, right: Any) -> Any:
    quotient, modulus = operate("Div", left, right), operate("Mod", left, right)
    if not pa.types.is_integer(quotient.type):
        return pc.round(operate("Div", operate("Sub", left, modulus), right))
    remainder = pc.call_function("remainder_checked", [_argument(left), _argument(right)])
    return operate("Sub", quotient, pc.cast(pc.not_equal(modulus, remainder), pa.int8()))
