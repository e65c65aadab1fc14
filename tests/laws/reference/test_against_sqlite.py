"""The same SELECT in SQLite, step by step: WHERE, joins, groups, aggregates, DISTINCT, UNION ALL, NULLs (Q-7).

Windows and steps come from a second definition (Q-2, Q-3); the rest is a database that knows nothing of us. Integers
and strings are small, doubles are multiples of 0.5, and nothing fails, so that both must agree on every row.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from tests.conftest import examples
from tests.laws.reference.cases import LAST, Raw, table
from tests.laws.reference.query_writer import Writer
from tests.laws.reference.running import chances, parsed, run, show
from tests.laws.reference.shapes import PLAIN
from tests.laws.reference.sqlite_oracle import SECOND, START, oracle

COLUMNS = {"a": "int", "b": "int", "x": "double", "s": "string"}
STORED = {"a": "int", "s": "string"}
TABLES = [table("A", COLUMNS), table("B", COLUMNS), table("R", STORED, is_stream=False)]
VALUES: dict[str, tuple[Any, ...]] = {
    "int": (0, 1, 1, 2, 3, -1, None),
    "double": (0.0, 0.5, 1.5, 1.5, -2.0, 100.0, None),
    "string": ("a", "a", "b", "ab", "", "A", None),
}


def row(chance: random.Random, columns: dict[str, str]) -> dict[str, Any]:
    """A row of small values."""
    return {name: chance.choice(VALUES[kind]) for name, kind in columns.items()}


def case(chance: random.Random, text: str) -> Raw:
    """One query at the only level over two streams and a relation."""
    times = sorted(chance.randrange(2, 2 * LAST - 12) / 2 for _ in range(chance.randrange(5, 30)))
    tuples = [{"stream": chance.choice("AB"), "time": t, "level": "U", "row": row(chance, COLUMNS)} for t in times]
    return {
        "levels": "U",
        "streams": {"A": COLUMNS, "B": COLUMNS},
        "relations": {"R": {"schema": STORED, "rows": [{"level": "U", **row(chance, STORED)} for _ in range(4)]}},
        "queries": [{"name": "q", "at": "U", "text": text}],
        "input": [{"time": START / SECOND}, *tuples, {"time": LAST}],
    }


def relations(raw: Raw) -> dict[int, Counter[str]]:
    """What the reference says at each step, as bags; an empty relation says nothing."""
    found: dict[int, Counter[str]] = {}
    for line in parsed(run(raw)):
        assert "row" in line, line
        found.setdefault(round(line["time"] * SECOND), Counter())[_shown(list(line["row"].values()))] += 1
    return found


def _shown(values: list[Any]) -> str:
    """Values with their types: 1 is not 1.0; but 0.0 is -0.0."""
    return repr([value + 0.0 if isinstance(value, float) else value for value in values])


def test_every_relation_is_what_sqlite_says(seed: int) -> None:
    """Q-2, Q-3, Q-7: for each step the same bag of rows, and no rows at any other instant."""
    rows, shapes = 0, Counter[str]()
    for name, chance in chances(seed, "sqlite", examples(600, 30_000)):
        shape = chance.choice(PLAIN)
        drawn = shape(Writer(chance, TABLES, plain=True, can_fail=False))
        whole = case(chance, drawn.emitted("RSTREAM"))
        expected = [(now, Counter(map(_shown, found))) for now, found in oracle(drawn.text, TABLES, whole, LAST)]
        compare(relations(whole), dict(expected), show(name, whole))
        new = {**whole, "queries": [{**whole["queries"][0], "text": drawn.emitted(chance.choice(("", "ISTREAM")))}]}
        compare(relations(new), gained(expected), show(name, new))
        rows += sum(sum(bag.values()) for _, bag in expected)
        shapes[shape.__name__] += any(bag for _, bag in expected)
    assert rows > 2_000, "the queries say too little to show anything"
    assert min(shapes[shape.__name__] for shape in PLAIN) > 10


def gained(steps: list[tuple[int, Counter[str]]]) -> dict[int, Counter[str]]:
    """Q-5: what each step has more than the step before it; before the first step there is nothing."""
    before = [Counter[str](), *(bag for _, bag in steps)]
    return {now: bag - old for (now, bag), old in zip(steps, before, strict=False)}


def compare(actual: dict[int, Counter[str]], expected: dict[int, Counter[str]], failed: str) -> None:
    """The same bags at the same instants; an empty one says nothing."""
    for now in sorted({*actual, *expected}):
        ours, theirs = actual.get(now, Counter()), expected.get(now, Counter())
        assert ours == theirs, f"at {now}: {ours} is not {theirs}\n{failed}"
