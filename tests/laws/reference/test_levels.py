"""The level of a row is the lub of what it was computed from: exactly that, and always dominated (Q-6, M-7)."""

from __future__ import annotations

import json

from tests.conftest import examples
from tests.laws.reference.cases import CaseWriter, Raw
from tests.laws.reference.query_writer import Writer
from tests.laws.reference.running import Line, calm, chances, lattice_of, parsed, run, show
from tests.laws.reference.shapes import equality, stream, where
from tidegate.security.lattice import Level


def test_a_row_is_dominated_by_the_level_of_its_query(seed: int) -> None:
    """M-7: the tuple's level is at most the stream's, always, and it is a level."""
    rows = 0
    for name, chance in chances(seed, "levels", examples(40, 3_000)):
        raw = calm(CaseWriter(chance).case())
        lattice = lattice_of(raw)
        homes = {query["name"]: Level(query["at"]) for query in raw["queries"]}
        for line in parsed(run(raw)):
            if "row" in line:
                rows += 1
                assert lattice.dominates(homes[line["query"]], Level(line["level"])), show(f"{name}: {line}", raw)
                assert lattice.level(line["level"]) == line["level"]
    assert rows > 500


def asked(writer: CaseWriter, level: str, **texts: str) -> tuple[Raw, dict[str, list[Line]]]:
    """A case with these queries at a level, and the rows of each."""
    case = {**calm(writer.case()), "queries": [{"name": n, "at": level, "text": text} for n, text in texts.items()]}
    lines = [line for line in parsed(run(case)) if "row" in line]
    return case, {name: [line for line in lines if line["query"] == name] for name in texts}


def begin(writer: CaseWriter) -> tuple[str, Writer]:
    """A level, and words for a query there that cannot fail."""
    level = writer.chance.choice(writer.levels)
    words = writer.writer(level)
    words.can_fail = False
    return level, words


def test_a_joined_row_has_the_lub_of_its_tuples(seed: int) -> None:
    """Q-6: of the joined tuples, relations included."""
    rows = 0
    for name, chance in chances(seed, "joined levels", examples(60, 3_000)):
        writer = CaseWriter(chance)
        level, words = begin(writer)
        left, right = stream(words), chance.choice(words.tables)
        window = f" {words.window(right)}" if right.is_stream else ""
        sources = f"{left.name} {words.window(left)} AS l, {right.name}{window} AS r"
        text = f"SELECT RSTREAM l.level AS p, r.level AS q FROM {sources} WHERE {equality(words, left, right)}"
        case, found = asked(writer, level, j=text)
        for line in found["j"]:
            expected = lattice_of(case).lub(Level(line["row"]["p"]), Level(line["row"]["q"]))
            assert line["level"] == expected, show(f"{name}: {line}", case)
        rows += len(found["j"])
    assert rows > 300


def test_a_group_and_a_distinct_row_have_the_lub_of_all_their_members(seed: int) -> None:
    """Q-6: the whole group, an empty one at the bottom; all duplicates that a DISTINCT row stands for."""
    rows = 0
    for name, chance in chances(seed, "grouped levels", examples(60, 3_000)):
        writer = CaseWriter(chance)
        level, words = begin(writer)
        table = stream(words)
        key, rest = (
            chance.choice(table.columns)[0],
            f"FROM {table.name} {words.window(table)}{where(words, table.columns)}",
        )
        grouped = f"SELECT RSTREAM {key} AS k, LUB(level) AS p {rest} GROUP BY {key}"
        case, found = asked(writer, level, g=grouped, d=f"SELECT RSTREAM DISTINCT {key} AS k {rest}")
        for line in found["g"]:
            assert line["level"] == line["row"]["p"], show(f"{name}: {line}", case)
        assert told(found["g"]) == told(found["d"]), show(name, case)
        rows += len(found["g"])
    assert rows > 300


def told(lines: list[Line]) -> list[str]:
    """Time, level and key of each row, in one order."""
    return sorted(json.dumps([line["time"], line["level"], line["row"]["k"]]) for line in lines)


def test_an_ungrouped_aggregate_has_the_lub_of_what_is_in_its_window(seed: int) -> None:
    """Q-6: tuples that are filtered out do not count; an empty one is at the bottom."""
    rows = 0
    for name, chance in chances(seed, "aggregate levels", examples(40, 2_000)):
        writer = CaseWriter(chance)
        level, words = begin(writer)
        table = stream(words)
        window = words.window(table)
        if "PARTITIONED" in window:
            continue
        text = f"SELECT RSTREAM LUB(level) AS p, COUNT(*) AS n FROM {table.name} {window}{where(words, table.columns)}"
        case, found = asked(writer, level, a=text)
        for line in found["a"]:
            empty = line["row"]["n"] == 0
            expected = (None, lattice_of(case).bottom) if empty else (line["level"], line["level"])
            assert (line["row"]["p"], line["level"]) == expected, show(f"{name}: {line}", case)
        rows += len(found["a"])
    assert rows > 100


def test_a_scalar_sub_query_raises_the_level_wherever_it_stands(seed: int) -> None:
    """Q-6: in the SELECT list or in an evaluated condition, short-circuit or not; nothing before its first step."""
    rows = 0
    for name, chance in chances(seed, "scalar levels", examples(60, 3_000)):
        writer = CaseWriter(chance)
        level, words = begin(writer)
        outer, inner = stream(words), stream(words)
        source, window = f"FROM {outer.name} {words.window(outer)} AS v", words.window(inner)
        while "PARTITIONED" in window:  # one row, not one for each partition
            window = words.window(inner)
        one = f"(SELECT LUB(level) AS p FROM {inner.name} {window})"
        texts = {
            "listed": f"SELECT RSTREAM v.level AS q, {one} AS p {source}",
            "tested": f"SELECT RSTREAM v.level AS q {source} WHERE 1 = 1 OR {one} IS NULL",
        }
        case, found = asked(writer, level, **texts)
        lattice = lattice_of(case)
        for line in found["listed"]:
            expected = lattice.lub(Level(line["row"]["q"]), Level(line["row"]["p"] or lattice.bottom))
            assert line["level"] == expected, show(f"{name}: {line}", case)
        listed, tested = (sorted((line["time"], line["level"], line["row"]["q"]) for line in found[n]) for n in texts)
        assert listed == tested, show(name, case)
        rows += len(listed)
    assert rows > 300
