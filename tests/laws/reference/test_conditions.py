"""The three places of a condition (Q-4)."""

from __future__ import annotations

import json
import random

from tests.conftest import examples
from tests.laws.reference.cases import CaseWriter, Raw
from tests.laws.reference.query_writer import Table, Writer
from tests.laws.reference.running import by_query, calm, chances, run, show

CROSSED = ("RANGE 0 SECONDS", "RANGE 1 SECOND", "RANGE 5 SECONDS", "NOW", "UNBOUNDED", "1500 MILLISECONDS")


def places(items: str, stream: str, window: str, condition: str, rest: str = "") -> dict[str, str]:
    """One condition before the window, in it (both spellings) and after it."""
    return {
        "before": f"SELECT {items} WHERE {condition} FROM {stream} [{window}]{rest}",
        "inside": f"SELECT {items} FROM {stream} [{window} WHERE {condition}]{rest}",
        "bare": f"SELECT {items} FROM {stream} [{window} {condition}]{rest}",
        "after": f"SELECT {items} FROM {stream} [{window}] WHERE {condition}{rest}",
    }


def case_of(writer: CaseWriter, texts: dict[str, str], level: str) -> Raw:
    """The texts as queries of one level over one input."""
    raw = writer.case()
    queries = [{"name": name, "at": level, "text": text} for name, text in texts.items()]
    return {**calm(raw), "queries": queries}


def drawn(writer: CaseWriter, level: str) -> tuple[Writer, Table, str]:
    """A writer, one of its streams, and a condition over the tuple that cannot fail."""
    words = writer.writer(level)
    words.can_fail = False
    table = words.chance.choice([one for one in words.tables if one.is_stream])
    safe = [(name, kind) for name, kind in table.columns if kind in ("double", "string", "boolean")]
    columns = [*safe, ("level", "level")]
    return words, table, f"({words.condition(columns)} OR {words.plain_test(columns)})"


def own_lines(raw: Raw, queries: tuple[str, ...]) -> list[list[str]]:
    """The lines of each of some queries, without the name that tells them apart."""
    found = by_query(run(raw))
    return [[_nameless(line) for line in found.get(query, [])] for query in queries]


def _nameless(line: str) -> str:
    """A line without the query's name and, if it is an error, without its place: the texts are not the same."""
    value = {**json.loads(line), "query": ""}
    return json.dumps({**value, "error": {**value["error"], "place": None}} if "error" in value else value)


def test_before_the_window_and_in_it_are_one(seed: int) -> None:
    """Q-4: for every window, with any list, group and R2S."""
    for name, chance in chances(seed, "before and in", examples(70, 4_000)):
        writer = CaseWriter(chance)
        level = chance.choice(writer.levels)
        words, table, condition = drawn(writer, level)
        items, _ = words.named(chance.choice((words.items, words.aggregates))(table.columns, 2))
        texts = places(items, table.name, words.window_shape(table), condition)
        operator = chance.choice(("ISTREAM", "DSTREAM", "RSTREAM"))
        texts = {place: text.replace("SELECT", f"SELECT {operator}", 1) for place, text in texts.items()}
        raw = case_of(writer, texts, level)
        before, inside, bare = own_lines(raw, ("before", "inside", "bare"))
        assert before == inside == bare, show(name, raw)


def test_a_condition_may_cross_a_window_of_time(seed: int) -> None:
    """Q-4: before, in and after a RANGE, NOW or UNBOUNDED window; ISTREAM, where only rows that count show."""
    said = 0
    for name, chance in chances(seed, "crossing", examples(120, 6_000)):
        writer = CaseWriter(chance)
        level = chance.choice(writer.levels)
        words, table, condition = drawn(writer, level)
        items, rest = _list(words, table, chance)
        raw = case_of(writer, places(items, table.name, chance.choice(CROSSED), condition, rest), level)
        before, inside, after = own_lines(raw, ("before", "inside", "after"))
        assert before == inside == after, show(name, raw)
        said += len(before)
    assert said > 300


def _list(words: Writer, table: Table, chance: random.Random) -> tuple[str, str]:
    """A SELECT list, distinct or not, or groups: all are functions of the rows that remain."""
    if chance.random() < 0.3:
        key = chance.choice(table.columns)
        return words.named([key, *words.aggregates(table.columns, 1)])[0], f" GROUP BY {key[0]}"
    items, _ = words.named(words.items(table.columns, 2))
    return f"{chance.choice(('', 'DISTINCT '))}{items}", ""


def test_a_condition_does_not_cross_a_window_that_counts() -> None:
    """Q-4: never ROWS, PARTITIONED BY or SLIDE by rows: a shortest case for each."""
    for window in ("ROWS 1", "PARTITIONED BY k ROWS 1", "ROWS 2 SLIDE 2"):
        rows = [{"a": 1, "k": 0}, {"a": 1, "k": 0}, {"a": 0, "k": 0}, {"a": 0, "k": 0}]
        texts = places("a", "A", window, "a = 1")
        raw: Raw = {
            "levels": "U",
            "streams": {"A": {"a": "int", "k": "int"}},
            "queries": [
                {"name": n, "at": "U", "text": t.replace("SELECT", "SELECT RSTREAM")} for n, t in texts.items()
            ],
            "input": [{"stream": "A", "time": n, "level": "U", "row": row} for n, row in enumerate(rows, 1)],
        }
        before, after = own_lines(raw, ("before", "after"))
        assert before != after, window
