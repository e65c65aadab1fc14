"""Random cases: a lattice, streams of several types, a relation, derived streams, queries, tuples and statements.

Each case begins with a tick at 0 and ends with one at LAST, so that its span says nothing about its content. Between
them come ties, late tuples, tuples that do not fit, ticks and statements. A case is the JSON value of a case file.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.laws.reference.query_writer import Table, Writer
from tests.laws.reference.shapes import ALL, R2S, Drawn, Shape, select_project, windowless

Raw = dict[str, Any]

LAST = 24
LATTICES: tuple[tuple[Any, tuple[str, ...]], ...] = (
    ("U < C < S", ("U", "C", "S")),
    ("lo < h1, lo < h2, h1 < top, h2 < top", ("lo", "h1", "h2", "top")),
    ({"ranks": "U < S", "compartments": ["N"]}, ("U", "U:N", "S", "S:N")),
)
STREAMS: dict[str, dict[str, str]] = {
    "A": {"a": "int", "x": "double", "s": "string"},
    "B": {"a": "bigint", "b": "int", "p": "boolean", "d": "date"},
    "D": {"k": "int", "y": "double", "t": "timestamp", "m": "decimal(6,2)", "s": "string"},
}
RELATION = {"a": "int", "s": "string"}
KINDS = {"int": "integer", "bigint": "integer", "double": "double", "string": "string", "boolean": "boolean"}

DRAW: dict[str, Callable[[random.Random], Any]] = {
    "int": lambda chance: chance.choice((0, 1, 1, 1, 2, 3, -1, None)),
    "bigint": lambda chance: chance.choice((0, 1, 1, 2, 2, 9_223_372_036_854_775_807, None)),
    "double": lambda chance: chance.choice((0.0, -0.0, 0.5, 1.5, 1.5, -2.0, 1e16, "NaN", "Infinity", None)),
    "string": lambda chance: chance.choice(("a", "a", "b", "ab", "", "A", None)),
    "boolean": lambda chance: chance.choice((True, False, None)),
    "date": lambda chance: chance.choice(("2024-02-29", "1970-01-01")),
    "timestamp": lambda chance: chance.choice(("2024-02-29T01:02:03.000004Z", "1969-12-31T00:00:00Z", None)),
    "decimal(6,2)": lambda chance: chance.choice(("1.50", "-0.25", 1000, None)),
}


def table(name: str, columns: dict[str, str], is_stream: bool = True) -> Table:
    """A declared stream or relation as queries see it."""
    return Table(name, tuple((column, KINDS.get(kind, "other")) for column, kind in columns.items()), is_stream)


@dataclass
class CaseWriter:
    """Draws one case, or more entries for a case that is there."""

    chance: random.Random
    shapes: tuple[Shape, ...] = ALL
    lattice: tuple[Any, tuple[str, ...]] = field(init=False)
    streams: dict[str, dict[str, str]] = field(init=False)
    derived: list[tuple[str, Table]] = field(init=False, default_factory=list)
    serial: int = 0

    def __post_init__(self) -> None:
        self.lattice = self.chance.choice(LATTICES)
        chosen = self.chance.sample(sorted(STREAMS), self.chance.randrange(1, 4))
        self.streams = {name: STREAMS[name] for name in chosen}

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels by name, the bottom first and the top last."""
        return self.lattice[1]

    def case(self) -> Raw:
        """A whole case."""
        listed = [self.derive() for _ in range(self.chance.randrange(3))]
        listed += [self.query() for _ in range(self.chance.randrange(3, 9))]
        return {
            "levels": self.lattice[0],
            "streams": self.streams,
            "relations": {"R": {"schema": RELATION, "rows": [self.stored() for _ in range(self.chance.randrange(5))]}},
            "queries": listed,
            "input": [{"time": 0}, *self.entries(self.chance.randrange(5, 60)), {"time": LAST}],
            "options": {"late": self.chance.choice(("restamp", "restamp", "quarantine"))},
        }

    # ---------------------------------------------------------------- queries

    def writer(self, level: str) -> Writer:
        """A writer of queries at a level: over streams, the relation, and derived streams that it may see."""
        tables = [table(name, columns) for name, columns in self.streams.items()]
        tables += [one for home, one in self.derived if home in (level, self.levels[0])]
        return Writer(self.chance, [*tables, table("R", RELATION, is_stream=False)], self.levels, names=self.serial)

    def draw(self, level: str, shapes: tuple[Shape, ...] | None = None) -> Drawn:
        """A query without R2S."""
        return self.chance.choice(shapes or self.shapes)(self.writer(level))

    def query(self, level: str | None = None) -> Raw:
        """A listed query under a name of its own."""
        at = level or self.chance.choice(self.levels)
        return {"name": self.new_name("q"), "at": at, "text": self.draw(at).emitted(self.chance.choice(R2S))}

    def derive(self) -> Raw:
        """A derived stream; readers at its level and, if it is the bottom's, above may use it."""
        at, name = self.chance.choice((*self.levels, self.levels[0])), self.new_name("v")
        shape = self.chance.choice((select_project, select_project, windowless))
        drawn = self.draw(at, (shape,))
        self.derived.append((at, Table(name, drawn.columns)))
        operator = "" if shape is windowless else self.chance.choice(R2S)
        return {"name": name, "at": at, "text": f"CREATE STREAM {name} AS {drawn.emitted(operator)}"}

    def new_name(self, letter: str) -> str:
        """A name that nothing else has."""
        self.serial += 1
        return f"{letter}{self.serial}"

    # ---------------------------------------------------------------- input

    def entries(self, count: int, levels: tuple[str, ...] | None = None) -> list[Raw]:
        """Tuples, ticks and statements in order of arrival, their times rising on the whole."""
        times = sorted(self.chance.choice((0.5, 1.0)) * self.chance.randrange(1, LAST - 1) for _ in range(count))
        return [self.entry(time, levels) for time in times]

    def entry(self, time: float, levels: tuple[str, ...] | None = None) -> Raw:
        """One entry; with ``levels`` none that speaks of another level, and no tick."""
        kind = self.chance.random()
        at = self.chance.choice(levels or self.levels)
        if kind < 0.04 and levels is None:
            return {"time": time}
        if kind < 0.14:
            return {"time": time, "at": at, "statement": self.statement(at)}
        return self.tuple(time, at)

    def tuple(self, time: float, level: str) -> Raw:
        """A tuple; some come early, late, a microsecond beside the others, or do not fit."""
        name = self.chance.choice(sorted(self.streams))
        row = {column: DRAW[kind](self.chance) for column, kind in self.streams[name].items()}
        shift = self.chance.choice((0, 0, 0, 0, 0, 0.5, -3, 0.000001))
        entry = {"stream": name, "time": round(max(0, time + shift), 6), "level": level, "row": row}
        if self.chance.random() < 0.03:
            entry["row"] = {**row, self.chance.choice(("zz", *row)): "no such thing"}
        return entry

    def statement(self, at: str) -> str:
        """What a session may say: registering, dropping, starting, stopping, sets, looking."""
        name = f"{self.chance.choice('qv')}{self.chance.randrange(1, 12)}"
        drawn = self.draw(at).emitted(self.chance.choice(R2S))
        return self.chance.choice(
            (
                f"CREATE QUERY {self.new_name('q')} AS {drawn}",
                f"CREATE QUERY {self.new_name('q')} AS {drawn}",
                f"CREATE STREAM {self.new_name('v')} AS {drawn}",
                f"DROP QUERY {name}",
                f"DROP STREAM {name}",
                f"STOP {name}",
                f"START {name}",
                "BEGIN",
                "COMMIT",
                "ABORT",
                "SHOW QUERIES",
                "SHOW STREAMS",
                f"EXPLAIN {drawn}",
                f"EXPLAIN SHARING {drawn}",
                f"EXPLAIN SHARING {name}",
                f"EXPLAIN PREFILTER {self.chance.choice((drawn, name))}",
                f"SELECT {name} FROM nowhere",
            )
        )

    def stored(self) -> Raw:
        """A row of the relation."""
        row = {name: DRAW[kind](self.chance) for name, kind in RELATION.items()}
        return {"level": self.chance.choice(self.levels), **row}
