"""All queries and derived streams of a processor on kernels, epoch by epoch.

Each lives from the place of its registration to the place of its drop (Q-13): of an epoch's tuples it is given those
between the two that its level dominates. Streams run before their readers, so that what they give at an instant is
seen in the same step (Q-14). In the epochs in which it begins and ends a query runs alone; in between it shares what it
has in common with others of its level, and of no other (M-15).

Reads: catalog, gates, plan, operators.  Read by: engine.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from tidegate.catalog import Entry, RegisteredQuery, Table
from tidegate.gates.shepherd import share_of
from tidegate.operators.batch import NO_BITS, Arrived, Batch, Bits, stack
from tidegate.operators.commons import Apart, Commons, Shapes
from tidegate.operators.emit import Emitted
from tidegate.operators.evaluate import Evaluator, UserCalls
from tidegate.operators.failing import Failed
from tidegate.operators.query import QueryKernel
from tidegate.operators.tables import with_system_columns
from tidegate.operators.vector import Failures, LevelTable, Mask, Numbers
from tidegate.plan import nodes
from tidegate.plan.schema import with_hidden
from tidegate.security.lattice import Level

StreamKey = tuple[str, str, int]
"""Level, name and serial of a stream."""

Place = tuple[int, int]
"""Instant and arrival: where something stands in the log."""

LAST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Feed:
    """The tuples of one stream in an epoch: columns with the hidden ones, instants and arrival numbers, in order.

    Where there are tuples that nobody wants, ``whole`` has the level, instant and arrival number of all of them.
    """

    rows: Batch
    instants: Numbers
    arrivals: Numbers
    bits: Bits = NO_BITS
    whole: Feed | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Which tuples are for this part of a query, where several run side by side, and by which columns it is split."""

    columns: tuple[int, ...]
    mask: Callable[[Batch], Mask]


Ground = tuple[Level, tuple[int, ...] | None]
"""A level, and the columns by which queries are split: who has both in common is given the same tuples."""


def ground_of(level: Level, part: Part | None) -> Ground:
    """The ground of a query: queries of one level share, and only with one another (M-15)."""
    return level, None if part is None else part.columns


@dataclass(slots=True)
class Count:
    """Tuples that a query was given and rows that it gave."""

    tuples: int = 0
    rows: int = 0

    def taken(self) -> tuple[int, int]:
        """Both since this was asked last."""
        found, self.tuples, self.rows = (self.tuples, self.rows), 0, 0
        return found


@dataclass(slots=True)
class Life:
    """A query or stream that runs, from one place to another."""

    entry: RegisteredQuery | Table
    kernel: QueryKernel
    birth: Place
    death: Place | None = None
    part: Part | None = None
    count: Count = field(default_factory=Count)
    commons: Commons | None = None
    """The common ground that it has joined."""
    begun: Hashable = None
    """Equal for those that read the same streams and began with the same tuple of each."""
    user: int = 0
    scans: tuple[nodes.Scan, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.scans = tuple(dict.fromkeys(nodes.scans(self.kernel.plan)))

    def sees_all(self, feed: Feed) -> bool:
        """Whether its places lie around all tuples: the usual case."""
        return self.death is None and (len(feed.instants) == 0 or self.birth[0] < int(feed.instants[0]))

    def sees(self, feed: Feed) -> Mask:
        """Which tuples stand between its places."""
        born: Mask = (feed.instants > self.birth[0]) | (
            (feed.instants == self.birth[0]) & (feed.arrivals > self.birth[1])
        )
        if self.death is None:
            return born
        before = (feed.instants < self.death[0]) | ((feed.instants == self.death[0]) & (feed.arrivals < self.death[1]))
        both: Mask = born & before
        return both


@dataclass(frozen=True, slots=True)
class Given:
    """What one query gave in an epoch, the failure that suspended it, and whether it ended anyway.

    Rows of one instant are in no order, but those of a derived stream, which arrive in printed order (Q-14).
    """

    entry: RegisteredQuery | Table
    emitted: Emitted
    failed: Failed | None
    ended: bool


@dataclass(slots=True)
class KernelProcessor:
    """Everything that runs, in the order of registration."""

    levels: LevelTable
    stored: Mapping[tuple[str, str], Batch]
    call_user: Callable[[Level], UserCalls]
    shares: bool = True
    """Whether queries share what they have in common; the answers are the same (Q-10)."""
    lives: list[Life] = field(default_factory=list)
    readable: dict[Level, Mask] = field(default_factory=dict)
    grounds: dict[Ground, Commons] = field(default_factory=dict)
    following: Iterator[int] = field(default_factory=lambda: count(1))
    generation: int = 0
    """Rises whenever something begins or ends."""

    def begin(
        self, entry: Entry, place: Place, part: Part | None = None, plan: nodes.QueryPlan | None = None
    ) -> Life | None:
        """Start a query or a derived stream, or one part of it, with empty windows.

        ``plan`` is another plan of the same meaning, where it has been rewritten.
        """
        if not isinstance(entry, RegisteredQuery | Table) or entry.plan is None:
            return None
        evaluator = Evaluator(self.levels, Failures(), self.call_user(entry.level))
        plan = plan or entry.plan
        kernel = QueryKernel(plan, evaluator, self._relations(plan, entry.level))
        life = Life(entry, kernel, place, part=part, user=next(self.following))
        self.generation += 1
        self.lives.append(life)
        self.lives.sort(key=lambda life: life.entry.serial)
        return life

    def end(self, entry: Entry, place: Place) -> None:
        """Give it no tuple behind this place; it makes its steps up to this instant."""
        for life in self.lives:
            if life.entry.kind == entry.kind and life.entry.serial == entry.serial and life.death is None:
                life.death = place

    def ground(self, life: Life) -> Commons:
        """What a query has in common with others."""
        key = ground_of(life.entry.level, life.part)
        if key not in self.grounds:
            self.grounds[key] = Commons(Shapes(), lambda: next(self.following))
        return self.grounds[key]

    def _relations(self, plan: nodes.QueryPlan, level: Level) -> dict[nodes.Node, Batch]:
        found: dict[nodes.Node, Batch] = {}
        for inner in nodes.every_plan(plan):
            for node in nodes.walk(inner.root):
                if isinstance(node, nodes.RelationScan):
                    rows = self.stored[node.level, node.name]
                    found[node] = rows.take(self._readable(level)[rows.level])
        return found

    def _readable(self, level: Level) -> Mask:
        """For each label whether the level dominates it: decided anew only when there are more labels."""
        labels, known = self.levels.labels, self.readable.get(level)
        if known is None or len(known) < len(labels):
            labelled = ((label, number) for number, label in enumerate(labels))
            known = self.readable[level] = np.zeros(len(labels), np.bool_)
            known[list(share_of(level, labelled, self.levels.lattice))] = True
        return known

    # ---------------------------------------------------------------- one epoch

    def advance(self, feeds: Mapping[StreamKey, Feed], last: int, now: int) -> Iterator[Given]:
        """Run the epoch (last, now]; at most one instant of it may hold places of birth and death."""
        given_out = dict(feeds)
        derived = set[StreamKey]()
        for ground in self.grounds.values():
            ground.begin()
        for life in list(self.lives):
            if self._rests(life, given_out):
                continue
            given = self._advance(life, given_out, max(last, life.birth[0] - 1), now)
            if given.failed or life.death is not None:
                self._remove(life)
            if isinstance(life.entry, Table):
                key, feed = (life.entry.level, life.entry.name, life.entry.serial), _feed_of(life.entry, given.emitted)
                given_out[key] = _one_after_the_other(given_out[key], feed) if key in derived else feed
                derived.add(key)
            yield given
        self._settle(now)

    def _rests(self, life: Life, feeds: Mapping[StreamKey, Feed]) -> bool:
        """Whether nothing can happen to a query: nothing has come, and it does not look at the clock."""
        if life.commons is None or life.death is not None or not life.kernel.rests:
            return False
        found = (feeds.get((scan.level, scan.name, scan.serial)) for scan in life.scans)
        return all(feed is None or len((feed.whole or feed).instants) == 0 for feed in found)

    def _remove(self, life: Life) -> None:
        self.generation += 1
        self.lives = [one for one in self.lives if one is not life]
        life.kernel.leave(life.user)

    def _settle(self, now: int) -> None:
        """After the epoch: forget what nobody has any more, and let those that have begun join the others."""
        for ground in self.grounds.values():
            ground.end()
        for life in self.lives if self.shares else ():
            if life.commons is None and life.birth[0] <= now:
                life.commons = self.ground(life)
                life.kernel.join(life.commons, life.user, life.begun)

    def _advance(self, life: Life, feeds: Mapping[StreamKey, Feed], last: int, now: int) -> Given:
        if life.commons is None or life.death is not None:
            tuples = self._alone(life, feeds, last, now)
        else:
            tuples = self._together(life, life.commons, feeds, last, now)
        emitted = life.kernel.printed() if isinstance(life.entry, Table) else life.kernel.emitted
        assert emitted is not None
        life.count.tuples += tuples
        life.count.rows += len(emitted.instants)
        return Given(life.entry, emitted, life.kernel.failed, life.death is not None)

    def _alone(self, life: Life, feeds: Mapping[StreamKey, Feed], last: int, now: int) -> int:
        """A query by itself; how many tuples it was given."""
        arrived = {scan: given for scan in life.scans if (given := self._given(life, feeds, scan)) is not None}
        if life.commons is not None:
            life.kernel.take_out(life.commons)
        life.kernel.advance(arrived, last, now)
        counts = {scan: len(arrived[scan].every) if scan in arrived else 0 for scan in life.scans}
        life.begun = (life.birth[0], frozenset(counts.items()))
        return sum(counts.values())

    def _together(self, life: Life, commons: Commons, feeds: Mapping[StreamKey, Feed], last: int, now: int) -> int:
        """A query with the others; alone, if something goes wrong that its own text must say."""
        found = {scan: commons.once(("given", scan), lambda scan=scan: self._given(life, feeds, scan))  # type: ignore[misc]
                 for scan in life.scans}  # fmt: skip
        arrived = {scan: given for scan, given in found.items() if given is not None}
        try:
            life.kernel.share(commons, arrived, last, now)
        except Apart:
            tuples = self._alone(life, feeds, last, now)
            life.kernel.put_back(commons)
            return tuples
        return sum(len(given.every) for given in arrived.values())

    def _given(self, life: Life, feeds: Mapping[StreamKey, Feed], scan: nodes.Scan) -> Arrived | None:
        """The tuples of a stream that a query sees; None if there is none."""
        feed = feeds.get((scan.level, scan.name, scan.serial))
        if feed is None:
            return None
        seen = self._seen(life, feed, life.part)
        every = feed.instants[seen] if feed.whole is None else feed.whole.instants[self._seen(life, feed.whole, None)]
        given = Arrived(feed.rows, feed.instants, every, feed.bits)
        given = given if isinstance(seen, slice) else given.take(seen)
        return given if len(every) else None

    def _seen(self, life: Life, feed: Feed, part: Part | None) -> Numbers | slice:
        """Which tuples of a stream are for a query; a part of one need not see those that nobody wants."""
        allowed = self._readable(life.entry.level)
        masks = [] if allowed.all() else [allowed[feed.rows.level]]
        masks += [] if life.sees_all(feed) else [life.sees(feed)]
        masks += [] if part is None else [part.mask(feed.rows)]
        return np.flatnonzero(np.logical_and.reduce(masks)) if masks else slice(None)


def _feed_of(stream: Table, emitted: Emitted) -> Feed:
    """Derived rows come after everything in the log at their instant, in printed order (Q-14)."""
    rows = with_system_columns(emitted.rows, emitted.instants, with_hidden(stream.fields, instants=True))
    return Feed(rows, emitted.instants, np.full(len(emitted.instants), LAST))


def _one_after_the_other(feed: Feed, another: Feed) -> Feed:
    """The rows of a stream that was stopped and started within an instant: those of each run, in order (Q-13)."""
    instants = np.concatenate([feed.instants, another.instants])
    return Feed(stack([feed.rows, another.rows]), instants, np.concatenate([feed.arrivals, another.arrivals]))
