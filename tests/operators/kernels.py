"""One query on kernels over tuples given as Python values, in epochs cut where a test likes."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from tidegate.catalog import STREAM, Catalog, Table
from tidegate.language.binder import bind_query
from tidegate.language.parser import parse
from tidegate.language.syntax import Select
from tidegate.operators.batch import Batch, arrived
from tidegate.operators.evaluate import Evaluator
from tidegate.operators.failing import Failed
from tidegate.operators.query import QueryKernel
from tidegate.operators.vector import Failures, LevelTable, Vector, from_values, to_values
from tidegate.plan import nodes
from tidegate.plan.schema import Field
from tidegate.plan.types import BIGINT, DOUBLE, INT, LEVEL
from tidegate.security.declare import declare

LATTICE = declare("blp4")
COLUMNS = (("g", INT), ("x", DOUBLE), ("n", BIGINT))
Line = tuple[int, tuple[object, ...], str]


@dataclass(frozen=True)
class Given:
    """A tuple of stream s(g int, x double, n bigint)."""

    instant: int
    x: float | None = 0.0
    n: int | None = 0
    g: int = 0
    level: str = "U"


@dataclass
class Running:
    """A query as TS asks it."""

    text: str
    plan: nodes.QueryPlan = field(init=False)
    levels: LevelTable = field(init=False)
    kernel: QueryKernel = field(init=False)

    def __post_init__(self) -> None:
        self.plan = _plan(self.text)
        self.levels = LevelTable(LATTICE)
        self.levels.encode(list(LATTICE.levels()))
        self.kernel = QueryKernel(self.plan, Evaluator(self.levels, Failures(), lambda *_: []), {})

    def advance(self, rows: Batch, instants: Iterable[int], last: int, now: int) -> list[Line]:
        """One epoch in, its lines out, in printed order."""
        scan = next(iter(nodes.scans(self.plan)))
        self.kernel.advance({scan: arrived(rows, np.array(instants, np.int64))}, last, now)
        given = self.kernel.printed()
        values = [[_exactly(value) for value in to_values(column)] for column in given.rows.columns]
        labels = [self.levels.labels[number] for number in given.rows.level]
        return list(zip(given.instants.tolist(), zip(*values, strict=True), labels, strict=True))

    def take(self, tuples: Sequence[Given], last: int, now: int) -> list[Line]:
        """The same for tuples of Python values."""
        level = self.levels.encode([LATTICE.level(given.level) for given in tuples])
        columns = [from_values([getattr(given, name) for given in tuples], kind) for name, kind in COLUMNS]
        instants = [given.instant for given in tuples]
        hidden = [Vector(LEVEL, level), from_values([instant // 1_000_000 for instant in instants], BIGINT)]
        return self.advance(Batch((*columns, *hidden), level), instants, last, now)

    @property
    def failed(self) -> Failed | None:
        """What suspends the query, if anything does."""
        return self.kernel.failed


@cache
def _plan(text: str) -> nodes.QueryPlan:
    stream = Table(STREAM, LATTICE.bottom, "s", 1, tuple(Field(*column) for column in COLUMNS))
    statement = parse(text)
    assert isinstance(statement, Select)
    return bind_query(statement, Catalog(LATTICE).add(stream), LATTICE.top)


def _exactly(value: object) -> object:
    """Doubles by their bits: equal to the bit means the same double, and NaN is NaN."""
    return struct.pack(">d", value) if isinstance(value, float) else value


def lines_of(text: str, tuples: Sequence[Given], cut: int) -> list[Line]:
    """All lines of a query over a stream, in epochs of so many instants."""
    running, lines = Running(text), list[Line]()
    end = max(given.instant for given in tuples) + 20
    for start in range(0, end, cut):
        now = start + cut - 1
        lines += running.take([given for given in tuples if start <= given.instant <= now], start - 1, now)
        assert running.failed is None
    return lines
