"""For which values of one term a test is true, and for which false: intervals and finite sets (M-21).

A term is a column, the level of the row, or anything else that has a value and cannot fail. Values stand on an axis of
keys: whole numbers, dates, times, truths and levels one after the other, all other types densely, where ``(v, -1)`` and
``(v, 1)`` are just below and just above ``v``. NULL and NaN stand beside the axis. Treating a gap without values as if
it had some can only hide a subset, never invent one.

Reads: plan, scalars, security.  Read by: implication.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from tidegate.plan import expressions as ex
from tidegate.plan.conjuncts import MIRRORED, is_constant
from tidegate.plan.types import BIGINT, BIGINT_RANGE, BOOLEAN, DATE, DOUBLE, INT, LEVEL, TIMESTAMP
from tidegate.scalars.casts import widen
from tidegate.security.lattice import COMPARISONS, Lattice, Level
from tidegate.text import NOWHERE

Key = tuple[Any, ...]
Part = tuple[Key, Key]
"""Both ends belong to it."""

LOWEST, HIGHEST = (-1,), (1,)
MOST_LEVELS = 256
_WHOLE = (INT, BIGINT, DATE, TIMESTAMP)


@dataclass(frozen=True, slots=True)
class Values:
    """A set of values: parts of the axis, in order and apart; NULL; NaN, which means nothing but for doubles."""

    parts: tuple[Part, ...] = ()
    null: bool = False
    nan: bool = False

    def within(self, other: Values) -> bool:
        """Whether every value is one of the other's."""
        covered = all(any(a[0] <= low and high <= a[1] for a in other.parts) for low, high in self.parts)
        return covered and self.null <= other.null and self.nan <= other.nan


NOTHING = Values()
EVERYTHING = Values(((LOWEST, HIGHEST),), null=True, nan=True)
NOT_NULL = Values(((LOWEST, HIGHEST),), null=False, nan=True)
ONLY_NULL = Values((), null=True)


def both(a: Values, b: Values) -> Values:
    """What two sets have in common."""
    parts = [(max(x[0], y[0]), min(x[1], y[1])) for x in a.parts for y in b.parts]
    return Values(tuple(sorted(part for part in parts if part[0] <= part[1])), a.null and b.null, a.nan and b.nan)


def either(a: Values, b: Values) -> Values:
    """The values of two sets together; parts that touch become one."""
    merged: list[Part] = []
    for low, high in sorted((*a.parts, *b.parts)):
        if merged and low <= _after(merged[-1][1]):
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return Values(tuple(merged), a.null or b.null, a.nan or b.nan)


def _after(key: Key) -> Key:
    """The next key: of whole numbers the next number, else just above the value, or the value itself."""
    if len(key) == 2:
        return (0, key[1] + 1)
    return key if len(key) == 1 else (0, key[1], min(key[2] + 1, 1))


def _before(key: Key) -> Key:
    return (0, key[1] - 1) if len(key) == 2 else (0, key[1], key[2] - 1)


# ------------------------------------------------------------------------------ tests


@dataclass(frozen=True, slots=True)
class Truth:
    """Where a test of one term is true and where it is false; elsewhere it is NULL. A constant has no term."""

    term: ex.Expression | None
    true: Values
    false: Values


@lru_cache(maxsize=16_384)
def truth(test: ex.Expression, lattice: Lattice | None) -> Truth | None:
    """Where a test that cannot fail is true; None if it is about more than one term, or not understood."""
    match test:
        case ex.Literal(value) if test.type == BOOLEAN or value is None:
            return _constant(value)
        case ex.Not(operand):
            inner = truth(operand, lattice)
            return inner and Truth(inner.term, inner.false, inner.true)
        case ex.And(operands):
            return _joined([truth(part, lattice) for part in operands], both, either)
        case ex.Or(operands):
            return _joined([truth(part, lattice) for part in operands], either, both)
        case ex.In(operand, options):
            equal = [truth(ex.Compare("=", operand, option), lattice) for option in options]
            return _joined(equal, either, both)
        case ex.Between(operand, low, high):
            ends = (ex.Compare(">=", operand, low), ex.Compare("<=", operand, high))
            return _joined([truth(end, lattice) for end in ends], both, either)
        case ex.IsNull(operand) if not is_constant(operand):
            return Truth(term_of(operand), ONLY_NULL, NOT_NULL)
        case ex.Compare(sign, left, right) if is_constant(right) and not is_constant(left):
            return _compared(sign, left, _widened(right, None), lattice)
        case ex.Compare(sign, left, right) if is_constant(left) and not is_constant(right):
            return _compared(MIRRORED[sign], right, _widened(left, None), lattice)
        case ex.Column(type=kind) if kind == BOOLEAN:
            return Truth(test, _points([1], 1), _points([0], 1))
        case _:
            return None


def _constant(value: object) -> Truth:
    return Truth(None, EVERYTHING if value is True else NOTHING, EVERYTHING if value is False else NOTHING)


Combine = Callable[[Values, Values], Values]


def _joined(parts: list[Truth | None], true: Combine, false: Combine) -> Truth | None:
    """AND and OR of tests of the same term."""
    known = [part for part in parts if part is not None]
    terms = {part.term for part in known if part.term is not None}
    if len(known) < len(parts) or len(terms) > 1 or not known:
        return None
    result = known[0]
    for part in known[1:]:
        result = Truth(None, true(result.true, part.true), false(result.false, part.false))
    return Truth(next(iter(terms), None), result.true, result.false)


def term_of(expression: ex.Expression) -> ex.Expression:
    """What a widened term is about: whole numbers keep their order in every type that holds them."""
    while isinstance(expression, ex.Convert) and expression.operand.type in _WHOLE:
        expression = expression.operand
    return expression


def _compared(sign: str, side: ex.Expression, value: Any, lattice: Lattice | None) -> Truth | None:
    if value is None:
        return Truth(None, NOTHING, NOTHING)
    if side.type == LEVEL:
        return _levels_compared(sign, side, value, lattice) if lattice and lattice.size <= MOST_LEVELS else None
    if isinstance(value, float) and math.isnan(value):
        return None
    if side.type == BOOLEAN:
        return _truths_compared(sign, side, value)
    term = term_of(side)
    low, above = _bounds(side, value) if term.type in _WHOLE else ((0, value, 0), (0, value, 1))
    below, inside, over = (LOWEST, _before(low)), (low, _before(above)), (above, HIGHEST)
    chosen = {"=": (inside,), "<": (below,), ">": (over,), "<=": (below, inside), ">=": (inside, over)}
    true = chosen.get(sign, (below, over))
    false = tuple(part for part in (below, inside, over) if part not in true)
    has_nan = term.type == DOUBLE
    return Truth(term, _set(true, not has_nan or sign == "<>"), _set(false, not has_nan or sign != "<>"))


def _set(parts: tuple[Part, ...], nan: bool) -> Values:
    """Parts that have a value, those that touch as one."""
    return either(Values(tuple(part for part in parts if part[0] <= part[1])), Values(nan=nan))


@lru_cache(maxsize=4096)
def _bounds(side: ex.Expression, value: Any) -> tuple[Key, Key]:
    """The least whole number that is at least, and the least that is above a value, once widened as ``side`` says."""
    return (0, _least(side, lambda found: found >= value)), (0, _least(side, lambda found: found > value))


def _least(side: ex.Expression, reached: Callable[[Any], bool]) -> int:
    low, high = BIGINT_RANGE[0], BIGINT_RANGE[1] + 1
    while low < high:
        middle = (low + high) // 2
        if reached(_widened(side, middle)):
            high = middle
        else:
            low = middle + 1
    return low


def _widened(side: ex.Expression, number: Any) -> Any:
    """The value of a widened term whose own value is given, or of a constant."""
    if isinstance(side, ex.Literal):
        return side.value
    if isinstance(side, ex.Convert) and (side.operand.type in _WHOLE or is_constant(side)):
        inner = _widened(side.operand, number)
        return None if inner is None else widen(inner, side.type, NOWHERE)
    return number


# ------------------------------------------------------------------------------ finite sets


def _truths_compared(sign: str, side: ex.Expression, value: bool) -> Truth:
    true = [one for one in (0, 1) if _SIGNS[sign](one, value)]
    return Truth(side, _points(true, 1), _points([one for one in (0, 1) if one not in true], 1))


_SIGNS = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


@lru_cache(maxsize=64)
def _places(lattice: Lattice) -> dict[Level, int]:
    return {level: place for place, level in enumerate(lattice.levels())}


def _levels_compared(sign: str, side: ex.Expression, value: Any, lattice: Lattice) -> Truth:
    """Levels by dominance: each level that there is, asked one by one."""
    places = _places(lattice)
    true = [place for level, place in places.items() if COMPARISONS[sign](lattice, level, value)]
    false = [place for place in places.values() if place not in set(true)]
    last = len(places) - 1
    return Truth(side, _points(true, last), _points(false, last))


def _points(places: list[int], last: int) -> Values:
    """Single places; the first and the last reach to the ends, because there is nothing beyond."""
    found = Values(nan=True)
    for place in places:
        low, high = LOWEST if place == 0 else (0, place), HIGHEST if place == last else (0, place)
        found = either(found, Values(((low, high),)))
    return found
