"""Rows and tuples, and what happens when an error matters.

Reads: plan, scalars, security, values.  Read by: reference.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from tidegate.plan.schema import Schema
from tidegate.scalars.values import Failure, same
from tidegate.security.lattice import Level
from tidegate.values import write


class Suspended(Exception):
    """Q-9: the error matters now, so the query stops here."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.problem)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a relation: its values, and the lub of the levels that it was computed from (Q-6)."""

    values: tuple[object, ...]
    level: Level


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of a stream: a row at an instant."""

    instant: int
    row: Row


def matters(failures: list[Failure]) -> None:
    """Stop at the failure that stands first in the text: a function of the bag, not of any order (Q-10)."""
    if failures:
        raise Suspended(min(failures, key=lambda one: (one.span.start, one.span.end, one.code, one.problem)))


def key_of(values: tuple[object, ...]) -> tuple[object, ...]:
    """Values as a key; true and 1 are told apart by the types of their columns, which are equal."""
    return tuple(same(value) for value in values)


def row_json(row: Row, schema: Schema) -> dict[str, object]:
    """A row as CASES.md prints it, in SELECT order."""
    return {column.name: write(value, column.type) for column, value in zip(schema, row.values, strict=True)}


def printed_order(rows: list[Row], schema: Schema) -> list[Row]:
    """Rows of one step in the order of their JSON text; equal texts by level."""
    return sorted(rows, key=lambda row: (json.dumps(row_json(row, schema)), row.level))
