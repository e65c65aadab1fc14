"""Three-valued logic with errors as a fourth value (Q-7, Q-9): the whole table."""

from __future__ import annotations

from itertools import product

import pytest

from tests.reference.asking import ask, value
from tidegate.plan import expressions as ex
from tidegate.plan.types import BIGINT, BOOLEAN, DOUBLE, LEVEL, STRING, Type
from tidegate.reference.evaluate import World, evaluate
from tidegate.reference.rows import Row
from tidegate.scalars.values import Failure
from tidegate.security.declare import declare
from tidegate.security.lattice import Level
from tidegate.text import Span

WORLD = World(declare("U < S"), lambda call, values: None)
ROW = Row((), Level("U"))
ERROR = Failure("DIVISION_BY_ZERO", "division by zero")
FOUR: dict[str, object] = {"T": True, "F": False, "N": None, "E": ERROR}


def number(whole: int | None, span: Span = ERROR.span) -> ex.Expression:
    """A number, or NULL."""
    return ex.Literal(whole, type=BIGINT, span=span)


def truth(letter: str) -> ex.Expression:
    """TRUE, FALSE, NULL, or a comparison with 1 / 0."""
    if letter == "E":
        division = ex.Arithmetic("/", number(1), number(0), type=BIGINT)
        return ex.Compare("=", division, number(1))
    return ex.Literal(FOUR[letter], type=BOOLEAN)


def result(expression: ex.Expression) -> str:
    """The letter of a value."""
    found = evaluate(expression, ROW, WORLD)
    return "E" if isinstance(found, Failure) else {True: "T", False: "F", None: "N"}[found]  # type: ignore[index]


# Rows are the left operand, columns the right one, both in the order T F N E.
AND = {"T": "TFNE", "F": "FFFF", "N": "NFNE", "E": "EFEE"}
OR = {"T": "TTTT", "F": "TFNE", "N": "TNNE", "E": "TEEE"}


@pytest.mark.parametrize(("left", "right"), [*product("TFNE", repeat=2)])
def test_and_or(left: str, right: str) -> None:
    """Q-9: FALSE AND error = FALSE, TRUE OR error = TRUE, on either side."""
    column = "TFNE".index(right)
    assert result(ex.And((truth(left), truth(right)))) == AND[left][column]
    assert result(ex.Or((truth(left), truth(right)))) == OR[left][column]


@pytest.mark.parametrize("letters", [*product("TFNE", repeat=3)], ids="".join)
def test_many_operands_mean_the_same_as_pairs(letters: tuple[str, str, str]) -> None:
    a, b, c = map(truth, letters)
    assert result(ex.And((a, b, c))) == result(ex.And((ex.And((a, b)), c))) == result(ex.And((c, a, b)))
    assert result(ex.Or((a, b, c))) == result(ex.Or((a, ex.Or((b, c))))) == result(ex.Or((b, c, a)))


@pytest.mark.parametrize(("left", "right"), [*product("TFNE", repeat=2)])
def test_de_morgan_holds_for_all_four(left: str, right: str) -> None:
    a, b = truth(left), truth(right)
    assert result(ex.Not(ex.And((a, b)))) == result(ex.Or((ex.Not(a), ex.Not(b))))
    assert result(ex.Not(ex.Or((a, b)))) == result(ex.And((ex.Not(a), ex.Not(b))))


@pytest.mark.parametrize(("operand", "expected"), [*zip("TFNE", "FTNE", strict=True)])
def test_not(operand: str, expected: str) -> None:
    assert result(ex.Not(truth(operand))) == expected


@pytest.mark.parametrize(("operand", "expected"), [*zip("TFNE", "FFTE", strict=True)])
def test_is_null(operand: str, expected: str) -> None:
    assert result(ex.IsNull(truth(operand))) == expected


@pytest.mark.parametrize(("condition", "then", "otherwise"), [*product("TFNE", repeat=3)])
def test_case_takes_one_branch_and_evaluates_no_other(condition: str, then: str, otherwise: str) -> None:
    """Q-9: an error in a branch that is not taken does not matter; one in the condition does."""
    taken = {"T": then, "F": otherwise, "N": otherwise, "E": "E"}[condition]
    assert result(ex.Case(None, ((truth(condition), truth(then)),), truth(otherwise))) == taken


def test_case_stops_at_the_first_true_branch() -> None:
    branches = ((truth("F"), truth("E")), (truth("N"), truth("E")), (truth("T"), truth("F")), (truth("E"), truth("E")))
    assert result(ex.Case(None, branches, truth("E"))) == "F"


OPTIONS: list[tuple[int | str | None, tuple[int | str | None, ...], str]] = [
    (1, (1,), "T"),
    (1, (2,), "F"),
    (1, (None,), "N"),
    (1, ("E",), "E"),
    (1, (2, 1), "T"),
    (1, (None, 1), "T"),
    (1, (1, None), "T"),
    (1, ("E", 1), "T"),
    (1, (1, "E"), "T"),
    (1, (2, None), "N"),
    (1, (2, "E"), "E"),
    (1, (None, "E"), "E"),
    (None, (1, 2), "N"),
    (None, (None,), "N"),
    (None, (1, "E"), "E"),
    ("E", (1,), "E"),
    ("E", (1, None), "E"),
]


@pytest.mark.parametrize(("operand", "options", "expected"), OPTIONS)
def test_in(operand: int | str | None, options: tuple[int | str | None, ...], expected: str) -> None:
    """X IN (a, b) is x = a OR x = b."""

    def part(entry: int | str | None) -> ex.Expression:
        if isinstance(entry, str):
            return ex.Arithmetic("/", number(1), number(0), type=BIGINT)
        return number(entry)

    membership = ex.In(part(operand), tuple(map(part, options)))
    spelled = ex.Or(tuple(ex.Compare("=", part(operand), part(option)) for option in options))
    assert result(membership) == result(spelled) == expected


BETWEEN: list[tuple[str, str]] = [
    ("1 BETWEEN 1 AND 1", "T"),
    ("0 BETWEEN 1 AND 2", "F"),
    ("3 BETWEEN 1 AND 2", "F"),
    ("2 BETWEEN 3 AND 1", "F"),
    ("NULL BETWEEN 1 AND 2", "N"),
    ("1 BETWEEN NULL AND 2", "N"),
    ("3 BETWEEN NULL AND 2", "F"),
    ("0 BETWEEN 1 AND NULL", "F"),
    ("2 BETWEEN 1 AND NULL", "N"),
    ("0 BETWEEN 1 AND 1/0", "F"),
    ("2 BETWEEN 1 AND 1/0", "E"),
    ("3 BETWEEN 1/0 AND 2", "F"),
    ("1/0 BETWEEN 1 AND 2", "E"),
    ("1 NOT BETWEEN 2 AND 3", "T"),
    ("1 NOT BETWEEN 2 AND NULL", "T"),
    ("2 NOT BETWEEN 1 AND NULL", "N"),
    ("1 NOT IN (2, NULL)", "N"),
    ("1 NOT IN (1, NULL)", "F"),
    ("2 NOT IN (2, 1/0)", "F"),
    ("NULL = NULL", "N"),
    ("NULL IS NULL", "T"),
    ("NULL AND FALSE", "F"),
    ("NOT NULL", "N"),
]


@pytest.mark.parametrize(("text", "expected"), BETWEEN)
def test_between_and_other_texts(text: str, expected: str) -> None:
    """X BETWEEN a AND b is x >= a AND x <= b, with errors and NULLs as there."""
    found = value(text)
    assert {"! DIVISION_BY_ZERO": "E", True: "T", False: "F", None: "N"}[found] == expected


@pytest.mark.parametrize(("letter", "rows"), [("p", 1), ("NOT p", 0), ("NULL", 0), ("p AND NULL", 0)])
def test_where_keeps_what_is_true_and_nothing_else(letter: str, rows: int) -> None:
    assert len(ask(f"SELECT a FROM V WHERE {letter}")) == rows


@pytest.mark.parametrize("place", ["WHERE 1/0 = 1 FROM V", "FROM V WHERE 1/0 = 1", "FROM V [ROWS 1 WHERE 1/0 = 1]"])
def test_a_condition_whose_final_value_is_an_error_matters(place: str) -> None:
    """Q-9: in each of the three places."""
    [line] = ask(f"SELECT a {place}")
    assert line["error"]["code"] == "DIVISION_BY_ZERO"


@pytest.mark.parametrize(
    ("left", "sign", "right", "kind", "expected"),
    [
        *[(float("nan"), sign, 1.0, DOUBLE, sign == "<>") for sign in ("=", "<>", "<", "<=", ">", ">=")],
        *[(float("nan"), sign, float("nan"), DOUBLE, sign == "<>") for sign in ("=", "<>", "<", "<=", ">", ">=")],
        (0.0, "=", -0.0, DOUBLE, True),
        ("a", "<", "b", STRING, True),
        ("Z", "<", "a", STRING, True),
        ("\uffff", "<", "\U00010000", STRING, True),  # by code point, not by UTF-16 unit
        (Level("U"), "<=", Level("S"), LEVEL, True),
        (Level("S"), "<", Level("S"), LEVEL, False),
    ],
)
def test_comparisons_by_type(left: object, sign: str, right: object, kind: Type, expected: bool) -> None:
    """Q-4: levels by dominance, doubles by IEEE 754, strings by code point."""
    comparison = ex.Compare(sign, ex.Literal(left, type=kind), ex.Literal(right, type=kind))
    assert evaluate(comparison, ROW, WORLD) is expected
