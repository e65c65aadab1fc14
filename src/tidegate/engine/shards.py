"""Shards: which part of a level's work runs where (DESIGN 7).

A window that counts all tuples needs them all in one order: such a query runs on one shard. A query whose windows and
groups are keyed runs on every shard, each with the tuples of its keys. What can fail runs on the shard that reads the
statements, with everything that reads derived streams: whether START finds a query running must not depend on where
another shard has got to.

Reads: catalog, plan, operators.  Read by: engine.
"""

from __future__ import annotations

import zlib

import numpy as np

from tidegate.catalog import RegisteredQuery, Table
from tidegate.operators.batch import Batch
from tidegate.operators.vector import LevelTable, Numbers, Vector
from tidegate.plan import nodes
from tidegate.plan.explain import headline
from tidegate.plan.expressions import Aggregate as Call
from tidegate.plan.expressions import Column, can_fail
from tidegate.plan.types import DOUBLE, LEVEL
from tidegate.plan.windows import Rows

HOME = 0
"""The shard that reads the statements."""

EVERYWHERE = -1


def place(entry: RegisteredQuery | Table, shards: int) -> int:
    """The shard of a query or derived stream, or EVERYWHERE."""
    plan = entry.plan
    if plan is None or shards == 1 or isinstance(entry, Table) or _may_fail(plan) or _reads_derived(plan):
        return HOME
    return EVERYWHERE if split_columns(plan) else _turn(plan) % shards


def _turn(plan: nodes.QueryPlan) -> int:
    """Queries with the same windows go to the same shard: there they are held once, whoever asks."""
    windows = {
        " ".join(headline(below) for below in nodes.walk(node.input if isinstance(node, nodes.Panes) else node))
        for inner in nodes.every_plan(plan)
        for node in nodes.walk(inner.root)
        if isinstance(node, nodes.Windowed | nodes.Panes)
    }
    return zlib.crc32("\n".join(sorted(windows)).encode())


def _reads_derived(plan: nodes.QueryPlan) -> bool:
    return any(scan.serial for scan in nodes.scans(plan))


def _may_fail(plan: nodes.QueryPlan) -> bool:
    """Whether some input could suspend the query (Q-9)."""
    for inner in nodes.every_plan(plan):
        for node in nodes.walk(inner.root):
            calls = node.calls if isinstance(node, nodes.Aggregate | nodes.Panes) else ()
            if any(map(can_fail, node.expressions())) or any(map(_total_may_overflow, calls)):
                return True
    return bool(nodes.scalar_subqueries(plan))


def _total_may_overflow(call: Call) -> bool:
    exact = call.argument is not None and call.argument.type != DOUBLE
    return call.name in ("SUM", "AVG", "VARIANCE", "STDDEV") and exact


def split_columns(plan: nodes.QueryPlan) -> tuple[int, ...]:
    """The columns of the only stream by whose values the query falls apart into independent ones; () if it does not.

    Each tuple's window and group must lie in one part. ISTREAM and DSTREAM take the difference of all rows together,
    so the columns must be in the result: rows of two parts are then never the same.
    """
    grouped, shown = _grouping(plan)
    if grouped is None or plan.emit not in (nodes.ISTREAM, nodes.DSTREAM, nodes.PANES) or nodes.subplans(plan):
        return ()
    keys = {key.index: place for place, key in enumerate(grouped.keys) if isinstance(key, Column)}
    if plan.emit != nodes.PANES:
        keys = {index: place for index, place in keys.items() if place in shown}
    below = grouped.input
    while isinstance(below, nodes.Select):
        below = below.input
    if isinstance(below, nodes.Windowed):
        if isinstance(below.window, Rows):
            keys = {index: place for index, place in keys.items() if index in below.partition}
        below = below.input
    while isinstance(below, nodes.Before):
        below = below.input
    return tuple(sorted(keys)) if isinstance(below, nodes.Scan) else ()


def _grouping(plan: nodes.QueryPlan) -> tuple[nodes.Aggregate | nodes.Panes | None, frozenset[int]]:
    """The node that groups, and which of its columns the query shows as they are."""
    node, shown = plan.root, frozenset[int]()
    if isinstance(node, nodes.Project):
        shown = frozenset(column.index for column in node.columns if isinstance(column, Column))
        node = node.input
    while isinstance(node, nodes.Select):
        node = node.input
    grouped = isinstance(node, nodes.Panes) or (isinstance(node, nodes.Aggregate) and node.grouped)
    return (node if grouped and isinstance(node, nodes.Aggregate | nodes.Panes) else None), shown


# ------------------------------------------------------------------------------ tuples

_MIX = np.uint64(0x9E3779B97F4A7C15)


def shard_numbers(rows: Batch, columns: tuple[int, ...], shards: int, levels: LevelTable) -> Numbers:
    """The shard of each tuple: the same for values that are the same (Q-8), in every process."""
    mixed = np.zeros(len(rows), np.uint64)
    for column in columns:
        mixed = (mixed ^ _hashes(rows.columns[column], levels)) * _MIX
        mixed ^= mixed >> np.uint64(29)
    return (mixed % np.uint64(shards)).astype(np.int64)


def _hashes(vector: Vector, levels: LevelTable) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    if vector.type == LEVEL:
        table = np.array([zlib.crc32(label.encode()) for label in levels.labels] or [0], np.uint64)
        found = table[vector.data]
    elif vector.data.dtype == object:
        texts = [zlib.crc32(value if isinstance(value, bytes) else str(value).encode()) for value in vector.data]
        found = np.array(texts, np.uint64)
    elif vector.type == DOUBLE:
        found = np.where(np.isnan(vector.data), np.nan, vector.data + 0.0).view(np.uint64)
    else:
        found = vector.data.astype(np.int64).view(np.uint64)
    return found if vector.null is None else np.where(vector.null, np.uint64(0), found)
