"""One continuous query on kernels: the tuples of an epoch in, its results out.

The state of a query is what its windows hold, and nothing else; every relation above them is computed for the epoch
as a changelog. So a batch may be cut anywhere between instants: advance(a) then advance(b) is advance(a + b). And a
query may give its windows to a common ground, or take them out of it, between any two epochs.

Reads: plan, operators.  Read by: processor, engine.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tidegate.operators import emit
from tidegate.operators.batch import Arrived, Batch, Changes, stack
from tidegate.operators.commons import Apart, Commons, Seat, Shape
from tidegate.operators.emit import Emitted
from tidegate.operators.epoch import Epoch
from tidegate.operators.evaluate import Evaluator
from tidegate.operators.failing import Failed
from tidegate.operators.memory import keep_freed
from tidegate.operators.steps import Steps, TooManyBoundaries
from tidegate.operators.windows import Held
from tidegate.plan import nodes
from tidegate.plan.conjuncts import conjuncts
from tidegate.plan.expressions import Expression, can_fail, subqueries
from tidegate.plan.windows import Rows, Unbounded

_STATELESS = (nodes.Project, nodes.Select, nodes.UnionAll, nodes.Windowed, nodes.Before, nodes.Scan, nodes.StreamOf)


@dataclass(frozen=True, slots=True)
class Outline:
    """What the rows of a node depend on: its shape, the windows and sub-queries below it, perhaps the first step."""

    shape: Shape
    windows: tuple[nodes.Node, ...]
    inner: tuple[nodes.QueryPlan, ...]
    needs_first: bool


@dataclass(slots=True)
class QueryKernel:
    """A query or sub-query. After ``advance`` or ``share`` its relation, steps and results of the epoch can be read."""

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
    rests: bool = field(init=False)
    """Whether nothing happens to it unless a tuple comes: none of its windows looks at the clock."""
    conditions: dict[nodes.Node, tuple[Expression, ...]] = field(init=False)
    """The conjuncts of each condition before a window, where they may be tested apart; else ()."""
    changes: Changes | None = field(init=False, default=None)
    steps: Steps = field(init=False)
    emitted: Emitted | None = field(init=False, default=None)
    failed: Failed | None = field(init=False, default=None)
    seats: dict[nodes.Node, Seat] = field(init=False, default_factory=dict)
    """Its places in windows that it has in common with others; such windows are not in ``held``."""
    outlines: dict[nodes.Node, Outline] = field(init=False, default_factory=dict)
    shape: Shape | None = field(init=False, default=None)
    context: Hashable = field(init=False, default=None)
    """What else its relation of this epoch depends on, beside its shape and the tuples."""

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
        self.rests = all(map(_counts_only, self.windows())) and all(query.rests for query in self.inner.values())
        self.conditions = {
            node: () if can_fail(node.condition) else conjuncts(node.condition)
            for node in self.every
            if isinstance(node, nodes.Before)
        }

    def windows(self) -> Iterator[nodes.Windowed | nodes.Panes]:
        """Every node that may hold tuples, sub-queries left out."""
        return (node for node in self.every if isinstance(node, nodes.Windowed | nodes.Panes))

    # ---------------------------------------------------------------- alone

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
        run.advance_windows()
        self.changes, self.steps, self.emitted = run.whole()
        self.has_stepped = self.has_stepped or self.steps.exist
        inside = [query.failed for query in self.inner.values() if query.failed]
        self.failed = run.failing.first(inside, self.evaluator.failures)
        if self.failed:
            early = self.emitted.instants < self.failed.instant
            self.emitted = Emitted(self.emitted.rows.take(early), self.emitted.instants[early])
        return self.emitted

    def _state(self) -> list[tuple[dict[nodes.Node, Held], bool]]:
        """What it and its sub-queries hold; nothing of it is ever changed in place."""
        return [(dict(one.held), one.has_stepped) for one in self.tree()]

    def _restore(self, state: list[tuple[dict[nodes.Node, Held], bool]]) -> None:
        for one, (held, has_stepped) in zip(self.tree(), state, strict=True):
            one.held, one.has_stepped = held, has_stepped

    def tree(self) -> Iterator[QueryKernel]:
        """It and its sub-queries."""
        yield self
        for query in self.inner.values():
            yield from query.tree()

    # ---------------------------------------------------------------- with others

    def join(self, commons: Commons, user: int, birth: Hashable) -> None:
        """Give its windows to the common ground, or find its places in those that are there."""
        for one in self.tree():
            one.outline(commons)
            for node in one.windows() if not one.is_stateless else ():
                one.seats[node] = commons.join(node, one.held.get(node), user, birth)
            one.held = {}

    def take_seats(self, commons: Commons, user: int, kept: Sequence[tuple[int, int]]) -> None:
        """Take the places that it had before it was put away: numbers of windows, and where it came to each."""
        places = iter(kept)
        for one in self.tree():
            one.outline(commons)
            for node in one.windows() if not one.is_stateless else ():
                one.seats[node] = commons.restore(node, *next(places), user)

    def outline(self, commons: Commons) -> None:
        """Find out what the rows of each of its nodes depend on."""
        self.shape = commons.shapes.of_plan(self.plan)
        shapes = dict[int, Shape]()  # the nodes are kept by the plan meanwhile
        self.outlines = {node: self._outline(node, commons.shapes.of(node, shapes)) for node in self.every}

    def _outline(self, node: nodes.Node, shape: Shape) -> Outline:
        below = tuple(dict.fromkeys(nodes.walk(node)))
        tables = [one.plan for one in below if isinstance(one, nodes.StreamOf | nodes.RelationOf)]
        scalars = [found.plan for one in below for entry in one.expressions() for found in subqueries(entry)]
        return Outline(
            shape,
            tuple(one for one in below if isinstance(one, nodes.Windowed | nodes.Panes)),
            tuple(dict.fromkeys([*tables, *scalars])),
            any(isinstance(one, nodes.RelationScan) or _is_ungrouped(one) for one in below),
        )

    def share(self, commons: Commons, arrived: Mapping[nodes.Scan, Arrived], last: int, now: int) -> Emitted:
        """Run an epoch with what others have computed; raises Apart, with nothing changed, if it has to run alone."""
        stepped = [one.has_stepped for one in self.tree()]
        try:
            self._share(commons, arrived, last, now)
        except (Apart, TooManyBoundaries):
            for one, before in zip(self.tree(), stepped, strict=True):
                one.has_stepped = before
                Epoch(one, arrived, last, now, commons).keep_up()
            raise Apart from None
        assert self.emitted is not None
        return self.emitted

    def _share(self, commons: Commons, arrived: Mapping[nodes.Scan, Arrived], last: int, now: int) -> None:
        for query in self.inner.values():
            query._share(commons, arrived, last, now)
        run = Epoch(self, arrived, last, now, commons)
        run.advance_windows()
        self.context = (self.has_stepped, *run.spots.values(), *(query.context for query in self.inner.values()))
        self.changes, self.steps, self.emitted = commons.once((self.shape, self.context), run.whole)
        self.has_stepped = self.has_stepped or self.steps.exist
        self.failed = None

    def take_out(self, commons: Commons) -> None:
        """Windows of its own, as they were before this epoch."""
        for one in self.tree():
            own = {node: seat.window.own(seat.start, commons.epoch) for node, seat in one.seats.items()}
            one.held = {node: held for node, held in own.items() if held is not None}

    def put_back(self, commons: Commons) -> None:
        """Back to the common windows, which have advanced meanwhile; those that have not take its own.

        One that failed has perhaps not gone to the end of the epoch: it leaves them to the others.
        """
        for one in self.tree():
            for node, seat in one.seats.items() if not self.failed else ():
                if seat.window.epoch != commons.epoch and node in one.held:
                    assert seat.start == 0  # only a window that its users began together can wait for one of them
                    seat.window.advanced(commons.epoch, one.held[node])
            one.held = {}

    def leave(self, user: int) -> None:
        """Give up its places."""
        for one in self.tree():
            for window in {id(seat.window): seat.window for seat in one.seats.values()}.values():
                if user in window.starts:
                    window.leave(user)
            one.seats = {}

    # ---------------------------------------------------------------- results

    def printed(self) -> Emitted:
        """The results of the epoch in printed order."""
        assert self.emitted is not None
        return emit.in_printed_order(self.emitted, self.plan.columns, self.evaluator.levels)

    def state_bytes(self) -> int:
        """About how much memory its windows hold, those of sub-queries and those in common included."""
        common = [seat.window.held for seat in self.seats.values()]
        own = sum(held.bytes for held in (*self.held.values(), *common) if held is not None)
        return own + sum(inner.state_bytes() for inner in self.inner.values())

    def _is_stateless(self) -> bool:
        """Selecting and projecting tuples that never leave: nothing has to be kept."""
        unbounded = all(isinstance(node.window, Unbounded) for node in self.every if isinstance(node, nodes.Windowed))
        plain = all(isinstance(node, _STATELESS) for node in self.every) and not self.has_scalars
        return unbounded and plain and self.plan.emit == nodes.ISTREAM and not self.as_relation


def _counts_only(node: nodes.Windowed | nodes.Panes) -> bool:
    if isinstance(node, nodes.Panes):
        return False
    return isinstance(node.window, Unbounded) or (isinstance(node.window, Rows) and node.window.width is None)


def _is_ungrouped(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Aggregate) and not node.grouped
