"""One level's processor, or one shard of it: epochs in, results out. No Spark inside.

It reads the statements of its epochs itself, against a catalog of what its level may see, runs the queries of its own
level, and the derived streams of all levels below, which it evaluates over its own tuples (Q-14).

Reads: catalog, language, log, operators, functions, engine.  Read by: engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field, replace
from itertools import groupby

import numpy as np
import pyarrow as pa

from tidegate.catalog import RELATION, STREAM, Entry, RegisteredQuery, Table
from tidegate.engine.epochs import INSTANT, Epoch, Said, World
from tidegate.engine.feeds import EVERYTHING, NOTHING, Passed, Prefilter, Reader, passed, prefilter
from tidegate.engine.merging import Merging
from tidegate.engine.shards import EVERYWHERE, HOME, place, shard_numbers, split_columns
from tidegate.errors import Problem
from tidegate.functions.calls import Hosts
from tidegate.gates.admit import QUARANTINE
from tidegate.language.session import Sessions, Spoken, text_key
from tidegate.log import QUARANTINE_FIELDS, catalog_of
from tidegate.operators.arrow import encode, from_arrow, to_record_batch
from tidegate.operators.batch import Batch
from tidegate.operators.emit import Emitted
from tidegate.operators.processor import Feed, Given, Ground, KernelProcessor, Part, StreamKey, ground_of
from tidegate.operators.tables import with_system_columns
from tidegate.operators.vector import LevelTable
from tidegate.plan import nodes
from tidegate.plan.schema import Schema, with_hidden
from tidegate.plan.types import LEVEL
from tidegate.security.declare import declare
from tidegate.security.lattice import Level
from tidegate.sharing.prefilter import Want, wants
from tidegate.sharing.switches import BITS, COLUMNS, PREFILTER, SHARING
from tidegate.text import locate

ERROR, SHOWN, STATISTICS = "error", "shown", "statistics"


@dataclass(frozen=True, slots=True)
class Result:
    """Something that a statement gave: rows (``+`` or ``-``) as Arrow, or an error or what is shown as JSON.

    ``level`` is that of the stream, which says who may see it; ``statement`` and ``serial`` order results. A large body
    lies in a file: then ``path`` names it and the body is empty.
    """

    statement: int
    serial: int
    level: Level
    kind: str
    name: str | None
    body: bytes
    path: str | None = None


@dataclass(slots=True)
class LevelProcessor:
    """A processor after some epochs."""

    world: World
    shard: int = HOME
    shards: int = 1
    levels: LevelTable = field(init=False)
    hosts: Hosts = field(init=False, default_factory=Hosts)
    sessions: Sessions = field(init=False)
    kernels: KernelProcessor = field(init=False)
    merging: Merging = field(init=False)
    origins: dict[int, int] = field(init=False, default_factory=dict)
    """The statement behind each serial number of the sessions."""
    asked: dict[int, tuple[Want, ...]] = field(init=False, default_factory=dict)
    """What each query wants, by user."""
    wanted: tuple[int, dict[StreamKey, Prefilter]] = field(init=False, default_factory=lambda: (-1, {}))
    """What is wanted of each stream, as long as the same queries run."""
    passed: dict[str, Passed] = field(init=False, default_factory=dict)
    """What the prefilter of each stream did since somebody asked."""
    bodies: dict[tuple[int, tuple[str, ...]], tuple[Emitted, bytes]] = field(init=False, default_factory=dict)
    """The results of the epoch, by what was emitted (which is kept, so that nothing else gets its identity)."""
    spoken: int = field(init=False, default=0)
    """How many statements it has read: whoever keeps it elsewhere sees whether the catalog may have changed."""

    def __post_init__(self) -> None:
        lattice = declare(self.world.levels)
        self.levels = LevelTable(lattice)
        schemas = {name: schema for name, (schema, _) in self.world.relations.items()}
        self.sessions = Sessions(catalog_of(lattice, self.world.streams, schemas))
        stored = {
            (lattice.bottom, name): self._rows(rows, schema) for name, (schema, rows) in self.world.relations.items()
        }
        self.merging = Merging(self.levels.lattice, self.world.off, self._running)
        shares = SHARING not in self.world.off
        self.kernels = KernelProcessor(self.levels, stored, self.hosts.columns_at, shares)  # type: ignore[arg-type]

    def close(self) -> None:
        """End the children that run functions."""
        self.hosts.close()

    # ---------------------------------------------------------------- epochs

    def _learn(self, world: World) -> None:
        """Streams and relations that are declared while it runs."""
        bottom = self.levels.lattice.bottom
        for name, schema in world.streams.items():
            if name not in self.world.streams:
                self.sessions.catalog = self.sessions.catalog.add(Table(STREAM, bottom, name, 0, schema))
        stored = dict(self.kernels.stored)
        for name, (schema, rows) in world.relations.items():
            if name not in self.world.relations:
                self.sessions.catalog = self.sessions.catalog.add(Table(RELATION, bottom, name, 0, schema))
                stored[bottom, name] = self._rows(rows, schema)
        self.kernels.stored, self.world = stored, world

    def advance(self, epoch: Epoch) -> Iterator[Result]:
        """Run an epoch; each instant with statements is a step of its own."""
        if epoch.world is not None:
            self._learn(epoch.world)
        last = epoch.last
        for instant, group in groupby(epoch.said, key=lambda said: said.instant):
            if last < instant - 1 < epoch.now:
                yield from self._run(epoch, last, instant - 1)
                last = instant - 1
            for said in group:
                yield from self._say(said)
            if last < instant <= epoch.now:
                yield from self._run(epoch, last, instant)
                last = instant
        if last < epoch.now:
            yield from self._run(epoch, last, epoch.now)
        if epoch.said:
            self._forget()

    def _forget(self) -> None:
        """What is neither in the catalog nor running leaves no text and no number."""
        running = [life.entry for life in self.kernels.lives]
        self.sessions.forget([text_key(entry) for entry in running])
        known = {entry.serial for entry in (*self.sessions.catalog.entries.values(), *running)}
        self.origins = {serial: number for serial, number in self.origins.items() if serial in known}

    def _feeds(self, epoch: Epoch, last: int, now: int) -> dict[StreamKey, Feed]:
        """The tuples of (last, now] that somebody wants, by stream."""
        feeds: dict[StreamKey, Feed] = {}
        reader = Reader(self.levels, BITS not in self.world.off)
        for name, batch in epoch.tuples.items():
            home = self.levels.lattice.top if name == QUARANTINE else self.levels.lattice.bottom
            schema = QUARANTINE_FIELDS if name == QUARANTINE else self.world.streams[name]
            instants = np.asarray(batch.column(len(schema) + 1))
            low, high = np.searchsorted(instants, [last, now], side="right")
            part, key = batch.slice(low, high - low), (home, name, 0)
            wanted = self._prefilter(key)
            feeds[key] = reader.feed(part, schema, wanted)
            self.passed[name] = self.passed.get(name, Passed()) + passed(part, schema, wanted, feeds[key])
        return feeds

    def _prefilter(self, key: StreamKey) -> Prefilter:
        """What the running queries want of a stream, found anew when others run."""
        if PREFILTER in self.world.off:
            return EVERYTHING
        if self.wanted[0] != self.kernels.generation:
            bits, found = BITS not in self.world.off, dict[StreamKey, list[Want]]()
            asked = {life.user: self.asked.get(life.user) or tuple(wants(life.kernel.plan, by_bits=bits))
                     for life in self.kernels.lives}  # fmt: skip
            self.asked = asked
            for each in asked.values():
                for want in each:
                    found.setdefault((want.scan.level, want.scan.name, want.scan.serial), []).append(want)
            columns = COLUMNS not in self.world.off
            made = {one: prefilter(wanted, columns=columns, bits=bits) for one, wanted in found.items()}
            self.wanted = self.kernels.generation, made
        return self.wanted[1].get(key, NOTHING)

    def _rows(self, batch: pa.RecordBatch, schema: Schema) -> Batch:
        """The rows of a stored relation."""
        columns = tuple(from_arrow(batch.column(n), column.type, self.levels) for n, column in enumerate(schema))
        rows = Batch(columns, from_arrow(batch.column(len(schema)), LEVEL, self.levels).data)
        return with_system_columns(rows, np.zeros(len(rows), np.int64), with_hidden(schema, instants=False))

    def _run(self, epoch: Epoch, last: int, now: int) -> Iterator[Result]:
        for given in self.kernels.advance(self._feeds(epoch, last, now), last, now):
            yield from self._rows_of(given)
            if given.failed:
                yield from self._suspend(given)
        self.bodies.clear()

    # ---------------------------------------------------------------- statements

    def _say(self, said: Said) -> Iterator[Result]:
        before = self.sessions.serials
        spoken = self.sessions.say(said.text, said.at, said.user, said.name)
        self.spoken += 1
        self.origins |= dict.fromkeys(range(before + 1, self.sessions.serials + 1), said.number)
        for entry in spoken:
            if entry.ended:
                self.kernels.end(entry.ended, (said.instant, said.arrival))
                self.merging.forget()
            if entry.begun:
                self._begin(entry.begun, (said.instant, said.arrival))
            if self.shard == HOME and self._answers(entry.level):
                yield from self._told(said, entry)

    def _running(self, ground: Ground) -> Iterator[nodes.QueryPlan]:
        """The plans, as they run, of what shares a ground."""
        for life in self.kernels.lives:
            if life.death is None and ground_of(life.entry.level, life.part) == ground:
                yield life.kernel.plan

    def _answers(self, level: Level) -> bool:
        return self.world.serves_all or level == self.world.level

    def _begin(self, entry: Entry, where: tuple[int, int]) -> None:
        if not isinstance(entry, RegisteredQuery | Table) or entry.plan is None:
            return
        if isinstance(entry, RegisteredQuery) and not self._answers(entry.level):
            return
        here = place(entry, self.shards)
        if here in (EVERYWHERE, self.shard):
            part = self.part_of(entry) if here == EVERYWHERE else None
            self.kernels.begin(entry, where, part, self.merging.planned(entry.plan, entry.level, part))

    def part_of(self, entry: RegisteredQuery | Table) -> Part:
        """Which tuples this shard takes for a query that runs on every shard."""
        assert entry.plan is not None
        columns = split_columns(entry.plan)
        return Part(columns, lambda rows: shard_numbers(rows, columns, self.shards, self.levels) == self.shard)

    def _told(self, said: Said, spoken: Spoken) -> Iterator[Result]:
        if spoken.problem:
            body = {"time": said.instant, "error": spoken.problem.to_json()}
            yield Result(said.number, spoken.serial, spoken.level, ERROR, spoken.name, json.dumps(body).encode())
        if spoken.shown is not None:
            shown = {"statement": spoken.text, "at": spoken.level, "shown": list(spoken.shown)}
            body = {"time": said.instant, **shown}
            yield Result(said.number, spoken.serial, spoken.level, SHOWN, None, json.dumps(body).encode())

    # ---------------------------------------------------------------- results

    def statistics(self) -> Result:
        """What was done since this was asked last.

        Per query of its own: tuples in, rows out, and bytes of state now; per stream what passed its prefilter.
        """
        queries = {
            life.entry.serial: (*life.count.taken(), life.kernel.state_bytes())
            for life in self.kernels.lives
            if isinstance(life.entry, RegisteredQuery)
        }
        streams = {name: astuple(one) for name, one in self.passed.items()}
        self.passed = {}
        body = json.dumps({"queries": queries, "streams": streams}).encode()
        return Result(-1, 0, self.world.level, STATISTICS, None, body)

    def _rows_of(self, given: Given) -> Iterator[Result]:
        entry, emitted = given.entry, given.emitted
        if not isinstance(entry, RegisteredQuery) or entry.plan is None or len(emitted.instants) == 0:
            return
        kind = "-" if entry.plan.emit == nodes.DSTREAM else "+"
        body = self._encoded(emitted, tuple(column.name for column in entry.plan.columns))
        yield Result(self.origins[entry.serial], entry.serial, entry.level, kind, entry.name, body)

    def _encoded(self, emitted: Emitted, names: tuple[str, ...]) -> bytes:
        """Rows as bytes; those that several queries give are the same object."""
        key = id(emitted), names
        if key not in self.bodies:
            body = encode(to_record_batch(emitted.rows, names, self.levels, {INSTANT: emitted.instants}))
            self.bodies[key] = emitted, body
        return self.bodies[key][1]

    def _suspend(self, given: Given) -> Iterator[Result]:
        """Q-9: the query is not running from here on, unless it ended anyway."""
        entry, failed = given.entry, given.failed
        assert failed is not None
        text = self.sessions.texts[text_key(entry)]
        problem = Problem(failed.code, failed.problem, locate(text, failed.span))
        current = self.sessions.catalog.own((entry.kind,), entry.name, entry.level)
        same = isinstance(current, RegisteredQuery | Table) and current.serial == entry.serial
        if same and not given.ended and isinstance(current, RegisteredQuery | Table):
            self.sessions.catalog = self.sessions.catalog.replace(replace(current, running=False))
            self.spoken += 1
        if self._answers(entry.level):
            body = json.dumps({"time": failed.instant, "error": problem.to_json()}).encode()
            yield Result(self.origins[entry.serial], entry.serial, entry.level, ERROR, entry.name, body)
