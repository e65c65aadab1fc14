"""SELECT: from clauses to a tree of nodes.

The order is the order of meaning: sources and their windows, conditions in their three places (Q-4), groups and
aggregates, the SELECT list, DISTINCT.

Reads: errors, plan, language.  Read by: binder.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tidegate.errors import QueryError
from tidegate.language import syntax as sx
from tidegate.language.bind_expression import ROW, TUPLE, UNCLEAR, Context, ExpressionBinder
from tidegate.language.bind_groups import Grouping, has_aggregate, pane_seconds
from tidegate.language.naming import Named, name_columns
from tidegate.language.scope import Scope
from tidegate.language.sources import BoundSource, bind_sources
from tidegate.plan import expressions as ex
from tidegate.plan import nodes
from tidegate.plan.conjuncts import conjuncts
from tidegate.plan.windows import Rows


@dataclass(frozen=True)
class SelectBinder:
    """Binds one SELECT whose FROM is known."""

    select: sx.Select
    context: Context
    sources: list[BoundSource]
    scope: Scope

    def bind(self) -> nodes.Node:
        """The relation of this SELECT."""
        if self.pane:
            return self._finish(self._grouped())
        _check_windows(self.select, self.sources, aggregated=self.aggregated)
        return self._finish(self._grouped() if self.aggregated else (self._relation(), None))

    # ---------------------------------------------------------------- conditions

    @property
    def _where_level(self) -> str:
        return UNCLEAR if self.scope.is_join else TUPLE

    def _conditions(self) -> tuple[ex.Expression, ...]:
        """What is tested after the windows: JOIN … ON and WHERE, as written. Panes have no window to be after."""
        binder = ExpressionBinder(self.context, self.scope, self._where_level, subqueries=self.pane is None)
        written = [source.source.condition for source in self.sources] + [self.select.where]
        return tuple(binder.condition(node, "WHERE") for node in written if node is not None)

    def _before(self) -> tuple[ex.Expression, ...]:
        """The conjuncts of WHERE before FROM."""
        if self.select.before is None:
            return ()
        binder = ExpressionBinder(self.context, self.scope, self._where_level, subqueries=self.scope.is_join)
        bound = binder.condition(self.select.before, "WHERE")
        return conjuncts(bound) if self.scope.is_join else (bound,)

    def _relation(self) -> nodes.Node:
        """Sources under their windows, joined, with every condition in its place."""
        early: list[list[ex.Expression]] = [[] for _ in self.sources]
        late: list[ex.Expression] = []
        for conjunct in self._before():
            home = self._home(conjunct)
            (late if home is None else early[home]).append(conjunct)
        relations = [
            source.relation(tuple(ex.shift(part, -self.scope.parts[n].offset) for part in early[n]))
            for n, source in enumerate(self.sources)
        ]
        condition = ex.conjunction((*late, *self._conditions()))
        if len(relations) > 1:
            return nodes.Join(tuple(relations), condition)
        return nodes.Select(relations[0], condition) if condition else relations[0]

    def _home(self, conjunct: ex.Expression) -> int | None:
        """The one stream that a conjunct speaks of, or None if it belongs to the join."""
        used = {self._part_of(index) for index in ex.columns(conjunct)}
        if len(used) != 1 or any(ex.subqueries(conjunct)):
            return None
        home = used.pop()
        return home if self.sources[home].is_stream else None

    def _part_of(self, index: int) -> int:
        return max(n for n, part in enumerate(self.scope.parts) if part.offset <= index)

    # ---------------------------------------------------------------- groups

    @property
    def aggregated(self) -> bool:
        """Whether rows are groups: HAVING alone makes them so, as in SQL."""
        items = (item.expression for item in self.select.items if isinstance(item, sx.Item))
        return bool(self.select.group or self.select.having) or any(has_aggregate(node) for node in items)

    @property
    def pane(self) -> int | None:
        """The width in seconds where the query is grouped by time/c without a window."""
        source = self.sources[0]
        if len(self.sources) > 1 or not source.is_stream or source.window is not None:
            return None
        return pane_seconds(self.select.group, self.scope)

    def _grouped(self) -> tuple[nodes.Node, Grouping]:
        group = self.select.group or self._implied_group()
        seconds = self.pane
        level_is = ROW if self.scope.is_join else TUPLE
        grouping = Grouping.bind(group, self.context, self.scope, level_is)
        if seconds:
            source = self.sources[0]
            condition = ex.conjunction((*source.inside, *self._before(), *self._conditions()))
            stream = nodes.Before(source.node, condition) if condition else source.node
            return nodes.Panes(stream, seconds, grouping.keys, ()), grouping
        return nodes.Aggregate(self._relation(), grouping.keys, (), bool(group)), grouping

    def _implied_group(self) -> tuple[sx.GroupItem, ...]:
        """An aggregate over one PARTITIONED BY window is grouped by its partition attributes (Q-3)."""
        source = self.sources[0]
        if len(self.sources) > 1 or not isinstance(source.window, Rows):
            return ()
        span = source.source.span
        return tuple(sx.GroupItem(sx.Name((name,), span=span), span=span) for name in source.window.partition)

    # ---------------------------------------------------------------- the SELECT list

    def _finish(self, bound: tuple[nodes.Node, Grouping | None]) -> nodes.Node:
        node, grouping = bound
        binder = grouping.binder() if grouping else ExpressionBinder(self.context, self.scope, ROW)
        columns = self._columns(binder, grouping)
        names = name_columns(columns)
        having = self._having(binder, columns, names)
        if grouping and isinstance(node, nodes.Aggregate | nodes.Panes):
            node = replace(node, calls=tuple(grouping.calls))
        if having is not None:
            node = nodes.Select(
                node, having, tuple(column.bound for column in columns if any(ex.subqueries(column.bound)))
            )
        node = nodes.Project(node, tuple(column.bound for column in columns), names)
        return nodes.Distinct(node) if self.select.distinct else node

    def _columns(self, binder: ExpressionBinder, grouping: Grouping | None) -> list[Named]:
        columns: list[Named] = []
        for item in self.select.items:
            if isinstance(item, sx.Item):
                aliases = [entry.alias for entry in self.select.group if entry.alias]
                bound = binder.bind(item.expression)
                columns.append(Named.of(item, bound, self.scope, self.context, aliases))
            elif grouping:
                raise QueryError("NOT_GROUPED", "* cannot stand beside groups", item.span, "name the columns")
            else:
                columns += self._star(item)
        if not columns:
            raise QueryError("SYNTAX_ERROR", "SELECT gives no column", self.select.span)
        for column in columns:
            if column.bound.type.name == "interval":
                raise QueryError(
                    "TYPE_MISMATCH", "an interval cannot be a column", column.bound.span, "add it to a timestamp"
                )
        return columns

    def _star(self, item: sx.Star) -> list[Named]:
        found = self.scope.star(item.qualifier, item)
        return [
            Named(ex.Column(part.offset + n, field.name, type=field.type, span=item.span), field.name,
                  f"{part.alias}.{field.name}" if part.alias else field.name, fixed=False, span=item.span)
            for part, n, field in found
        ]  # fmt: skip

    def _having(self, binder: ExpressionBinder, columns: list[Named], names: tuple[str, ...]) -> ex.Expression | None:
        if self.select.having is None:
            return None
        aliased = {column.name.casefold(): column.bound for column in columns if column.fixed}

        def special(node: sx.Expression) -> ex.Expression | None:
            if isinstance(node, sx.Name) and len(node.parts) == 1 and not self.scope.matches(node):
                alias = aliased.get(node.parts[0].casefold())
                if alias is not None:
                    return alias
            return binder.special(node) if binder.special else None

        return replace(binder, special=special).condition(self.select.having, "HAVING")


def bind_select(select: sx.Select, context: Context) -> nodes.Node:
    """One SELECT as a relation."""
    _check_clauses(select)
    sources, scope = bind_sources(select, context)
    return SelectBinder(select, context, sources, scope).bind()


def _check_windows(select: sx.Select, sources: list[BoundSource], aggregated: bool) -> None:
    """Aggregates, DISTINCT, RSTREAM and joins need a window on every stream (Q-3)."""
    bare = next((source for source in sources if source.is_stream and source.window is None), None)
    if bare is None:
        return
    reason = (
        "a join" if len(sources) > 1
        else "an aggregate" if aggregated
        else "DISTINCT" if select.distinct
        else "RSTREAM" if select.emit == nodes.RSTREAM
        else None
    )  # fmt: skip
    if reason:
        name = bare.alias or "(SELECT …)"
        table = bare.node.name if isinstance(bare.node, nodes.Scan) else name
        alias = f" {bare.source.alias}" if bare.source.alias else ""
        raise QueryError("WINDOW_REQUIRED", f'{reason} needs a window on "{name}"', bare.source.span,
                         f"write for example {table} [ROWS 100]{alias} or {table} [RANGE 1 MINUTE]{alias}")  # fmt: skip


def _check_clauses(select: sx.Select) -> None:
    if select.above is not None:
        raise QueryError(
            "SYNTAX_ERROR", "ABOVE belongs to FREQUENT", select.span, "write HAVING for a condition on groups"
        )
    if select.every is not None and not select.group:
        raise QueryError("SYNTAX_ERROR", "EVERY … UPDATE … stands behind GROUP BY", select.span)
