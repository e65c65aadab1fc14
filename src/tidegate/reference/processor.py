"""Replaying a log: tuples and statements in one order, every query over what its level dominates.

Queries and derived streams advance instant by instant, in the order of their registration, so that what a stream
gives at a step is seen by its readers in the same step (Q-14). A query lives from the instant of its registration to
the instant of its drop; of the tuples at those instants it sees those after and before its place (Q-13).

Reads: catalog, gates, language, plan, reference.  Read by: replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tidegate.catalog import Catalog, Entry, RegisteredQuery, Table
from tidegate.gates.shepherd import share_of
from tidegate.plan import nodes
from tidegate.plan.schema import with_hidden
from tidegate.reference.evaluate import UserCall, World
from tidegate.reference.query import QueryState, Stepped, Stored, derived_tuple
from tidegate.reference.rows import Row, Suspended, Tuple
from tidegate.scalars.values import Failure
from tidegate.security.lattice import Level

StreamKey = tuple[Level, str, int]
Relations = Mapping[tuple[str, str], list[Row]]
"""The rows of a stored relation by level and name."""


@dataclass(slots=True)
class Running:
    """A query or derived stream that runs, and the tuples of this instant that it has been given."""

    entry: RegisteredQuery | Table
    state: QueryState
    reads: dict[StreamKey, list[nodes.Scan]]
    arrivals: dict[nodes.Scan, list[Tuple]] = field(default_factory=dict)
    ending: bool = False

    def give(self, key: StreamKey, tuples: list[Tuple]) -> None:
        """Tuples of one stream, for every place of the query that reads it."""
        for scan in self.reads.get(key, ()):
            self.arrivals.setdefault(scan, []).extend(tuples)


@dataclass(frozen=True, slots=True)
class Result:
    """What one query gave at one instant: rows, or the error that suspended it."""

    entry: RegisteredQuery | Table
    stepped: Stepped | None = None
    failure: Failure | None = None


@dataclass(slots=True)
class Processor:
    """All running queries and streams, and the catalog that they were bound against."""

    catalog: Catalog
    relations: Relations
    call_user: Callable[[Level], UserCall]
    running: list[Running] = field(default_factory=list)

    # ---------------------------------------------------------------- what comes and goes

    def begin(self, entry: Entry) -> None:
        """Start a query or a derived stream with empty windows."""
        if not isinstance(entry, RegisteredQuery | Table) or entry.plan is None:
            return
        world = World(self.catalog.lattice, self.call_user(entry.level))
        state = QueryState(entry.plan, world, self._stored(entry.plan, entry.level))
        reads: dict[StreamKey, list[nodes.Scan]] = {}
        for scan in dict.fromkeys(nodes.scans(entry.plan)):
            reads.setdefault((Level(scan.level), scan.name, scan.serial), []).append(scan)
        self.running.append(Running(entry, state, reads))
        self.running.sort(key=lambda one: one.entry.serial)

    def end(self, entry: Entry) -> None:
        """Take no more tuples; what it has seen at this instant still makes its step."""
        for one in self.running:
            if _key(one.entry) == _key(entry) and one.entry.serial == entry.serial:
                one.ending = True

    def keep(self, level: Level) -> None:
        """End everything that is not of this level."""
        self.running = [one for one in self.running if one.entry.level == level]

    def _stored(self, plan: nodes.QueryPlan, level: Level) -> Stored:
        """The rows of stored relations that the level dominates."""
        found = {
            node
            for inner in nodes.every_plan(plan)
            for node in nodes.walk(inner.root)
            if isinstance(node, nodes.RelationScan)
        }
        return {node: self._share(level, self.relations[node.level, node.name]) for node in found}

    def _share(self, level: Level, rows: list[Row]) -> list[Row]:
        return list(share_of(level, ((row.level, row) for row in rows), self.catalog.lattice))

    # ---------------------------------------------------------------- one instant

    def receive(self, key: StreamKey, tuple_: Tuple) -> None:
        """A tuple of the log, to every running query whose level dominates it."""
        for one in self.running:
            if not one.ending and key in one.reads:
                self._deliver(one, key, [tuple_])

    def _deliver(self, one: Running, key: StreamKey, tuples: list[Tuple]) -> None:
        labelled = ((tuple_.row.level, tuple_) for tuple_ in tuples)
        one.give(key, list(share_of(one.entry.level, labelled, self.catalog.lattice)))

    def advance(self, now: int) -> Iterator[Result]:
        """Let every query make its step of this instant, in the order of registration."""
        for one in list(self.running):
            result = self._step(one, now)
            if result.failure:
                self._suspend(one)
            if isinstance(one.entry, Table) and result.stepped:
                self._derive(one.entry, result.stepped.rows, now)
            if result.failure or (result.stepped and isinstance(one.entry, RegisteredQuery)):
                yield result
        self.running = [one for one in self.running if not one.ending]

    def _step(self, one: Running, now: int) -> Result:
        arrivals, one.arrivals = one.arrivals, {}
        try:
            return Result(one.entry, one.state.step(now, arrivals))
        except Suspended as stop:
            return Result(one.entry, failure=stop.failure)

    def _suspend(self, one: Running) -> None:
        """Q-9: earlier steps stand, this and later ones emit nothing, until START.

        A run that was stopped or dropped at this very instant says nothing about the name: another may have begun.
        """
        if one.ending:
            return
        one.ending = True
        current = self.catalog.own((one.entry.kind,), one.entry.name, one.entry.level)
        if isinstance(current, RegisteredQuery | Table) and current.serial == one.entry.serial:
            self.catalog = self.catalog.replace(replace(current, running=False))

    def _derive(self, stream: Table, rows: list[Row], now: int) -> None:
        schema = with_hidden(stream.fields, instants=True)
        tuples = [derived_tuple(now, row, schema) for row in rows]
        for one in self.running:
            if not one.ending and (stream.level, stream.name, stream.serial) in one.reads:
                self._deliver(one, (stream.level, stream.name, stream.serial), tuples)

    def next_event(self, after: int) -> int | None:
        """The next instant at which some query steps by itself."""
        events = (one.state.next_event(after) for one in self.running)
        return min((event for event in events if event is not None), default=None)


def _key(entry: Entry) -> tuple[str, Level, str]:
    return entry.kind, entry.level, entry.name.casefold()
