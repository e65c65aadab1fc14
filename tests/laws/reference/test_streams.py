"""ISTREAM, DSTREAM and RSTREAM of one query tell one story (Q-5); the reference's one shortcut tells it too."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.conftest import examples
from tests.laws.reference.cases import CaseWriter, Raw
from tests.laws.reference.running import Line, bag, calm, chances, parsed, run, show
from tests.laws.reference.shapes import NESTED, PLAIN, Drawn
from tidegate.reference.query import QueryState


def three_ways(raw: Raw, drawn: Drawn, level: str) -> Raw:
    """One query as ISTREAM, DSTREAM and RSTREAM."""
    operators = {"i": "ISTREAM", "d": "DSTREAM", "r": "RSTREAM"}
    queries = [{"name": name, "at": level, "text": drawn.emitted(operator)} for name, operator in operators.items()]
    return {**calm(raw), "queries": queries}


def test_what_came_minus_what_went_is_the_relation(seed: int) -> None:
    """Q-5: at each step the ISTREAM so far without the DSTREAM so far is the RSTREAM of the step."""
    compared = 0
    for name, chance in chances(seed, "difference", examples(200, 10_000)):
        writer = CaseWriter(chance, (*PLAIN, *NESTED))
        raw, level = writer.case(), chance.choice(writer.levels)
        writer.derived.clear()  # the three queries stand alone
        case = three_ways(raw, writer.draw(level), level)
        lines = parsed(run(case))
        compared += check(lines, show(name, case))
    assert compared > 500


def check(lines: list[Line], failed: str) -> int:
    """Follow the three through all instants; how many relations were compared."""
    relation: Counter[str] = Counter()
    errors = [line["error"]["code"] for line in lines if "error" in line]
    assert len(set(errors)) == min(1, len(errors)), failed
    assert len(errors) in (0, 3), failed
    compared = 0
    for time in dict.fromkeys(line["time"] for line in lines if "row" in line):
        now = [line for line in lines if line["time"] == time and "row" in line]
        gained, lost, whole = (bag([line for line in now if line["query"] == query]) for query in "idr")
        assert lost <= relation, failed
        relation = relation - lost + gained
        assert relation == whole, f"at {time}: {failed}"
        compared += 1
    return compared


def test_a_query_around_a_query_says_what_the_inner_one_says(seed: int) -> None:
    """Q-7, Q-2: a sub-query in FROM steps as a query of its own, and its steps are steps of the query around it."""
    said = 0
    for name, chance in chances(seed, "around", examples(120, 6_000)):
        writer = CaseWriter(chance, (*PLAIN, *NESTED))
        raw, level, operator = (
            writer.case(),
            chance.choice(writer.levels),
            chance.choice(("ISTREAM", "DSTREAM", "RSTREAM")),
        )
        writer.derived.clear()
        drawn = writer.draw(level)
        around = Drawn(f"SELECT {names_of(drawn)} FROM ({without_level(drawn)}) AS i", drawn.columns)
        texts = {"q": Drawn(without_level(drawn), drawn.columns).emitted(operator), "w": around.emitted(operator)}
        case = {**calm(raw), "queries": [{"name": n, "at": level, "text": text} for n, text in texts.items()]}
        lines = parsed(run(case))
        inner, outer = (told(lines, query) for query in texts)
        assert inner == outer, show(name, case)
        said += len(inner)
    assert said > 300


def test_the_rows_of_a_stream_are_what_its_query_emits(seed: int) -> None:
    """Q-14, Q-7: as a derived stream and as a sub-query under a window, at the same instants and levels."""
    said = 0
    for name, chance in chances(seed, "derived", examples(100, 6_000)):
        writer = CaseWriter(chance, (*PLAIN, *NESTED))
        raw, level, operator = (
            writer.case(),
            chance.choice(writer.levels),
            chance.choice(("ISTREAM", "DSTREAM", "RSTREAM")),
        )
        writer.derived.clear()
        drawn = writer.draw(level)
        text = Drawn(without_level(drawn), drawn.columns).emitted(operator)
        queries = {
            "q": text,
            "v": f"CREATE STREAM v AS {text}",
            "r": f"SELECT RSTREAM {names_of(drawn)} FROM v [NOW]",
            "s": f"SELECT RSTREAM {names_of(drawn)} FROM ({text}) [NOW] AS i",
        }
        case = {**calm(raw), "queries": [{"name": n, "at": level, "text": one} for n, one in queries.items()]}
        lines = parsed(run(case))
        own, read, inside = (told(lines, query) for query in "qrs")
        assert own == inside, show(name, case)
        assert [line for line in own if "!" not in line] == read, show(name, case)
        said += len(own)
    assert said > 200


def names_of(drawn: Drawn) -> str:
    """The columns of a query, by name."""
    return ", ".join(column for column, _ in drawn.columns)


def without_level(drawn: Drawn) -> str:
    """The text without a selected ``level``, which a table has anyway."""
    return drawn.text.replace(", level FROM", " FROM").replace(", level WHERE", " WHERE")


def told(lines: list[Line], query: str) -> list[list[object]]:
    """What a query says: time, level and values, or ``!`` and the code; not its name, operation or place."""
    return [
        [line["time"], line["level"], list(line["row"].values())]
        if "row" in line
        else [line["time"], "!", line["error"]["code"]]
        for line in lines
        if line["query"] == query
    ]


def test_the_stateless_shortcut_gives_the_same_lines(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Q-5: selecting and projecting what never leaves is the same with the literal path forced."""
    cases = [(name, CaseWriter(chance).case()) for name, chance in chances(seed, "stateless", examples(80, 4_000))]
    short = [run(raw) for _, raw in cases]
    monkeypatch.setattr(QueryState, "_is_stateless", lambda state: False)
    for (name, raw), lines in zip(cases, short, strict=True):
        assert run(raw) == lines, show(name, raw)


def test_a_query_may_be_a_stream_and_a_scalar_at_once() -> None:
    """Q-7: the shortcut forgets the relation, but the scalar sub-query of the same text needs it."""
    raw: Raw = {
        "levels": "U",
        "streams": {"A": {"a": "int"}},
        "queries": [
            {
                "name": "q",
                "at": "U",
                "text": "SELECT i.a FROM (SELECT a FROM A) [ROWS 5] i WHERE i.a = (SELECT a FROM A)",
            }
        ],
        "input": [{"stream": "A", "time": 1, "level": "U", "row": {"a": 1}}],
    }
    assert [line["row"] for line in parsed(run(raw))] == [{"a": 1}]
