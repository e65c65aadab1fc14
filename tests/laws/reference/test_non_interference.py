"""What a level does not dominate cannot be noticed there (N-2 in small, Q-2, Q-10, M-10).

Twin runs over the same visible input, differing in everything else: tuples, statements, queries, stored rows and the
errors of the others. What a reader at the level sees must be equal to the byte.
"""

from __future__ import annotations

import json
import random
from typing import Any

from tests.conftest import examples
from tests.laws.reference.cases import LAST, CaseWriter, Raw
from tests.laws.reference.running import calm, chances, lattice_of, run, show
from tidegate.security.lattice import Lattice, Level


def visible(entry: dict[str, Any], level: str, lattice: Lattice) -> bool:
    """Whether an entry is a tick, or speaks of a level that this one dominates."""
    home = entry.get("at", entry.get("level"))
    return home is None or lattice.dominates(Level(level), Level(home))


def without_hidden(raw: Raw, level: str) -> Raw:
    """The same case without anything that the level does not dominate."""
    lattice = lattice_of(raw)
    rows = [row for row in raw["relations"]["R"]["rows"] if visible(row, level, lattice)]
    return {
        **raw,
        "queries": [query for query in raw["queries"] if visible(query, level, lattice)],
        "input": [entry for entry in raw["input"] if visible(entry, level, lattice)],
        "relations": {"R": {**raw["relations"]["R"], "rows": rows}},
    }


def with_others(raw: Raw, level: str, writer: CaseWriter) -> Raw:
    """The visible part of a case among other tuples, statements, queries and rows of levels that are hidden."""
    lattice, chance = lattice_of(raw), writer.chance
    hidden = tuple(name for name in writer.levels if not lattice.dominates(Level(level), Level(name)))
    base = without_hidden(raw, level)
    if not hidden:
        return base
    queries = scattered(base["queries"], [writer.query(chance.choice(hidden)) for _ in range(4)], chance)
    inner = scattered(base["input"][1:-1], writer.entries(chance.randrange(30), hidden), chance)
    rows = [{"level": chance.choice(hidden), "a": 1, "s": "a"} for _ in range(3)]
    stored = scattered(base["relations"]["R"]["rows"], rows, chance)
    return {
        **base,
        "queries": queries,
        "input": [base["input"][0], *inner, base["input"][-1]],
        "relations": {"R": {**base["relations"]["R"], "rows": stored}},
    }


def scattered(ours: list[Raw], others: list[Raw], chance: random.Random) -> list[Raw]:
    """Both lists in one, each in its own order."""
    places = set(chance.sample(range(len(ours) + len(others)), len(others)))
    first, second = iter(ours), iter(others)
    return [next(second) if place in places else next(first) for place in range(len(ours) + len(others))]


def test_hidden_input_cannot_change_what_a_reader_sees(seed: int) -> None:
    """N-2: byte-equal at L, whether the hidden part is left out or is another one."""
    noticed = 0
    for name, chance in chances(seed, "interference", examples(110, 6_000)):
        writer = CaseWriter(chance)
        raw = writer.case()
        level = chance.choice(writer.levels)
        seen, quiet, other = run(raw, level), without_hidden(raw, level), with_others(raw, level, writer)
        assert run(quiet, level) == seen, show(f"{name}, reader {level}, hidden part left out", raw, quiet)
        assert run(other, level) == seen, show(f"{name}, reader {level}, another hidden part", raw, other)
        noticed += len(seen)
    assert noticed > 1_000, "the cases say too little to show anything"


def test_a_reader_sees_the_lines_of_its_streams_and_no_others(seed: int) -> None:
    """Q-6: release goes by the stream's level; nothing is shown in another order or form."""
    for name, chance in chances(seed, "release", examples(15, 1_000)):
        raw = calm(CaseWriter(chance).case())
        lattice, everything = lattice_of(raw), run(raw)
        homes = {query["name"]: Level(query["at"]) for query in raw["queries"]}
        for level in lattice.levels():
            theirs = [line for line in everything if lattice.dominates(level, homes[json.loads(line)["query"]])]
            assert run(raw, level) == theirs, show(f"{name}, reader {level}", raw)


def test_a_flood_of_hidden_tuples_moves_no_row_window(seed: int) -> None:
    """M-12a, Q-3: [ROWS n] counts after the shepherd: the paper's core point."""
    chance = random.Random(seed)
    row = {"a": 1, "x": 0.5, "s": "a"}
    low = [{"stream": "A", "time": n, "level": "U", "row": {**row, "a": chance.randrange(9)}} for n in range(1, 20)]
    high = [{"stream": "A", "time": chance.randrange(1, 20), "level": "S", "row": row} for _ in range(200)]
    query = {"name": "q", "at": "C", "text": "SELECT SUM(a) AS n FROM A [ROWS 5]"}
    raw: Raw = {
        "levels": "U < C < S",
        "streams": {"A": {"a": "int", "x": "double", "s": "string"}},
        "queries": [query],
        "input": [{"time": 0}, *low, {"time": LAST}],
    }
    flooded = {**raw, "input": [{"time": 0}, *scattered(low, high, chance), {"time": LAST}]}
    assert run(flooded, "C") == run(raw, "C")
    assert len(run(raw, "C")) > 10
