"""Making operands of one type: widening where it is safe, an error with a hint where it is not.

Reads: errors, plan, language (literals).  Read by: language.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.errors import QueryError
from tidegate.language import literals
from tidegate.plan.expressions import Convert, Expression, Literal
from tidegate.plan.types import DATE, DOUBLE, NULL, STRING, TIMESTAMP, Type, common_type, decimal
from tidegate.text import Span


def widen(expression: Expression, kind: Type) -> Expression:
    """The expression as a value of a type that holds all its values."""
    if expression.type == kind:
        return expression
    if isinstance(expression, Literal):
        if expression.value is None:
            return Literal(None, type=kind, span=expression.span)
        if kind == DOUBLE and isinstance(expression.value, int):
            return Literal(float(expression.value), expression.text, type=kind, span=expression.span)
    return Convert(expression, type=kind, span=expression.span)


def comparable(expressions: Sequence[Expression], span: Span, what: str) -> list[Expression]:
    """Expressions that can be compared: exact numbers as they are, everything else in its common type."""
    adapted = adapt_literals(expressions)
    exact = all(entry.type.is_integer or entry.type.name in ("decimal", "null") for entry in adapted)
    if exact and any(entry.type.name == "decimal" for entry in adapted):
        return [widen(entry, decimal(1, 0)) if entry.type == NULL else entry for entry in adapted]
    return unify(adapted, span, what)


def unify(expressions: Sequence[Expression], span: Span, what: str) -> list[Expression]:
    """All expressions in their common type."""
    adapted = adapt_literals(expressions)
    kind = NULL
    for expression in adapted:
        common = common_type(kind, expression.type)
        if common is None:
            raise mismatch(kind, expression.type, span, what)
        kind = common
    return [widen(expression, kind) for expression in adapted]


def adapt_literals(expressions: Sequence[Expression]) -> list[Expression]:
    """Strings beside times become times, numbers beside decimals become exact."""
    kinds = {expression.type.name for expression in expressions if not isinstance(expression, Literal)}
    return [_adapt(entry, kinds) if isinstance(entry, Literal) else entry for entry in expressions]


def _adapt(literal: Literal, kinds: set[str]) -> Literal:
    if literal.type == STRING and kinds & {"timestamp", "date"} and "string" not in kinds:
        return literals.time(literal.text, TIMESTAMP if "timestamp" in kinds else DATE, literal.span)
    if literal.type.is_number and "decimal" in kinds and "double" not in kinds:
        return literals.exact(literal)
    return literal


def mismatch(left: Type, right: Type, span: Span, what: str) -> QueryError:
    """Two types that do not fit, and what to do about it."""
    hint = "write CAST(… AS type) on one side" if left.name not in ("level", "interval") else ""
    if "level" in (left.name, right.name):
        hint = "a level compares with a level name or another level"
    return QueryError("TYPE_MISMATCH", f"{what} does not take {left} and {right}", span, hint)


def boolean(expression: Expression, what: str) -> Expression:
    """A condition, or an error that says what it is instead."""
    if expression.type.name not in ("boolean", "null"):
        raise QueryError("TYPE_MISMATCH", f"{what} is a {expression.type}, not a condition", expression.span,
                         "compare it with something")  # fmt: skip
    return expression
