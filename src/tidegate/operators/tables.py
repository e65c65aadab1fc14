"""Small things about tables: no rows, several together, and the columns that the system adds.

Reads: plan, operators (batch, vector).  Read by: query, processor.
"""

from __future__ import annotations

import numpy as np

from tidegate.operators.batch import Batch, Changes, stack
from tidegate.operators.vector import Mask, Numbers, Vector, constant
from tidegate.plan.schema import Schema
from tidegate.plan.types import BIGINT, LEVEL, Type

MICROSECONDS = 1_000_000


def where(mask: Mask) -> Numbers | slice:
    """The rows of a mask; all of them need no copy."""
    return slice(None) if mask.all() else np.flatnonzero(mask)


def first_of_each(groups: Numbers) -> Numbers:
    """The first row of each group."""
    member = np.zeros(int(groups.max(initial=-1)) + 1, np.int64)
    member[groups[::-1]] = np.arange(len(groups))[::-1]
    return member


def union(parts: list[Changes]) -> Changes:
    """All rows of all parts."""
    rows = stack([part.rows for part in parts])
    return Changes(rows, np.concatenate([part.enter for part in parts]), np.concatenate([part.leave for part in parts]))


def without_scalars(changes: Changes) -> Changes:
    """The columns alone: scalar sub-queries stand beside the rows of one node only."""
    return changes.with_rows(Batch(changes.rows.columns, changes.rows.level))


def empty(schema: Schema) -> Batch:
    """No rows of a schema."""
    return Batch(tuple(constant(_filler(column.type), column.type, 0) for column in schema), np.zeros(0, np.int64))


def _filler(kind: Type) -> object:
    return 0 if kind.name != "string" else ""


def with_system_columns(rows: Batch, instants: Numbers, schema: Schema) -> Batch:
    """Behind its columns a table has the level of each row and, if it is a stream, its time (Q-14)."""
    columns = [*rows.columns, Vector(LEVEL, rows.level)]
    if len(schema) > len(columns):
        columns.append(Vector(BIGINT, instants // MICROSECONDS))
    return Batch(tuple(columns), rows.level)
