"""One continuous query on kernels: the tuples of an epoch in, its results out.

The state of a query is what its windows hold, and nothing else; every relation above them is computed for the epoch
as a changelog. So a batch may be cut anywhere between instants: advance(a) then advance(b) is advance(a + b).

Reads: plan, operators.  Read by: engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from tidegate.operators import emit
from tidegate.operators.aggregate import aggregated
from tidegate.operators.batch import BEFORE, NEVER, Arrived, Batch, Changes, stack
from tidegate.operators.difference import difference
from tidegate.operators.emit import Emitted
from tidegate.operators.evaluate import Evaluator
from tidegate.operators.failing import Failed, Failing
from tidegate.operators.join import joined
from tidegate.operators.memory import keep_freed
from tidegate.operators.scalar import Segments, beside, segments_of
from tidegate.operators.steps import Steps, TooManyBoundaries
from tidegate.operators.tables import (
    MICROSECONDS,
    empty,
    first_of_each,
    union,
    where,
    with_system_columns,
    without_scalars,
)
from tidegate.operators.timeline import sweep
from tidegate.operators.vector import Numbers, Vector, codes, combined_codes, constant, representatives
from tidegate.operators.windows import Held, advance, gathered
from tidegate.plan import nodes
from tidegate.plan.expressions import Expression, subqueries
from tidegate.plan.schema import Schema
from tidegate.plan.windows import Range, Unbounded

_STATELESS = (nodes.Project, nodes.Select, nodes.UnionAll, nodes.Windowed, nodes.Before, nodes.Scan, nodes.StreamOf)


@dataclass(slots=True)
class QueryKernel:
    """A query or sub-query. After ``advance`` its relation, steps and results of the epoch can be read."""

    plan: nodes.QueryPlan
    evaluator: Evaluator
    stored: Mapping[nodes.Node, Batch]
    as_relation: bool = False
    held: dict[nodes.Node, Held] = field(default_factory=dict)
    has_stepped: bool = False
    inner: dict[nodes.QueryPlan, QueryKernel] = field(init=False)
    every: tuple[nodes.Node, ...] = field(init=False)
    has_scalars: bool = field(init=False)
    is_stateless: bool = field(init=False)
    changes: Changes | None = field(init=False, default=None)
    steps: Steps = field(init=False)
    emitted: Emitted | None = field(init=False, default=None)
    failed: Failed | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        keep_freed()
        tables = nodes.tables_inside(self.plan)
        self.steps = Steps(0, 0)
        self.inner = {
            plan: QueryKernel(plan, self.evaluator, self.stored, as_relation=plan in tables)
            for plan in nodes.subplans(self.plan)
        }
        self.every = tuple(dict.fromkeys(nodes.walk(self.plan.root)))
        self.has_scalars = bool(nodes.scalar_subqueries(self.plan))
        self.is_stateless = self._is_stateless()

    def advance(self, arrived: Mapping[nodes.Scan, Arrived], last: int, now: int) -> Emitted:
        """Run the epoch (last, now]; in portions, if it has more boundaries than can be written out at once."""
        done, upto = list[Emitted](), now
        while True:
            before = self._state()
            try:
                done.append(self._run({scan: given.between(last, upto) for scan, given in arrived.items()}, last, upto))
            except TooManyBoundaries as found:
                self._restore(before)
                upto = found.instant
                continue
            if self.failed or upto == now:
                break
            last, upto = upto, min(now, upto + 2 * (upto - last))
        if len(done) > 1:
            rows = stack([one.rows for one in done])
            self.emitted = Emitted(rows, np.concatenate([one.instants for one in done]))
        assert self.emitted is not None
        return self.emitted

    def _run(self, arrived: Mapping[nodes.Scan, Arrived], last: int, now: int) -> Emitted:
        for query in self.inner.values():
            query._run(arrived, last, now)
        run = Epoch(self, arrived, last, now)
        self.changes = run.relation()
        self.has_stepped |= self.steps.exist
        self.emitted = run.emit(self.changes)
        inside = [query.failed for query in self.inner.values() if query.failed]
        self.failed = run.failing.first(inside, self.evaluator.failures)
        if self.failed:
            early = self.emitted.instants < self.failed.instant
            self.emitted = Emitted(self.emitted.rows.take(early), self.emitted.instants[early])
        return self.emitted

    def _state(self) -> list[tuple[dict[nodes.Node, Held], bool]]:
        """What it and its sub-queries hold; nothing of it is ever changed in place."""
        return [(dict(one.held), one.has_stepped) for one in self._tree()]

    def _restore(self, state: list[tuple[dict[nodes.Node, Held], bool]]) -> None:
        for one, (held, has_stepped) in zip(self._tree(), state, strict=True):
            one.held, one.has_stepped = held, has_stepped

    def _tree(self) -> Iterator[QueryKernel]:
        yield self
        for query in self.inner.values():
            yield from query._tree()

    def printed(self) -> Emitted:
        """The results of the epoch in printed order."""
        assert self.emitted is not None
        return emit.in_printed_order(self.emitted, self.plan.columns, self.evaluator.levels)

    def state_bytes(self) -> int:
        """About how much memory its windows hold, those of sub-queries included."""
        own = sum(held.bytes for held in self.held.values())
        return own + sum(inner.state_bytes() for inner in self.inner.values())

    def _is_stateless(self) -> bool:
        """Selecting and projecting tuples that never leave: nothing has to be kept."""
        unbounded = all(isinstance(node.window, Unbounded) for node in self.every if isinstance(node, nodes.Windowed))
        plain = all(isinstance(node, _STATELESS) for node in self.every) and not self.has_scalars
        return unbounded and plain and self.plan.emit == nodes.ISTREAM and not self.as_relation


@dataclass(slots=True)
class Epoch:
    """One epoch of one query: computes the changelog of every node, bottom up."""

    query: QueryKernel
    arrived: Mapping[nodes.Scan, Arrived]
    last: int
    now: int
    failing: Failing = field(init=False)
    windows: dict[nodes.Node, Changes] = field(default_factory=dict)
    boundaries: list[Numbers] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.failing = Failing(self.last)

    # ---------------------------------------------------------------- windows and steps

    def relation(self) -> Changes:
        """Advance all windows, find the steps, compute the relation."""
        for node in self.query.every:
            if isinstance(node, nodes.Windowed):
                self._advance(node)
            elif isinstance(node, nodes.Panes):
                self._panes(node)
        self.query.steps = self._steps()
        return self.changes_of(self.query.plan.root)

    def _advance(self, node: nodes.Windowed) -> None:
        fresh = self._stream(node.input)
        if self.query.is_stateless:
            self.windows[node] = Changes(fresh.rows, fresh.instants, np.full(len(fresh.instants), NEVER))
            return
        done = advance(
            node.window, node.partition, self.query.held.get(node), fresh.rows, fresh.instants, self.last, self.now
        )
        self.query.held[node], self.windows[node] = done.held, done.changes
        if node.slides:
            self.boundaries.append(done.boundaries)

    def _stream(self, node: nodes.Node) -> Arrived:
        """The tuples that reach a window; conditions before it are tested here (Q-4)."""
        match node:
            case nodes.Before(below, condition):
                return self._kept(self._stream(below), condition)
            case nodes.StreamOf(plan):
                given = self.query.inner[plan].printed()
                return Arrived(with_system_columns(given.rows, given.instants, node.schema), given.instants)
            case nodes.Scan():
                return self.arrived.get(node) or Arrived(empty(node.schema), np.zeros(0, np.int64))
            case _:
                raise TypeError(f"{type(node).__name__} is not a stream")

    def _kept(self, stream: Arrived, condition: Expression) -> Arrived:
        tested = self.query.evaluator.evaluate(condition, stream.rows)
        self.failing.note([tested], stream.instants)
        kept = np.flatnonzero(tested.is_true())
        return Arrived(stream.rows.take(kept), stream.instants[kept])

    def _steps(self) -> Steps:
        """Q-2: arrivals on streams that are read, tuples let go, slide boundaries; those of sub-queries too."""
        every, inner = self.query.every, [query.steps for query in self.query.inner.values()]
        found = [self.arrived[node].instants for node in every if isinstance(node, nodes.Scan) and node in self.arrived]
        for node in every:
            if isinstance(node, nodes.Windowed):
                found.append(self.windows[node].leave[self.windows[node].leave != NEVER])
            elif isinstance(node, nodes.Panes):
                found.append(self.windows[node].enter)
        found += [instants for steps in inner for instants in steps.instants]
        slides = self._slides().union(*(steps.slides for steps in inner))
        return Steps(self.last, self.now, tuple(found), slides)

    def _slides(self) -> frozenset[int]:
        """By how much its windows slide in time."""
        windows = (node.window for node in self.query.every if isinstance(node, nodes.Windowed))
        return frozenset(one.slide for one in windows if isinstance(one, Range) and one.slide is not None)

    @property
    def _first_step(self) -> int:
        """When the query's relation begins: BEFORE the epoch, at its first step, or NEVER so far."""
        return BEFORE if self.query.has_stepped else self.query.steps.first

    def _panes(self, node: nodes.Panes) -> None:
        """The tuples of panes that end in this epoch, there at the instant of the end only; the others are kept."""
        fresh = self._stream(node.input)
        every = gathered(self.query.held.get(node), fresh.rows, fresh.instants)
        width = node.seconds * MICROSECONDS
        ends = (every.instants // width + 1) * width
        closed, still_open = np.flatnonzero(ends <= self.now), np.flatnonzero(ends > self.now)
        self.query.held[node] = every.take(still_open)
        self.windows[node] = Changes(every.rows.take(closed), ends[closed], ends[closed] + 1)

    # ---------------------------------------------------------------- nodes

    def changes_of(self, node: nodes.Node) -> Changes:
        """The changelog of a node."""
        match node:
            case nodes.Windowed():
                return self.windows[node]
            case nodes.RelationScan():
                rows = self.query.stored[node]
                return (
                    Changes(rows, np.full(len(rows), self._first_step), np.full(len(rows), NEVER))
                    if self._first_step != NEVER
                    else Changes(rows.take(np.zeros(0, np.int64)), np.zeros(0, np.int64), np.zeros(0, np.int64))
                )
            case nodes.RelationOf(plan):
                return self._table_of(plan, node.schema)
            case nodes.Select(below, condition, beside):
                return self._selected(self.changes_of(below), condition, beside)
            case nodes.Join(parts, condition):
                return self._joined([self.changes_of(part) for part in parts], condition)
            case nodes.Aggregate(below):
                return self._grouped(node, self.changes_of(below))
            case nodes.Panes():
                return self._grouped(node, self.windows[node])
            case nodes.Project(below, columns):
                return self._projected(self.changes_of(below), columns)
            case nodes.Distinct(below):
                return self._distinct(self.changes_of(below))
            case nodes.UnionAll(parts):
                return union([self.changes_of(part) for part in parts])
            case _:
                raise TypeError(f"{type(node).__name__} is not a relation")

    def _table_of(self, plan: nodes.QueryPlan, schema: Schema) -> Changes:
        inner = self.query.inner[plan].changes
        assert inner is not None
        return inner.with_rows(with_system_columns(inner.rows, inner.enter, schema))

    def _with_scalars(self, changes: Changes, expressions: tuple[Expression, ...]) -> Changes:
        """Cut lifetimes where a scalar sub-query changes, and raise levels by its row's (Q-6)."""
        if not self.query.has_scalars:
            return changes
        for scalar in dict.fromkeys(found for entry in expressions for found in subqueries(entry)):
            changes = beside(changes, scalar, self._segments(scalar.plan, scalar), self.query.evaluator.levels)
        return changes

    def _segments(self, plan: nodes.QueryPlan, place: Expression) -> Segments:
        inner = self.query.inner[plan].changes
        assert inner is not None
        return segments_of(inner, place, self.query.evaluator)

    def _selected(self, changes: Changes, condition: Expression, beside: tuple[Expression, ...] = ()) -> Changes:
        changes = self._with_scalars(changes, (condition, *beside))
        tested = self.query.evaluator.evaluate(condition, changes.rows)
        self.failing.note([tested], changes.enter)
        return without_scalars(changes.take(np.flatnonzero(tested.is_true())))

    def _joined(self, parts: list[Changes], condition: Expression | None) -> Changes:
        result = parts[0]
        for part in parts[1:]:
            result = joined(result, part, condition, self.query.evaluator.levels)
        return result if condition is None else self._selected(result, condition)

    def _projected(self, changes: Changes, columns: tuple[Expression, ...]) -> Changes:
        changes = self._with_scalars(changes, columns)
        vectors = [self.query.evaluator.evaluate(column, changes.rows) for column in columns]
        kept = self.failing.note(vectors, changes.enter)
        result = changes.with_rows(Batch(tuple(vectors), changes.rows.level))
        return result if kept is None else result.take(kept)

    def _distinct(self, changes: Changes) -> Changes:
        """One row while any of the same is there, at the lub of all (Q-6)."""
        groups = combined_codes([codes(column) for column in changes.rows.columns], len(changes))
        spans = sweep(groups, changes.enter, changes.leave)
        there = where(spans.count() > 0)
        member = first_of_each(groups)[spans.group[there]]
        columns = tuple(representatives(column.take(member)) for column in changes.rows.columns)
        level = spans.levels(changes.rows.level, self.query.evaluator.levels)[there]
        return Changes(Batch(columns, level), spans.start[there], spans.end[there])

    # ---------------------------------------------------------------- groups

    def _grouped(self, node: nodes.Aggregate | nodes.Panes, changes: Changes) -> Changes:
        changes = self._with_scalars(changes, node.expressions())
        evaluator, rows = self.query.evaluator, changes.rows
        keys = [evaluator.evaluate(key, rows) for key in node.keys]
        arguments = [evaluator.evaluate(call.argument, rows) if call.argument else None for call in node.calls]
        kept = self._usable(keys, [argument for argument in arguments if argument is not None], changes.enter)
        if kept is not None:
            changes, keys = changes.take(kept), [key.take(kept) for key in keys]
            arguments = [None if argument is None else argument.take(kept) for argument in arguments]
        groups = combined_codes([codes(key) for key in keys], len(changes))
        if isinstance(node, nodes.Aggregate) and not node.grouped:
            alone = self._one_group(node, changes, arguments)
            reasons = (*node.expressions(), *nodes.conditions_below(node.input))
            return without_scalars(self._with_scalars(alone, reasons))
        spans = sweep(groups, changes.enter, changes.leave)
        there = where(spans.count() > 0)
        member = first_of_each(groups)[spans.group[there]]
        results = [
            aggregated(call, argument, spans, groups, evaluator, (changes.enter, changes.leave)).take(there)
            for call, argument in zip(node.calls, arguments, strict=True)
        ]
        level = spans.levels(changes.rows.level, evaluator.levels)[there]
        columns = (*(representatives(key.take(member)) for key in keys), *results)
        return Changes(Batch(columns, level), spans.start[there], spans.end[there])

    def _usable(self, keys: list[Vector], arguments: list[Vector], enter: Numbers) -> Numbers | None:
        """The rows without an error in a key or an argument, None for all; first keys, then arguments (Q-9)."""
        found = [kept for one in (keys, arguments) if (kept := self.failing.note(one, enter)) is not None]
        return reduce(np.intersect1d, found) if found else None

    def _one_group(self, node: nodes.Aggregate, changes: Changes, arguments: list[Vector | None]) -> Changes:
        """Q-7: an ungrouped aggregate has one row from the first step on, empty or not."""
        first = self._first_step
        if first == NEVER:
            return Changes(empty(node.schema), np.zeros(0, np.int64), np.zeros(0, np.int64))
        evaluator, groups = self.query.evaluator, np.zeros(len(changes), np.int64)
        spans = sweep(groups, changes.enter, changes.leave)
        results = [
            aggregated(call, argument, spans, groups, evaluator, (changes.enter, changes.leave))
            for call, argument in zip(node.calls, arguments, strict=True)
        ]
        level = spans.levels(changes.rows.level, evaluator.levels)
        filled = Changes(Batch(tuple(results), level), spans.start, spans.end)
        if len(spans.start) and spans.start[0] <= first:
            return filled
        end = int(spans.start[0]) if len(spans.start) else int(NEVER)
        lead = Changes(self._nothing(node), np.array([first]), np.array([end]))
        return union([lead, filled])

    def _nothing(self, node: nodes.Aggregate) -> Batch:
        columns = [constant(0 if call.name == "COUNT" else None, call.type, 1) for call in node.calls]
        bottom = self.query.evaluator.levels.number(self.query.evaluator.levels.lattice.bottom)
        return Batch(tuple(columns), np.array([bottom], np.int64))

    # ---------------------------------------------------------------- results

    def emit(self, changes: Changes) -> Emitted:
        """The stream of this epoch, by the query's R2S operator (Q-5)."""
        plan, levels = self.query.plan, self.query.evaluator.levels
        if plan.emit == nodes.PANES:
            return emit.by_instant(changes.rows, changes.enter)
        if plan.emit == nodes.RSTREAM:
            return emit.snapshots(changes, self.query.steps.during(changes))
        if plan.emit == nodes.SLIDES:
            slides = Steps(self.last, self.now, tuple(self.boundaries), self._slides())
            return emit.snapshots(changes, slides.during(changes))
        return difference(changes, plan.columns, levels, inserted=plan.emit == nodes.ISTREAM)
