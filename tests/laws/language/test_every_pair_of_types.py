"""Every operator on every pair of types: a type of its own or one proper error, never a crash (Q-7, Q-12)."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from itertools import product
from typing import Any

import pytest

from tests.language.world import ROOF, schema, world
from tests.laws.language.test_bad_text import GOLDEN, check
from tidegate.errors import QueryError
from tidegate.language import syntax as sx
from tidegate.language.bind_expression import Context, ExpressionBinder
from tidegate.language.binder import bind_query
from tidegate.language.parser import parse
from tidegate.language.scope import Part, Scope
from tidegate.plan.schema import with_hidden

COLUMNS = (
    "sid int, bp double, note string, ok boolean, fee decimal(10,2), "
    "due date, paid timestamp, scan binary, total bigint"
)
# A column and a literal of every type, and what has an unusual one.
OPERANDS = (
    "sid", "bp", "note", "ok", "fee", "due", "paid", "scan", "total", "level", "time", "1", "2.5", "1e30", "'x'",
    "'east'", "'2024-01-31'", "TRUE", "NULL", "DATE '2024-01-31'", "TIMESTAMP '2024-01-31'", "INTERVAL 1 DAY", "east",
    "(SELECT MAX(bp) AS x FROM Vitals [NOW])", "(SELECT NULL AS x FROM Vitals)", "half(1)", "-1", "COUNT(*)",
)  # fmt: skip
FORMS = (
    "a + b", "a - b", "a * b", "a / b", "a % b", "a || b", "a = b", "a < b", "a BETWEEN b AND a", "a IN (b, a)",
    "a LIKE b", "a AND b", "a = b OR b", "NOT a OR b", "CASE a WHEN b THEN a ELSE b END", "CASE WHEN a THEN b END",
    "COALESCE(a, b)", "NULLIF(a, b)", "MOD(a, b)", "ROUND(a, b)", "CONCAT(a, b)", "DATE_ADD(a, b)", "-a < b",
    "CAST(a AS decimal(5,2)) + b", "TRY_CAST(a AS string) || b", "CAST(a AS timestamp) - b", "CAST(a AS boolean) = b",
)  # fmt: skip
BINDER = ExpressionBinder(
    Context(world(), ROOF, lambda query: bind_query(query, world(), ROOF)),
    Scope((Part("x", with_hidden(schema(COLUMNS), instants=True), 0),)),
)


def expression(text: str) -> sx.Expression:
    tree = parse(f"SELECT {text} FROM s")
    assert isinstance(tree, sx.Select)
    (item,) = tree.items
    assert isinstance(item, sx.Item)
    return item.expression


def put(value: Any, operands: dict[tuple[str, ...], sx.Expression]) -> Any:
    """A form with its operands in place of the names ``a`` and ``b``."""
    if isinstance(value, tuple):
        return tuple(put(part, operands) for part in value)
    if not isinstance(value, sx.Node):
        return value
    if isinstance(value, sx.Name):
        return operands[value.parts]
    return replace(value, **{field.name: put(getattr(value, field.name), operands) for field in fields(value)})


@pytest.mark.parametrize("form", FORMS)
def test_an_operator_takes_a_pair_or_refuses_it(form: str) -> None:
    bare, parsed = expression(form), [expression(text) for text in OPERANDS]
    outcomes: Counter[str] = Counter()
    for a, b in product(parsed, parsed):
        try:
            outcomes[str(BINDER.bind(put(bare, {("a",): a, ("b",): b})).type)] += 1
        except QueryError as error:
            outcomes[error.code] += 1
    assert {"TYPE_MISMATCH", "WRONG_ARGUMENTS"} & set(outcomes), outcomes
    assert any(code.islower() for code in outcomes), outcomes


SOURCE = "(SELECT *, B.level AS label FROM Vitals [NOW] V, Bills [NOW] B) [ROWS 5] x"


@pytest.mark.parametrize("operand", OPERANDS)
def test_any_value_may_stand_in_any_clause_or_is_refused(operand: str) -> None:
    for text in (
        "SELECT {} AS y FROM {}", "SELECT 1 AS y FROM {1} WHERE {0}", "SELECT 1 AS y FROM {1} GROUP BY {0}",
        "SELECT 1 AS y FROM {1} HAVING {0}", "SELECT 1 AS y WHERE {} FROM {}", "SELECT COUNT(DISTINCT {}) AS y FROM {}",
        "SELECT LUB({}) AS y FROM {}", "SELECT AVG({0}) + MAX({0}) AS y FROM {1}", "SELECT ABS({}) AS y FROM {}",
        "SELECT YEAR({}) AS y FROM {}", "SELECT half({}) AS y FROM {}",
        "SELECT {} AS y FROM {} UNION ALL SELECT 1.5 AS y FROM Vitals",
    ):  # fmt: skip
        check(f"EXPLAIN {text.format(operand, SOURCE)}", GOLDEN)
