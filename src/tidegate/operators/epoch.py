"""One epoch of one query: the changelog of every node, bottom up.

With a common ground whatever another query has computed already is taken from there.

Reads: plan, operators.  Read by: query.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tidegate.operators import emit
from tidegate.operators.batch import BEFORE, NEVER, Arrived, Batch, Changes, arrived
from tidegate.operators.commons import Commons, View, Watchful, is_flexible, sound
from tidegate.operators.difference import difference
from tidegate.operators.emit import Emitted
from tidegate.operators.failing import Failing
from tidegate.operators.grouping import Grouping
from tidegate.operators.join import joined
from tidegate.operators.scalar import Segments, beside, segments_of
from tidegate.operators.steps import Steps
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
from tidegate.operators.vector import Numbers, codes, combined_codes, constant, representatives
from tidegate.operators.windows import Held, advance, gathered
from tidegate.plan import nodes
from tidegate.plan.expressions import Expression, subqueries
from tidegate.plan.schema import Schema
from tidegate.plan.windows import Range

if TYPE_CHECKING:
    from tidegate.operators.query import QueryKernel

PASSING = "passing"
"""Stands for a window that keeps nothing: it is the same for everybody."""


@dataclass(slots=True)
class Epoch:
    """The epoch (last, now] of a query."""

    query: QueryKernel
    arrived: Mapping[nodes.Scan, Arrived]
    last: int
    now: int
    commons: Commons | None = None
    failing: Failing = field(init=False)
    windows: dict[nodes.Node, Changes] = field(default_factory=dict)
    boundaries: list[Numbers] = field(default_factory=list)
    spots: dict[nodes.Node, Hashable] = field(default_factory=dict)
    """What each window's rows of this epoch depend on, beside its shape."""
    steps: Steps = field(init=False)

    def __post_init__(self) -> None:
        self.failing = Failing(self.last) if self.commons is None else Watchful(self.last)

    def whole(self) -> tuple[Changes, Steps, Emitted]:
        """The relation, the steps and the results, once the windows have advanced."""
        self.steps = self._steps()
        changes = self.changes_of(self.query.plan.root)
        return changes, self.steps, self.emit(changes)

    # ---------------------------------------------------------------- windows

    def advance_windows(self) -> None:
        """Take the tuples of the epoch into all windows."""
        for node in self.query.windows():
            if node in self.query.seats and self.commons is not None:
                self._advance_common(node, self.commons)
            elif self.query.is_stateless:
                fresh = self._stream(node.input)
                self.spots[node] = PASSING
                self.windows[node] = Changes(fresh.rows, fresh.instants, np.full(len(fresh.instants), NEVER))
            else:
                self.query.held[node], view = self._advanced(node, self.query.held.get(node))
                self._see(node, view.changes, view)

    def _advance_common(self, node: nodes.Windowed | nodes.Panes, commons: Commons) -> None:
        seat = self.query.seats[node]
        view = commons.once(seat.window.number, lambda: self._advance_once(node, commons))
        start, changes = view.behind(seat.start)
        self.spots[node] = (seat.window.number, start)
        self._see(node, changes, view)

    def keep_up(self) -> None:
        """Advance what others will go on with, though this query goes apart: nothing can go wrong here."""
        for node in self.query.seats:
            if self.commons is not None and isinstance(node, nodes.Windowed | nodes.Panes) and is_flexible(node):
                self._advance_common(node, self.commons)

    def _advance_once(self, node: nodes.Windowed | nodes.Panes, commons: Commons) -> View:
        window = self.query.seats[node].window
        held, view = self._advanced(node, window.until(commons.epoch))  # who went apart may have advanced it
        window.advanced(commons.epoch, held)
        return view

    def _see(self, node: nodes.Windowed | nodes.Panes, changes: Changes, view: View) -> None:
        self.windows[node] = changes
        if isinstance(node, nodes.Windowed) and node.slides:
            self.boundaries.append(view.boundaries)

    def _advanced(self, node: nodes.Windowed | nodes.Panes, held: Held | None) -> tuple[Held, View]:
        fresh = self._stream(node.input)
        if isinstance(node, nodes.Panes):
            return self._panes(node, held, fresh)
        done = advance(node.window, node.partition, held, fresh.rows, fresh.instants, self.last, self.now)
        return done.held, View(done.changes, done.sequence, done.boundaries)

    def _panes(self, node: nodes.Panes, held: Held | None, fresh: Arrived) -> tuple[Held, View]:
        """The tuples of panes that end in this epoch, there at the instant of the end only; the others are kept."""
        every = gathered(held, fresh.rows, fresh.instants)
        width = node.seconds * MICROSECONDS
        ends = (every.instants // width + 1) * width
        closed, still_open = where(ends <= self.now), np.flatnonzero(ends > self.now)
        changes = Changes(every.rows.take(closed), ends[closed], ends[closed] + 1)
        return every.take(still_open), View(changes, every.sequence[closed], np.zeros(0, np.int64))

    def _stream(self, node: nodes.Node) -> Arrived:
        """The tuples that reach a window; conditions before it are tested here (Q-4)."""
        match node:
            case nodes.Before(below):
                if self.commons is None:
                    return self._kept(self._stream(below), node)
                return self.commons.once(self._key(node), lambda: self._kept(self._stream(below), node))
            case nodes.StreamOf(plan):
                given = self.query.inner[plan].printed()
                return arrived(with_system_columns(given.rows, given.instants, node.schema), given.instants)
            case nodes.Scan():
                return self.arrived.get(node) or arrived(empty(node.schema), np.zeros(0, np.int64))
            case _:
                raise TypeError(f"{type(node).__name__} is not a stream")

    def _kept(self, stream: Arrived, node: nodes.Before) -> Arrived:
        known = stream.bits.all_of(self.query.conditions[node])
        if known is None:
            tested = self.query.evaluator.evaluate(node.condition, stream.rows)
            self.failing.note([tested], stream.instants)
            known = tested.is_true()
        return stream.take(where(known))

    # ---------------------------------------------------------------- steps

    def _steps(self) -> Steps:
        """Q-2: arrivals on streams that are read, tuples let go, slide boundaries; those of sub-queries too."""
        every, inner = self.query.every, [query.steps for query in self.query.inner.values()]
        found = [self.arrived[node].every for node in every if isinstance(node, nodes.Scan) and node in self.arrived]
        for node in every:
            if isinstance(node, nodes.Windowed):
                found.append(self.windows[node].leave)
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
    def first_step(self) -> int:
        """When the query's relation begins: BEFORE the epoch, at its first step, or NEVER so far."""
        return BEFORE if self.query.has_stepped else self.steps.first

    # ---------------------------------------------------------------- nodes

    def _key(self, node: nodes.Node) -> Hashable:
        """What the rows of a node depend on: two nodes with the same key give the same rows."""
        outline, inner = self.query.outlines[node], self.query.inner
        spots = tuple(self.spots[window] for window in outline.windows)
        contexts = tuple(inner[plan].context for plan in outline.inner)
        return (outline.shape, spots, contexts, self.first_step if outline.needs_first else None)

    def changes_of(self, node: nodes.Node) -> Changes:
        """The changelog of a node."""
        if self.commons is None or node in self.windows:
            return self._computed(node)
        return self.commons.once(self._key(node), lambda: sound(self._computed(node)))

    def _computed(self, node: nodes.Node) -> Changes:
        match node:
            case nodes.Windowed():
                return self.windows[node]
            case nodes.RelationScan():
                return self._stored(self.query.stored[node])
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

    def _stored(self, rows: Batch) -> Changes:
        if self.first_step == NEVER:
            return Changes(rows.take(slice(0)), np.zeros(0, np.int64), np.zeros(0, np.int64))
        return Changes(rows, np.full(len(rows), self.first_step), np.full(len(rows), NEVER))

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
        return without_scalars(changes.take(where(tested.is_true())))

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
        if len(changes) == 0 and not (isinstance(node, nodes.Aggregate) and not node.grouped):
            return Changes(empty(node.schema), changes.enter, changes.leave)
        grouping = self._grouping(node, changes)
        if isinstance(node, nodes.Aggregate) and not node.grouped:
            reasons = (*node.expressions(), *nodes.conditions_below(node.input))
            return without_scalars(self._with_scalars(self._one_group(node, grouping), reasons))
        spans, there = grouping.spans, grouping.there
        results = [grouping.value(call).take(there) for call in node.calls]
        return Changes(
            Batch((*grouping.key_columns, *results), grouping.levels[there]), spans.start[there], spans.end[there]
        )

    def _grouping(self, node: nodes.Aggregate | nodes.Panes, changes: Changes) -> Grouping:
        """The rows by group: computed once for all that group the same rows by the same keys, whatever they ask."""
        evaluator = self.query.evaluator
        if self.commons is None or any(map(list, map(subqueries, node.expressions()))):
            changes = self._with_scalars(changes, node.expressions())
            arguments = tuple(call.argument for call in node.calls if call.argument is not None)
            return Grouping.of(changes, node.keys, arguments, evaluator, self.failing)
        below = self.spots[node] if isinstance(node, nodes.Panes) else self._key(node.input)
        key = ("groups", below, node.keys)
        grouping = self.commons.once(key, lambda: Grouping.of(changes, node.keys, (), evaluator, self.failing))
        for call in node.calls:
            if call.argument is not None:
                self.failing.note([grouping.argument(call.argument)], changes.enter)
        return grouping

    def _one_group(self, node: nodes.Aggregate, grouping: Grouping) -> Changes:
        """Q-7: an ungrouped aggregate has one row from the first step on, empty or not."""
        first, spans = self.first_step, grouping.spans
        if first == NEVER:
            return Changes(empty(node.schema), np.zeros(0, np.int64), np.zeros(0, np.int64))
        results = tuple(grouping.value(call) for call in node.calls)
        filled = Changes(Batch(results, grouping.levels), spans.start, spans.end)
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
            return emit.snapshots(changes, self.steps.during(changes))
        if plan.emit == nodes.SLIDES:
            slides = Steps(self.last, self.now, tuple(self.boundaries), self._slides())
            return emit.snapshots(changes, slides.during(changes))
        return difference(changes, plan.columns, levels, inserted=plan.emit == nodes.ISTREAM)
