"""Relation to stream: all that is there at some steps, and the order in which rows are printed (Q-5).

Rows of one instant are a bag. Whoever needs an order, a printer or a window over a derived stream, asks for the
printed one: it takes the JSON text of every row that meets another, which is far dearer than the rest.

Reads: plan, values, operators.  Read by: difference, query.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from tidegate.operators.batch import Batch, Changes
from tidegate.operators.vector import LevelTable, Numbers, Vector, to_values
from tidegate.plan.schema import Schema
from tidegate.plan.types import LEVEL
from tidegate.values import write


@dataclass(frozen=True, slots=True)
class Emitted:
    """Rows of a stream with their instants, which do not fall."""

    rows: Batch
    instants: Numbers


def snapshots(changes: Changes, steps: Numbers) -> Emitted:
    """RSTREAM: the whole relation at each of some steps."""
    first = np.searchsorted(steps, changes.enter, side="left")
    behind = np.searchsorted(steps, changes.leave, side="left")
    counts = np.maximum(behind - first, 0)
    rows = np.repeat(np.arange(len(changes)), counts)
    offset = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return by_instant(changes.rows.take(rows), steps[np.repeat(first, counts) + offset])


def by_instant(rows: Batch, instants: Numbers) -> Emitted:
    """Rows in the order of their instants."""
    if (instants[1:] >= instants[:-1]).all():
        return Emitted(rows, instants)
    order = np.argsort(instants, kind="stable")
    return Emitted(rows.take(order), instants[order])


def in_printed_order(emitted: Emitted, schema: Schema, levels: LevelTable) -> Emitted:
    """By instant, then by the JSON text of the row, then by level; texts are made only where two rows meet."""
    rows, instants = emitted.rows, emitted.instants
    order, ordered = np.arange(len(instants)), instants
    meets = np.zeros(len(order), np.bool_)
    if len(order) > 1:
        equal = ordered[1:] == ordered[:-1]
        meets[1:] |= equal
        meets[:-1] |= equal
    crowded = order[meets]
    if len(crowded):
        texts = row_texts(rows.take(crowded), schema, levels)
        labels = [levels.labels[number] for number in rows.level[crowded]]
        ranked = sorted(range(len(crowded)), key=lambda n: (instants[crowded[n]], texts[n], labels[n]))
        order[meets] = crowded[ranked]
    return Emitted(rows.take(order), instants[order])


def row_texts(rows: Batch, schema: Schema, levels: LevelTable) -> list[str]:
    """The JSON text of each row, as CASES.md prints it."""
    columns = [shown(vector, levels) for vector in rows.columns]
    names = [column.name for column in schema]
    return [json.dumps(dict(zip(names, values, strict=True))) for values in zip(*columns, strict=True)]


def shown(vector: Vector, levels: LevelTable) -> list[object]:
    """A column as JSON values."""
    values = to_values(vector)
    if vector.type == LEVEL:
        return [None if value is None else levels.labels[value] for value in values]  # type: ignore[call-overload]
    return [write(value, vector.type) for value in values]
