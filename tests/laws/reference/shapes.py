"""Shapes of whole queries, drawn with a writer: from select-project to sub-queries and panes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.laws.reference.query_writer import Columns, Table, Writer

R2S = ("", "", "ISTREAM ", "DSTREAM ", "RSTREAM ")


@dataclass(frozen=True)
class Drawn:
    """A query without its R2S operator, and the columns that it gives."""

    text: str
    columns: tuple[tuple[str, str], ...]

    def emitted(self, operator: str) -> str:
        """The query under an R2S operator: ``SELECT ISTREAM …``, or ``ISTREAM(…)`` around a union."""
        if not operator.strip():
            return self.text
        if "UNION" in self.text:
            return f"{operator.strip()}({self.text})"
        return self.text.replace("SELECT ", f"SELECT {operator.strip()} ", 1)


def stream(writer: Writer) -> Table:
    """One of the streams."""
    return writer.chance.choice([table for table in writer.tables if table.is_stream])


def where(writer: Writer, columns: Columns, often: float = 0.35) -> str:
    """A condition after the window, or none."""
    return f" WHERE {writer.condition(columns)}" if writer.chance.random() < often else ""


def with_level(writer: Writer, table: Table) -> Columns:
    """The columns of a stream and, where levels matter, its level."""
    label = [("level", "level")] if writer.levels and not writer.plain else []
    return [*table.columns, *label]


def select_project(writer: Writer) -> Drawn:
    """SELECT items [WHERE c] FROM s [window] [WHERE c]."""
    table = stream(writer)
    items, columns = writer.named(writer.items(table.columns, writer.chance.randrange(1, 4)))
    before = "" if writer.plain else where(writer, with_level(writer, table), 0.2)
    label = ", level" if writer.levels and not writer.plain and writer.chance.random() < 0.2 else ""
    source = f"{table.name} {writer.window(table)}"
    return Drawn(f"SELECT {items}{label}{before} FROM {source}{where(writer, with_level(writer, table))}", columns)


def distinct(writer: Writer) -> Drawn:
    """SELECT DISTINCT items FROM s [window]."""
    table = stream(writer)
    items, columns = writer.named(writer.items(table.columns, writer.chance.randrange(1, 3)))
    return Drawn(
        f"SELECT DISTINCT {items} FROM {table.name} {writer.window(table)}{where(writer, table.columns)}", columns
    )


def aggregate(writer: Writer) -> Drawn:
    """SELECT aggregates FROM s [window]: one row, or one per partition."""
    table = stream(writer)
    items, columns = writer.named(writer.aggregates(table.columns, writer.chance.randrange(1, 4)))
    window = writer.window(table)
    while writer.plain and "PARTITIONED" in window:  # elsewhere there is no group without GROUP BY
        window = writer.window(table)
    return Drawn(f"SELECT {items} FROM {table.name} {window}{where(writer, with_level(writer, table))}", columns)


def grouped(writer: Writer) -> Drawn:
    """SELECT key, aggregates FROM s [window] GROUP BY key [HAVING c]."""
    table = stream(writer)
    key = writer.items(table.columns, 1)[0]
    while not any(name in key[0] for name, _ in table.columns):  # a constant is no key elsewhere
        key = writer.items(table.columns, 1)[0]
    items, columns = writer.named([key, *writer.aggregates(table.columns, writer.chance.randrange(1, 3))])
    having = f" HAVING {writer.one_of('COUNT(*) > 1', 'MIN(1) = 1', 'COUNT(*) <> 2')}"
    having = having if writer.chance.random() < 0.3 else ""
    source = f"{table.name} {writer.window(table)}{where(writer, table.columns)}"
    return Drawn(f"SELECT {items} FROM {source} GROUP BY {key[0]}{having}", columns)


def join(writer: Writer) -> Drawn:
    """Two windows, a window with itself, or a window with a relation."""
    left, right = stream(writer), writer.chance.choice(writer.tables)
    columns = [*left.seen_as("l"), *right.seen_as("r")]
    labels = [("l.level", "level"), ("r.level", "level")] if writer.levels and not writer.plain else []
    aggregated = writer.chance.random() < 0.3
    draw = writer.aggregates if aggregated else writer.items
    items, given = writer.named(draw(columns, writer.chance.randrange(1, 3)))
    right_window = f" {writer.window(right, small=True)}" if right.is_stream else ""
    sources = f"{left.name} {writer.window(left, small=True)} AS l, {right.name}{right_window} AS r"
    if writer.chance.random() < 0.2:
        sources = sources.replace("AS l, ", "AS l JOIN ") + f" ON {equality(writer, left, right)}"
        return Drawn(f"SELECT {items} FROM {sources}{where(writer, [*columns, *labels])}", given)
    condition = f" WHERE {equality(writer, left, right)} AND {writer.condition([*columns, *labels], 1)}"
    if not writer.plain and writer.chance.random() < 0.3:
        return Drawn(f"SELECT {items}{condition} FROM {sources}", given)
    return Drawn(f"SELECT {items} FROM {sources}{condition}", given)


def equality(writer: Writer, left: Table, right: Table) -> str:
    """``l.a = r.a`` on two integer columns, or a condition that is always true."""
    pair = [[name for name, kind in table.columns if kind == "integer"] for table in (left, right)]
    return f"l.{writer.one_of(*pair[0])} = r.{writer.one_of(*pair[1])}" if all(pair) else "1 = 1"


def union(writer: Writer) -> Drawn:
    """Two selections of one integer and one string."""
    parts = []
    columns: tuple[tuple[str, str], ...] = ()
    for _ in range(2):
        table = stream(writer)
        items = [(writer.integer(table.columns, 1), "integer"), (writer.string(table.columns, 1), "string")]
        text, given = writer.named(items)
        columns = columns or given
        parts.append(f"SELECT {text} FROM {table.name} {writer.window(table)}{where(writer, table.columns)}")
    return Drawn(" UNION ALL ".join(parts), columns)


def over_relation(writer: Writer) -> Drawn:
    """A sub-query in FROM without a window: a relation."""
    inner = writer.chance.choice((grouped, select_project, distinct))(writer)
    items, columns = writer.named(writer.items(inner.columns, 2))
    return Drawn(f"SELECT {items} FROM ({inner.text}) AS i{where(writer, inner.columns)}", columns)


def over_stream(writer: Writer) -> Drawn:
    """A sub-query under a window: a stream."""
    inner = writer.chance.choice((aggregate, select_project, union))(writer)
    table = Table("i", inner.columns)
    items, columns = writer.named(writer.aggregates(inner.columns, 1))
    window = writer.window(table, small=True)
    return Drawn(f"SELECT {items} FROM ({inner.emitted(writer.one_of(*R2S))}) {window} AS i", columns)


def scalar(writer: Writer) -> Drawn:
    """A sub-query that is one value, in the SELECT list or in the condition."""
    outer, inner = stream(writer), stream(writer)
    one = f"(SELECT MAX({writer.integer(inner.columns, 0)}) AS v FROM {inner.name} {writer.window(inner, small=True)})"
    items, columns = writer.named([(writer.integer(outer.columns, 0), "integer"), (one, "integer")])
    if writer.chance.random() < 0.5:
        return Drawn(f"SELECT {items} FROM {outer.name} {writer.window(outer)}", columns)
    items, columns = writer.named(writer.items(outer.columns, 1))
    condition = f"{writer.integer(outer.columns, 1)} {writer.one_of('<', '>=', '=')} {one}"
    return Drawn(f"SELECT {items} FROM {outer.name} {writer.window(outer)} WHERE {condition}", columns)


def panes(writer: Writer) -> Drawn:
    """GROUP BY time/c."""
    table = stream(writer)
    seconds = writer.chance.randrange(1, 5)
    key = writer.chance.choice(table.columns)
    items, columns = writer.named([("t", "integer"), key, *writer.aggregates(table.columns, 2)])
    condition = where(writer, table.columns)
    return Drawn(f"SELECT {items} FROM {table.name}{condition} GROUP BY time/{seconds} AS t, {key[0]}", columns)


def every(writer: Writer) -> Drawn:
    """GROUP BY … EVERY d UPDATE e."""
    table = stream(writer)
    key = writer.chance.choice(table.columns)
    items, columns = writer.named([key, *writer.aggregates(table.columns, 2)])
    times = f"EVERY {writer.one_of('2 SECONDS', '5 SECONDS')} UPDATE {writer.one_of('1 SECOND', '2 SECONDS')}"
    return Drawn(f"SELECT {items} FROM {table.name} GROUP BY {key[0]} {times}", columns)


def windowless(writer: Writer) -> Drawn:
    """SELECT items FROM s WHERE c: everything that arrives."""
    table = stream(writer)
    items, columns = writer.named(writer.items(table.columns, 2))
    return Drawn(f"SELECT {items} FROM {table.name}{where(writer, with_level(writer, table))}", columns)


Shape = Callable[[Writer], Drawn]
PLAIN: tuple[Shape, ...] = (select_project, distinct, aggregate, grouped, join, union)
NESTED: tuple[Shape, ...] = (over_relation, over_stream, scalar)
ALL: tuple[Shape, ...] = (*PLAIN, *PLAIN, *NESTED, panes, every, windowless)
