"""A foreign oracle: window contents by the second definition, and SQLite for everything that comes after the window.

Only the windows and the steps are ours here (from the sentences of Q-2 and Q-3); conditions, joins, groups, aggregates
and NULLs are another database's.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from tests.laws.reference.query_writer import Table
from tests.reference.naive_windows import Arrival, at_boundary, held
from tidegate.language.parser import parse
from tidegate.language.syntax import Emitted, Node, Object, Select, Source, Union
from tidegate.plan.windows import Rows, Window

SECOND = 1_000_000
START = SECOND // 2  # no slide boundary, so that the first one comes before anything has arrived
AFFINITY = {"integer": "INTEGER", "double": "REAL", "string": "TEXT"}
_WINDOW = re.compile(r"\s*\[[^\]]*\]")


@dataclass(frozen=True)
class Sighted:
    """A tuple of a stream with its values."""

    arrival: Arrival
    row: dict[str, Any]


@dataclass(frozen=True)
class Place:
    """One entry of FROM: the table in SQLite that stands for it, its stream and its window."""

    name: str
    table: Table
    window: Window | None


def oracle(text: str, tables: list[Table], raw: dict[str, Any], last: int) -> Iterator[tuple[int, list[Any]]]:
    """Each step of a query in microseconds, and the rows of its relation then."""
    places = list(places_of(text, tables))
    past = {table.name: sighted(table, raw) for table in tables}
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("PRAGMA case_sensitive_like = ON")
        for place in places:
            columns = ", ".join(f"{name} {AFFINITY[kind]}" for name, kind in place.table.columns)
            database.execute(f"CREATE TABLE {place.name} ({columns})")
        foreign = translated(text, places)
        for now in steps(places, past, last):
            for place in places:
                load(database, place, past[place.table.name], now)
            yield now, [list(row) for row in database.execute(foreign)]


def places_of(text: str, tables: list[Table]) -> Iterator[Place]:
    """Every entry of FROM, in the order of the text; the windows are read by our own parser."""
    declared = {table.name: table for table in tables}
    for number, source in enumerate(_sources(parse(text))):
        assert isinstance(source.table, Object)
        window = source.window.window if source.window else None
        yield Place(f"{source.table.name}{number}", declared[source.table.name], window)


def _sources(node: Node) -> Iterator[Source]:
    match node:
        case Select():
            yield from node.sources
        case Union(parts):
            for part in parts:
                yield from _sources(part)
        case Emitted(_, inner):
            yield from _sources(inner)


def translated(text: str, places: list[Place]) -> str:
    """The text without windows and R2S, each stream replaced by the table of its place."""
    plain = _WINDOW.sub("", text)
    plain = plain.replace("SELECT RSTREAM ", "SELECT ")
    wrapped = re.fullmatch(r"RSTREAM\((.*)\)", plain, re.DOTALL)
    plain = wrapped[1] if wrapped else plain
    numbered = iter(places)

    def next_table(match: re.Match[str]) -> str:
        return f"{match[1]} {next(numbered).name}"

    return re.sub(r"(FROM|JOIN|AS l,) ([A-Z])\b", next_table, plain)


def sighted(table: Table, raw: dict[str, Any]) -> list[Sighted]:
    """The tuples of a stream in order, or the rows of a relation."""
    if not table.is_stream:
        return [Sighted(Arrival(0, number), row) for number, row in enumerate(raw["relations"][table.name]["rows"])]
    own = [entry for entry in raw["input"] if entry.get("stream") == table.name]
    ordered = sorted(own, key=lambda entry: entry["time"])
    return [
        Sighted(Arrival(round(entry["time"] * SECOND), number), entry["row"]) for number, entry in enumerate(ordered)
    ]


def keyed(place: Place, past: list[Sighted]) -> list[Arrival]:
    """The arrivals as one window counts them."""
    partition = place.window.partition if isinstance(place.window, Rows) else ()
    return [
        Arrival(one.arrival.instant, one.arrival.number, tuple(one.row[name] for name in partition)) for one in past
    ]


def steps(places: list[Place], past: dict[str, list[Sighted]], last: int) -> Iterator[int]:
    """Q-2: arrivals on a stream that is read, tuples that leave a window, and slide boundaries."""
    streams = [(place, keyed(place, past[place.table.name])) for place in places if place.window is not None]
    for now in range(START, last * SECOND + 1, SECOND // 2):
        for instant in (now, now + 1):  # all input is at half seconds, so tuples leave there or 1 µs later
            if instant <= last * SECOND and any(_steps(place, arrivals, instant) for place, arrivals in streams):
                yield instant


def _steps(place: Place, arrivals: list[Arrival], now: int) -> bool:
    assert place.window is not None
    if any(one.instant == now for one in arrivals) or at_boundary(place.window, arrivals, now):
        return True
    return not held(place.window, arrivals, now - 1, START) <= held(place.window, arrivals, now, START)


def load(database: sqlite3.Connection, place: Place, past: list[Sighted], now: int) -> None:
    """Put the content of a window, or a whole relation, into its table."""
    rows = [one.row for one in past]
    if place.window is not None:
        content = {one.number for one in held(place.window, keyed(place, past), now, START)}
        rows = [one.row for one in past if one.arrival.number in content]
    names = [name for name, _ in place.table.columns]
    database.execute(f"DELETE FROM {place.name}")
    marks = ", ".join("?" for _ in names)
    database.executemany(f"INSERT INTO {place.name} VALUES ({marks})", [[row[name] for name in names] for row in rows])
