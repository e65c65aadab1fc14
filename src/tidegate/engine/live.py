"""The shepherd of a live gate: on every tick it writes one epoch for each level that is awake (Q-1, DESIGN 4).

First the tick's line goes into the journal, then the epochs are written, which follow from it. After a crash the last
line is carried out again. Levels sleep until somebody speaks at them, or until a stream is derived below them: what
they would have computed before that nobody can ask for.

Reads: gates, plan, operators, engine.  Read by: system.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from tidegate.engine.epochs import Epoch, Said, World, schema_from
from tidegate.engine.herd import Herd, Rows, StreamTerms, numbered, path_name, segments_of, share_rows
from tidegate.engine.journal import Counted, Lines, Spans, Tick, TickJournal, spans
from tidegate.engine.segments import numbers_in
from tidegate.errors import EngineError
from tidegate.gates.segments import Terms, share_mask
from tidegate.gates.shepherd import share_of
from tidegate.operators.arrow import decode, from_arrow
from tidegate.operators.vector import LevelTable
from tidegate.plan.schema import Schema
from tidegate.plan.types import LEVEL
from tidegate.security.lattice import Lattice, Level

STATEMENT, STREAM, RELATION, SUSPENDED = "statement", "stream", "relation", "suspended"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the statements' journal: something said, declared or suspended, in the order of all."""

    kind: str
    at: Level
    body: Mapping[str, Any]

    def to_json(self) -> dict[str, object]:
        """As it is written."""
        return {"kind": self.kind, "at": self.at, **self.body}


def line_from(raw: dict[str, Any]) -> Line:
    """A line as it was written."""
    return Line(raw.pop("kind"), Level(raw.pop("at")), raw)


Put = Callable[[Level, Epoch], None]
"""Puts an epoch where its level's processor finds it."""


@dataclass(slots=True)
class LiveShepherd:
    """Everything that decides what a level receives, and when."""

    lattice: Lattice
    levels: object
    directory: Path
    put: Put
    began: int
    reserved: tuple[Level, ...]
    off: frozenset[str] = frozenset()
    herd: Herd = field(init=False)
    ticks: TickJournal = field(init=False)
    journal: Lines = field(init=False)
    lines: list[Line] = field(init=False)
    latest: Tick = field(init=False)
    relations: dict[str, tuple[Schema, pa.RecordBatch]] = field(init=False, default_factory=dict)
    heard: dict[Level, int] = field(init=False, default_factory=dict)
    """How many statements each level that is awake has been told of."""
    awake: set[Level] = field(init=False, default_factory=set)
    needed: dict[int, Tick] = field(init=False, default_factory=dict)
    """Ticks whose segments a restart reads again, because tuples of them wait."""
    is_whole: bool = field(init=False, default=True)
    """Whether the last tick was carried out; what is in memory is of no use where it was not."""

    def __post_init__(self) -> None:
        self.herd = Herd(self.lattice, {}, self.directory, began=self.began)
        self.ticks = TickJournal(self.directory / "log")
        self.journal = Lines(self.directory / "statements.jsonl")
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    def _read(self) -> None:
        """Go on where the journals end."""
        self.lines = [line_from(raw) for raw in self.journal.read()]
        found = list(self._newest(2))
        self.latest = Tick(-1, self.began, self.began, self.began)
        if found:
            self.latest = found[-2] if len(found) > 1 else self.latest
            self._recover(found[-1])

    def close(self) -> None:
        """Let the journals go."""
        self.ticks.close()
        self.journal.close()

    def _newest(self, count: int) -> list[Tick]:
        kept: list[Tick] = []
        for tick in self.ticks.read():
            kept = [*kept[1 - count :], tick]
        return kept

    def _recover(self, tick: Tick) -> None:
        """Carry out the last tick again: its epochs may not have been written."""
        for line in self.lines[: tick.said]:
            self._declare(line)
        self.awake = {level for level, number in tick.epochs.items() if number > 0}
        before = self.lines[: self.latest.said]
        self.heard = {level: len(_statements(before, level, self.lattice)) for level in self.awake}
        earlier = self._within(tick.waiting) if tick.waiting else []
        self.needed = {one.number: one for one in earlier}
        self.herd.reopen(tick, earlier)
        self._carry_out(tick)

    def _within(self, waiting: Spans) -> list[Tick]:
        found = [one for one in self.ticks.read() if any(first <= one.number <= last for first, last in waiting)]
        if len(found) != sum(last - first + 1 for first, last in waiting):
            raise EngineError(f"{self.ticks.directory}: ticks are missing; restore the directory from a copy")
        return found

    # ---------------------------------------------------------------- what is said

    def say(self, line: Line) -> None:
        """Give a line its place: right behind the last tick, in the order of all."""
        self._check_whole()
        self.journal.append(line.to_json())
        self.lines.append(line)

    def _declare(self, line: Line) -> None:
        if line.kind == STREAM:
            terms = Terms(**line.body["terms"])
            self.herd.streams[line.body["name"]] = StreamTerms(
                schema_from(line.body["schema"]), terms, line.body["timed"]
            )
        elif line.kind == RELATION:
            schema = schema_from(line.body["schema"])
            self.relations[line.body["name"]] = schema, read_relation(self.directory, line.body["name"])

    @property
    def delay(self) -> int:
        """The longest delay of any stream, also of one whose source is not bound again yet."""
        return max((line.body.get("delay", 0) for line in self.lines if line.kind == STREAM), default=0)

    # ---------------------------------------------------------------- one tick

    def tick(self, clock: int, instant: int, shed: Collection[Level] = ()) -> bool:
        """Declare every instant up to one complete; false if the clock has not moved on.

        Levels in ``shed`` get an epoch without tuples.
        """
        self._check_whole()
        if instant < self.latest.instant + 2:  # statements stand one microsecond behind the last tick
            return False
        for line in self.lines[self.latest.said :]:
            self._declare(line)
        segments = tuple(self._fresh())
        waking = self._waking(self.lines[self.latest.said :])
        numbers = {level: self.latest.epochs.get(level, -1) + 1 for level in sorted({*self.awake, *waking})}
        taken = {**self.latest.taken, **dict(segments)}
        waiting = spans(one.tick for one in self.herd.waiting)
        tick = Tick(self.latest.number + 1, self.latest.instant, instant, clock, segments, len(self.lines),
                    self.herd.arrivals, waiting, self.herd.held, numbers, taken, tuple(sorted(shed)),
                    self.herd.counted)  # fmt: skip
        self.ticks.append(tick)
        self._carry_out(tick)
        return True

    def _check_whole(self) -> None:
        if not self.is_whole:
            raise EngineError("the last tick could not be carried out; open the gate again, which does it")

    def _fresh(self) -> Iterator[tuple[str, int]]:
        for stream in self.herd.streams:
            place = segments_of(self.directory, stream)
            if place.exists():
                newest = self.latest.taken.get(stream, -1)
                yield from ((stream, number) for number in numbers_in(place) if number > newest)

    def _waking(self, lines: Sequence[Line]) -> set[Level]:
        """Levels that are spoken at, or that evaluate a stream derived below them."""
        spoken = {line.at for line in lines if line.kind == STATEMENT}
        derived = {line.at for line in lines if line.kind == STATEMENT and line.body.get("derives")}
        above = {
            level for level in self.reserved if any(share_of(level, ((low, True) for low in derived), self.lattice))
        }
        return (spoken | above) - self.awake

    def _carry_out(self, tick: Tick) -> None:
        self.is_whole, fresh = False, self.lines[self.latest.said : tick.said]
        declared = any(line.kind in (STREAM, RELATION) for line in fresh)
        ready = self.herd.tick(tick)
        for level, number in tick.epochs.items():
            lines = self.lines[: tick.said] if number == 0 else fresh
            world = self.world(level) if number == 0 or declared else None
            self.put(level, self._epoch(level, number, tick, ready, lines, world))
        self.awake |= set(tick.epochs)
        known = {**self.needed, tick.number: tick}
        self.needed = {one.tick: known[one.tick] for one in self.herd.waiting}
        self.latest, self.is_whole = tick, True

    def _epoch(self, level: Level, number: int, tick: Tick, ready: Mapping[str, Rows], lines: Sequence[Line],
               world: World | None) -> Epoch:  # fmt: skip
        spoken = _statements(lines, level, self.lattice)
        first = self.heard.get(level, 0)
        said = tuple(
            Said(first + place, tick.last + 1, place, line.at, line.body["text"], line.body["user"], line.body["name"])
            for place, line in enumerate(spoken)
        )
        self.heard[level] = first + len(said)
        share = share_rows(level, ready, self.lattice)
        if level in tick.shed:
            self.herd.counted += Counted(shed={level: sum(map(len, share.values()))})
            share = {}
        tuples = numbered(share, len(said))
        return Epoch(number, tick.last, tick.instant, said, tuples, world)

    def world(self, level: Level) -> World:
        """What a level knows before anything is said: relations hold only rows that it dominates."""
        streams = {name: one.schema for name, one in self.herd.streams.items()}
        relations = {
            name: (schema, self._stored(rows, schema, level)) for name, (schema, rows) in self.relations.items()
        }
        return World(self.levels, level, streams, relations, off=self.off)

    def _stored(self, rows: pa.RecordBatch, schema: Schema, level: Level) -> pa.RecordBatch:
        levels = LevelTable(self.lattice)
        labels = from_arrow(rows.column(len(schema)), LEVEL, levels).data
        mask = share_mask(level, levels.labels, labels, self.lattice)
        chosen = pa.Table.from_batches([rows]).filter(pa.array(mask)).unify_dictionaries().combine_chunks()
        plain = [chosen.column(place).combine_chunks() for place in range(len(schema))]
        texts = chosen.column(len(schema)).cast(pa.string()).combine_chunks().dictionary_encode()  # only labels it has
        return pa.RecordBatch.from_arrays([*plain, texts], names=chosen.column_names)

    # ---------------------------------------------------------------- keeping

    def held_bytes(self) -> int:
        """Bytes that no level has been given: segments that no tick has taken, and tuples that wait for theirs."""
        sizes = (self.herd.segment(stream, batch).stat().st_size for stream, batch in self._fresh())
        return sum(sizes) + sum(one.bytes for one in self.herd.waiting)

    def forget(self, before: float, instant: int) -> None:
        """Drop segments that are done and older than a moment of the wall clock, and ticks before an instant."""
        open_segments = {segment for tick in self.needed.values() for segment in tick.segments}
        open_segments |= set(self.latest.segments)  # a restart carries out the last tick again
        for stream in self.herd.streams:
            place = segments_of(self.directory, stream)
            for number in numbers_in(place) if place.exists() else ():
                path = self.herd.segment(stream, number)
                done = number <= self.latest.taken.get(stream, -1) and (stream, number) not in open_segments
                if done and path.stat().st_mtime < before:
                    path.unlink()
        self.ticks.forget(instant, min(self.needed, default=self.latest.number))


def _statements(lines: Sequence[Line], level: Level, lattice: Lattice) -> list[Line]:
    """What a level is told of: what was said at levels that it dominates."""
    return list(share_of(level, ((line.at, line) for line in lines if line.kind == STATEMENT), lattice))


def relation_path(directory: Path, name: str) -> Path:
    """Where a stored relation lies."""
    return directory / "relations" / f"{path_name(name)}.arrow"


def read_relation(directory: Path, name: str) -> pa.RecordBatch:
    """A stored relation: its declared columns and its labels."""
    return decode(relation_path(directory, name).read_bytes())
