"""Q-15: what a function may return, and that nothing is adjusted on the way to the declared type."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tidegate.functions.definition import arrow_type
from tidegate.functions.results import WrongLength, WrongType, fit

NOON = dt.datetime(2024, 1, 31, 12, tzinfo=dt.UTC)
TOKYO = dt.timezone(dt.timedelta(hours=9))


@pytest.mark.parametrize(
    ("result", "returns", "expected"),
    [
        (pa.array([1, None]), "bigint", [1, None]),
        (pa.array([1, None]), "int", [1, None]),
        (pa.array([1, None]), "double", [1.0, None]),
        (pa.array([2.0, 3.0]), "int", [2, 3]),
        (pa.array([1.5, 2.5], pa.float32()), "double", [1.5, 2.5]),
        (pa.chunked_array([[1], [2]]), "bigint", [1, 2]),
        (np.array([1, 2]), "bigint", [1, 2]),
        (np.ma.array([1, 2], mask=[False, True]), "bigint", [1, None]),
        (np.array(["x", None], dtype=object), "string", ["x", None]),
        ([1, None], "bigint", [1, None]),
        ((1, 2.5), "double", [1.0, 2.5]),
        ([None, None], "date", [None, None]),
        ([1, 2], "decimal(5,2)", [Decimal("1.00"), Decimal("2.00")]),
        ([Decimal("1.50"), None], "decimal(5,1)", [Decimal("1.5"), None]),
        ([Decimal("1.50"), None], "double", [1.5, None]),
        ([NOON.astimezone(TOKYO), None], "timestamp", [NOON, None]),
        ([NOON.replace(tzinfo=None), None], "timestamp", [NOON, None]),
        (np.array(["2024-01-31T12", "NaT"], "M8[s]"), "timestamp", [NOON, None]),
        ([NOON.date(), None], "date", [NOON.date(), None]),
        (pa.array(["x", "y"]).dictionary_encode(), "string", ["x", "y"]),
        (pa.array(["x", "y"], pa.large_string()), "string", ["x", "y"]),
        ([b"x", b"\xff"], "binary", [b"x", b"\xff"]),
        ([True, None], "boolean", [True, None]),
        (7, "int", [7, 7]),
        ("x", "string", ["x", "x"]),
        (b"x", "binary", [b"x", b"x"]),
        (np.float64(1.5), "double", [1.5, 1.5]),
        (np.array(3), "int", [3, 3]),
        (pa.scalar(3, pa.int8()), "bigint", [3, 3]),
        (pa.scalar(None), "string", [None, None]),
    ],
)
def test_a_result_becomes_a_column_of_its_type(result: Any, returns: str, expected: list[Any]) -> None:
    fitted = fit(result, arrow_type(returns), 2)
    assert fitted.to_pylist() == expected
    assert fitted.type == arrow_type(returns)


@pytest.mark.parametrize(
    ("result", "returns"),
    [
        ([1.5, 2.0], "int"),
        ([float("nan"), 1.0], "int"),
        ([2**31, 0], "int"),
        ([2**53 + 1, 0], "double"),
        ([1.5, 2.5], "decimal(5,2)"),
        ([Decimal("1.505"), Decimal(1)], "decimal(5,2)"),
        ([1000, 1], "decimal(5,2)"),
        (["1", "2"], "int"),
        ([1, 2], "string"),
        ([True, False], "int"),
        ([1, 0], "boolean"),
        (["x", "y"], "binary"),
        ([b"x", b"y"], "string"),
        ([NOON, NOON], "date"),
        ([0, 1], "timestamp"),
        (pa.array([1, 2], pa.timestamp("ns")), "timestamp"),
        ([1, "x"], "int"),
        (np.zeros((2, 2)), "double"),
        ({}, "int"),
        (object(), "int"),
        ([[1], [2]], "int"),
        (float("nan"), "bigint"),
    ],
)
def test_what_does_not_fit_is_refused_and_never_adjusted(result: Any, returns: str) -> None:
    with pytest.raises((WrongType, pa.ArrowException, TypeError, ValueError)):
        fit(result, arrow_type(returns), 2)


@pytest.mark.parametrize("result", [[1], (), np.array([1, 2, 3]), pa.array([1]), pa.chunked_array([[1]])])
def test_a_column_of_another_length_is_refused(result: Any) -> None:
    with pytest.raises(WrongLength):
        fit(result, pa.int64(), 2)
