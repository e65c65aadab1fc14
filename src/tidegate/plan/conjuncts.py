"""Conditions in one normal form: a set of canonical conjuncts (M-13, X-1).

Sharing and the prefilter compare conditions; they can only find what is written the same way. So ``3 < a`` becomes
``a > 3``, conjunctions are split, and disjunctions are multiplied out where no operand can be an error. (With errors
the distributive law fails: NULL OR (FALSE AND error) is NULL, but (NULL OR FALSE) AND (NULL OR error) is an error.)
Negation is never pushed into a comparison of levels or doubles (Q-4): NOT a < b is not a >= b for NaN and for
incomparable levels.

Reads: plan (expressions, text, types).  Read by: language, optimizer, sharing.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from tidegate.plan.describe import describe
from tidegate.plan.expressions import And, Between, Compare, Convert, Expression, In, Literal, Not, Or, can_fail
from tidegate.plan.types import DOUBLE, LEVEL

MOST_CONJUNCTS = 64
MIRRORED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
NEGATED = {"=": "<>", "<>": "=", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}


def conjuncts(condition: Expression | None) -> tuple[Expression, ...]:
    """The canonical conjuncts of a condition, without repetition, in the order of the text."""
    if condition is None:
        return ()
    return tuple(dict.fromkeys(canonical(part) for part in _split(_push_negation(condition, negate=False))))


def canonical(expression: Expression) -> Expression:
    """Comparisons with the column on the left; lists and disjunctions without repetition, in a fixed order.

    Where something can fail the order of the text stays: it says which of several errors is reported.
    """
    match expression:
        case Compare(operator, left, right) if _swapped(left, right):
            return Compare(MIRRORED[operator], right, left, span=expression.span)
        case Or(operands) | And(operands):
            parts = tuple(dict.fromkeys(canonical(part) for part in operands))
            ordered = parts if can_fail(expression) else tuple(sorted(parts, key=describe))
            return ordered[0] if len(ordered) == 1 else replace(expression, operands=ordered)
        case Not(operand):
            return Not(canonical(operand), span=expression.span)
        case In(operand, options) if not can_fail(expression):
            equal = tuple(Compare("=", operand, option, span=expression.span) for option in options)
            return canonical(Or(equal, span=expression.span))
        case _:
            return expression


def _swapped(left: Expression, right: Expression) -> bool:
    if can_fail(left) and can_fail(right):
        return False
    if is_constant(left) != is_constant(right):
        return is_constant(left)
    return describe(left) > describe(right)


def is_constant(expression: Expression) -> bool:
    """A literal, widened or not."""
    return is_constant(expression.operand) if isinstance(expression, Convert) else isinstance(expression, Literal)


def _push_negation(expression: Expression, negate: bool) -> Expression:
    """De Morgan's laws hold for TRUE, FALSE, NULL and error alike."""
    match expression:
        case Not(operand):
            return _push_negation(operand, not negate)
        case And(operands) | Or(operands):
            parts = tuple(_push_negation(part, negate) for part in operands)
            return (
                Or(parts, span=expression.span)
                if isinstance(expression, Or) != negate
                else And(parts, span=expression.span)
            )
        case Compare(operator, left, right) if negate and left.type not in (DOUBLE, LEVEL):
            return Compare(NEGATED[operator], left, right, span=expression.span)
        case _:
            return Not(expression, span=expression.span) if negate else expression


def _split(expression: Expression) -> list[Expression]:
    match expression:
        case And(operands):
            return [part for operand in operands for part in _split(operand)]
        case Between(operand, low, high):
            least = Compare(">=", operand, low, span=expression.span)
            return [least, Compare("<=", operand, high, span=expression.span)]
        case Or(operands):
            return _multiply_out(expression, [_split(operand) for operand in operands])
        case _:
            return [expression]


def _multiply_out(whole: Or, choices: list[list[Expression]]) -> list[Expression]:
    """(a AND b) OR c  ->  (a OR c), (b OR c); left as it is where an operand can fail or too many would come."""
    size = 1
    for choice in choices:
        size *= len(choice)
    if size == 1 or size > MOST_CONJUNCTS or can_fail(whole):
        return [whole]
    return [Or(_flat(combination), span=whole.span) for combination in product(*choices)]


def _flat(combination: tuple[Expression, ...]) -> tuple[Expression, ...]:
    parts = (part for entry in combination for part in (entry.operands if isinstance(entry, Or) else (entry,)))
    return tuple(dict.fromkeys(parts))
