"""Expressions and aggregates as one line of text, for plans, explanations and normal forms.

Reads: plan (expressions, windows).  Read by: plan, sharing, tests.
"""

from __future__ import annotations

from tidegate.plan.expressions import (
    Aggregate,
    And,
    Arithmetic,
    Between,
    Case,
    Cast,
    Column,
    Compare,
    Convert,
    Expression,
    Function,
    In,
    IsNull,
    Like,
    Literal,
    Negate,
    Not,
    Or,
    RowLevel,
    ScalarSubquery,
    UserFunction,
)
from tidegate.plan.types import INTERVAL
from tidegate.plan.windows import duration_text


def describe(expression: Expression) -> str:
    """An expression as a person would write it; equal expressions over one input give equal text."""
    match expression:
        case Column(name=name):
            return name
        case RowLevel():
            return "level"
        case Literal():
            return _literal(expression)
        case Convert(operand):
            return describe(operand)
        case And(operands):
            return " AND ".join(_inner(part) for part in operands)
        case Or(operands):
            return " OR ".join(_inner(part) for part in operands)
        case Compare(operator, left, right) | Arithmetic(operator, left, right):
            return f"{_inner(left)} {operator} {_inner(right)}"
        case Not(IsNull(operand)):
            return f"{_inner(operand)} IS NOT NULL"
        case Not(operand):
            return f"NOT {_inner(operand)}"
        case _:
            return _other(expression)


def _other(expression: Expression) -> str:
    match expression:
        case Negate(operand):
            return f"-{_inner(operand)}"
        case IsNull(operand):
            return f"{_inner(operand)} IS NULL"
        case In(operand, options):
            return f"{_inner(operand)} IN ({_list(options)})"
        case Like(operand, pattern, escape):
            tail = "" if escape is None else f" ESCAPE '{escape}'"
            return f"{_inner(operand)} LIKE {_inner(pattern)}{tail}"
        case Cast(operand, safe):
            return f"{'TRY_CAST' if safe else 'CAST'}({describe(operand)} AS {expression.type})"
        case Between(operand, low, high):
            return f"{_inner(operand)} BETWEEN {_inner(low)} AND {_inner(high)}"
        case Case(operand, branches, otherwise):
            head = "" if operand is None else f" {describe(operand)}"
            cases = "".join(f" WHEN {describe(a)} THEN {describe(b)}" for a, b in branches)
            return f"CASE{head}{cases} ELSE {describe(otherwise)} END"
        case Function(name, arguments):
            return f"{name}({_list(arguments)})"
        case UserFunction(name=name, arguments=arguments):
            return f"{name}({_list(arguments)})"
        case ScalarSubquery(plan):
            return f"({plan.text})"
        case _:
            return type(expression).__name__.lower()


def describe_aggregate(call: Aggregate) -> str:
    """``AVG(bp)``, ``COUNT(*)``, ``COUNT(DISTINCT sid)``."""
    argument = "*" if call.argument is None else describe(call.argument)
    return f"{call.name}({'DISTINCT ' if call.distinct else ''}{argument})"


def _inner(expression: Expression) -> str:
    if isinstance(expression, Convert):
        return _inner(expression.operand)
    text = describe(expression)
    return f"({text})" if isinstance(expression, And | Or | Arithmetic | Compare) else text


def _list(expressions: tuple[Expression, ...]) -> str:
    return ", ".join(describe(entry) for entry in expressions)


def _literal(expression: Literal) -> str:
    value = expression.value
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if expression.type == INTERVAL and isinstance(value, int):
        return f"INTERVAL {duration_text(value)}"
    if expression.type.is_number:
        return str(value)
    return "'" + (expression.text or str(value)).replace("'", "''") + "'"
