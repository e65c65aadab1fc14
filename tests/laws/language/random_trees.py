"""Random queries and statements: every tree that some text parses to, in reach of a few seconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tests.laws.language.random_expressions import SIGNS, RandomExpressions
from tidegate.language import statements as st
from tidegate.language import syntax as sx
from tidegate.plan.windows import Range, Rows, Unbounded, Window

EMITS = ("ISTREAM", "DSTREAM", "RSTREAM")
DROPS = ("QUERY", "STREAM", "FUNCTION", "SOURCE", "SINK", "RELATION")
SHOWS = ("QUERIES", "STREAMS", "FUNCTIONS", "SOURCES", "SINKS", "RELATIONS", "LEVELS")
ACTIONS = ("BEGIN", "COMMIT", "ABORT")
EXPLAINS = ("SHARING", "PREFILTER", "PLACEMENT")
LATES = ("RESTAMP", "QUARANTINE")
MODES = ("OVERWRITE", "COMBINE")
DEPTH = 3


@dataclass(frozen=True, slots=True)
class RandomQueries(RandomExpressions):
    """Draws queries; ``depth`` bounds how far expressions and sub-queries nest."""

    def query(self, depth: int) -> sx.Query:
        """Any query."""
        if depth > 0 and self.chance(0.12):
            return sx.Union(tuple(self._part(depth - 1) for _ in range(self.one((2, 2, 3)))))
        return self._part(depth)

    def _part(self, depth: int) -> sx.Query:
        draw = self.random.random()
        if draw < 0.1 and depth > 0:
            return sx.Emitted(self.one(EMITS), self.query(depth - 1))
        return self.select(depth) if draw < 0.9 else self._select_tags(depth)

    def _select_tags(self, depth: int) -> sx.Query:
        return sx.SelectTags(self.chance(0.5), self._sources(depth), self.condition(depth), self.chance(0.3))

    def select(self, depth: int) -> sx.Select:
        """One SELECT with any of its clauses."""
        group = self._group(depth) if self.chance(0.3) else ()
        return sx.Select(
            tuple(self._item(depth) for _ in range(self.one((1, 1, 2, 3)))),
            self._sources(depth),
            self.one(EMITS) if self.chance(0.2) else None,
            self.chance(0.15),
            self.condition(depth - 1) if self.chance(0.4) else None,
            self.condition(depth),
            group,
            self._sliding() if group and self.chance(0.3) else None,
            self.condition(depth - 1) if self.chance(0.3) else None,
            self.number() if self.chance(0.1) else None,
            self.chance(0.1),
        )

    def _item(self, depth: int) -> sx.Item | sx.Star:
        if self.chance(0.12):
            return sx.Star(self.name() if self.chance(0.5) else None)
        return sx.Item(self.expression(depth), self.name() if self.chance(0.25) else None)

    def _group(self, depth: int) -> tuple[sx.GroupItem, ...]:
        return tuple(
            sx.GroupItem(self.expression(depth - 1), self.name() if self.chance(0.3) else None)
            for _ in range(self.one((1, 1, 2)))
        )

    # ---------------------------------------------------------------- FROM

    def _sources(self, depth: int) -> tuple[sx.Source, ...]:
        first = self._source(depth, None)
        return (first, *(self._source(depth, self.condition(depth - 1)) for _ in range(self.one((0, 0, 0, 1, 2)))))

    def _source(self, depth: int, condition: sx.Expression | None) -> sx.Source:
        nested = depth > 1 and self.chance(0.15)
        table = self.query(depth - 2) if nested else self.object()
        window = sx.WindowClause(self.window(), self.condition(depth - 1)) if self.chance(0.6) else None
        return sx.Source(table, window, self.name() if self.chance(0.35) else None, condition)

    def object(self) -> sx.Object:
        """A name, perhaps with its level."""
        return sx.Object(self.name(), self.level() if self.chance(0.2) else None)

    def window(self) -> Window:
        """Any window."""
        return self.one((self._rows, self._rows, self._range, self._sliding, Unbounded))()

    def _rows(self) -> Window:
        slide = self.count() if self.chance(0.3) else None
        if self.chance(0.5):
            return Rows(self.count(), slide)
        partition = tuple(self.name() for _ in range(self.one((1, 1, 2))))
        return Rows(self.count(), slide, partition, self.duration() if self.chance(0.3) else None)

    def _range(self) -> Window:
        return Range(self.duration())

    def _sliding(self) -> Window:
        return Range(self.duration(least=1), self.duration(least=1))


@dataclass(frozen=True, slots=True)
class RandomStatements(RandomQueries):
    """Draws statements: half of them queries, the rest of every kind."""

    def statement(self, depth: int = DEPTH) -> st.Statement:
        """Any statement."""
        if self.chance(0.5):
            return self.query(depth)
        makers: tuple[Callable[[int], st.Statement], ...] = (
            self._create_query, self._create_stream, self._create_function, self._create_source, self._create_sink,
            self._create_relation, self._drop, self._show, self._start_stop, self._transaction, self._explain,
            self._permit, self._attach,
        )  # fmt: skip
        return self.one(makers)(depth)

    def _create_query(self, depth: int) -> st.Statement:
        return st.CreateQuery(self.name(), self.query(depth))

    def _create_stream(self, depth: int) -> st.Statement:
        return st.CreateStream(self.name(), self.query(depth))

    def _create_function(self, depth: int) -> st.Statement:
        parameters = self._fields(least=0)
        return st.CreateFunction(self.name(), parameters, self.type_name(), self.string())

    def _create_source(self, depth: int) -> st.Statement:
        return st.CreateSource(
            self.name(), self._fields(), self.string(), (self.level(), self.level()), self._maybe_name(),
            self._maybe_name(), self._maybe_time(), self._maybe_time(),
            self.one(LATES) if self.chance(0.5) else None, self.chance(0.5),
        )  # fmt: skip

    def _create_sink(self, depth: int) -> st.Statement:
        levels = (self.level(), self.level())
        return st.CreateSink(self.name(), self.object(), self.string(), levels, self._maybe_name())

    def _create_relation(self, depth: int) -> st.Statement:
        address = self.string() if self.chance(0.5) else None
        return st.CreateRelation(self.name(), self._fields(), (self.level(), self.level()), address, self._maybe_name())

    def _fields(self, least: int = 1) -> tuple[st.Field, ...]:
        return tuple(st.Field(self.name(), self.type_name()) for _ in range(self.random.randint(least, 3)))

    def _maybe_name(self) -> str | None:
        return self.name() if self.chance(0.5) else None

    def _maybe_time(self) -> int | None:
        return self.duration() if self.chance(0.5) else None

    def _drop(self, depth: int) -> st.Statement:
        return st.Drop(self.one(DROPS), self.object())

    def _show(self, depth: int) -> st.Statement:
        return st.Show(self.one(SHOWS))

    def _start_stop(self, depth: int) -> st.Statement:
        return st.StartStop(self.chance(0.5), self.object())

    def _transaction(self, depth: int) -> st.Statement:
        return st.Transaction(self.one(ACTIONS))

    def _explain(self, depth: int) -> st.Statement:
        kind = self.one(EXPLAINS) if self.chance(0.5) else None
        return st.Explain(kind, self.object() if self.chance(0.4) else self.query(depth))

    def _permit(self, depth: int) -> st.Statement:
        operator, field = (self.name() if self.chance(0.7) else "*" for _ in range(2))
        return st.Permit(self.chance(0.5), operator, self.name(), field, self.name())

    def _attach(self, depth: int) -> st.Statement:
        return st.AttachTag(
            self.string(), self.column(), self.chance(0.5), self.condition(depth),
            self.one(SIGNS) if self.chance(0.6) else None, self._maybe_time(),
            self.one(MODES) if self.chance(0.6) else None,
        )  # fmt: skip


def random_statement(seed: int, number: int, depth: int = DEPTH) -> st.Statement:
    """The statement of a number, the same for the same seed."""
    return RandomStatements(Random(f"{seed}/{number}")).statement(depth)
