"""A live gate without Spark: a desk, a shepherd and processors, driven entry by entry, and crashed at will."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from tests.engine.memory_store import PutAway
from tidegate.case import Case, StatementEntry, TickEntry, TupleEntry
from tidegate.engine.broken import Broken
from tidegate.engine.epochs import Epoch, schema_json
from tidegate.engine.herd import path_name, segments_of
from tidegate.engine.live import RELATION, STREAM, Line, LiveShepherd, relation_path
from tidegate.engine.processor import LevelProcessor
from tidegate.engine.results import Results
from tidegate.engine.segments import segment_schema, write_segment
from tidegate.errors import QueryError
from tidegate.gates.admit import Admitted, admit, read_instant
from tidegate.operators.arrow import arrow_type, encode
from tidegate.plan.schema import Schema
from tidegate.security.lattice import Lattice, Level
from tidegate.system.desk import Desk

SHARDS = 2


@dataclass
class Processors:
    """Every level's processor, which runs the epochs that are put before it when it is told to."""

    directory: Path
    lattice: Lattice
    waiting: dict[Level, list[Epoch]] = field(default_factory=dict)
    answered: dict[Level, int] = field(default_factory=dict)
    running: dict[tuple[Level, int], LevelProcessor] = field(default_factory=dict)
    put_away: PutAway = field(default_factory=PutAway)

    def put(self, level: Level, epoch: Epoch) -> None:
        """As the shepherd does; one that it had put before a crash is the same again."""
        known = [one.number for one in self.waiting.get(level, [])]
        if epoch.number > self.answered.get(level, -1) and epoch.number not in known:
            self.waiting.setdefault(level, []).append(epoch)

    def run(self, chance: Random) -> None:
        """Answer what waits, at some levels."""
        for level, epochs in self.waiting.items():
            if chance.random() < 0.7:
                self._run(level, epochs)
                epochs.clear()

    def _run(self, level: Level, epochs: list[Epoch]) -> None:
        results = Results(self.directory / "levels" / path_name(level) / "results", self.lattice)
        told = []
        for shard in range(SHARDS):
            processor = self.running.get((level, shard))
            for epoch in epochs:
                if processor is None:
                    assert epoch.world is not None, "the first epoch brings the world"
                    processor = LevelProcessor(epoch.world, shard, SHARDS)
                told += [(epoch.number, result) for result in processor.advance(epoch)]
            if processor is not None:
                told.append((epochs[-1].number if epochs else 0, processor.statistics()))
                self.running[level, shard] = self.put_away(processor)
        if epochs:
            results.take(told)
            self.answered[level] = epochs[-1].number

    def close(self) -> None:
        """End the functions' children."""
        for processor in self.running.values():
            processor.close()


@dataclass
class Living:
    """A gate's directory with everything but Spark."""

    directory: Path
    case: Case
    chance: Random
    levels: tuple[Level, ...]
    skew: int = 5_000_000
    processors: Processors = field(init=False)
    shepherd: LiveShepherd = field(init=False)
    desk: Desk = field(init=False)
    segments: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    batches: dict[str, int] = field(default_factory=dict)
    now: int = 0

    def __post_init__(self) -> None:
        self.processors = Processors(self.directory, self.case.lattice)
        self.open()
        for name, schema in self.case.streams.items():
            terms = {
                "low": self.case.lattice.bottom,
                "high": self.case.lattice.top,
                "late": self.case.late,
                "skew": self.skew,
            }
            body = {"name": name, "schema": schema_json(schema), "terms": terms, "timed": True}
            self.desk.declare(Line(STREAM, self.case.lattice.bottom, body))
        for name, relation in self.case.relations.items():
            path = relation_path(self.directory, name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(encode(_stored(relation.schema, relation.rows)))
            body = {"name": name, "schema": schema_json(relation.schema)}
            self.desk.declare(Line(RELATION, self.case.lattice.bottom, body))

    def open(self) -> None:
        """Open the directory, for the first time or after a crash."""
        case = self.case
        self.shepherd = LiveShepherd(case.lattice, case.levels, self.directory, self.processors.put, 0, self.levels)
        self.desk = Desk(self.shepherd)

    def crash(self) -> None:
        """Everything in memory is gone; sometimes the last line that was written is torn."""
        self.shepherd.close()
        if self.chance.random() < 0.3:
            with (self.directory / "statements.jsonl").open("ab") as file:
                file.write(b'{"kind": "statem')
        self.open()

    def drive(self) -> None:
        """All entries of the case in order; ticks, crashes and answers between them."""
        for statement in self.case.listed:
            self.say(statement)
        for instant, entry in self.case.input:
            match entry:
                case StatementEntry():
                    self.say(entry)
                case TupleEntry(stream, raw):
                    self.segments.setdefault(stream, []).append(raw)
                    if (claimed := read_instant(raw.get("time"))) is not None:
                        self.now = max(self.now, claimed)
                case TickEntry():
                    self.now = max(self.now, instant or 0)
            self.happen()
        self.flush()
        self.now += 30_000_000
        for _ in range(2):
            self.shepherd.tick(self.now, self.now)
            self.now += 1_000_000
        for level, epochs in self.processors.waiting.items():
            self.processors._run(level, epochs)
            epochs.clear()

    def happen(self) -> None:
        """What may come between two entries."""
        if self.chance.random() < 0.4:
            self.flush()
        if self.chance.random() < 0.4:
            self.shepherd.tick(self.now, self.now - self.chance.choice((0, 0, 500_000, 2_000_000)))
        if self.chance.random() < 0.4:
            self.processors.run(self.chance)
        if self.chance.random() < 0.05:
            self.crash()

    def say(self, statement: StatementEntry) -> None:
        """What is refused at the desk never reaches a processor."""
        with contextlib.suppress(QueryError):
            self.desk.speak(statement.text, statement.at, statement.user, statement.name)

    def flush(self) -> None:
        """What has gathered becomes a segment of each stream."""
        for stream, entries in self.segments.items():
            if entries:
                number = self.batches[stream] = self.batches.get(stream, -1) + 1
                place = segments_of(self.directory, stream)
                place.mkdir(parents=True, exist_ok=True)
                write_segment(
                    _segment(self.case.streams[stream], entries, self.case.lattice), place / f"{number}.arrow"
                )
                entries.clear()


def _segment(schema: Schema, entries: list[Mapping[str, Any]], lattice: Lattice) -> pa.Table:
    """As ingest writes it: what does not decode is a text."""
    decoded = [admit({**entry, "level": lattice.bottom, "time": 0}, schema, lattice) for entry in entries]
    rows = [one.values if isinstance(one, Admitted) else (None,) * len(schema) for one in decoded]
    broken = [None if isinstance(one, Admitted) else Broken("", json.dumps(entry["row"], default=str)).to_text()
              for one, entry in zip(decoded, entries, strict=True)]  # fmt: skip
    columns: list[Any] = [[row[place] for row in rows] for place in range(len(schema))]
    columns += [[entry.get("level") for entry in entries], [_micros(entry.get("time")) for entry in entries], broken]
    wanted = segment_schema(schema)
    return pa.table([pa.array(column, one.type) for column, one in zip(columns, wanted, strict=True)], schema=wanted)


def _micros(time: object) -> int | None:
    return round(Decimal(str(time)) * 1_000_000) if time is not None else None


def _stored(schema: Schema, rows: tuple[tuple[Level, tuple[object, ...]], ...]) -> pa.RecordBatch:
    columns = [pa.array([values[n] for _, values in rows], arrow_type(one.type)) for n, one in enumerate(schema)]
    labels = pa.array([str(label) for label, _ in rows], pa.string()).dictionary_encode()
    return pa.RecordBatch.from_arrays([*columns, labels], names=[*(one.name for one in schema), "level"])
