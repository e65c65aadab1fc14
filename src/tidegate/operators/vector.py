"""Columns: values, NULLs and errors side by side (Q-9).

Numbers, times and booleans are NumPy arrays of their own kind, strings, decimals and bytes are arrays of objects, and
levels are numbers of a :class:`LevelTable`. An error is a value here too: a column may carry, per row, the number of
the failure that it is.

Reads: plan, security.  Read by: operators.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tidegate.plan.types import DOUBLE, Type
from tidegate.security.lattice import Lattice, Level
from tidegate.text import Span

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

_KINDS: dict[str, type] = {
    "double": np.float64,
    "boolean": np.bool_,
    "string": object,
    "decimal": object,
    "binary": object,
}
_FILLERS: dict[str, object] = {"double": 0.0, "boolean": False, "string": "", "decimal": None, "binary": b""}


def numpy_kind(kind: Type) -> type:
    """The NumPy kind of a type's values."""
    return _KINDS.get(kind.name, np.int64)


@dataclass(frozen=True, slots=True)
class Vector:
    """A column. ``null`` and ``failure`` are None where no row has one; failure 0 is none."""

    type: Type
    data: Array
    null: Mask | None = None
    failure: Numbers | None = None

    def __len__(self) -> int:
        return len(self.data)

    def take(self, rows: Numbers | Mask | slice) -> Vector:
        """Some rows, by number or by mask; of a slice no copy is made."""
        null = None if self.null is None else self.null[rows]
        failure = None if self.failure is None else self.failure[rows]
        return Vector(self.type, self.data[rows], null, failure)

    def is_null(self) -> Mask:
        """Which rows are NULL."""
        return np.zeros(len(self.data), np.bool_) if self.null is None else self.null

    def failed(self) -> Mask:
        """Which rows are errors."""
        return np.zeros(len(self.data), np.bool_) if self.failure is None else self.failure > 0

    def failures(self) -> Numbers:
        """The failure of each row, 0 for none."""
        return np.zeros(len(self.data), np.int64) if self.failure is None else self.failure

    def is_true(self) -> Mask:
        """Which rows are TRUE: neither FALSE nor NULL nor an error."""
        usable: Mask = self.data.astype(np.bool_)
        if self.null is not None:
            usable = usable & ~self.null
        return usable if self.failure is None else usable & (self.failure == 0)


UNREAD = Type("unread")
"""Stands for the type of a column that nobody reads: its values were left where they are."""


def unread(rows: int) -> Vector:
    """A column that nobody reads."""
    return Vector(UNREAD, np.zeros(rows, np.int8))


def concatenate(vectors: Sequence[Vector]) -> Vector:
    """Columns of one type, one after the other.

    Whether the last one is read decides for all: who reads a column since then sees nothing that came before.
    """
    vectors = [vector for vector in vectors if len(vector)] or vectors[:1]
    first = vectors[0]
    if len(vectors) == 1:
        return first
    if any(vector.type == UNREAD for vector in vectors):
        kind = vectors[-1].type
        if kind == UNREAD:
            return unread(sum(map(len, vectors)))
        vectors = [Vector(kind, filled(kind, len(v))) if v.type == UNREAD else v for v in vectors]
        first = vectors[0]
    null = None if all(v.null is None for v in vectors) else np.concatenate([v.is_null() for v in vectors])
    failure = None if all(v.failure is None for v in vectors) else np.concatenate([v.failures() for v in vectors])
    return Vector(first.type, np.concatenate([v.data for v in vectors]), null, failure)


def constant(value: object, kind: Type, rows: int) -> Vector:
    """The same value in every row."""
    if value is None:
        return nulls(kind, rows)
    data: Array = np.empty(rows, numpy_kind(kind))
    data[:] = value
    return Vector(kind, data)


def nulls(kind: Type, rows: int) -> Vector:
    """NULL in every row."""
    return Vector(kind, filled(kind, rows), np.ones(rows, np.bool_))


def filled(kind: Type, rows: int) -> Array:
    """Data that stand for nothing: below NULLs and errors, and until there is something better."""
    data: Array = np.empty(rows, numpy_kind(kind))
    data[:] = _FILLERS.get(kind.name, 0)
    return data


def from_values(values: Sequence[object], kind: Type) -> Vector:
    """A column from Python values, None for NULL."""
    null = np.fromiter((value is None for value in values), np.bool_, len(values))
    filler = _FILLERS.get(kind.name, 0)
    data: Array = np.empty(len(values), numpy_kind(kind))
    data[:] = [filler if value is None else value for value in values]
    return Vector(kind, data, null if null.any() else None)


def to_values(vector: Vector) -> list[object]:
    """A column as Python values; errors must be gone by now."""
    values: list[object] = vector.data.tolist()
    if vector.null is None:
        return values
    return [None if missing else value for value, missing in zip(values, vector.null, strict=True)]


def codes(vector: Vector) -> Numbers:
    """A number per row, equal for values that are the same: NaN = NaN, -0.0 = 0.0, NULL = NULL (Q-8)."""
    if vector.type == DOUBLE:
        clean = np.where(np.isnan(vector.data), np.nan, vector.data + 0.0)
        found = clean.view(np.int64)
    elif vector.data.dtype == object:
        found = _numbered(vector.data)
    else:
        found = vector.data.astype(np.int64)
    if vector.null is None:
        return dense(found)
    return dense(np.where(vector.null, -1, dense(found)))


FEW_OBJECTS = 512


def _numbered(objects: Array) -> Numbers:
    """A number per object, equal for equal ones; many are numbered by pandas, which takes a moment to load."""
    if len(objects) > FEW_OBJECTS:
        import pandas as pd

        found: Numbers = pd.factorize(objects)[0].astype(np.int64)
        return found
    seen: dict[object, int] = {}
    return np.fromiter((seen.setdefault(value, len(seen)) for value in objects), np.int64, len(objects))


def dense(numbers: Numbers) -> Numbers:
    """The same classes, numbered from 0 in their order; by a table where they lie close together, else by sorting."""
    if len(numbers) == 0:
        return numbers
    least, span = int(numbers.min()), int(numbers.max()) - int(numbers.min()) + 1
    if span > 4 * len(numbers) + 1024:
        return np.unique(numbers, return_inverse=True)[1].reshape(-1).astype(np.int64)
    present = np.zeros(span, np.int64)
    present[numbers - least] = 1
    return (np.cumsum(present) - 1)[numbers - least]


def distinct(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """The numbers that occur, in order, and for each number its place among them."""
    place = dense(numbers)
    found = np.empty(int(place.max(initial=-1)) + 1, np.int64)
    found[place] = numbers
    return found, place


def by_group(groups: Numbers) -> Numbers:
    """The rows by group, those of one group as they stand; few groups are sorted by counting."""
    kind = np.min_scalar_type(int(groups.max(initial=0)))
    return np.argsort(groups.astype(kind), kind="stable")


def rising(arrays: Sequence[Numbers]) -> Numbers:
    """All numbers once, in order; quick where the arrays themselves rise."""
    every = np.sort(np.concatenate([*arrays, np.zeros(0, np.int64)]), kind="stable").astype(np.int64)
    return every[np.r_[True, every[1:] != every[:-1]]] if len(every) else every


def combined_codes(columns: Sequence[Numbers], rows: int) -> Numbers:
    """One number per row for several columns together."""
    total = np.zeros(rows, np.int64)
    for column in columns:
        width = int(column.max(initial=-1)) + 1
        total = dense(total * max(width, 1) + column)
    return total


def representatives(vector: Vector) -> Vector:
    """-0.0 becomes 0.0: the one value that stands for its class."""
    return replace(vector, data=vector.data + 0.0) if vector.type == DOUBLE else vector


# ------------------------------------------------------------------------------ levels


@dataclass(slots=True)
class LevelTable:
    """The labels that occur, by number, and the lub of any set of them, each decided once."""

    lattice: Lattice
    labels: list[Level] = field(default_factory=list)
    numbers: dict[Level, int] = field(default_factory=dict)
    lubs: dict[frozenset[int], int] = field(default_factory=dict)

    def number(self, label: Level) -> int:
        """The number of a label, given at its first appearance."""
        if label not in self.numbers:
            self.numbers[label] = len(self.labels)
            self.labels.append(label)
        return self.numbers[label]

    def encode(self, labels: Sequence[Level]) -> Numbers:
        """Labels as numbers."""
        return np.fromiter((self.number(label) for label in labels), np.int64, len(labels))

    def lub(self, members: frozenset[int]) -> int:
        """The number of the lub of a set of labels; the bottom for none."""
        if members not in self.lubs:
            self.lubs[members] = self.number(self.lattice.lub_of(self.labels[member] for member in members))
        return self.lubs[members]

    def lub_of_pairs(self, left: Numbers, right: Numbers) -> Numbers:
        """Row by row, by table look-up: one decision per distinct pair."""
        if len(left) == 0:
            return left
        width = len(self.labels)
        pairs, where = distinct(left * width + right)
        found = [self.lub(frozenset(divmod(pair, width))) for pair in pairs.tolist()]
        result: Numbers = np.array(found, np.int64)[where]
        return result

    def lub_of_bits(self, sets: Numbers, known: Numbers) -> Numbers:
        """Row by row, a set of labels (bit k is the label ``known[k]``) to the number of its lub."""
        if len(sets) == 0:
            return sets
        found, where = distinct(sets)
        members = [[number for bit, number in enumerate(known.tolist()) if one >> bit & 1] for one in found.tolist()]
        result: Numbers = np.array([self.lub(frozenset(labels)) for labels in members], np.int64)[where]
        return result

    def lub_of_sets(self, present: npt.NDArray[np.bool_], known: Numbers) -> Numbers:
        """The same for more labels than a number has bits: one column per label of ``known``."""
        if len(present) == 0:
            return np.zeros(0, np.int64)
        sets, where = np.unique(np.packbits(present, axis=1), axis=0, return_inverse=True)
        unpacked = np.unpackbits(sets, axis=1, count=present.shape[1]).astype(np.bool_)
        found = np.array([self.lub(frozenset(known[row].tolist())) for row in unpacked], np.int64)
        result: Numbers = found[where.reshape(-1)]
        return result


@dataclass(slots=True)
class Failures:
    """What went wrong, by number from 1: the code, the problem and the place in the text."""

    found: dict[tuple[str, str, Span], int] = field(default_factory=dict)

    def number(self, code: str, problem: str, span: Span) -> int:
        """The number of a failure."""
        return self.found.setdefault((code, problem, span), len(self.found) + 1)

    def first_in_text(self, numbers: Set[int]) -> tuple[str, str, Span]:
        """Of several failures of one step, the one that stands first in the text (Q-10)."""
        chosen = [failure for failure, number in self.found.items() if number in numbers]
        return min(chosen, key=lambda failure: (failure[2].start, failure[2].end, failure[0], failure[1]))
