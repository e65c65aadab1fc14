"""Expressions with a type: what a condition or a column means.

Columns are positions in the input row, names are only for people. Both sides of a comparison and both operands of an
operator have the same type: the binder puts a :class:`Convert` where it widens. Every expression is total: what goes
wrong is a value (Q-9), never an exception.

Reads: text, plan (types).  Read by: plan, language, reference, operators.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from tidegate.plan.types import BIGINT, BOOLEAN, LEVEL, Type
from tidegate.text import NOWHERE, Span

if TYPE_CHECKING:
    from tidegate.plan.nodes import QueryPlan

Value = None | bool | int | float | str | bytes | object
"""A value as the row-at-a-time engines hold it: timestamps are microseconds, dates are days, levels are text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """Anything that has a value for a row."""

    type: Type = BOOLEAN
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Column(Expression):
    """A position of the input row."""

    index: int
    name: str = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLevel(Expression):
    """The level of the row itself: the lub of everything that it was computed from (Q-6)."""

    type: Type = LEVEL


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A constant; ``text`` is how it was written."""

    value: Value
    text: str = field(default="", compare=False)
    negative_zero: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        # 0.0 and -0.0 are equal to Python; as constants they are two.
        if isinstance(self.value, float) and self.value == 0 and math.copysign(1, self.value) < 0:
            object.__setattr__(self, "negative_zero", True)


@dataclass(frozen=True, slots=True)
class Convert(Expression):
    """A widening: int to double, date to timestamp … It fails only between decimals of 38 digits."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Cast(Expression):
    """A conversion that may fail, with an error or (``safe``) with NULL."""

    operand: Expression
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Negate(Expression):
    """-x."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic(Expression):
    """``+ - * / %`` on operands of one type, which is the result's."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Compare(Expression):
    """``= <> < <= > >=`` on operands of one type; levels by dominance, doubles by IEEE 754 (Q-4)."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Not(Expression):
    """NOT x."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class And(Expression):
    """A flat conjunction."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or(Expression):
    """A flat disjunction."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class IsNull(Expression):
    """x IS NULL."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class In(Expression):
    """x = a OR x = b OR …"""

    operand: Expression
    options: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Between(Expression):
    """x >= low AND x <= high."""

    operand: Expression
    low: Expression
    high: Expression


@dataclass(frozen=True, slots=True)
class Like(Expression):
    """x LIKE pattern."""

    operand: Expression
    pattern: Expression
    escape: str | None = None


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """The first branch whose condition is true, or equal to the operand; only that one is evaluated."""

    operand: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Function(Expression):
    """A built-in function by its upper-case name."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class UserFunction(Expression):
    """A user's function (Q-15), with its own definition: dropping the name does not change a running query."""

    name: str
    level: str
    parameters: tuple[tuple[str, str], ...]
    returns: str
    body: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ScalarSubquery(Expression):
    """The one value of a sub-query, NULL where it has no row (Q-7)."""

    plan: QueryPlan


@dataclass(frozen=True, slots=True)
class Aggregate:
    """COUNT, SUM, AVG, MIN, MAX, STDDEV, VARIANCE or LUB over a group; no argument means COUNT(*)."""

    name: str
    argument: Expression | None
    type: Type = BIGINT
    distinct: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


def children(expression: Expression) -> Iterator[Expression]:
    """The expressions directly inside one, in the order of the text."""
    for name in expression.__dataclass_fields__:  # dataclasses.fields() makes a tuple of them each time
        yield from _inside(getattr(expression, name))


def _inside(value: object) -> Iterator[Expression]:
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, tuple):
        for entry in value:
            yield from _inside(entry)


def walk(expression: Expression) -> Iterator[Expression]:
    """An expression and everything inside it; sub-queries count as one."""
    yield expression
    for child in children(expression):
        yield from walk(child)


def rewrite(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Apply a change to every expression inside, then to the expression itself."""
    changed: dict[str, Any] = {
        entry.name: _rewrite_inside(getattr(expression, entry.name), change)
        for entry in fields(expression)
        if entry.init and entry.name not in ("type", "span")
    }
    return change(replace(expression, **changed))


def _rewrite_inside(value: object, change: Callable[[Expression], Expression]) -> object:
    if isinstance(value, Expression):
        return rewrite(value, change)
    if isinstance(value, tuple):
        return tuple(_rewrite_inside(entry, change) for entry in value)
    return value


def shift(expression: Expression, by: int) -> Expression:
    """The same expression over a row that starts ``by`` positions later."""

    def move(node: Expression) -> Expression:
        return replace(node, index=node.index + by) if isinstance(node, Column) else node

    return rewrite(expression, move)


def columns(expression: Expression) -> frozenset[int]:
    """The positions that an expression reads."""
    return frozenset(node.index for node in walk(expression) if isinstance(node, Column))


def subqueries(expression: Expression) -> Iterator[ScalarSubquery]:
    """The scalar sub-queries inside an expression, sub-queries of sub-queries left out."""
    return (node for node in walk(expression) if isinstance(node, ScalarSubquery))


def conjunction(operands: tuple[Expression, ...]) -> Expression | None:
    """AND of any number of conditions: None for none, the condition itself for one."""
    if len(operands) < 2:
        return operands[0] if operands else None
    return And(operands, span=operands[0].span.to(operands[-1].span))


def can_fail(expression: Expression) -> bool:
    """Whether some row could make this an error: what the optimiser may not move freely (Q-9)."""
    match expression:
        case Arithmetic(type=Type(name="double")):
            own = expression.operator in ("/", "%")
        case Arithmetic() | Negate() | UserFunction() | ScalarSubquery() | Function():
            own = True
        case Cast(safe=safe):
            own = not safe
        case Convert():
            own = expression.type.name == "decimal"  # 38 digits may be too few
        case _:
            own = False
    return own or any(can_fail(child) for child in children(expression))
