"""Every operator on every pair of types: a type of its own or one proper error, never a crash (Q-7, Q-12)."""

from __future__ import annotations

from itertools import product

import pytest

from tests.laws.language.test_bad_text import GOLDEN, check

# A column and a literal of every type, and what has an unusual one.
OPERANDS = (
    "sid", "bp", "note", "ok", "fee", "due", "paid", "scan", "total", "level", "time", "1", "2.5", "1e30", "'x'",
    "'east'", "'2024-01-31'", "TRUE", "NULL", "DATE '2024-01-31'", "TIMESTAMP '2024-01-31'", "INTERVAL 1 DAY", "east",
    "(SELECT MAX(bp) AS x FROM Vitals [NOW])", "(SELECT NULL AS x FROM Vitals)", "half(1)", "-1", "COUNT(*)",
)  # fmt: skip
FORMS = (
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / {b}", "{a} % {b}", "{a} || {b}", "{a} = {b}", "{a} < {b}",
    "{a} BETWEEN {b} AND {a}", "{a} IN ({b}, {a})", "{a} LIKE {b}", "{a} AND {b}", "{a} = {b} OR {b}", "NOT {a} OR {b}",
    "CASE {a} WHEN {b} THEN {a} ELSE {b} END", "CASE WHEN {a} THEN {b} END", "COALESCE({a}, {b})", "NULLIF({a}, {b})",
    "MOD({a}, {b})", "ROUND({a}, {b})", "CONCAT({a}, {b})", "DATE_ADD({a}, {b})", "MAX({a}) + SUM({b})",
)  # fmt: skip
CASTS = ("int", "bigint", "double", "boolean", "string", "timestamp", "date", "binary", "decimal(5,2)", "level", "money")
SOURCE = (
    "(SELECT sid, bp, note, ok, fee, due, paid, scan, total, V.level AS l FROM Vitals [NOW] V, Bills [NOW] B) [ROWS 5] x"
)


@pytest.mark.parametrize("form", FORMS)
def test_an_operator_takes_a_pair_or_refuses_it(form: str) -> None:
    outcomes = {
        check(f"EXPLAIN SELECT {form.format(a=f'({a})', b=f'({b})')} AS y FROM {SOURCE}", GOLDEN)
        for a, b in product(OPERANDS, OPERANDS)
    }
    assert len(outcomes) > 1, outcomes


@pytest.mark.parametrize("kind", CASTS)
def test_a_cast_takes_a_type_or_refuses_it(kind: str) -> None:
    for operand in OPERANDS:
        check(f"EXPLAIN SELECT CAST({operand} AS {kind}) AS y, TRY_CAST({operand} AS {kind}) AS z FROM {SOURCE}", GOLDEN)


@pytest.mark.parametrize("operand", OPERANDS)
def test_any_value_may_stand_in_any_clause_or_is_refused(operand: str) -> None:
    for text in (
        "SELECT {} AS y FROM {}", "SELECT DISTINCT {} AS y FROM {}", "SELECT 1 AS y FROM {1} WHERE {0}",
        "SELECT 1 AS y FROM {1} GROUP BY {0}", "SELECT 1 AS y FROM {1} HAVING {0}", "SELECT 1 AS y WHERE {} FROM {}",
        "SELECT COUNT({}) AS y FROM {}", "SELECT COUNT(DISTINCT {}) AS y FROM {}", "SELECT LUB({}) AS y FROM {}",
        "SELECT AVG({}) AS y FROM {}", "SELECT -({}) AS y FROM {}", "SELECT {} IS NULL AS y FROM {}",
        "SELECT ABS({}) AS y FROM {}", "SELECT YEAR({}) AS y FROM {}", "SELECT half({}) AS y FROM {}",
        "SELECT {} AS y FROM {} UNION ALL SELECT 1.5 AS y FROM Vitals",
    ):  # fmt: skip
        check(f"EXPLAIN {text.format(operand, SOURCE)}", GOLDEN)
