"""The nodes of a plan: what a query does, in the paper's vocabulary (M-11, M-13).

A node is its fields plus a derived schema; it is frozen, hashable and checked when built, so an invalid plan cannot
exist later. Streams become relations in windows (S2R), relations become relations (R2R), and the query plan says how
the last relation becomes a stream (R2S).

Reads: plan (schema, expressions, windows).  Read by: language, optimizer, reference, sharing, engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from tidegate.plan.expressions import Aggregate as AggregateCall
from tidegate.plan.expressions import Expression, ScalarSubquery, subqueries
from tidegate.plan.schema import Field, Schema, with_hidden
from tidegate.plan.types import BOOLEAN, NULL
from tidegate.plan.windows import Range, Rows, Window

Hashable = TypeVar("Hashable")


def hashed_once(cls: type[Hashable]) -> type[Hashable]:
    """Plans are keys of many tables and deep; a frozen one has the same hash for life, in one process."""
    compute = cls.__hash__

    def remembered(self: Hashable) -> int:
        found: int | None = self.__dict__.get(_HASH)
        if found is None:
            found = self.__dict__[_HASH] = compute(self)
        return found

    def without_hash(self: Hashable) -> dict[str, object]:
        """Strings hash differently in the next process."""
        return {name: value for name, value in self.__dict__.items() if name not in _NOT_KEPT}

    cls.__hash__ = remembered  # type: ignore[assignment]
    cls.__getstate__ = without_hash  # type: ignore[method-assign, assignment]
    return cls


_HASH = "hash, remembered"
_NOT_KEPT = (_HASH, "scalars", "inside", "scanned")  # what a plan finds again by looking through itself; no field


@hashed_once
@dataclass(frozen=True)
class Node:
    """One operator. ``inputs`` are its children, ``schema`` what it gives."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes that feed this one."""
        return ()

    @property
    def schema(self) -> Schema:
        """The columns of the result."""
        raise TypeError(f"{type(self).__name__} has no schema")

    def expressions(self) -> tuple[Expression, ...]:
        """The expressions that this node evaluates."""
        return ()


@hashed_once
@dataclass(frozen=True)
class Above(Node):
    """A node with one input, whose columns it passes on unless it says otherwise."""

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    @cached_property
    def schema(self) -> Schema:
        """The columns of the input."""
        return self.input.schema


# ------------------------------------------------------------------------------ streams


@hashed_once
@dataclass(frozen=True)
class Scan(Node):
    """The tuples of a stream that the query's level dominates.

    ``serial`` tells the stream from an earlier one of the same name: who read that one saw it end (Q-14).
    """

    name: str
    level: str
    fields: Schema
    serial: int = 0

    @cached_property
    def schema(self) -> Schema:
        """The declared columns, then ``level`` and ``time``."""
        return with_hidden(self.fields, instants=True)


@hashed_once
@dataclass(frozen=True)
class StreamOf(Node):
    """A sub-query as a stream: the rows that it emits (Q-7)."""

    plan: QueryPlan

    @cached_property
    def schema(self) -> Schema:
        """The columns of the sub-query, then ``level`` and ``time``."""
        return with_hidden(self.plan.columns, instants=True)


@hashed_once
@dataclass(frozen=True)
class Before(Above):
    """A condition before the window: it uses the tuple and nothing else (Q-4)."""

    condition: Expression

    def __post_init__(self) -> None:
        assert self.condition.type in (BOOLEAN, NULL)

    def expressions(self) -> tuple[Expression, ...]:
        return (self.condition,)


@hashed_once
@dataclass(frozen=True)
class Windowed(Above):
    """A window: the stream's recent past as a relation (S2R)."""

    window: Window
    partition: tuple[int, ...] = ()

    @property
    def slides(self) -> bool:
        """Whether the window stands still between boundaries."""
        return isinstance(self.window, Range | Rows) and self.window.slide is not None


# ------------------------------------------------------------------------------ relations


@hashed_once
@dataclass(frozen=True)
class RelationScan(Node):
    """The rows of a stored relation that the query's level dominates."""

    name: str
    level: str
    fields: Schema

    @cached_property
    def schema(self) -> Schema:
        """The declared columns, then ``level``."""
        return with_hidden(self.fields, instants=False)


@hashed_once
@dataclass(frozen=True)
class RelationOf(Node):
    """A sub-query as a relation: its rows as of its last step."""

    plan: QueryPlan

    @cached_property
    def schema(self) -> Schema:
        """The columns of the sub-query, then ``level``."""
        return with_hidden(self.plan.columns, instants=False)


@hashed_once
@dataclass(frozen=True)
class Select(Above):
    """The rows for which the condition is true.

    ``beside`` are expressions whose scalar sub-queries count in the row's level as well: the SELECT list beside HAVING.
    """

    condition: Expression
    beside: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        assert self.condition.type in (BOOLEAN, NULL)

    def expressions(self) -> tuple[Expression, ...]:
        return (self.condition, *self.beside)


@hashed_once
@dataclass(frozen=True)
class Join(Node):
    """All combinations of rows for which the condition is true; their level is the lub."""

    parts: tuple[Node, ...]
    condition: Expression | None = None

    def __post_init__(self) -> None:
        assert len(self.parts) > 1

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.parts

    @cached_property
    def schema(self) -> Schema:
        """The columns of all parts, one after the other."""
        return tuple(column for part in self.parts for column in part.schema)

    def expressions(self) -> tuple[Expression, ...]:
        return (self.condition,) if self.condition else ()


@hashed_once
@dataclass(frozen=True)
class Aggregate(Above):
    """One row per group: its keys, then its aggregates. Without ``grouped`` there is one row, always."""

    keys: tuple[Expression, ...]
    calls: tuple[AggregateCall, ...]
    grouped: bool

    @cached_property
    def schema(self) -> Schema:
        """Keys and aggregates; people see the names that Project gives."""
        return _grouped_schema(self.keys, self.calls)

    def expressions(self) -> tuple[Expression, ...]:
        return (*self.keys, *(call.argument for call in self.calls if call.argument))


@hashed_once
@dataclass(frozen=True)
class Panes(Above):
    """``GROUP BY time/c``: one row per group of a pane [kc, (k+1)c), at its end, then forgotten (Q-3)."""

    seconds: int
    keys: tuple[Expression, ...]
    calls: tuple[AggregateCall, ...]

    @cached_property
    def schema(self) -> Schema:
        """Keys and aggregates, as of :class:`Aggregate`."""
        return _grouped_schema(self.keys, self.calls)

    def expressions(self) -> tuple[Expression, ...]:
        return (*self.keys, *(call.argument for call in self.calls if call.argument))


def _grouped_schema(keys: tuple[Expression, ...], calls: tuple[AggregateCall, ...]) -> Schema:
    named = [Field(f"key{n}", key.type) for n, key in enumerate(keys)]
    return (*named, *(Field(f"aggregate{n}", call.type) for n, call in enumerate(calls)))


@hashed_once
@dataclass(frozen=True)
class Project(Above):
    """The SELECT list: one expression per column, duplicates kept."""

    columns: tuple[Expression, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        assert len(self.columns) == len(self.names)

    @cached_property
    def schema(self) -> Schema:
        """Named by the query."""
        return tuple(Field(name, column.type) for name, column in zip(self.names, self.columns, strict=True))

    def expressions(self) -> tuple[Expression, ...]:
        return self.columns


@hashed_once
@dataclass(frozen=True)
class Distinct(Above):
    """One row for all equal ones; its level is the lub of them all (Q-6)."""


@hashed_once
@dataclass(frozen=True)
class UnionAll(Node):
    """The rows of all parts; the first part gives the names."""

    parts: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.parts

    @property
    def schema(self) -> Schema:
        return self.parts[0].schema


# ------------------------------------------------------------------------------ the whole

ISTREAM, DSTREAM, RSTREAM = "ISTREAM", "DSTREAM", "RSTREAM"
SLIDES = "RSTREAM at slides"  # the default of a sub-query whose window slides
PANES = "at the end of each pane"


@hashed_once
@dataclass(frozen=True)
class QueryPlan:
    """A query: its relation, and how that becomes a stream (R2S, Q-5)."""

    root: Node
    emit: str = ISTREAM
    text: str = field(default="", compare=False, repr=False)

    @property
    def columns(self) -> Schema:
        """The columns of the result."""
        return self.root.schema

    @cached_property
    def scalars(self) -> tuple[ScalarSubquery, ...]:
        """See :func:`scalar_subqueries`: asked at every step, found once."""
        found = (sub for node in walk(self.root) for entry in node.expressions() for sub in subqueries(entry))
        return tuple(dict.fromkeys(found))

    @cached_property
    def inside(self) -> tuple[QueryPlan, ...]:
        """See :func:`subplans`."""
        tables = [node.plan for node in walk(self.root) if isinstance(node, StreamOf | RelationOf)]
        return (*tables, *(sub.plan for sub in self.scalars))

    @cached_property
    def scanned(self) -> tuple[Scan, ...]:
        """See :func:`scans`."""
        own = [node for node in walk(self.root) if isinstance(node, Scan)]
        return (*own, *(scan for inner in self.inside for scan in inner.scanned))


def walk(node: Node) -> Iterator[Node]:
    """A node and the nodes below it; sub-queries are not entered."""
    yield node
    for child in node.inputs:
        yield from walk(child)


def scalar_subqueries(plan: QueryPlan) -> tuple[ScalarSubquery, ...]:
    """The distinct scalar sub-queries of a plan, those of its sub-queries left out."""
    return plan.scalars


def subplans(plan: QueryPlan) -> tuple[QueryPlan, ...]:
    """The plans directly inside a plan: sub-queries of FROM, then scalar ones."""
    return plan.inside


def conditions_below(node: Node) -> tuple[Expression, ...]:
    """The conditions of WHERE and of joins below a node, sub-queries not entered."""
    return tuple(entry for below in walk(node) if isinstance(below, Select | Join) for entry in below.expressions())


def tables_inside(plan: QueryPlan) -> frozenset[QueryPlan]:
    """The plans directly inside a plan whose relation is asked for, not only the rows that they emit."""
    tables = [node.plan for node in walk(plan.root) if isinstance(node, RelationOf)]
    return frozenset([*tables, *(sub.plan for sub in scalar_subqueries(plan))])


def every_plan(plan: QueryPlan) -> Iterator[QueryPlan]:
    """A plan and all plans inside it."""
    yield plan
    for inner in subplans(plan):
        yield from every_plan(inner)


def scans(plan: QueryPlan) -> tuple[Scan, ...]:
    """Every stream that a plan reads, sub-queries included."""
    return plan.scanned
