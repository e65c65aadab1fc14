"""Queries: from syntax to a plan, as one asker sees the world.

Reads: errors, catalog, plan, security, language.  Read by: execute, system.
"""

from __future__ import annotations

from dataclasses import replace

from tidegate.catalog import Catalog
from tidegate.errors import QueryError
from tidegate.language import syntax as sx
from tidegate.language.bind_expression import Context
from tidegate.language.bind_select import bind_select
from tidegate.language.coerce import widen
from tidegate.language.later import check_frequent, check_select_tags, is_frequent, not_yet
from tidegate.language.printer import print_query
from tidegate.plan import nodes
from tidegate.plan.expressions import Column
from tidegate.plan.schema import Schema
from tidegate.plan.types import Type, common_type
from tidegate.security.lattice import Level
from tidegate.text import Span


def bind_query(query: sx.Query, catalog: Catalog, asker: Level) -> nodes.QueryPlan:
    """The plan of a query, or one QueryError; only what the asker may see takes part (Q-12)."""
    context = Context(catalog, asker, lambda inner: bind_query(inner, catalog, asker))
    plan = replace(_bind(query, context, None), text=print_query(query))
    if not nodes.scans(plan):
        raise QueryError("STREAM_REQUIRED", "the query reads no stream, so it would never step", query.span,
                         "join the relation with a window of a stream")  # fmt: skip
    return plan


def _bind(query: sx.Query, context: Context, emit: str | None) -> nodes.QueryPlan:
    match query:
        case sx.Select():
            return _select(query, context, emit)
        case sx.Emitted(outer, inner):
            if emit is not None or (isinstance(inner, sx.Select | sx.Emitted) and inner.emit is not None):
                raise QueryError("NOT_SUPPORTED", "a query has one of ISTREAM, DSTREAM and RSTREAM", query.span)
            return _bind(inner, context, outer)
        case sx.Union(parts):
            return nodes.QueryPlan(_union(query, parts, context, emit), emit or nodes.ISTREAM)
        case sx.SelectTags():
            raise check_select_tags(query, context)


def _select(select: sx.Select, context: Context, emit: str | None) -> nodes.QueryPlan:
    select = replace(select, emit=emit or select.emit)
    if is_frequent(select):
        raise check_frequent(select, context)
    root = bind_select(select, context)
    if select.with_tags:
        raise not_yet("tags", select.span)
    if not any(isinstance(node, nodes.Panes) for node in nodes.walk(root)):
        return nodes.QueryPlan(root, select.emit or nodes.ISTREAM)
    if select.emit == nodes.DSTREAM:
        raise QueryError("BAD_PANES", "a pane is emitted once and then forgotten: nothing is ever deleted", select.span,
                         "leave DSTREAM out")  # fmt: skip
    return nodes.QueryPlan(root, nodes.PANES)


def _union(union: sx.Union, parts: tuple[sx.Query, ...], context: Context, emit: str | None) -> nodes.Node:
    for part in parts:
        if isinstance(part, sx.Emitted) or (isinstance(part, sx.Select) and part.emit is not None):
            raise QueryError("UNION_MISMATCH", "ISTREAM, DSTREAM and RSTREAM stand around a union", part.span,
                             "write ISTREAM(SELECT … UNION ALL SELECT …)")  # fmt: skip
    plans = [_bind(part, context, emit) for part in parts]
    if any(plan.emit == nodes.PANES for plan in plans):
        raise QueryError(
            "BAD_PANES", "GROUP BY time/c cannot be part of a union", union.span, "derive a stream from it first"
        )
    kinds = _common_types([plan.columns for plan in plans], union.span)
    return nodes.UnionAll(tuple(_as_types(plan.root, kinds, plans[0].columns) for plan in plans))


def _common_types(schemas: list[Schema], span: Span) -> list[Type]:
    if len({len(schema) for schema in schemas}) > 1:
        raise QueryError("UNION_MISMATCH", "the parts of a union have different numbers of columns", span)
    kinds: list[Type] = []
    for columns in zip(*schemas, strict=True):
        kind: Type | None = columns[0].type
        for column in columns[1:]:
            kind = common_type(kind, column.type) if kind else None
        if kind is None:
            raise QueryError(
                "UNION_MISMATCH", f'column "{columns[0].name}" has types that do not fit', span, "write CAST"
            )
        kinds.append(kind)
    return kinds


def _as_types(root: nodes.Node, kinds: list[Type], names: Schema) -> nodes.Node:
    """A part of a union in the common types, under the names of the first part."""
    columns = tuple(
        widen(Column(n, field.name, type=field.type), kind)
        for n, (field, kind) in enumerate(zip(root.schema, kinds, strict=True))
    )
    wanted = tuple(field.name for field in names)
    if [field.type for field in root.schema] == kinds and tuple(field.name for field in root.schema) == wanted:
        return root
    return nodes.Project(root, columns, wanted)
