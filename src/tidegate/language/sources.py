"""FROM: streams under windows, relations, and sub-queries as either (Q-3, Q-7).

Reads: errors, catalog, plan, language.  Read by: bind_select.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tidegate.catalog import RELATION, TABLES, Table
from tidegate.errors import QueryError
from tidegate.language import syntax as sx
from tidegate.language.bind_expression import Context, ExpressionBinder
from tidegate.language.scope import Part, Scope
from tidegate.plan import nodes
from tidegate.plan.expressions import Column, Expression, RowLevel, conjunction
from tidegate.plan.schema import has, same_name
from tidegate.plan.windows import Rows, Unbounded, Window


@dataclass(frozen=True)
class BoundSource:
    """One entry of FROM: the stream or relation, its window, and the condition written inside the window."""

    alias: str | None
    node: nodes.Node
    source: sx.Source
    window: Window | None = None
    partition: tuple[int, ...] = ()
    inside: tuple[Expression, ...] = ()

    @property
    def is_stream(self) -> bool:
        """Whether it needs a window to become a relation."""
        return isinstance(self.node, nodes.Scan | nodes.StreamOf)

    def relation(self, before: tuple[Expression, ...] = ()) -> nodes.Node:
        """The relation that the rest of the query sees, conditions before the window applied."""
        if not self.is_stream:
            return self.node
        condition = conjunction((*self.inside, *before))
        stream = nodes.Before(self.node, condition) if condition else self.node
        return nodes.Windowed(stream, self.window or Unbounded(), self.partition)


def bind_sources(select: sx.Select, context: Context) -> tuple[list[BoundSource], Scope]:
    """All entries of FROM and the scope that they make."""
    every = _window_of_every(select)
    bound = [_bind_source(source, context, every) for source in select.sources]
    parts: list[Part] = []
    for entry in bound:
        if entry.alias is not None and any(part.alias and same_name(part.alias, entry.alias) for part in parts):
            raise QueryError("DUPLICATE_ALIAS", f'"{entry.alias}" stands twice in FROM', entry.source.span,
                             "give each its own name: FROM s [window] a, s [window] b")  # fmt: skip
        offset = sum(len(part.schema) for part in parts)
        parts.append(Part(entry.alias, entry.node.schema, offset))
    return bound, Scope(tuple(parts))


def _window_of_every(select: sx.Select) -> Window | None:
    """EVERY d UPDATE e is RANGE d SLIDE e on the one stream of the query."""
    if select.every is None:
        return None
    if len(select.sources) != 1 or select.sources[0].window is not None:
        raise QueryError("WINDOW_NOT_ALLOWED", "EVERY … UPDATE … is the window of the one stream in FROM", select.span,
                         "write RANGE … SLIDE … behind each stream instead")  # fmt: skip
    return select.every


def _bind_source(source: sx.Source, context: Context, every: Window | None) -> BoundSource:
    window = every or (source.window.window if source.window else None)
    node = _table(source, context, window)
    alias = source.alias or (source.table.name if isinstance(source.table, sx.Object) else None)
    if alias is not None and same_name(alias, "level"):
        raise QueryError("LEVEL_NOT_ASSIGNABLE", '"level" is a name of the system', source.span)
    if isinstance(node, nodes.Scan) and source.alias is None:
        alias = node.name
    bound = BoundSource(alias, node, source, window)
    if window is not None and not bound.is_stream:
        raise QueryError("WINDOW_NOT_ALLOWED", f'"{alias}" is a relation: it has no window', source.span)
    partition = _partition(window, node, source)
    return replace(bound, partition=partition, inside=_inside(bound, context))


def _table(source: sx.Source, context: Context, window: Window | None) -> nodes.Node:
    table = source.table
    if not isinstance(table, sx.Object):
        return _subquery(table, source, context, window)
    found = context.catalog.find(TABLES, table.name, context.asker, table.level, table.span)
    assert isinstance(found, Table)
    if found.kind == RELATION:
        return nodes.RelationScan(found.name, found.level, found.fields)
    return nodes.Scan(found.name, found.level, found.fields, found.serial)


def _subquery(query: sx.Query, source: sx.Source, context: Context, window: Window | None) -> nodes.Node:
    plan = context.bind_query(query)
    check_level_column(plan.root, source)
    if window is not None:
        return nodes.StreamOf(stream_of(plan, query))
    if written_emit(query) is not None or plan.emit == nodes.PANES:
        raise QueryError("WINDOW_REQUIRED", "this sub-query is a stream and needs a window", source.span,
                         "write a window behind it, for example (SELECT …) [ROWS 10]")  # fmt: skip
    return nodes.RelationOf(relation_of(plan))


def stream_of(plan: nodes.QueryPlan, query: sx.Query) -> nodes.QueryPlan:
    """A sub-query under a window: where no R2S is written, RSTREAM at slide boundaries or else ISTREAM."""
    if written_emit(query) is None and plan.emit != nodes.PANES and _slides(plan.root):
        return replace(plan, root=without_level(plan.root), emit=nodes.SLIDES)
    return relation_of(plan)


def relation_of(plan: nodes.QueryPlan) -> nodes.QueryPlan:
    """A plan whose result becomes a table: the level is the system's column, not one of its own."""
    return replace(plan, root=without_level(plan.root))


def without_level(root: nodes.Node) -> nodes.Node:
    """Leave out a selected ``level``: every table has it anyway (M-5)."""
    match root:
        case nodes.Project(below, columns, names):
            kept = [(c, n) for c, n in zip(columns, names, strict=True) if not same_name(n, "level")]
            return nodes.Project(below, tuple(c for c, _ in kept), tuple(n for _, n in kept))
        case nodes.Distinct() if has(root.schema, "level"):
            others = [(n, field) for n, field in enumerate(root.schema) if not same_name(field.name, "level")]
            shown = tuple(Column(n, field.name, type=field.type) for n, field in others)
            return nodes.Project(root, shown, tuple(field.name for _, field in others))
        case nodes.UnionAll(parts) if has(root.schema, "level"):
            return nodes.UnionAll(tuple(without_level(part) for part in parts))
        case _:
            return root


def check_level_column(root: nodes.Node, place: sx.Node) -> None:
    """A column named ``level`` may only be the row's own level: nobody assigns it (M-5)."""
    match root:
        case nodes.Project(_, columns, names):
            for column, name in zip(columns, names, strict=True):
                if same_name(name, "level") and not _is_own_level(root, column):
                    raise QueryError("LEVEL_NOT_ASSIGNABLE", "one tuple's level cannot become the row's",
                                     place.span, "give it another name: V.level AS v_level")  # fmt: skip
        case _:
            for child in root.inputs if isinstance(root, nodes.Distinct | nodes.UnionAll) else ():
                check_level_column(child, place)


def _is_own_level(project: nodes.Project, column: Expression) -> bool:
    single = not any(isinstance(node, nodes.Join | nodes.Aggregate | nodes.Panes) for node in nodes.walk(project.input))
    return isinstance(column, RowLevel) or (single and isinstance(column, Column))


def _slides(root: nodes.Node) -> bool:
    return any(isinstance(node, nodes.Windowed) and node.slides for node in nodes.walk(root))


def written_emit(query: sx.Query) -> str | None:
    """The R2S operator that a query writes, if any."""
    return query.emit if isinstance(query, sx.Select | sx.Emitted) else None


def _partition(window: Window | None, node: nodes.Node, source: sx.Source) -> tuple[int, ...]:
    if not isinstance(window, Rows):
        return ()
    scope = Scope((Part(None, node.schema, 0),))
    span = source.window.span if source.window else source.span
    return tuple(scope.resolve(sx.Name((name,), span=span)).index for name in window.partition)


def _inside(bound: BoundSource, context: Context) -> tuple[Expression, ...]:
    """The condition written in the window sees this stream only."""
    clause = bound.source.window
    if clause is None or clause.condition is None:
        return ()
    scope = Scope((Part(bound.alias, bound.node.schema, 0),))
    return (ExpressionBinder(context, scope, subqueries=False).condition(clause.condition, "the window's condition"),)
