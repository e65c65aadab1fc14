"""ISTREAM and DSTREAM: what enters or leaves, less what is the same (Q-5).

Rows cancel only within one instant. Mostly one row comes as one goes, and the two are compared. Where more meet, equal
neighbours cancel first; of the rest a number is made per row and instant, and only rows that share theirs with
another are looked at closely.

Reads: plan, operators.  Read by: query.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from tidegate.operators.batch import BEFORE, NEVER, Batch, Changes
from tidegate.operators.emit import Emitted, by_instant, row_texts
from tidegate.operators.vector import LevelTable, Mask, Numbers, Vector, by_group, codes, combined_codes, dense
from tidegate.plan.schema import Schema
from tidegate.plan.types import DOUBLE


@dataclass(frozen=True, slots=True)
class Sides:
    """Rows that may be emitted and rows that may cancel them, with the instants at which they do."""

    mine: Numbers
    other: Numbers
    when: Numbers
    then: Numbers


def difference(changes: Changes, schema: Schema, levels: LevelTable, *, inserted: bool) -> Emitted:
    """ISTREAM or DSTREAM: the bag difference of consecutive steps over (values, level)."""
    rows, comes, goes = changes.rows, changes.enter != BEFORE, changes.leave != NEVER
    sides = _sides(changes, comes, goes, inserted=inserted)
    if _rises(sides.when) and _rises(sides.then):
        return _taken(rows, sides, _not_replaced(rows, sides))
    sides = _sides(changes, *_without_pairs(changes, comes, goes), inserted=inserted)
    one, another = _suspects(rows, sides)
    if len(one) == 0 or len(another) == 0:
        return _taken(rows, sides, slice(None))
    close = Sides(sides.mine[one], sides.other[another], sides.when[one], sides.then[another])
    kept = np.ones(len(sides.mine), np.bool_)
    kept[one] = False
    kept[one[_left_over(rows, close, schema, levels)]] = True
    return _taken(rows, sides, np.flatnonzero(kept))


def _sides(changes: Changes, comes: Mask, goes: Mask, *, inserted: bool) -> Sides:
    coming, going = np.flatnonzero(comes), np.flatnonzero(goes)
    entered, left = changes.enter[coming], changes.leave[going]
    return Sides(coming, going, entered, left) if inserted else Sides(going, coming, left, entered)


def _taken(rows: Batch, sides: Sides, kept: Numbers | slice) -> Emitted:
    """Some of the rows, by instant."""
    return by_instant(rows.take(_as_slice(sides.mine[kept])), sides.when[kept])


def _as_slice(numbers: Numbers) -> Numbers | slice:
    """Rows that follow one another need no copy; the numbers rise."""
    if len(numbers) and numbers[-1] - numbers[0] == len(numbers) - 1:
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers


# ------------------------------------------------------------------------------ one comes as one goes


def _rises(instants: Numbers) -> bool:
    """Whether no two rows share an instant, and they come in order: the usual case, and the quick one."""
    return bool((instants[1:] > instants[:-1]).all())


def _not_replaced(rows: Batch, sides: Sides) -> Numbers | slice:
    """Rows whose instant has no row of the other side, or one that is not the same."""
    when, then = sides.when, sides.then
    if np.array_equal(when, then):
        return np.flatnonzero(~_equal_rows(rows.take(_as_slice(sides.mine)), rows.take(_as_slice(sides.other))))
    place = np.minimum(np.searchsorted(then, when), max(len(then) - 1, 0))
    meets = np.flatnonzero(then[place] == when) if len(then) else np.zeros(0, np.int64)
    equal = _equal_rows(rows.take(sides.mine[meets]), rows.take(sides.other[place[meets]]))
    if not equal.any():
        return slice(None)
    kept = np.ones(len(when), np.bool_)
    kept[meets[equal]] = False
    return np.flatnonzero(kept)


def _equal_rows(one: Batch, another: Batch) -> Mask:
    """Row by row, whether values and levels are the same."""
    equal: Mask = one.level == another.level
    for left, right in zip(one.columns, another.columns, strict=True):
        equal &= _same(left, right)
    return equal


def _same(left: Vector, right: Vector) -> Mask:
    """Row by row, with NaN = NaN and NULL = NULL; -0.0 = 0.0 anyway (Q-8)."""
    equal: Mask = np.asarray(left.data == right.data, np.bool_)
    if left.type == DOUBLE:
        equal |= np.isnan(left.data) & np.isnan(right.data)
    if left.null is None and right.null is None:
        return equal
    return (equal & ~left.is_null() & ~right.is_null()) | (left.is_null() & right.is_null())


# ------------------------------------------------------------------------------ several meet


def _without_pairs(changes: Changes, comes: Mask, goes: Mask) -> tuple[Mask, Mask]:
    """Less every pair of neighbours that are equal to the bit, where one comes as the other goes.

    The rows of an aggregate stand by group and time, so most of what does not change is found here.
    """
    pairs = np.flatnonzero(changes.leave[:-1] == changes.enter[1:])
    one, another = changes.rows.take(pairs), changes.rows.take(pairs + 1)
    equal: Mask = one.level == another.level
    for left, right in zip(one.columns, another.columns, strict=True):
        equal &= _equal_to_the_bit(left, right)
    comes[pairs[equal] + 1] = False
    goes[pairs[equal]] = False
    return comes, goes


def _equal_to_the_bit(left: Vector, right: Vector) -> Mask:
    """Row by row; of doubles no -0.0 for a 0.0, which cancel only in the order of their text."""
    equal = _same(left, right)
    if left.type == DOUBLE:
        equal &= np.signbit(left.data) == np.signbit(right.data)
    return equal


_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64).view(np.int64)


def _suspects(rows: Batch, sides: Sides) -> tuple[Numbers, Numbers]:
    """Places on both sides of rows that may be the same as another of their instant; most have no other.

    Rows that are the same have the same number. Rows that only seem to be the same do no harm.
    """
    numbers = _numbers(rows)
    one, another = (
        _mixed(numbers[mine] + when) for mine, when in ((sides.mine, sides.when), (sides.other, sides.then))
    )
    together = np.sort(np.concatenate([one, another]))
    twice = together[1:][together[1:] == together[:-1]]
    if len(twice) > len(together) // 8:  # so many that a look at each is quicker than a choice
        return np.arange(len(one)), np.arange(len(another))
    return _among(one, twice), _among(another, twice)


def _among(numbers: Numbers, some: Numbers) -> Numbers:
    if len(some) == 0:
        return np.zeros(0, np.int64)
    place = np.minimum(np.searchsorted(some, numbers), len(some) - 1)
    return np.flatnonzero(some[place] == numbers)


def _numbers(rows: Batch) -> Numbers:
    """One number per row, equal for rows that are the same (Q-8)."""
    total = _mixed(rows.level)
    for column in rows.columns:
        total = _mixed(total + _bits(column))
    return total


def _mixed(numbers: Numbers) -> Numbers:
    """A number in which every digit of another shows, around 2^64."""
    spread = numbers * _FACTORS[0]
    result: Numbers = (spread ^ (spread >> 32)) * _FACTORS[1]
    return result


def _bits(column: Vector) -> Numbers:
    """A number per value, equal for values that are the same."""
    if column.data.dtype == object:
        return codes(column)
    if column.type == DOUBLE:
        unknown = np.isnan(column.data)
        clean = column.data + 0.0
        found = (np.where(unknown, np.nan, clean) if unknown.any() else clean).view(np.int64)
    else:
        found = column.data.astype(np.int64, copy=False)
    return found if column.null is None else np.where(column.null, -1, found)


# ------------------------------------------------------------------------------ the few that may be the same


def _left_over(rows: Batch, sides: Sides, schema: Schema, levels: LevelTable) -> Numbers:
    """The places of ``mine`` that remain: rows that are equal to the bit cancel first, then those that are the same."""
    rows = rows.take(np.concatenate([sides.mine, sides.other]))
    mine, other = np.arange(len(sides.mine)), np.arange(len(sides.mine), len(rows))
    one, another = _cancelled(Sides(mine, other, sides.when, sides.then), _codes(rows, exact=True))
    if not _has_doubles(rows) or len(one) == 0 or len(another) == 0:
        return one
    rest = Sides(mine[one], other[another], sides.when[one], sides.then[another])
    same = _codes(rows, exact=False)
    left = _cancelled(rest, same)[0]
    if len(left) < len(one):
        left = _cancel_by_text(rows, rest, same, schema, levels)
    return one[left]


def _has_doubles(rows: Batch) -> bool:
    """Only doubles have values that are the same without being equal to the bit."""
    return any(column.type == DOUBLE for column in rows.columns)


def _codes(rows: Batch, *, exact: bool) -> Numbers:
    """Equal for rows that are equal to the bit, or that are the same (Q-8)."""
    columns = [_signed(column) if exact and column.type == DOUBLE else codes(column) for column in rows.columns]
    return combined_codes([*columns, rows.level], len(rows))


def _signed(column: Vector) -> Numbers:
    """Doubles by their bits: the two zeros are two."""
    clean = np.where(np.isnan(column.data), np.nan, column.data)
    found = dense(clean.view(np.int64)) + 1
    return dense(found if column.null is None else np.where(column.null, 0, found))


def _cancelled(sides: Sides, kind: Numbers) -> tuple[Numbers, Numbers]:
    """The places of both sides that remain when rows of one kind and instant cancel one another."""
    size = len(sides.mine) + len(sides.other)
    instants = dense(np.concatenate([sides.when, sides.then]))
    together = combined_codes([instants, kind[np.concatenate([sides.mine, sides.other])]], size)
    one, another = together[: len(sides.mine)], together[len(sides.mine) :]
    count_one, count_another = np.bincount(one, minlength=size), np.bincount(another, minlength=size)
    return _beyond(one, count_another), _beyond(another, count_one)


def _beyond(classes: Numbers, cancelled: Numbers) -> Numbers:
    """Of each class, the members after the first so many."""
    order = by_group(classes)
    ordered = classes[order]
    first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    rank = np.arange(len(ordered))
    rank -= np.maximum.accumulate(np.where(first, rank, 0))
    return np.sort(order[rank >= cancelled[ordered]])


def _cancel_by_text(rows: Batch, sides: Sides, same: Numbers, schema: Schema, levels: LevelTable) -> Numbers:
    """Rows that are only the same, such as 0.0 and -0.0, cancel in the order of their text."""
    budget = Counter(zip(sides.then.tolist(), same[sides.other].tolist(), strict=True))
    texts = row_texts(rows.take(sides.mine), schema, levels)
    kept = np.ones(len(sides.mine), np.bool_)
    for place in sorted(range(len(sides.mine)), key=lambda n: (sides.when[n], texts[n])):
        key = (int(sides.when[place]), int(same[sides.mine[place]]))
        if budget[key] > 0:
            budget[key] -= 1
            kept[place] = False
    return np.flatnonzero(kept)
