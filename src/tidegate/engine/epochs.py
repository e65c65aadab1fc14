"""Epochs: what a level's processor is given, and all that it is given.

An epoch is the level's tuples of the instants (last, now], the statements that it may know of, each at its place, and,
in the first one, the world: levels, streams and stored relations. A processor is a pure function of its epochs, so
they are files: written once, numbered from 0 without a gap, read by reference. A file is one Arrow table of named
parts; reading maps it into memory and copies nothing.

Reads: plan, operators (arrow).  Read by: engine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from tidegate.operators.arrow import decode, encode
from tidegate.plan.schema import Field, Schema
from tidegate.plan.types import parse_type
from tidegate.security.lattice import Level

VERSION = 2
LEVEL, INSTANT, ARRIVAL = "level", "instant", "arrival"
"""The columns behind the declared ones, known by their place: a declared one may have the same name."""


@dataclass(frozen=True, slots=True)
class Said:
    """A statement at its place; ``number`` counts the statements of this processor."""

    number: int
    instant: int
    arrival: int
    at: Level
    text: str
    user: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class World:
    """What there is before the first instant; relations hold only rows that the level dominates."""

    levels: object
    level: Level
    streams: Mapping[str, Schema]
    relations: Mapping[str, tuple[Schema, pa.RecordBatch]]
    serves_all: bool = False
    """In the trusted architecture one processor answers the queries of every level."""
    off: frozenset[str] = frozenset()
    """What is switched off; the answers are the same (Q-10)."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """The instants (last, now] of one level."""

    number: int
    last: int
    now: int
    said: tuple[Said, ...] = ()
    tuples: Mapping[str, pa.RecordBatch] = field(default_factory=dict)
    world: World | None = None


def write_epoch(epoch: Epoch, path: Path) -> None:
    """Write the file beside its place and move it there: it is whole or absent."""
    parts = {"control": json.dumps(_control(epoch)).encode()}
    parts |= {f"stream {name}": encode(batch) for name, batch in epoch.tuples.items()}
    if epoch.world is not None:
        parts |= {f"relation {name}": encode(rows) for name, (_, rows) in epoch.world.relations.items()}
    table = pa.table({"part": pa.array(list(parts)), "body": pa.array(list(parts.values()), pa.large_binary())})
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    with pa.OSFile(str(unfinished), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    unfinished.replace(path)


def read_epoch(path: str) -> Epoch:
    """An epoch from its file."""
    with pa.memory_map(path) as source:
        table = pa.ipc.open_file(source).read_all()
    names, bodies = table["part"].to_pylist(), table["body"].combine_chunks()
    parts = {name: bodies[place].as_buffer() for place, name in enumerate(names)}
    control: dict[str, Any] = json.loads(parts["control"].to_pybytes())
    if control["version"] != VERSION:
        raise ValueError(f"{path} was written by version {control['version']}; this is version {VERSION}")
    tuples = {name.removeprefix("stream "): decode(body) for name, body in parts.items() if name.startswith("stream ")}
    said = tuple(Said(**entry) for entry in control["said"])
    return Epoch(control["number"], control["last"], control["now"], said, tuples, _world(control["world"], parts))


def _control(epoch: Epoch) -> dict[str, object]:
    said = [asdict(entry) for entry in epoch.said]
    world = None if epoch.world is None else _world_json(epoch.world)
    numbers = {"number": epoch.number, "last": epoch.last, "now": epoch.now}
    return {"version": VERSION, **numbers, "said": said, "world": world}


def _world_json(world: World) -> dict[str, object]:
    return {
        "levels": world.levels,
        "level": world.level,
        "serves_all": world.serves_all,
        "off": sorted(world.off),
        "streams": {name: schema_json(schema) for name, schema in world.streams.items()},
        "relations": {name: schema_json(schema) for name, (schema, _) in world.relations.items()},
    }


def _world(raw: dict[str, Any] | None, parts: Mapping[str, pa.Buffer]) -> World | None:
    if raw is None:
        return None
    streams = {name: schema_from(columns) for name, columns in raw["streams"].items()}
    relations = {
        name: (schema_from(columns), decode(parts[f"relation {name}"])) for name, columns in raw["relations"].items()
    }
    return World(raw["levels"], Level(raw["level"]), streams, relations, raw["serves_all"], frozenset(raw["off"]))


def schema_json(schema: Schema) -> dict[str, str]:
    """Columns with their types, as JSON."""
    return {column.name: str(column.type) for column in schema}


def schema_from(columns: Mapping[str, str]) -> Schema:
    """Columns from JSON."""
    found = [(name, parse_type(text)) for name, text in columns.items()]
    return tuple(Field(name, kind) for name, kind in found if kind is not None)
