"""Conditions and rows to ask about implication: atoms of every type, bound from text, and rows on and beside them."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

from tidegate.catalog import STREAM, Catalog, Table
from tidegate.language import syntax as sx
from tidegate.language.binder import bind_query
from tidegate.language.parser import parse
from tidegate.plan import nodes
from tidegate.plan.expressions import And, Expression, Not, Or
from tidegate.plan.schema import Field
from tidegate.plan.types import parse_type
from tidegate.reference.evaluate import World, evaluate
from tidegate.reference.rows import Row
from tidegate.security.declare import declare
from tidegate.values import parse_date, parse_timestamp, read_row

LATTICE = declare("lo < h1, lo < h2, h1 < m, h2 < m, m < top")
LEVELS = ("lo", "h1", "h2", "m", "top")
TYPES = {
    "i": "int",
    "j": "bigint",
    "x": "double",
    "s": "string",
    "p": "boolean",
    "d": "date",
    "t": "timestamp",
    "m": "decimal(6,2)",
}
SCHEMA = tuple(Field(name, kind) for name, text in TYPES.items() if (kind := parse_type(text)))
SIGNS = ("=", "<>", "<", "<=", ">", ">=")
HUGE = 2**53
NAN, INFINITY = float("nan"), float("inf")
OTHERS = {
    "s": ["s LIKE 'a%'", "s < s"],
    "p": ["p", "NOT p"],
    "x": ["x > i", "x >= i", "x + 1.0 > 2.0"],
    "i": ["i = j", "i <= j", "i / 0 = 1"],
}
CONSTANTS = {
    "i": ("-1", "0", "1", "2", "3", "0.5", "2.5", "3.0", "NULL", "9007199254740993"),
    "j": ("0", "1", f"{HUGE}", f"{HUGE + 1}", f"{float(HUGE)}", f"{HUGE + 2}.0", "9223372036854775807"),
    "x": ("0", "-0.0", "0.5", "1", "1.5", "1e308", "-2", "NULL"),
    "s": ("'a'", "'b'", "'ab'", "''", "'é'", "'Z'"),
    "p": ("TRUE", "FALSE"),
    "d": ("'2024-02-29'", "'1970-01-01'", "TIMESTAMP '2024-02-29T00:00:00Z'", "TIMESTAMP '2024-02-29T00:00:01Z'"),
    "t": ("'2024-02-29T00:00:00Z'", "'1970-01-01T00:00:00.000001Z'", "DATE '2024-02-29'"),
    "m": ("1", "1.5", "1.50", "-0.25", "1.505"),
    "level": tuple(f'"{level}"' for level in LEVELS),
}
GRID = {
    "i": (None, -1, 0, 1, 2, 3, 4),
    "j": (None, 0, 1, HUGE - 1, HUGE, HUGE + 1, HUGE + 2, HUGE + 3, 2**63 - 1),
    "x": (None, NAN, INFINITY, -INFINITY, 0.0, -0.0, 0.25, 0.5, 1.0, 1.25, 1.5, 2.0, -2.0, -3.0, 1e308),
    "s": (None, "", "a", "aa", "ab", "b", "c", "Z", "é", "\U0001f600"),
    "p": (None, True, False),
    "d": (None, parse_date("2024-02-28"), parse_date("2024-02-29"), parse_date("2024-03-01"), 0, 1),
    "t": (None, 0, 1, 2, *(parse_timestamp(f"2024-02-{text}Z") for text in ("28T23:59:59", "29T00:00", "29T00:00:01"))),
    "m": (None, *(read_row({"m": text}, SCHEMA[-1:])[0] for text in ("1", "1.5", "1.51", "-0.25", "-0.26", "0"))),
    "level": LEVELS,
}  # fmt: skip
CATALOG = Catalog(LATTICE).add(Table(STREAM, LATTICE.bottom, "S", 0, SCHEMA))
WORLD = World(LATTICE, lambda *_: None)


@cache
def bound(text: str) -> Expression:
    """A condition over one tuple, as the binder gives it."""
    query = parse(f"SELECT s FROM S [UNBOUNDED] WHERE {text}")
    assert isinstance(query, sx.Select)
    select = next(
        node for node in nodes.walk(bind_query(query, CATALOG, LATTICE.top).root) if isinstance(node, nodes.Select)
    )
    return select.condition


def atom(chance: random.Random, column: str) -> str:
    """One test of a column."""
    constants, sign = CONSTANTS[column], chance.choice(SIGNS)
    a, b = chance.choice(constants), chance.choice(constants)
    plain = f"{column} {sign} {a}"
    if chance.random() < 0.3:
        return f"NOT ({plain})"
    if column == "level":
        return plain
    others = [f"{column} IN ({a}, {b})", f"{column} BETWEEN {a} AND {b}", f"{a} {sign} {column}"]
    nulls = [f"{column} IS NULL", f"{column} IS NOT NULL"]
    return chance.choice([plain] * 5 + others + nulls + OTHERS.get(column, []))


def condition(chance: random.Random, columns: list[str], depth: int = 2) -> Expression:
    """A tree of tests over some columns."""
    if depth == 0 or chance.random() < 0.5:
        return bound(atom(chance, chance.choice(columns)))
    parts = tuple(condition(chance, columns, depth - 1) for _ in range(chance.choice((2, 2, 3))))
    match chance.randrange(5):
        case 0 | 1:
            return And(parts)
        case 2 | 3:
            return Or(parts)
        case _:
            return Not(parts[0])


def rows(chance: random.Random, columns: list[str], count: int) -> list[Row]:
    """Every combination of a few columns, or as many as are asked for; the other columns by chance."""
    names = [*TYPES, "level"]
    every = list(product(*(GRID[name] for name in columns)))
    chosen = every if len(every) <= count else chance.sample(every, count)
    found: list[Row] = []
    for values in chosen:
        given = {name: chance.choice(GRID[name]) for name in names} | dict(zip(columns, values, strict=True))
        level = LATTICE.level(given["level"])
        found.append(Row((*(given[name] for name in names), 0), level))
    return found


def value(test: Expression, row: Row) -> object:
    """What the reference says."""
    return evaluate(test, row, WORLD)
