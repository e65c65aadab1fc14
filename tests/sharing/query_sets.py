"""Random sets of queries with much in common: the same windows, conditions and lists in ever new combinations.

They come and go while tuples arrive, so that some join windows that others have held for a while.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.laws.reference.cases import LAST, CaseWriter, Raw
from tests.laws.reference.query_writer import Table, Writer

AGGREGATES = ("COUNT(*)", "SUM({0})", "AVG({0})", "COUNT({0})", "MIN({0})", "MAX({0})", "SUM({1})", "AVG({1})")


@dataclass
class Stock:
    """What the queries over a stream are made of."""

    table: Table
    windows: list[str]
    conditions: list[str]
    lists: list[str]
    keys: list[str]


@dataclass
class SetWriter(CaseWriter):
    """Draws cases whose queries share."""

    stocks: list[Stock] = field(init=False, default_factory=list)
    few: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        super().__post_init__()
        self.few = tuple(self.chance.sample(self.levels, 2))
        writer = self.writer(self.levels[-1])
        self.stocks = [self._stock(writer, table) for table in writer.tables if table.is_stream]

    def _stock(self, writer: Writer, table: Table) -> Stock:
        columns = [*table.columns, ("level", "level")]
        numbers = [name for name, kind in table.columns if kind in ("integer", "double")]
        first, second = numbers[0], numbers[-1]
        plain = [text for text, kind in table.columns if kind != "other"]
        lists = [", ".join(self.chance.sample(plain, self.chance.randrange(1, 3))) for _ in range(3)]
        lists += [", ".join(call.format(first, second) for call in self.chance.sample(AGGREGATES, 2)) for _ in range(4)]
        return Stock(
            table,
            [writer.window_shape(table) for _ in range(3)],
            [writer.condition(columns, 1) for _ in range(2)] + self._thresholds(numbers),
            lists,
            self.chance.sample([*plain, "level"], 2),
        )

    def _thresholds(self, numbers: list[str]) -> list[str]:
        """Conditions that imply one another."""
        name, sign = self.chance.choice(numbers), self.chance.choice((">", ">=", "<"))
        return [f"{name} {sign} {value}" for value in (0, 1)] + [f"{name} IN (1, 2)", f"{name} = 1"]

    # ---------------------------------------------------------------- queries

    def case(self) -> Raw:
        """A whole case of 5 to 40 queries."""
        listed = [self.query() for _ in range(self.chance.randrange(3, 25))]
        return {
            "levels": self.lattice[0],
            "streams": self.streams,
            "queries": listed,
            "input": [{"time": 0}, *self.entries(self.chance.randrange(10, 60)), {"time": LAST}],
            "options": {"late": self.chance.choice(("restamp", "quarantine"))},
        }

    def query(self, level: str | None = None) -> Raw:
        """A listed query under a name of its own."""
        at = level or self.chance.choice(self.few)
        return {"name": self.new_name("q"), "at": at, "text": self.text()}

    def text(self) -> str:
        """A query from the stock of a stream, or a join of two."""
        if self.chance.random() < 0.15:
            return self._join()
        stock = self.chance.choice(self.stocks)
        chosen, operator = self.chance.choice(stock.lists), self.chance.choice(("", "", "", "DSTREAM ", "RSTREAM "))
        window = self.chance.choice(stock.windows)
        before, after = self._conditions(stock), self._conditions(stock)
        if "(" in chosen and self.chance.random() < 0.25:
            return f"SELECT t, {chosen} FROM {stock.table.name}{after} GROUP BY time/3 AS t, {stock.keys[0]}"
        grouped = f" GROUP BY {self.chance.choice(stock.keys)}" if "(" in chosen and self.chance.random() < 0.6 else ""
        return f"SELECT {operator}{chosen}{before} FROM {stock.table.name} [{window}]{after}{grouped}"

    def _conditions(self, stock: Stock) -> str:
        chosen = self.chance.sample(stock.conditions, self.chance.choice((0, 0, 1, 1, 2)))
        return f" WHERE {' AND '.join(chosen)}" if chosen else ""

    def _join(self) -> str:
        one, another = (self.chance.choice(self.stocks) for _ in range(2))
        left, right = (f"{stock.table.name} [ROWS {self.chance.choice((2, 3))}]" for stock in (one, another))
        column, other = one.table.columns[0][0], another.table.columns[0][0]
        shown = self.chance.choice((f"L.{column}", f"L.{column}, M.{other}", "COUNT(*)"))
        extra = self.chance.choice(("", f" AND L.{column} > 0", f" AND L.{column} > 0 AND M.{other} < 3"))
        return f"SELECT {shown} FROM {left} L, {right} M WHERE L.{column} = M.{other}{extra}"

    def statement(self, at: str) -> str:
        """Mostly queries that come and go."""
        name = f"q{self.chance.randrange(1, self.serial + 2)}"
        return self.chance.choice(
            (
                *[f"CREATE QUERY {self.new_name('q')} AS {self.text()}" for _ in range(3)],
                f"DROP QUERY {name}",
                f"STOP {name}",
                f"START {name}",
            )
        )

    def entry(self, time: float, levels: tuple[str, ...] | None = None) -> Raw:
        """More statements than elsewhere, at the levels that have queries."""
        if self.chance.random() < 0.2:
            at = self.chance.choice(self.few)
            return {"time": time, "at": at, "statement": self.statement(at)}
        return super().entry(time, levels)


def query_set(chance: random.Random) -> Raw:
    """The JSON value of a case."""
    return SetWriter(chance).case()
