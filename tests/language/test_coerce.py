"""Operands of one type: widened where no value is lost, refused where one could be (Q-7)."""

from __future__ import annotations

import pytest

from tests.language.test_literals import selected
from tests.language.world import code_of
from tidegate.errors import QueryError
from tidegate.language.coerce import boolean, mismatch, unify, widen
from tidegate.plan import expressions as ex
from tidegate.plan.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    LEVEL,
    NULL,
    STRING,
    TIMESTAMP,
    Type,
    arithmetic_type,
    common_type,
    decimal,
    parse_type,
)
from tidegate.text import NOWHERE

EVERY = (INT, BIGINT, DOUBLE, BOOLEAN, STRING, TIMESTAMP, DATE, BINARY, LEVEL, INTERVAL, decimal(10, 2))


def column(kind: Type) -> ex.Column:
    return ex.Column(0, "c", type=kind)


def test_widening_puts_a_conversion_only_where_one_is_needed() -> None:
    assert widen(column(INT), INT) == column(INT)
    assert widen(column(INT), DOUBLE) == ex.Convert(column(INT), type=DOUBLE)
    assert widen(ex.Literal(3, "3", type=INT), DOUBLE) == ex.Literal(3.0, type=DOUBLE)
    assert widen(ex.Literal(None, type=NULL), STRING) == ex.Literal(None, type=STRING)
    assert widen(ex.Literal(3, "3", type=INT), BIGINT) == ex.Convert(ex.Literal(3, type=INT), type=BIGINT)


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        (INT, BIGINT, BIGINT),
        (INT, DOUBLE, DOUBLE),
        (BIGINT, decimal(10, 2), decimal(21, 2)),
        (INT, decimal(10, 2), decimal(12, 2)),
        (decimal(10, 2), decimal(8, 4), decimal(12, 4)),
        (decimal(38, 0), decimal(10, 10), decimal(38, 10)),
        (decimal(10, 2), DOUBLE, DOUBLE),
        (DATE, TIMESTAMP, TIMESTAMP),
        (NULL, STRING, STRING),
        (STRING, INT, None),
        (BOOLEAN, INT, None),
        (LEVEL, STRING, None),
        (STRING, DATE, None),
    ],
)
def test_the_common_type_holds_both(left: Type, right: Type, common: Type | None) -> None:
    assert common_type(left, right) == common_type(right, left) == common


@pytest.mark.parametrize("kind", EVERY, ids=str)
def test_every_type_is_common_with_itself_and_with_null(kind: Type) -> None:
    assert common_type(kind, kind) == common_type(kind, NULL) == common_type(NULL, kind) == kind


@pytest.mark.parametrize(
    ("operator", "left", "right", "result"),
    [
        ("+", INT, INT, BIGINT),
        ("/", INT, BIGINT, BIGINT),
        ("*", INT, DOUBLE, DOUBLE),
        ("+", decimal(10, 2), decimal(8, 4), decimal(13, 4)),
        ("-", decimal(10, 2), INT, decimal(13, 2)),
        ("*", decimal(10, 2), decimal(8, 4), decimal(19, 6)),
        ("*", decimal(38, 10), decimal(38, 10), decimal(38, 6)),
        ("/", decimal(10, 2), decimal(8, 4), decimal(23, 11)),
        ("/", decimal(38, 0), decimal(38, 0), decimal(38, 6)),
        ("+", decimal(38, 38), decimal(38, 0), decimal(38, 38)),
        ("+", STRING, INT, None),
        ("+", DATE, DATE, None),
    ],
)
def test_the_type_of_arithmetic(operator: str, left: Type, right: Type, result: Type | None) -> None:
    """Q-7: int arithmetic is 64-bit; decimals keep what fits into 38 digits."""
    assert arithmetic_type(operator, left, right) == result


@pytest.mark.parametrize(
    ("text", "kind"),
    [("INT", INT), (" Decimal( 10 , 2 ) ", decimal(10, 2)), ("decimal(39,2)", None), ("decimal(5,6)", None),
     ("decimal(0,0)", None), ("level", None), ("interval", None), ("null", None), ("varchar", None), ("", None)],
)  # fmt: skip
def test_types_are_the_declarable_ones(text: str, kind: Type | None) -> None:
    assert parse_type(text) == kind


def test_unify_finds_the_common_type_of_all_or_says_which_two_do_not_fit() -> None:
    assert [entry.type for entry in unify([column(INT), column(NULL), column(DOUBLE)], NOWHERE, "IN")] == [DOUBLE] * 3
    with pytest.raises(QueryError) as caught:
        unify([column(INT), column(STRING)], NOWHERE, "IN")
    assert (caught.value.code, caught.value.problem) == ("TYPE_MISMATCH", "IN does not take int and string")


@pytest.mark.parametrize(
    ("left", "right", "hint"),
    [
        (INT, STRING, "write CAST(… AS type) on one side"),
        (LEVEL, INT, "a level compares with a level name or another level"),
        (STRING, LEVEL, "a level compares with a level name or another level"),
        (INTERVAL, INT, ""),
    ],
)
def test_a_mismatch_says_what_to_do_about_it(left: Type, right: Type, hint: str) -> None:
    assert mismatch(left, right, NOWHERE, "=").hint == hint


def test_a_condition_is_true_false_or_null() -> None:
    assert boolean(column(BOOLEAN), "WHERE") == column(BOOLEAN)
    assert boolean(column(NULL), "WHERE") == column(NULL)
    with pytest.raises(QueryError) as caught:
        boolean(column(INT), "WHERE")
    assert caught.value.problem == "WHERE is a int, not a condition"


# ------------------------------------------------------------------------------ in queries


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("sid + 1", "bigint"), ("sid + bp", "double"), ("-sid", "bigint"), ("+sid", "int"), ("-bp", "double"),
        ("-NULL", "null"), ("NULL + 1", "bigint"), ("NULL + NULL", "double"), ("NULL * bp", "double"),
        ("note || NULL", "string"), ("NULL || NULL", "string"), ("sid / 2", "bigint"), ("sid % 2", "bigint"),
        ("CASE WHEN ok THEN 1 END", "int"), ("CASE WHEN ok THEN 1 ELSE 2.5 END", "double"),
        ("CASE WHEN ok THEN NULL END", "null"), ("CASE sid WHEN 1.5 THEN level END", "level"),
        ("CASE WHEN ok THEN level ELSE 'east' END", "level"), ("CASE WHEN ok THEN level ELSE NULL END", "level"),
        ("COALESCE(NULL, sid, 2.5)", "double"), ("NULLIF(sid, 1)", "int"), ("ABS(sid)", "bigint"),
        ("ABS(NULL)", "double"), ("FLOOR(bp)", "bigint"), ("ROUND(bp)", "double"), ("ROUND(bp, 2)", "double"),
        ("MOD(sid, 2)", "bigint"), ("MOD(bp, 2)", "double"), ("SQRT(sid)", "double"), ("LENGTH(note)", "bigint"),
        ("CONCAT(note, NULL, 'x')", "string"), ("SUBSTR(note, 1)", "string"), ("SUBSTR(note, 1, 2)", "string"),
        ("CONTAINS(note, 'x')", "boolean"), ("CAST(level AS string)", "string"), ("CAST(NULL AS date)", "date"),
        ("TRY_CAST(note AS binary)", "binary"), ("sid IN (1, 2.5)", "boolean"), ("level IN ('east', west)", "boolean"),
        ("level BETWEEN floor AND 'roof'", "boolean"), ("level = NULL", "boolean"), ("NULL IS NULL", "boolean"),
        ("NULL BETWEEN NULL AND NULL", "boolean"), ("NOT NULL", "boolean"), ("NULL AND ok", "boolean"),
        ("NULL LIKE NULL", "boolean"), ("half(sid)", "double"), ("half(NULL)", "double"), ("time", "bigint"),
        ("time / 60", "bigint"),
    ],
)  # fmt: skip
def test_the_type_of_an_expression(text: str, kind: str) -> None:
    assert str(selected(text).type) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("fee + 1", "decimal(11,2)"), ("fee * 1.5", "decimal(13,3)"), ("fee + NULL", "decimal(11,2)"),
        ("fee + total", "decimal(22,2)"), ("fee / 3", "decimal(14,6)"), ("fee > 1.5", "boolean"),
        ("CAST(fee AS double) + 1.5", "double"), ("-fee", "decimal(10,2)"), ("ABS(fee)", "decimal(10,2)"),
        ("CEIL(fee)", "bigint"), ("COALESCE(fee, 0)", "decimal(10,2)"), ("due + INTERVAL 1 DAY", "timestamp"),
        ("INTERVAL 1 DAY + paid", "timestamp"), ("paid - INTERVAL 1 DAY", "timestamp"), ("due < paid", "boolean"),
        ("YEAR(due)", "bigint"), ("HOUR(NULL)", "bigint"), ("TO_DATE(paid)", "date"), ("DATE_ADD(due, 3)", "date"),
        ("DATE_DIFF(due, due)", "bigint"), ("DATE_TRUNC('hour', paid)", "timestamp"), ("UNIX_SECONDS(paid)", "bigint"),
        ("TIMESTAMP_SECONDS(total)", "timestamp"), ("CAST(due AS timestamp)", "timestamp"),
        ("CAST(paid AS date)", "date"), ("COALESCE(due, paid)", "timestamp"), ("scan = scan", "boolean"),
    ],
)  # fmt: skip
def test_the_type_of_an_expression_over_exact_numbers_and_times(text: str, kind: str) -> None:
    assert str(selected(text, "Bills").type) == kind


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("fee * note", "UNKNOWN_COLUMN"), ("fee - 'x'", "TYPE_MISMATCH"), ("fee + TRUE", "TYPE_MISMATCH"),
        ("DATE '2024-01-31' * fee", "TYPE_MISMATCH"), ("due + 1", "TYPE_MISMATCH"), ("due - due", "TYPE_MISMATCH"),
        ("INTERVAL 1 DAY - paid", "TYPE_MISMATCH"), ("INTERVAL 1 DAY + INTERVAL 1 DAY", "TYPE_MISMATCH"),
        ("-INTERVAL 1 DAY", "TYPE_MISMATCH"), ("due = fee", "TYPE_MISMATCH"), ("due IN (1)", "TYPE_MISMATCH"),
        ("CAST(due AS int)", "TYPE_MISMATCH"), ("CAST(INTERVAL 1 DAY AS string)", "TYPE_MISMATCH"),
        ("CAST(scan AS string)", "TYPE_MISMATCH"), ("CAST(fee AS date)", "TYPE_MISMATCH"),
        ("fee AND TRUE", "TYPE_MISMATCH"), ("NOT fee", "TYPE_MISMATCH"), ("CASE WHEN fee THEN 1 END", "TYPE_MISMATCH"),
        ("CASE WHEN TRUE THEN due ELSE 1 END", "TYPE_MISMATCH"), ("CASE level WHEN 5 THEN 1 END", "TYPE_MISMATCH"),
        ("level = CAST('east' AS string)", "TYPE_MISMATCH"), ("level + 1", "TYPE_MISMATCH"),
        ("level LIKE 'e%'", "TYPE_MISMATCH"), ("UPPER(level)", "WRONG_ARGUMENTS"), ("COALESCE()", "WRONG_ARGUMENTS"),
        ("COALESCE(due, 1)", "WRONG_ARGUMENTS"), ("NULLIF(fee)", "WRONG_ARGUMENTS"),
        ("ROUND(fee, 1.5)", "WRONG_ARGUMENTS"), ("ROUND(fee, 1, 2)", "WRONG_ARGUMENTS"),
        ("ROUND(due)", "WRONG_ARGUMENTS"), ("FLOOR(due)", "WRONG_ARGUMENTS"), ("MOD(fee)", "WRONG_ARGUMENTS"),
        ("MOD(due, due)", "WRONG_ARGUMENTS"), ("ABS(fee, fee)", "WRONG_ARGUMENTS"), ("CONCAT()", "WRONG_ARGUMENTS"),
        ("CONCAT('x', 1)", "WRONG_ARGUMENTS"), ("YEAR(fee)", "WRONG_ARGUMENTS"), ("YEAR(due, due)", "WRONG_ARGUMENTS"),
        ("SUBSTR('x')", "WRONG_ARGUMENTS"), ("half()", "WRONG_ARGUMENTS"), ("half(1, 2)", "WRONG_ARGUMENTS"),
        ("half(due)", "WRONG_ARGUMENTS"), ("COUNT(*) + 1", "WINDOW_REQUIRED"),
        ("UPPER@floor('x')", "UNKNOWN_FUNCTION"), ("level > INTERVAL 1 DAY", "TYPE_MISMATCH"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(text: str, code: str) -> None:
    assert code_of(f"SELECT {text} AS x FROM Bills") == code
