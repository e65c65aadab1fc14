"""Expressions over a batch: the reference's values, a column at a time (Q-7, Q-9).

What NumPy computes to the bit like IEEE 754 and 64-bit arithmetic is vectorised; the rest (decimals, strings, casts)
goes through the scalar functions, once per row. Branches are evaluated for the rows that take them, as CASE demands.

Reads: plan, security, scalars, operators.  Read by: operators.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tidegate.operators import arithmetic
from tidegate.operators.batch import Batch
from tidegate.operators.vector import (
    UNREAD,
    Array,
    Failures,
    LevelTable,
    Mask,
    Vector,
    constant,
    distinct,
    filled,
    from_values,
)
from tidegate.plan import expressions as ex
from tidegate.plan.types import BOOLEAN, LEVEL, Type
from tidegate.scalars import builtins
from tidegate.scalars.casts import cast, widen
from tidegate.scalars.numbers import calculate, negated
from tidegate.scalars.patterns import like_pattern
from tidegate.scalars.values import Failure
from tidegate.security.lattice import COMPARISONS

UserCalls = Callable[[ex.UserFunction, list[list[object]], int], list[object]]
"""One value or Failure per row, from one list of arguments per parameter and the number of rows."""


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates expressions; keeps the numbers of levels and failures."""

    levels: LevelTable
    failures: Failures
    call_user: UserCalls

    def evaluate(self, node: ex.Expression, batch: Batch) -> Vector:
        """One value, NULL or failure per row."""
        return _RULES[type(node)](self, node, batch)

    def each(self, node: ex.Expression, vectors: list[Vector], rule: Callable[..., object]) -> Vector:
        """A strict function, a row at a time: an error operand is an error, a NULL operand NULL."""
        failure, null = operands_state(vectors)
        usable = ~(null | (failure > 0))
        values = [rule(*arguments) for arguments in zip(*(v.data[usable].tolist() for v in vectors), strict=True)]
        blank = Vector(node.type, filled(node.type, len(null)), null & (failure == 0), failure)
        return self.scatter(blank, usable, values)

    def scatter(self, into: Vector, rows: Mask, values: list[object]) -> Vector:
        """Put values, NULLs and Failures into some rows of a column."""
        numbers = [self.failures.number(v.code, v.problem, v.span) if isinstance(v, Failure) else 0 for v in values]
        filled = from_values([None if isinstance(v, Failure) else v for v in values], into.type)
        data, null, failure = into.data, into.is_null().copy(), into.failures().copy()
        data[rows], failure[rows] = filled.data, numbers
        null[rows] = filled.is_null() & (failure[rows] == 0)
        return Vector(into.type, data, null, failure)


def are_plain(vectors: list[Vector]) -> bool:
    """Whether no row of any is NULL or an error, as far as can be seen without looking at the rows."""
    return all(vector.null is None and vector.failure is None for vector in vectors)


def operands_state(vectors: list[Vector]) -> tuple[Array, Mask]:
    """The first failure of each row, and where some operand is NULL."""
    failure = vectors[0].failures()
    null = vectors[0].is_null()
    for vector in vectors[1:]:
        failure = np.where(failure > 0, failure, vector.failures())
        null = null | vector.is_null()
    return failure, null & (failure == 0)


# ------------------------------------------------------------------------------ logic


def _decided(by: bool, vectors: list[Vector]) -> Vector:
    """FALSE decides AND, TRUE decides OR; else an error is an error; else NULL is NULL."""
    if are_plain(vectors):
        parts = [vector.data.astype(np.bool_, copy=False) for vector in vectors]
        return Vector(BOOLEAN, np.logical_or.reduce(parts) if by else np.logical_and.reduce(parts))
    decided = np.zeros(len(vectors[0]), np.bool_)
    for vector in vectors:
        usable = ~(vector.is_null() | vector.failed())
        decided |= usable & (vector.data.astype(np.bool_) == by)
    failure, null = operands_state(vectors)
    data = np.where(decided, by, not by)
    return Vector(BOOLEAN, data, null & ~decided, np.where(decided, 0, failure))


def _and(self: Evaluator, node: ex.And, batch: Batch) -> Vector:
    return _decided(False, [self.evaluate(part, batch) for part in node.operands])


def _or(self: Evaluator, node: ex.Or, batch: Batch) -> Vector:
    return _decided(True, [self.evaluate(part, batch) for part in node.operands])


def _not(self: Evaluator, node: ex.Not, batch: Batch) -> Vector:
    operand = self.evaluate(node.operand, batch)
    return Vector(BOOLEAN, ~operand.data.astype(np.bool_), operand.null, operand.failure)


def _is_null(self: Evaluator, node: ex.IsNull, batch: Batch) -> Vector:
    operand = self.evaluate(node.operand, batch)
    return Vector(BOOLEAN, operand.is_null(), None, operand.failure)


def _in(self: Evaluator, node: ex.In, batch: Batch) -> Vector:
    operand = self.evaluate(node.operand, batch)
    return _decided(True, [compared(self, "=", operand, self.evaluate(option, batch)) for option in node.options])


def _between(self: Evaluator, node: ex.Between, batch: Batch) -> Vector:
    operand, low, high = (self.evaluate(part, batch) for part in (node.operand, node.low, node.high))
    return _decided(False, [compared(self, ">=", operand, low), compared(self, "<=", operand, high)])


def _compare(self: Evaluator, node: ex.Compare, batch: Batch) -> Vector:
    left = self.evaluate(node.left, batch)
    if isinstance(node.right, ex.Literal) and isinstance(node.right.value, int | float) and left.data.dtype != object:
        return Vector(BOOLEAN, _SIGNS[node.operator](left.data, node.right.value), left.null, left.failure)
    return compared(self, node.operator, left, self.evaluate(node.right, batch))


_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": np.equal,
    "<>": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def compared(self: Evaluator, sign: str, left: Vector, right: Vector) -> Vector:
    """Q-4: levels by dominance, doubles by IEEE 754, strings by code point."""
    failure, null = (None, None) if are_plain([left, right]) else operands_state([left, right])
    usable = slice(None) if failure is None or null is None else ~(null | (failure > 0))
    if left.type == LEVEL:
        data = np.zeros(len(left), np.bool_)
        data[usable] = _levels(self.levels, sign, left.data[usable], right.data[usable])
    elif object in (left.data.dtype, right.data.dtype):
        data = np.zeros(len(left), np.bool_)
        data[usable] = _SIGNS[sign](left.data[usable].astype(object), right.data[usable].astype(object)).astype(
            np.bool_
        )
    else:
        data = _SIGNS[sign](left.data, right.data)
    return Vector(BOOLEAN, data, null, failure)


def _levels(table: LevelTable, sign: str, left: Array, right: Array) -> Array:
    """One decision per distinct pair of levels."""
    if len(left) == 0:
        return np.zeros(0, np.bool_)
    width = max(len(table.labels), 1)
    pairs, where = distinct(left * width + right)
    labels = table.labels
    answers = [COMPARISONS[sign](table.lattice, labels[p // width], labels[p % width]) for p in pairs.tolist()]
    return np.array(answers, np.bool_)[where]


# ------------------------------------------------------------------------------ branches


def _case(self: Evaluator, node: ex.Case, batch: Batch) -> Vector:
    """Each branch is evaluated for the rows that take it, and for no other."""
    result = _blank(node.type, len(batch), null=False)
    open_rows = np.arange(len(batch))
    for condition, branch in node.branches:
        rows = batch.take(open_rows)
        tested = self.evaluate(condition, rows)
        if node.operand is not None:
            tested = compared(self, "=", self.evaluate(node.operand, rows), tested)
        _put(result, open_rows[tested.failed()], tested.take(tested.failed()), node.type)
        taken = tested.is_true()
        _put(result, open_rows[taken], self.evaluate(branch, batch.take(open_rows[taken])), node.type)
        open_rows = open_rows[~(taken | tested.failed())]
    _put(result, open_rows, self.evaluate(node.otherwise, batch.take(open_rows)), node.type)
    return result


def _blank(kind: Type, rows: int, *, null: bool) -> Vector:
    """A column to be filled in place."""
    return Vector(kind, filled(kind, rows), np.full(rows, null), np.zeros(rows, np.int64))


def _put(result: Vector, rows: Array, values: Vector, kind: Type) -> None:
    if len(rows) == 0:
        return
    assert result.null is not None
    assert result.failure is not None
    if values.type == kind:
        result.data[rows] = values.data
    result.null[rows] = values.is_null() & ~values.failed()
    result.failure[rows] = values.failures()


def _coalesce(self: Evaluator, node: ex.Function, batch: Batch) -> Vector:
    result = _blank(node.type, len(batch), null=True)
    open_rows = np.arange(len(batch))
    for argument in node.arguments:
        values = self.evaluate(argument, batch.take(open_rows))
        found = ~values.is_null() | values.failed()
        _put(result, open_rows[found], values.take(found), node.type)
        open_rows = open_rows[~found]
    return result


# ------------------------------------------------------------------------------ values


def _column(self: Evaluator, node: ex.Column, batch: Batch) -> Vector:
    found = batch.columns[node.index]
    if found.type == UNREAD:
        assert len(found) == 0, f"column {node.index} was left where it is"
        return constant(None, node.type, 0)  # of no rows nothing was left
    return found


def _literal(self: Evaluator, node: ex.Literal, batch: Batch) -> Vector:
    value = self.levels.number(node.value) if node.type == LEVEL and node.value is not None else node.value  # type: ignore[arg-type]
    return constant(value, node.type, len(batch))


def _arithmetic(self: Evaluator, node: ex.Arithmetic, batch: Batch) -> Vector:
    left, right = self.evaluate(node.left, batch), self.evaluate(node.right, batch)
    if node.type.name == "decimal":
        return self.each(node, [left, right], lambda a, b: calculate(node.operator, a, b, node.type, node.span))
    return arithmetic.calculate(node, left, right, self.failures)


def _negate(self: Evaluator, node: ex.Negate, batch: Batch) -> Vector:
    operand = self.evaluate(node.operand, batch)
    if node.type.name == "double":
        return Vector(node.type, -operand.data, operand.null, operand.failure)
    if node.type.name == "decimal":
        return self.each(node, [operand], lambda value: negated(value, node.type, node.span))
    zero = constant(0, node.type, len(batch))
    return arithmetic.calculate(
        ex.Arithmetic("-", node, node, type=node.type, span=node.span), zero, operand, self.failures
    )


def _convert(self: Evaluator, node: ex.Convert, batch: Batch) -> Vector:
    operand = self.evaluate(node.operand, batch)
    if node.type.name == "double" and operand.data.dtype != object:
        return Vector(node.type, operand.data.astype(np.float64), operand.null, operand.failure)
    if node.type.name in ("bigint", "int") and operand.data.dtype != object:
        return Vector(node.type, operand.data, operand.null, operand.failure)
    return self.each(node, [operand], lambda value: widen(value, node.type, node.span))


def _cast(self: Evaluator, node: ex.Cast, batch: Batch) -> Vector:
    operand = self.evaluate(node.operand, batch)
    if node.operand.type == LEVEL:
        return self.each(node, [operand], lambda value: str(self.levels.labels[value]))

    def rule(value: object) -> object:
        result = cast(value, node.operand.type, node.type, node.span)
        return None if node.safe and isinstance(result, Failure) else result

    return self.each(node, [operand], rule)


def _like(self: Evaluator, node: ex.Like, batch: Batch) -> Vector:
    operands = [self.evaluate(node.operand, batch), self.evaluate(node.pattern, batch)]
    return self.each(
        node, operands, lambda value, pattern: like_pattern(pattern, node.escape).fullmatch(value) is not None
    )


def _function(self: Evaluator, node: ex.Function, batch: Batch) -> Vector:
    if node.name == "COALESCE":
        return _coalesce(self, node, batch)
    vectors = [self.evaluate(argument, batch) for argument in node.arguments]
    if node.name == "NULLIF":
        return _null_if(self, vectors)
    return self.each(node, vectors, lambda *values: builtins.call(node.name, list(values), node.type, node.span))


def _null_if(self: Evaluator, vectors: list[Vector]) -> Vector:
    equal = compared(self, "=", *vectors)
    first = vectors[0]
    failure, _ = operands_state(vectors)
    return Vector(first.type, first.data, (first.is_null() | equal.is_true()) & (failure == 0), failure)


def _user_function(self: Evaluator, node: ex.UserFunction, batch: Batch) -> Vector:
    """Q-15: NULL arguments are the function's own business; rows whose arguments are errors are not sent."""
    vectors = [self.evaluate(argument, batch) for argument in node.arguments]
    rows = len(batch)
    failure = operands_state(vectors)[0] if vectors else np.zeros(rows, np.int64)
    sent = failure == 0
    arguments = [
        [None if missing else value for value, missing in zip(v.data[sent].tolist(), v.is_null()[sent], strict=True)]
        for v in vectors
    ]
    blank = Vector(node.type, filled(node.type, rows), None, failure)
    return self.scatter(blank, sent, self.call_user(node, arguments, int(sent.sum())))


_RULES: dict[type[ex.Expression], Callable[[Evaluator, Any, Batch], Vector]] = {
    ex.Column: _column,
    ex.RowLevel: lambda self, node, batch: Vector(LEVEL, batch.level),
    ex.Literal: _literal,
    ex.ScalarSubquery: lambda self, node, batch: batch.scalars[node],
    ex.And: _and,
    ex.Or: _or,
    ex.Not: _not,
    ex.IsNull: _is_null,
    ex.Case: _case,
    ex.Compare: _compare,
    ex.In: _in,
    ex.Between: _between,
    ex.Like: _like,
    ex.Arithmetic: _arithmetic,
    ex.Negate: _negate,
    ex.Convert: _convert,
    ex.Cast: _cast,
    ex.Function: _function,
    ex.UserFunction: _user_function,
}
