"""The value of an expression for a row: three-valued logic, with errors as a fourth value (Q-7, Q-9).

Reads: plan, security, functions, reference.  Read by: relations.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tidegate.plan import expressions as ex
from tidegate.plan.types import LEVEL
from tidegate.reference.rows import Row
from tidegate.scalars import builtins
from tidegate.scalars.casts import cast, widen
from tidegate.scalars.numbers import calculate, negated
from tidegate.scalars.patterns import like_pattern
from tidegate.scalars.values import Failure
from tidegate.security.lattice import COMPARISONS, Lattice, Level

UserCall = Callable[[ex.UserFunction, list[object]], object]


@dataclass(frozen=True, slots=True)
class Scalar:
    """The value of a scalar sub-query now, and the level of its row (the bottom where there is none)."""

    value: object
    level: Level


@dataclass(frozen=True, slots=True)
class World:
    """What an expression can see besides its row."""

    lattice: Lattice
    call_user: UserCall
    scalars: Mapping[ex.ScalarSubquery, Scalar] = field(default_factory=dict)


def evaluate(expression: ex.Expression, row: Row, world: World) -> object:
    """A value, NULL (None) or a Failure; never an exception."""
    return _RULES[type(expression)](expression, row, world)


def is_true(condition: ex.Expression, row: Row, world: World, failures: list[Failure]) -> bool:
    """Whether a row is kept; a condition whose final value is an error matters (Q-9)."""
    value = evaluate(condition, row, world)
    if isinstance(value, Failure):
        failures.append(value)
    return value is True


def level_with(level: Level, expressions: tuple[ex.Expression, ...], world: World) -> Level:
    """Q-6: a scalar sub-query's row counts wherever it stands, short-circuit or not."""
    if not world.scalars:
        return level
    found = (world.scalars[scalar].level for entry in expressions for scalar in ex.subqueries(entry))
    return world.lattice.lub_of([level, *found])


# ------------------------------------------------------------------------------ logic


def _and(node: ex.And, row: Row, world: World) -> object:
    """FALSE AND error = FALSE; else an error is an error; else NULL is NULL."""
    return _decided(False, [evaluate(part, row, world) for part in node.operands])


def _or(node: ex.Or, row: Row, world: World) -> object:
    """TRUE OR error = TRUE; else an error is an error; else NULL is NULL."""
    return _decided(True, [evaluate(part, row, world) for part in node.operands])


def _decided(by: bool, values: list[object]) -> object:
    if any(value is by for value in values):
        return by
    failure = next((value for value in values if isinstance(value, Failure)), None)
    return failure or (None if None in values else not by)


def _not(node: ex.Not, row: Row, world: World) -> object:
    value = evaluate(node.operand, row, world)
    return value if value is None or isinstance(value, Failure) else not value


def _is_null(node: ex.IsNull, row: Row, world: World) -> object:
    value = evaluate(node.operand, row, world)
    return value if isinstance(value, Failure) else value is None


def _case(node: ex.Case, row: Row, world: World) -> object:
    """CASE evaluates the branch taken, and no other."""
    for condition, result in node.branches:
        value = evaluate(condition, row, world) if node.operand is None else _equal(node.operand, condition, row, world)
        if isinstance(value, Failure):
            return value
        if value is True:
            return evaluate(result, row, world)
    return evaluate(node.otherwise, row, world)


# ------------------------------------------------------------------------------ values


def _strict(rule: Callable[..., object], *parts: str) -> Callable[..., object]:
    """An operator for which an error operand is an error, and a NULL operand NULL."""

    def apply(node: Any, row: Row, world: World) -> object:
        values = [evaluate(getattr(node, part), row, world) for part in parts]
        unusual = _unusual(values)
        return rule(node, world, *values) if unusual is _USUAL else unusual

    return apply


_USUAL = object()


def _unusual(values: list[object]) -> object:
    failure = next((value for value in values if isinstance(value, Failure)), None)
    return failure or (None if None in values else _USUAL)


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _compare(node: ex.Compare, world: World, left: Any, right: Any) -> object:
    return compared(node.operator, left, right, node.left, world)


def compared(sign: str, left: Any, right: Any, side: ex.Expression, world: World) -> bool:
    """Q-4: levels compare by dominance, doubles by IEEE 754, strings by code point."""
    if side.type == LEVEL:
        return COMPARISONS[sign](world.lattice, left, right)
    return bool(_OPERATORS[sign](left, right))


def _in(node: ex.In, row: Row, world: World) -> object:
    """X IN (a, b) is x = a OR x = b."""
    return _decided(True, [_equal(node.operand, option, row, world) for option in node.options])


def _equal(operand: ex.Expression, option: ex.Expression, row: Row, world: World) -> object:
    return _tested("=", operand, option, row, world)


def _tested(sign: str, left: ex.Expression, right: ex.Expression, row: Row, world: World) -> object:
    values = [evaluate(left, row, world), evaluate(right, row, world)]
    unusual = _unusual(values)
    return compared(sign, values[0], values[1], left, world) if unusual is _USUAL else unusual


def _between(node: ex.Between, row: Row, world: World) -> object:
    """X BETWEEN a AND b is x >= a AND x <= b."""
    tests = [_tested(">=", node.operand, node.low, row, world), _tested("<=", node.operand, node.high, row, world)]
    return _decided(False, tests)


def _like(node: ex.Like, world: World, value: Any, pattern: Any) -> object:
    return like_pattern(pattern, node.escape).fullmatch(value) is not None


def _arithmetic(node: ex.Arithmetic, world: World, left: object, right: object) -> object:
    return calculate(node.operator, left, right, node.type, node.span)


def _negate(node: ex.Negate, world: World, value: Any) -> object:
    return negated(value, node.type, node.span)


def _convert(node: ex.Convert, world: World, value: object) -> object:
    return widen(value, node.type, node.span)


def _cast(node: ex.Cast, world: World, value: object) -> object:
    result = cast(value, node.operand.type, node.type, node.span)
    return None if node.safe and isinstance(result, Failure) else result


def _function(node: ex.Function, row: Row, world: World) -> object:
    if node.name == "COALESCE":
        return _coalesce(node, row, world)
    values = [evaluate(argument, row, world) for argument in node.arguments]
    if node.name == "NULLIF":
        return _null_if(node, values, world)
    unusual = _unusual(values)
    return builtins.call(node.name, values, node.type, node.span) if unusual is _USUAL else unusual


def _coalesce(node: ex.Function, row: Row, world: World) -> object:
    """The first argument that is not NULL; like CASE, nothing behind it is evaluated."""
    for argument in node.arguments:
        value = evaluate(argument, row, world)
        if value is not None:
            return value
    return None


def _null_if(node: ex.Function, values: list[object], world: World) -> object:
    unusual = _unusual(values)
    if unusual is None or isinstance(unusual, Failure):
        return unusual or values[0]
    return None if compared("=", values[0], values[1], node.arguments[0], world) else values[0]


def _user_function(node: ex.UserFunction, row: Row, world: World) -> object:
    """Q-15: NULL arguments are the function's own business."""
    values = [evaluate(argument, row, world) for argument in node.arguments]
    failure = next((value for value in values if isinstance(value, Failure)), None)
    return failure or world.call_user(node, values)


_RULES: dict[type[ex.Expression], Callable[[Any, Row, World], object]] = {
    ex.Column: lambda node, row, world: row.values[node.index],
    ex.RowLevel: lambda node, row, world: row.level,
    ex.Literal: lambda node, row, world: node.value,
    ex.ScalarSubquery: lambda node, row, world: world.scalars[node].value,
    ex.And: _and,
    ex.Or: _or,
    ex.Not: _not,
    ex.IsNull: _is_null,
    ex.Case: _case,
    ex.Compare: _strict(_compare, "left", "right"),
    ex.In: _in,
    ex.Between: _between,
    ex.Like: _strict(_like, "operand", "pattern"),
    ex.Arithmetic: _strict(_arithmetic, "left", "right"),
    ex.Negate: _strict(_negate, "operand"),
    ex.Convert: _strict(_convert, "operand"),
    ex.Cast: _strict(_cast, "operand"),
    ex.Function: _function,
    ex.UserFunction: _user_function,
}
