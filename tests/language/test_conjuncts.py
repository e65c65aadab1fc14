"""One normal form of conditions: what is equal reads equal, and nothing changes its value (M-13, X-1, Q-4, Q-9)."""

from __future__ import annotations

import math
from itertools import product
from random import Random

import pytest

from tests.conftest import examples
from tests.language.world import EAST, FLOOR, LATTICE, LEVELS, ROOF, WEST, plan_of
from tidegate.plan import expressions as ex
from tidegate.plan.conjuncts import MOST_CONJUNCTS, canonical, conjuncts
from tidegate.plan.describe import describe
from tidegate.plan.nodes import Select, walk
from tidegate.plan.types import BOOLEAN, DOUBLE, INT, LEVEL, STRING, Type
from tidegate.reference.evaluate import World, evaluate
from tidegate.reference.rows import Row
from tidegate.scalars.values import Failure
from tidegate.security.lattice import Level

CONDITIONS = examples(300, 10_000)


def no_function(node: ex.UserFunction, values: list[object]) -> object:
    raise AssertionError(node.name)


WORLD = World(LATTICE, no_function)


def value(expression: ex.Expression, *values: object, level: Level = FLOOR) -> object:
    """TRUE, FALSE, NULL or "error"."""
    found = evaluate(expression, Row(values, level), WORLD)
    return "error" if isinstance(found, Failure) else found


def condition(text: str, source: str = "Vitals") -> ex.Expression:
    """The bound condition of a text over one stream."""
    plan = plan_of(f"SELECT 1 AS x FROM {source} WHERE {text}")
    return next(node.condition for node in walk(plan.root) if isinstance(node, Select))


def in_words(text: str, source: str = "Vitals") -> list[str]:
    return [describe(part) for part in conjuncts(condition(text, source))]


# ------------------------------------------------------------------------------ the same value

# Two operands that can be TRUE, FALSE or NULL, and two that can be an error as well.
SAFE = [ex.Column(n, f"p{n}", type=BOOLEAN) for n in (0, 1)]
UNSAFE = [ex.Cast(ex.Column(n, f"s{n}", type=STRING), type=BOOLEAN) for n in (2, 3)]
ROWS = list(product((True, False, None), (True, False, None), *[("true", "false", None, "neither")] * 2))


def random_condition(random: Random, depth: int) -> ex.Expression:
    kind = random.choice(("leaf", "not", "and", "or", "and", "or")) if depth else "leaf"
    if kind == "leaf":
        return random.choice((*SAFE, *SAFE, *UNSAFE, ex.Literal(random.choice((True, False, None)))))
    if kind == "not":
        return ex.Not(random_condition(random, depth - 1))
    parts = tuple(random_condition(random, depth - 1) for _ in range(random.choice((2, 2, 3))))
    return ex.And(parts) if kind == "and" else ex.Or(parts)


def test_every_operand_takes_every_value() -> None:
    """Otherwise the next test would show less than it says."""
    assert {value(UNSAFE[0], *row) for row in ROWS} == {True, False, None, "error"}
    assert {value(SAFE[0], *row) for row in ROWS} == {True, False, None}


def test_the_conjuncts_of_a_condition_are_the_condition_for_every_row(seed: int) -> None:
    """Q-9: with NULL and errors as values, on all assignments."""
    random = Random(seed)
    split = 0
    for number in range(CONDITIONS):
        whole = random_condition(random, depth=3)
        parts = conjuncts(whole)
        split += len(parts) > 1
        for row in ROWS:
            expected, found = value(whole, *row), value(ex.And(parts), *row)
            assert found is expected or found == expected == "error", (number, describe(whole), row)
    assert split > CONDITIONS / 4


def test_a_normal_form_is_its_own_normal_form(seed: int) -> None:
    random = Random(seed)
    for _ in range(CONDITIONS):
        parts = conjuncts(random_condition(random, depth=3))
        assert conjuncts(ex.conjunction(parts)) == parts


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
def test_a_comparison_means_the_same_in_normal_form_with_and_without_not(operator: str) -> None:
    """Q-4: also for NaN, for levels that are incomparable, and for NULL."""
    domains: list[tuple[Type, list[object]]] = [
        (INT, [None, 1, 2]), (DOUBLE, [None, 1.0, 2.0, math.nan]), (LEVEL, [None, *LEVELS]), (STRING, [None, "a", "b"]),
    ]  # fmt: skip
    for kind, values in domains:
        a, b = ex.Column(0, "a", type=kind), ex.Column(1, "b", type=kind)
        for compare in (ex.Compare(operator, b, a), ex.Not(ex.Compare(operator, b, a))):
            (normal,) = conjuncts(compare)
            assert all(value(normal, x, y) is value(compare, x, y) for x, y in product(values, values)), kind


# ------------------------------------------------------------------------------ the same form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bp > 3", "3 < bp"),
        ("bp <= 3", "3 >= bp"),
        ("bp = 3", "3 = bp"),
        ("bp <> 3", "3 != bp"),
        ("wt < bp", "bp > wt"),
        ("bp > 3 AND wt > 3", "wt > 3 AND bp > 3"),
        ("bp > 3 AND bp > 3", "bp > 3"),
        ("bp > 3 OR wt > 3", "wt > 3 OR bp > 3"),
        ("bp > 3 OR wt > 3 OR 3 < bp", "wt > 3 OR bp > 3"),
        ("bp > 3 OR bp > 3", "bp > 3"),
        ("sid IN (1, 2, 3)", "sid IN (3, 2, 1, 3)"),
        ("NOT (sid > 3)", "sid <= 3"),
        ("NOT NOT ok", "ok"),
        ("NOT (ok AND sid > 3)", "NOT ok OR sid <= 3"),
        ("NOT (ok OR sid > 3)", "NOT ok AND sid <= 3"),
        ("(bp > 1 AND wt > 1) OR pr > 1", "(bp > 1 OR pr > 1) AND (wt > 1 OR pr > 1)"),
        ("level = 'east' OR 'west'", "level = 'west' OR level = 'east'"),
        ("bp BETWEEN 1 AND 2", "bp >= 1 AND bp <= 2"),
        ("note LIKE 'a' OR note LIKE 'a' ESCAPE '!'", "note LIKE 'a' ESCAPE '!' OR note LIKE 'a'"),
    ],
)
def test_two_ways_to_say_it_have_one_form(one: str, other: str) -> None:
    assert set(conjuncts(condition(one))) == set(conjuncts(condition(other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bp > 3", "bp >= 3"),
        ("bp > 3 AND wt > 3", "bp > 3 OR wt > 3"),
        ("NOT (bp > 3)", "bp <= 3"),  # doubles: NaN is neither
        ("NOT (level >= 'east')", "level < 'east'"),  # levels: west is neither
        ("bp = NULL", "bp IS NULL"),
        ("sid IN (1, 2)", "sid IN (1)"),
    ],
)
def test_what_means_two_things_has_two_forms(one: str, other: str) -> None:
    """Q-4: negation is never pushed into a level or float comparison."""
    assert set(conjuncts(condition(one))) != set(conjuncts(condition(other)))


def test_conjuncts_stand_in_the_order_of_the_text() -> None:
    assert in_words("pr > 1 AND (3 < bp AND ok) AND NOT (sid > 1 OR note IS NULL)") == [
        "pr > 1.0", "bp > 3.0", "ok", "sid <= 1", "note IS NOT NULL",
    ]  # fmt: skip


def test_no_condition_has_no_conjuncts() -> None:
    assert conjuncts(None) == ()


def test_a_disjunction_that_can_fail_is_not_multiplied_out() -> None:
    """Q-9: NULL OR (FALSE AND error) is NULL, but (NULL OR FALSE) AND (NULL OR error) is an error."""
    assert len(conjuncts(condition("(ok AND 1 / sid = 1) OR sid = 3"))) == 1
    assert len(conjuncts(condition("(ok AND sid = 1) OR sid = 3"))) == 2


def test_no_more_conjuncts_come_of_a_disjunction_than_the_limit() -> None:
    """Otherwise n pairs would make 2^n conjuncts."""
    few, many = (" OR ".join(f"(sid = {n} AND bp > {n})" for n in range(pairs)) for pairs in (6, 7))
    assert len(conjuncts(condition(few))) == MOST_CONJUNCTS == 64
    assert len(conjuncts(condition(many))) == 1


def test_a_literal_stands_on_the_right_and_columns_by_name() -> None:
    a, b, three = ex.Column(7, "a", type=INT), ex.Column(2, "b", type=INT), ex.Literal(3, type=INT)
    assert canonical(ex.Compare("<", three, a)) == ex.Compare(">", a, three)
    assert canonical(ex.Compare("<", b, a)) == ex.Compare(">", a, b)
    assert canonical(ex.Compare("<", a, b)) == ex.Compare("<", a, b)
    assert canonical(ex.Compare("<", three, ex.Literal(2, type=INT))).operator == ">"  # type: ignore[attr-defined]


def test_levels_compare_by_dominance_in_conditions() -> None:
    """Q-4: incomparable gives false, whichever way it is asked."""
    dominates = condition("level >= 'east'")
    found = [value(dominates, 1, 1.0, 1.0, 1.0, "", True, level) for level in (FLOOR, EAST, WEST, ROOF)]
    assert found == [False, True, False, True]


def test_an_error_stays_where_it_stands_in_the_text() -> None:
    """Q-9, Q-10: whichever form of a condition is evaluated, it fails with the same error at the same place."""
    texts = (
        "1 / sid = 1 OR CAST(note AS int) = 1",
        "CAST(note AS int) = 1 OR 1 / sid = 1",
        "CAST(note AS int) < 1 / sid",
        "1 / sid < CAST(note AS int)",
        "NOT (CAST(note AS int) = 1 AND 1 / sid = 1)",
        "sid IN (CAST(note AS int), 1 / sid)",
    )
    row = Row((0, 1.0, 1.0, 1.0, "neither", True, FLOOR, 1), FLOOR)
    for text in texts:
        whole = condition(text)
        again = ex.conjunction(conjuncts(whole))
        assert again is not None
        assert evaluate(again, row, WORLD) == evaluate(whole, row, WORLD), text
