"""One continuous query, step by step (Q-2, Q-5).

Reads: plan, reference.  Read by: processor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tidegate.plan import nodes
from tidegate.plan.expressions import Expression
from tidegate.plan.schema import Schema
from tidegate.reference.evaluate import Scalar, World, is_true
from tidegate.reference.panes import PaneState
from tidegate.reference.relations import difference, rows_of
from tidegate.reference.rows import Row, Tuple, matters, printed_order, row_json
from tidegate.reference.windows import WindowState, new_state
from tidegate.scalars.values import Failure

Arrivals = Mapping[nodes.Scan, list[Tuple]]
Stored = Mapping[nodes.Node, list[Row]]

_STATELESS = (nodes.Project, nodes.Select, nodes.UnionAll, nodes.Windowed, nodes.Before, nodes.Scan, nodes.StreamOf)


@dataclass(slots=True)
class Stepped:
    """What a step gave: rows with ``+`` or ``-``, in printed order."""

    operation: str
    rows: list[Row]


@dataclass(slots=True)
class QueryState:
    """A query or sub-query while it runs: its windows, its sub-queries and its last relation."""

    plan: nodes.QueryPlan
    world: World
    stored: Stored
    as_relation: bool = False
    windows: dict[nodes.Windowed, WindowState] = field(init=False)
    panes: dict[nodes.Panes, PaneState] = field(init=False)
    inner: dict[nodes.QueryPlan, QueryState] = field(init=False)
    relation: list[Row] = field(init=False, default_factory=list)
    emitted: list[Row] = field(init=False, default_factory=list)
    stepped_now: bool = field(init=False, default=False)
    has_stepped: bool = field(init=False, default=False)
    is_stateless: bool = field(init=False)

    def __post_init__(self) -> None:
        every = list(nodes.walk(self.plan.root))
        self.windows = {
            node: new_state(node.window, node.partition) for node in every if isinstance(node, nodes.Windowed)
        }
        self.panes = {node: PaneState(node.seconds) for node in every if isinstance(node, nodes.Panes)}
        tables = nodes.tables_inside(self.plan)
        self.inner = {
            plan: QueryState(plan, self.world, self.stored, as_relation=plan in tables)
            for plan in nodes.subplans(self.plan)
        }
        self.is_stateless = self._is_stateless()

    # ---------------------------------------------------------------- steps

    def step(self, now: int, arrivals: Arrivals) -> Stepped | None:
        """Advance to an instant; the rows of the step if there is one. Raises Suspended if an error matters (Q-9).

        Q-2: a step is made by a tuple on a stream that is read, whether or not a condition keeps it, by a window that
        lets a tuple go, and by a slide boundary; by those of sub-queries too.
        """
        for query in self.inner.values():
            query.step(now, arrivals)
        arrived = any(arrivals.get(scan) for scan in nodes.scans(self.plan))
        moved = [self._advance(node, now, arrivals) for node in self.windows]
        flushed = [state.advance(now, self._stream(node.input, now, arrivals)) for node, state in self.panes.items()]
        inside = any(query.stepped_now for query in self.inner.values())
        self.stepped_now = arrived or any(moved) or any(flushed) or inside
        self.emitted = []
        return self._emit() if self.stepped_now else None

    def _advance(self, node: nodes.Windowed, now: int, arrivals: Arrivals) -> bool:
        state = self.windows[node]
        fresh = self._stream(node.input, now, arrivals)
        if self.is_stateless:
            state.held = fresh
            return False
        left = state.advance(now, fresh)
        return left or (state.at_boundary and node.slides)

    def _stream(self, node: nodes.Node, now: int, arrivals: Arrivals) -> list[Tuple]:
        """The tuples of this instant that reach a window: conditions before it are tested here (Q-4)."""
        match node:
            case nodes.Before(below, condition):
                return self._kept(self._stream(below, now, arrivals), condition)
            case nodes.StreamOf(plan):
                return [derived_tuple(now, row, node.schema) for row in self.inner[plan].emitted]
            case nodes.Scan():
                return list(arrivals.get(node, ()))
            case _:
                raise TypeError(f"{type(node).__name__} is not a stream")

    def _kept(self, tuples: list[Tuple], condition: Expression) -> list[Tuple]:
        failures: list[Failure] = []
        kept = [tuple_ for tuple_ in tuples if is_true(condition, tuple_.row, self.world, failures)]
        matters(failures)
        return kept

    def next_event(self, after: int, every_boundary: bool = False) -> int | None:
        """The next instant at which this query steps by itself."""
        every = every_boundary or self.plan.emit in (nodes.RSTREAM, nodes.SLIDES) or not self.has_stepped
        own = [state.next_event(after, every) for state in self.windows.values()]
        own += [state.next_event() for state in self.panes.values()]
        own += [query.next_event(after, every) for query in self.inner.values()]
        return min((event for event in own if event is not None), default=None)

    # ---------------------------------------------------------------- relations

    def _rows(self) -> list[Row]:
        leaves = dict(self.stored)
        for windowed, window in self.windows.items():
            leaves[windowed] = [tuple_.row for tuple_ in window.held]
        for node in nodes.walk(self.plan.root):
            if isinstance(node, nodes.RelationOf):
                leaves[node] = [derived_row(row) for row in self.inner[node.plan].relation]
        scalars = {scalar: self._scalar(scalar.plan, scalar) for scalar in nodes.scalar_subqueries(self.plan)}
        world = replace(self.world, scalars=scalars)
        for paned, panes in self.panes.items():
            leaves[paned] = panes.rows(paned, world)
        return rows_of(self.plan.root, leaves, world)

    def _scalar(self, plan: nodes.QueryPlan, place: Expression) -> Scalar:
        """Q-7: a scalar sub-query has one row or is NULL; more is an error."""
        rows = self.inner[plan].relation
        level = self.world.lattice.lub_of(row.level for row in rows)
        if len(rows) > 1:
            return Scalar(Failure("SCALAR_MANY_ROWS", "a scalar sub-query has more than one row", place.span), level)
        return Scalar(rows[0].values[0] if rows else None, level)

    # ---------------------------------------------------------------- relation to stream

    def _emit(self) -> Stepped:
        """Q-5: ISTREAM and DSTREAM are the difference of consecutive steps, RSTREAM is the whole relation."""
        self.has_stepped = True
        before, self.relation = self.relation, self._rows()
        operation, rows = "+", self.relation
        if self.is_stateless or self.plan.emit == nodes.PANES:
            self.relation = []
        elif self.plan.emit == nodes.ISTREAM:
            rows = difference(self.relation, before, self._text)
        elif self.plan.emit == nodes.DSTREAM:
            operation, rows = "-", difference(before, self.relation, self._text)
        elif self.plan.emit == nodes.SLIDES and not self._at_slide():
            rows = []
        self.emitted = printed_order(rows, self.plan.columns)
        return Stepped(operation, self.emitted)

    def _text(self, row: Row) -> str:
        return repr(row_json(row, self.plan.columns))

    def _at_slide(self) -> bool:
        return any(state.at_boundary for node, state in self.windows.items() if node.slides)

    def _is_stateless(self) -> bool:
        """Selecting and projecting tuples that never leave: the new rows of a step are those of the new tuples.

        This is the one shortcut of the reference; without it the plainest query would keep all that ever arrived.
        """
        return (
            self.plan.emit == nodes.ISTREAM
            and not self.as_relation
            and not nodes.scalar_subqueries(self.plan)
            and all(isinstance(node, _STATELESS) for node in nodes.walk(self.plan.root))
            and all(type(state) is WindowState for state in self.windows.values())
        )


def derived_tuple(now: int, row: Row, schema: Schema) -> Tuple:
    """Q-14: a derived row carries the step's instant; behind its columns stand its level and its time."""
    time = (now // 1_000_000,) if schema[-1].hidden and schema[-1].name == "time" else ()
    return Tuple(now, Row((*row.values, row.level, *time), row.level))


def derived_row(row: Row) -> Row:
    """A row of a sub-query as a row of a relation: its level stands behind its columns."""
    return Row((*row.values, row.level), row.level)
