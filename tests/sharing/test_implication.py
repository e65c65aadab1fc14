"""M-21: implication is sound for every row, and finds most of what there is to find."""

from __future__ import annotations

import random

import pytest

from tests.conftest import examples
from tests.sharing.conditions import LATTICE, TYPES, bound, condition, rows, value
from tidegate.plan.expressions import Column, Compare, Expression, Literal, can_fail
from tidegate.plan.expressions import columns as read
from tidegate.plan.types import LEVEL
from tidegate.scalars.values import Failure
from tidegate.security.declare import declare
from tidegate.sharing.implication import implies

YES = (
    ("x > 120", "x > 50"), ("x > 120", "x >= 120"), ("x = 3", "x IN (1, 3)"), ("i > 3", "i >= 4"), ("i >= 4", "i > 3"),
    ("i BETWEEN 2 AND 3", "i IN (2, 3)"), ("i > 3", "i > 2.5"), ("i > 2.5", "i >= 3"), ("x < 5", "x IS NOT NULL"),
    ("x < 5", "NOT (x >= 5)"), ("x > 1 AND x < 3", "x <> 4"), ("s = 'b'", "s > 'a'"), ("s > 'Z'", "s >= 'B'"),
    ("d >= '2024-03-01'", "d > '2024-02-29'"), ("d = '2024-02-29'", "d < TIMESTAMP '2024-02-29T00:00:01Z'"),
    ("t > '2024-01-01T00:00:00Z'", "t > '2023-01-01T00:00:00Z'"), ("m > 1.5", "m > 1.49"), ("p", "p IS NOT NULL"),
    ("NOT p", "p = FALSE"), ("p = TRUE", "p"), ('level <= "h1"', 'level <= "m"'), ('level = "h1"', 'level < "top"'),
    ('level < "m"', 'level <= "m"'), ('level = "h1" OR level = "h2"', 'level <= "m"'),
    ('level = "h1"', 'level <> "h2"'),
    ('level >= "m"', 'level >= "h1" AND level >= "h2"'), ("x > i", "x >= i"), ("x > i", "i IS NOT NULL"),
    ("x > 5 OR x < 1", "x <> 3"), ("s LIKE 'a%'", "s LIKE 'a%'"), ("s LIKE 'a%'", "s IS NOT NULL"),
    ("(x > 5 OR i > 5) AND x < 2", "i > 3"), ("i / 0 = 1", "i / 0 = 1"), ("i = 1", "i = 1 OR s = 'a'"),
    ("i = 9007199254740993", "i <= 9007199254740992.0"), ("j < 5", "6 > j"),
)  # fmt: skip
NO = (
    ("x > 50", "x > 120"), ("x <> 5", "x < 5 OR x > 5"), ("NOT (x < 5)", "x >= 5"), ("x IS NOT NULL", "x = x"),
    ('NOT (level <= "h1")', 'level > "h1"'), ('level <> "h1"', 'level < "h1" OR level > "h1"'),
    ('level <= "m"', 'level <= "h1" OR level <= "h2"'), ("i > 1", "i / 0 = 1"), ("i / 0 = 1", "i IS NOT NULL"),
    ("s LIKE 'ab%'", "s LIKE 'a%'"), ("p IS NOT NULL", "p"), ("j <= 9007199254740992.0", "j <= 9007199254740992"),
    ("x >= 0", "x > -0.0"), ("s = 'a'", "i = 1"), ("m > 1.5", "m > 1.51"), ("x = 1 OR i = 1", "x = 1"),
)  # fmt: skip


@pytest.mark.parametrize(("one", "other"), YES)
def test_one_condition_implies_the_other(one: str, other: str) -> None:
    assert implies(bound(one), bound(other), LATTICE)


@pytest.mark.parametrize(("one", "other"), NO)
def test_one_condition_does_not_imply_the_other(one: str, other: str) -> None:
    assert not implies(bound(one), bound(other), LATTICE)


def test_whatever_is_implied_is_true_for_every_row_and_does_not_fail(seed: int) -> None:
    """Thousands of pairs against the reference, on rows on and beside every constant."""
    chance, found = random.Random(f"implication {seed}"), 0
    for _ in range(examples(6_000, 400_000)):
        columns = chance.sample([*TYPES, "level"], chance.choice((1, 1, 2)))
        one, other = condition(chance, columns, chance.choice((0, 1, 2))), condition(chance, columns, 1)
        if implies(one, other, LATTICE):
            found += 1
            wrong = [row for row in rows(chance, columns, 60) if value(one, row) is True and not_true(other, row)]
            assert not wrong, (one, other, wrong[0])
    assert found > examples(800, 50_000)


def not_true(test: Expression, row: object) -> bool:
    """False, NULL or an error."""
    return value(test, row) is not True  # type: ignore[arg-type]


def test_most_implications_between_tests_of_one_column_are_found(seed: int) -> None:
    """A test that only fears wrong answers would be passed by always saying no."""
    chance, there, found = random.Random(f"finding {seed}"), 0, 0
    for _ in range(examples(3_000, 60_000)):
        columns = [chance.choice([*TYPES, "level"])]
        one, other = condition(chance, columns, 1), condition(chance, columns, 1)
        if can_fail(one) or can_fail(other) or {"i", "j"} & other_columns(one, other, columns):
            continue
        every = rows(chance, columns, 60)
        kept = [row for row in every if value(one, row) is True]
        if kept and not any(not_true(other, row) for row in kept):
            there += 1
            found += implies(one, other, LATTICE)
    assert there > examples(300, 6_000)
    assert found / there > 0.9, (found, there)


def other_columns(one: Expression, other: Expression, columns: list[str]) -> set[str]:
    """Columns that two tests read besides those whose every value is tried."""
    names = [*TYPES, "level"]
    return {names[index] for test in (one, other) for index in read(test)} - set(columns)


def test_what_is_implied_follows_from_several_conjuncts_together() -> None:
    assert implies([bound("x > 1"), bound("x < 3")], [bound("x <> 4"), bound("x > 0")], LATTICE)
    assert not implies([bound("x > 1")], [bound("x <> 4")], LATTICE)


def test_a_lattice_too_large_to_list_is_still_asked_about_dominance() -> None:
    large = declare({"ranks": "U < S < TS", "compartments": [f"C{n}" for n in range(20)]})
    level = Column(0, "level", type=LEVEL)

    def test(sign: str, name: str) -> Expression:
        return Compare(sign, level, Literal(large.level(name), type=LEVEL))

    assert implies(test("<=", "S:C1"), test("<=", "TS:C1,C2"), large)
    assert implies(test("<=", "S:C1"), test("<", "TS:C1,C2"), large)
    assert implies(test("=", "S:C1"), test("<>", "S:C2"), large)
    assert implies(test(">", "S:C1"), test(">=", "S"), large)
    assert not implies(test("<=", "S:C1"), test("<=", "TS"), large)
    assert not implies(test("<=", "S:C1"), test("<", "S:C1"), large)
    assert not implies(test("<>", "S:C1"), test("<", "TS:C1"), large)


def test_the_reference_agrees_that_a_failing_test_is_no_truth() -> None:
    (row,) = rows(random.Random(1), ["s"], 1)
    assert isinstance(value(bound("1 / 0 = 1"), row), Failure)
