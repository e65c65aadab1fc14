"""Q-15: Python's operators over columns do row by row what Python does to a value."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.functions.operators import KERNELS, PYTHON, compare, operate, truth

WHOLE = st.integers(-(2**31), 2**31 - 1)
NUMBERS = st.one_of(st.tuples(WHOLE, WHOLE), st.tuples(*[st.floats(-1e6, 1e6).map(lambda x: round(x, 3))] * 2))
LIKE_PYTHON = ("Add", "Sub", "Mult", "FloorDiv", "Mod", "Eq", "NotEq", "Lt", "LtE", "Gt", "GtE")


def listed(column: Any) -> list[Any]:
    found: list[Any] = column.to_pylist()
    return found


@given(NUMBERS, st.sampled_from(LIKE_PYTHON))
def test_an_operator_gives_what_python_gives_on_either_side(pair: tuple[Any, Any], symbol: str) -> None:
    left, right = pair
    if symbol in ("FloorDiv", "Mod") and not right:
        return
    expected = [PYTHON[symbol](left, right), None]
    assert listed(operate(symbol, pa.array([left, None]), right)) == expected
    assert listed(operate(symbol, left, pa.array([right, None]))) == expected
    assert listed(operate(symbol, pa.array([left, None]), pa.array([right, right]))) == expected


def test_integers_divide_as_arrow_divides() -> None:
    assert listed(operate("Div", pa.array([-7]), 2)) == [-3]
    assert listed(operate("FloorDiv", pa.array([-7, -(2**63)]), 2)) == [-4, -(2**62)]


@pytest.mark.parametrize("symbol", ["Div", "FloorDiv", "Mod"])
@pytest.mark.parametrize("zero", [0, 0.0])
def test_division_by_zero_raises(symbol: str, zero: float) -> None:
    """Q-9: it is an error, not an infinity."""
    with pytest.raises(pa.ArrowInvalid):
        operate(symbol, pa.array([1]), zero)


@pytest.mark.parametrize("symbol", ["Add", "Mult"])
def test_overflow_raises(symbol: str) -> None:
    with pytest.raises(pa.ArrowInvalid):
        operate(symbol, pa.array([2**63 - 1]), 2)


def test_booleans_follow_three_valued_logic() -> None:
    unknown = pa.array([None, None], pa.bool_())
    both = pa.array([True, False])
    assert listed(operate("BitAnd", unknown, both)) == [None, False]
    assert listed(operate("BitOr", unknown, both)) == [True, None]
    assert listed(operate("BitXor", both, True)) == [False, True]
    assert listed(operate("Invert", both)) == [False, True]
    assert listed(operate("BitAnd", pa.array([6]), 3)) == [2]
    assert listed(operate("Invert", pa.array([6]))) == [-7]


def test_signs() -> None:
    assert listed(operate("USub", pa.array([1, None]))) == [-1, None]
    assert listed(operate("UAdd", pa.array([1, None]))) == [1, None]


def test_a_chain_of_comparisons_is_one_condition() -> None:
    assert listed(compare(("Lt", "Lt"), 0, pa.array([-1, 5, 10, None]), 10)) == [False, True, False, None]
    assert compare(("Lt", "Lt"), 0, 5, 10) is True


def test_equality_is_row_by_row_and_never_of_the_whole() -> None:
    assert listed(compare(("Eq",), pa.array([1, 2, None]), pa.array([1, 3, 1]))) == [True, False, None]
    assert listed(compare(("NotEq",), "a", pa.array(["a", "b"]))) == [False, True]


def test_lists_and_numpy_take_part() -> None:
    assert listed(operate("Add", [1, 2], pa.array([1, 1]))) == [2, 3]
    assert listed(operate("Add", pa.chunked_array([[1], [2]]), pa.array([1, 1]))) == [2, 3]


@pytest.mark.parametrize("column", [pa.array([1]), pa.chunked_array([[1]]), pa.scalar(False)])
def test_a_column_is_no_condition(column: Any) -> None:
    """Python would take its length, or that it exists, for its truth."""
    with pytest.raises(TypeError):
        truth(column)
    assert truth(0) == 0


def test_every_kernel_exists() -> None:
    registry = pa.compute.function_registry().list_functions()
    assert set(KERNELS.values()) <= set(registry)
