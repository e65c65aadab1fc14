"""Levels by the column: dominance, comparison and least upper bounds over Arrow arrays.

Labels repeat, so the lattice is asked once per distinct label (or pair of labels) and the
answer is looked up for every tuple. A NULL or a text that names no level raises: such a tuple
should have been quarantined (Q-11), and no answer about it is safe. The error never says what
the text was (Q-9).

Reads: security.  Read by: the operators that filter, compare and derive levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidegate.errors import CaseError
from tidegate.security.lattice import COMPARISONS, Lattice, Level

Column: TypeAlias = pa.Array | pa.ChunkedArray
Numbers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A column of labels: the distinct levels, and for each tuple the number of its level."""

    levels: list[Level]
    numbers: Numbers


def dominated(column: Column, level: Level, lattice: Lattice) -> pa.BooleanArray:
    """For each label whether ``level`` dominates it: the read rule by the column (M-4)."""
    return compare(column, level, "<=", lattice)


def compare(left: Column | str, right: Column | str, operator: str, lattice: Lattice) -> pa.BooleanArray:
    """Compare labels by dominance (Q-4): columns of one length, a column and one level, or two levels.

    Incomparable levels give false for ``<=, <, >=, >``, so a negated order is not the reverse order.
    """
    decide = COMPARISONS[operator]
    pairs, numbers = _paired(left, right, lattice)
    answers = np.array([decide(lattice, a, b) for a, b in pairs], dtype=np.bool_)
    return pa.array(answers[numbers])


def lub_columns(left: Column | str, right: Column | str, lattice: Lattice) -> pa.StringArray:
    """The least upper bound of two labels, tuple by tuple, in canonical text (Q-6)."""
    pairs, numbers = _paired(left, right, lattice)
    bounds = pa.array([lattice.lub(a, b) for a, b in pairs], pa.string())
    return bounds.take(pa.array(numbers))


def encode(column: Column, lattice: Lattice) -> Encoded:
    """Number the levels of a column; refuses NULL and unknown labels that a tuple really has."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    if array.null_count:
        raise CaseError("a tuple has no level")
    used, numbers = _dense(np.asarray(array.indices, dtype=np.int64), len(array.dictionary))
    labels = array.dictionary.to_pylist()
    found = [lattice.find(labels[number]) for number in used]
    levels = [level for level in found if level is not None]
    if len(levels) < len(found):
        raise CaseError("the label of a tuple is not one of the levels")
    return Encoded(levels, numbers)


def _dense(numbers: Numbers, size: int) -> tuple[Numbers, Numbers]:
    """The numbers below ``size`` that occur, and every number as its place among them.

    A filtered dictionary column keeps entries that no tuple has; nothing is decided about those.
    """
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[numbers] = True
    place = np.cumsum(occurs, dtype=np.int64) - 1
    return np.flatnonzero(occurs).astype(np.int64), place[numbers]


def _paired(left: Column | str, right: Column | str, lattice: Lattice) -> tuple[list[tuple[Level, Level]], Numbers]:
    """Distinct pairs of levels, and for each tuple the number of its pair."""
    a, b = _side(left, lattice), _side(right, lattice)
    if not (isinstance(left, str) or isinstance(right, str)) and len(a.numbers) != len(b.numbers):
        raise ValueError(f"columns of {len(a.numbers)} and {len(b.numbers)} labels cannot be paired")
    numbers = a.numbers * len(b.levels) + b.numbers
    if len(a.levels) * len(b.levels) <= len(numbers):
        return list(product(a.levels, b.levels)), numbers
    # Many distinct labels, few tuples: decide only about the pairs that occur.
    present, places = np.unique(numbers, return_inverse=True)
    firsts, seconds = np.divmod(present, max(1, len(b.levels)))
    return [(a.levels[i], b.levels[j]) for i, j in zip(firsts, seconds, strict=True)], places.astype(np.int64)


def _side(labels: Column | str, lattice: Lattice) -> Encoded:
    """A column as it is; a single level as a column of one, which pairs with any length."""
    if isinstance(labels, str):
        return Encoded([lattice.level(labels)], np.zeros(1, dtype=np.int64))
    return encode(labels, lattice)
