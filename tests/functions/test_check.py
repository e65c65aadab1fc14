"""Q-15: ``function check`` finds what is not deterministic or not row-wise."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from tests.functions.support import SHORT, SMALL, define
from tidegate.functions.check import Finding, Verdict, check
from tidegate.functions.definition import FunctionDefinition, arrow_type
from tidegate.functions.failure import Reason
from tidegate.functions.sample import sample

ROWS = 24


def verdict(body: str, *types: str, returns: str = "double") -> Verdict:
    """Of a function of doubles, unless other types are given."""
    types = types or ("double",)
    return check(define(body, *types, returns=returns), sample(types, ROWS, 1), SMALL)


@pytest.mark.parametrize(
    ("body", "types", "returns"),
    [
        ("a * 2.0 + b", ("double", "double"), "double"),
        ("pc.utf8_upper(a)", ("string",), "string"),
        ("pc.if_else(a > 0, 0.0, -0.0)", ("double",), "double"),
        ("[None if x is None else x * 2 for x in a.to_pylist()]", ("decimal(10,2)",), "decimal(12,2)"),
        ("[None if x is None else hash(x) for x in a.to_pylist()]", ("string",), "bigint"),
    ],
)
def test_a_sound_function_passes(body: str, types: tuple[str, ...], returns: str) -> None:
    found = verdict(body, *types, returns=returns)
    assert found.is_sound, found
    assert str(found) == "deterministic and row-wise on the rows tried"


def test_a_constant_passes() -> None:
    assert check(FunctionDefinition("f", (), "int", "7"), [], SMALL).is_sound


@pytest.mark.parametrize(
    "body",
    [
        "pc.sum(a.fill_null(0.0))",
        "pc.cumulative_sum(a.fill_null(0.0))",
        "np.arange(len(a)) * 1.0",
        "np.where(np.arange(len(a)) == 3, -0.0, 0.0)",
        "pc.if_else(pc.is_null(a), a.drop_null()[0] if a.null_count < len(a) else 0.0, a)",
        "if len(a) > 1:\n    raise ValueError\nreturn a",
    ],
)
def test_a_function_that_looks_at_other_rows_is_caught(body: str) -> None:
    found = verdict(body)
    assert found.finding is Finding.NOT_ROW_WISE, found
    assert not found.is_sound


@pytest.mark.parametrize(
    "body",
    [
        "np.random.random(len(a))",
        "import time\nreturn [float(time.perf_counter_ns())] * len(a)",
        "n = 0.0\ndef f(a):\n    global n\n    n += 1.0\n    return n",
    ],
)
def test_a_function_that_answers_differently_is_caught(body: str) -> None:
    assert verdict(body).finding is Finding.NOT_DETERMINISTIC


def test_a_function_may_fail_on_a_row_if_it_always_does() -> None:
    found = verdict("a * 2", "bigint", returns="bigint")
    assert found.is_sound
    assert found.failing >= 2  # the largest and the smallest number
    assert found.reason is Reason.RAISED
    assert f"failed on {found.failing} of them" in str(found)


def test_a_function_that_fails_only_alone_is_caught() -> None:
    found = verdict("if len(a) == 1 and a[0].as_py() == 1.0:\n    raise ValueError\nreturn a")
    assert found.finding is Finding.NOT_ROW_WISE


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("'x'", Reason.WRONG_TYPE),
        ("[1.0, 2.0]", Reason.WRONG_LENGTH),
        ("while True: pass\nreturn a", Reason.TOO_SLOW),
    ],
)
def test_a_function_that_only_fails_gets_no_verdict(body: str, reason: Reason) -> None:
    found = check(define(body, "double", returns="double"), sample(["double"], ROWS, 1), SHORT)
    assert (found.finding, found.reason) == (Finding.FAILED, reason)


def test_the_row_that_shows_it_is_named() -> None:
    columns = [pa.array([1.0, 1.0, 2.0])]
    found = check(define("a - pc.min(a)", "double", returns="double"), columns, SMALL)
    assert (found.finding, found.row) == (Finding.NOT_ROW_WISE, 2)
    assert str(found).endswith("(row 3)")


def test_there_must_be_rows() -> None:
    with pytest.raises(ValueError, match="no rows"):
        check(define("a"), [pa.array([], pa.int64())], SMALL)


TYPES = (
    "int",
    "bigint",
    "double",
    "boolean",
    "string",
    "timestamp",
    "date",
    "decimal(10,2)",
    "decimal(38,38)",
    "binary",
)


@pytest.mark.parametrize("name", TYPES)
def test_a_sample_holds_null_and_the_edges_and_is_the_same_again(name: str) -> None:
    (column,) = sample([name], 40, 3)
    assert column.type == arrow_type(name)
    assert len(column) == 40
    assert column.null_count
    assert list(map(repr, column.to_pylist())) == list(map(repr, sample([name], 40, 3)[0].to_pylist()))
    if name != "boolean":
        assert list(map(repr, column.to_pylist())) != list(map(repr, sample([name], 40, 4)[0].to_pylist()))


def test_a_sample_reaches_the_extremes() -> None:
    doubles, wholes, short = (column.to_pylist() for column in sample(["double", "bigint", "int"], 11, 5))
    assert any(value is not None and math.isnan(value) for value in doubles)
    assert {math.inf, -math.inf} <= set(doubles)
    assert "-0.0" in map(repr, doubles)
    assert {2**63 - 1, -(2**63), None} <= set(wholes)
    assert {2**31 - 1, -(2**31), None} <= set(short)


def test_columns_of_one_type_differ() -> None:
    first, second = sample(["int", "int"], 30, 1)
    assert first != second
