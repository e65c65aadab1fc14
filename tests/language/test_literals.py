"""What is written, as a value of the type that its place asks for (Q-7)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.language.world import code_of, plan_of
from tidegate.errors import QueryError
from tidegate.language import literals
from tidegate.language import syntax as sx
from tidegate.plan import expressions as ex
from tidegate.plan.nodes import Project, Select, walk
from tidegate.plan.types import BIGINT, DATE, DOUBLE, INT, TIMESTAMP, Type, decimal
from tidegate.text import NOWHERE


def selected(text: str, source: str = "Vitals") -> ex.Expression:
    plan = plan_of(f"SELECT {text} AS x FROM {source}")
    assert isinstance(plan.root, Project)
    return plan.root.columns[0]


def compared(text: str, source: str = "Bills") -> ex.Compare:
    plan = plan_of(f"SELECT 1 AS x FROM {source} WHERE {text}")
    condition = next(node.condition for node in walk(plan.root) if isinstance(node, Select))
    assert isinstance(condition, ex.Compare)
    return condition


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("1", 1, INT),
        ("2147483647", 2**31 - 1, INT),
        ("2147483648", 2**31, BIGINT),
        ("-2147483648", -(2**31), INT),
        ("9223372036854775807", 2**63 - 1, BIGINT),
        ("-9223372036854775808", -(2**63), BIGINT),
        ("+5", 5, INT),
        ("007", 7, INT),
        ("1.5", 1.5, DOUBLE),
        ("1.", 1.0, DOUBLE),
        (".5", 0.5, DOUBLE),
        ("1e3", 1000.0, DOUBLE),
        ("-2.5E-3", -0.0025, DOUBLE),
        ("9223372036854775808.", 2.0**63, DOUBLE),
        ("1e-400", 0.0, DOUBLE),
    ],
)
def test_a_number_is_an_int_a_bigint_where_it_must_be_or_a_double(text: str, value: object, kind: Type) -> None:
    assert selected(text) == ex.Literal(value, type=kind)


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809", "1e309", "-1e309", "1e99999"])
def test_a_number_that_no_type_holds_is_an_error_at_once(text: str) -> None:
    assert code_of(f"SELECT {text} AS x FROM Vitals") == "BAD_LITERAL"


@pytest.mark.parametrize(
    ("condition", "value", "kind"),
    [
        ("due > '2024-01-31'", 19753, DATE),
        ("'2024-01-31' < due", 19753, DATE),
        ("due = DATE '1970-01-02'", 1, DATE),
        ("paid = '1970-01-01T00:00:01Z'", 1_000_000, TIMESTAMP),
        ("paid = '1970-01-01 00:00:01.5'", 1_500_000, TIMESTAMP),
        ("paid = '1970-01-02'", 86_400_000_000, TIMESTAMP),
        ("paid = '1970-01-01T01:00:00+01:00'", 0, TIMESTAMP),
        ("paid = TIMESTAMP '1970-01-01'", 0, TIMESTAMP),
        ("fee = 1.5", Decimal("1.5"), decimal(2, 1)),
        ("fee = 1e3", Decimal(1000), decimal(4, 0)),
        ("fee = 12345678901.25", Decimal("12345678901.25"), decimal(13, 2)),
    ],
)  # fmt: skip
def test_a_literal_takes_the_type_of_its_neighbour(condition: str, value: object, kind: Type) -> None:
    found = [node for node in ex.walk(compared(condition)) if isinstance(node, ex.Literal)]
    assert found == [ex.Literal(value, type=kind)]


def test_a_decimal_compares_with_more_digits_than_it_holds() -> None:
    """38 digits are a decimal; nothing is rounded on the way, and nothing fails."""
    found = [
        node for node in ex.walk(compared("fee < 1234567890123456789012345678901.5")) if isinstance(node, ex.Literal)
    ]
    assert found == [ex.Literal(Decimal("1234567890123456789012345678901.5"), type=decimal(32, 1))]


def test_a_number_of_more_than_38_digits_beside_a_decimal_stays_a_double() -> None:
    literal = ex.Literal(1e39, "1e39", type=DOUBLE)
    assert literals.exact(literal) is literal


@pytest.mark.parametrize(
    "text",
    ["due > 'x'", "due > '2024-02-30'", "paid > '2024-01-31T25:00:00'", "due > DATE '24-1-1'", "paid > '0000-01-01'"],
)
def test_a_time_that_is_none_is_an_error_with_an_example(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        plan_of(f"SELECT 1 AS x FROM Bills WHERE {text}")
    assert (caught.value.code, caught.value.hint[:17]) == ("BAD_LITERAL", "write for example")


def test_strings_in_both_quotes_are_one_and_the_same() -> None:
    assert selected('"it\'s"') == selected("'it''s'") == ex.Literal("it's", type=Type("string"))


def test_a_string_beside_a_string_is_no_date() -> None:
    assert isinstance(selected("note = '2024-01-31'"), ex.Compare)
    assert {node.type.name for node in ex.walk(selected("note = '2024-01-31'"))} == {"boolean", "string"}


def test_true_false_null_and_intervals() -> None:
    assert selected("TRUE") == ex.Literal(True)
    assert selected("false") == ex.Literal(False)
    assert selected("NULL") == ex.Literal(None, type=Type("null"))
    moved = selected("paid + INTERVAL 1.5 MINUTES", "Bills")
    assert isinstance(moved, ex.Arithmetic)
    assert moved.right == ex.Literal(90_000_000, type=Type("interval"))


@pytest.mark.parametrize(
    ("written", "hint"), [("easst", 'did you mean "east"?'), ("cellar", 'levels: "floor", "east", "west", "roof"')]
)
def test_a_level_that_is_none_lists_what_there_is(written: str, hint: str) -> None:
    """Q-6: level names are public configuration."""
    with pytest.raises(QueryError) as caught:
        plan_of(f"SELECT sid FROM Vitals WHERE level = '{written}'")
    assert (caught.value.code, caught.value.hint) == ("UNKNOWN_LEVEL", hint)


def test_only_dates_and_timestamps_stand_before_a_string() -> None:
    with pytest.raises(QueryError) as caught:
        literals.typed(sx.Typed("money", "5", span=NOWHERE))
    assert caught.value.code == "SYNTAX_ERROR"
