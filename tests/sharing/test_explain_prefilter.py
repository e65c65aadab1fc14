"""N-8: EXPLAIN PREFILTER says what the engine does, the same on every engine, and names only the asker's level."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import Any

import pytest

from tests.engine.memory_store import PutAway
from tests.engine.processing import processed
from tests.sharing.queries import query
from tests.sharing.test_report import LOW, TABLE_1, said, shown
from tidegate.case import read_case
from tidegate.engine.processor import LevelProcessor
from tidegate.reference.replay import replay
from tidegate.sharing.explain_prefilter import explain_prefilter
from tidegate.sharing.merge import Query

STREAMS = (
    ("L", "CREATE STREAM warm AS SELECT sid, bp WHERE bp > 90 FROM Vitals"),
    ("H", "CREATE STREAM hot AS SELECT sid, bp WHERE bp > 120 FROM Vitals"),
)
WITHOUT_ALL = [entry for entry in TABLE_1["queries"] if entry["name"] != "Q1"]
"""Table 1 without the query that wants every tuple."""


def told(text: str, running: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What is said of a text while others run, all at one level."""
    return explain_prefilter(query(text, ""), [query(one, f"q{number}") for number, one in enumerate(running, 1)])


def line_of(lines: tuple[str, ...], start: str) -> str:
    """The one line that begins like this."""
    (found,) = (line for line in lines if line.startswith(start))
    return found


# ------------------------------------------------------------------------------ what is told


def test_equal_predicates_are_one_however_they_are_written() -> None:
    """P-1, P-2."""
    lines = told(
        "SELECT sid FROM Vitals v WHERE NOT (v.sid >= 3) AND 50 < bp",
        running=("SELECT sid FROM Vitals WHERE bp > 50 AND sid < 3", "SELECT wt FROM Vitals WHERE sid < 3"),
    )
    assert lines[:3] == ("Vitals@L: read by 3, 2 cheap predicates, 2 bits", "bit 1: bp > 50.0", "bit 2: sid < 3")
    assert lines[3:6] == ("q1: 11", "q2: 01", "this query: 11")


def test_the_signatures_say_exactly_which_predicates_a_query_has() -> None:
    """P-8: the AND of a query's bits is the AND of its predicates, whichever of them hold."""
    parts = ("bp > 50.0", "pr > 60.0", "sid < 3", "wt < 80.0")
    asked = [(0, 1, 2), (0, 1, 2, 3), (0, 3), (0,), (2, 1)]
    texts = tuple("SELECT sid FROM Vitals WHERE " + " AND ".join(parts[n] for n in own) for own in asked)
    lines = told(texts[-1], running=texts[:-1])
    bits = [re.findall(r"\w+ [<>] [\d.]+", line) for line in lines if line.startswith("bit ")]
    signatures = [line.split(": ")[1] for line in lines if re.match(r"(q\d|this query): ", line)]
    for holding in product((False, True), repeat=len(parts)):
        holds = dict(zip(parts, holding, strict=True))
        for own, signature in zip(asked, signatures, strict=True):
            wanted = [bit for bit, sign in zip(bits, signature, strict=True) if sign == "1"]
            assert all(holds[one] for bit in wanted for one in bit) == all(holding[place] for place in own)


def test_a_query_that_reads_a_stream_twice_has_two_signatures() -> None:
    lines = told("SELECT a.sid WHERE a.bp > 50 AND b.pr > 60 FROM Vitals a [ROWS 2], Vitals b [ROWS 2]")
    assert line_of(lines, "this query") == "this query: 10 or 01"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT sid FROM Vitals", "it has no condition"),
        ("SELECT sid WHERE 1 / sid > 2 FROM Vitals [ROWS 2]", "its conditions stay in it"),
        ("SELECT sid FROM Vitals [ROWS 2] WHERE bp > 50", "its conditions stay in it"),
        (
            "SELECT a.sid WHERE a.bp > 50 FROM Vitals a [ROWS 2], Vitals b [ROWS 2]",
            "it reads 2 times and tests nothing here for one of them",
        ),
    ],
)
def test_it_is_said_why_a_query_always_runs_and_then_no_row_is_left_out(text: str, why: str) -> None:
    lines = told(text, running=("SELECT sid FROM Vitals WHERE bp > 50",))
    assert line_of(lines, "this query") == f"this query: always runs, {why}"
    assert lines[-1] == "rows: all taken, this query wants every one"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("SELECT sid FROM Position WHERE lon LIKE 'a%' AND lat = 'x'", ["lon LIKE 'a%' (not cheap)"]),
        ("SELECT sid WHERE 1 / sid > 2 FROM Position [ROWS 2]", ["(1 / sid) > 2 (can fail)"]),
        ("SELECT sid FROM Position WHERE 1 / sid > 2", ["(1 / sid) > 2 (can fail)"]),
        ("SELECT sid FROM Position [ROWS 2] WHERE sid > 2", ["sid > 2 (after its window)"]),
        ("SELECT sid FROM Position WHERE sid > 2", []),
    ],
)
def test_it_is_said_what_a_query_tests_itself(text: str, kept: list[str]) -> None:
    """P-2: what is not cheap stays; Q-9: so does what can fail."""
    start = "stays in this query: "
    assert [line.removeprefix(start) for line in told(text) if line.startswith("stays")] == kept


def test_columns_that_are_only_tested_are_told_from_those_that_are_taken() -> None:
    lines = told("SELECT sid FROM Vitals WHERE bp > 50", running=("SELECT wt FROM Vitals WHERE wt > 3",))
    assert lines[-2] == "columns: 2 of 4 taken: sid, wt; only tested: bp"
    assert told("SELECT COUNT(*) FROM Vitals [ROWS 2]")[-2] == "columns: 0 of 4 taken"


def test_streams_of_sub_queries_count_too() -> None:
    lines = told("SELECT sid FROM Vitals WHERE bp > 50 AND pr > (SELECT COUNT(*) FROM Position [ROWS 2] WHERE sid > 2)")
    assert [line.split(":")[0] for line in lines if "read by" in line] == ["Vitals@L", "Position@L"]


def test_a_stream_of_a_level_below_counts_and_has_no_name() -> None:
    """X-2, Q-14: it is evaluated at the asker's level too, so without it the last line would be wrong."""
    below = Query("stream secret", "L", query("SELECT sid FROM Vitals", "", "L").plan)
    lines = explain_prefilter(query("SELECT sid FROM Vitals WHERE bp > 50", ""), [below])
    assert lines[-1] == "rows: all taken, a stream of L wants every one"
    assert "secret" not in " ".join(lines)


def test_of_several_that_want_every_tuple_one_of_the_own_level_is_named() -> None:
    below = Query("stream secret", "L", query("SELECT sid FROM Vitals", "", "L").plan)
    lines = explain_prefilter(query("SELECT sid FROM Vitals", "mine"), [below])
    assert lines[-1] == "rows: all taken, mine wants every one"


def test_queries_of_other_levels_change_nothing_and_cannot_be_asked_about() -> None:
    """X-2, M-15."""
    ask = (("L", "EXPLAIN PREFILTER low"), ("L", "EXPLAIN PREFILTER SELECT pr FROM Vitals WHERE pr > 100"))
    alone, beside = shown(*ask, queries=[LOW]), shown(*ask, queries=[*TABLE_1["queries"], LOW])
    assert alone == beside
    others = ("H", "EXPLAIN PREFILTER low"), ("L", "EXPLAIN PREFILTER Q6")
    assert shown(*others, queries=[*TABLE_1["queries"], LOW]) == ["OTHER_LEVEL", "UNKNOWN_QUERY"]


# ------------------------------------------------------------------------------ every engine


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("trusted", [False, True])
def test_every_engine_tells_the_same(shards: int, trusted: bool) -> None:
    """Q-10: also after a query was suspended by an error, which only the engine that runs it sees."""
    failing = {"name": "bad", "at": "H", "text": "SELECT wt, 1 / sid AS x WHERE wt > 7 FROM Vitals"}
    raw = said(queries=[*TABLE_1["queries"], LOW, failing])
    ask = [("H", f"EXPLAIN PREFILTER {entry['name']}") for entry in raw["queries"]]
    ask += [*STREAMS, ("L", "EXPLAIN PREFILTER low"), ("H", "EXPLAIN PREFILTER hot")]
    ask.append(("H", "EXPLAIN PREFILTER SELECT w.bp FROM warm w, Vitals v WHERE wt > 7"))
    row = {"sid": 0, "wt": 8.0, "bp": 130.0, "pr": 1.0}
    raw["input"] = [{"time": 1, "at": at, "statement": text} for at, text in ask]
    raw["input"].append({"stream": "Vitals", "time": 2, "level": "L", "row": row})
    raw["input"] += [{"time": 3, "at": at, "statement": text} for at, text in ask]
    case = read_case(json.dumps(raw))
    expected = list(replay(case))
    assert sum("bad: 0" in line for line in expected) > 5
    for size in (1, 1000):
        assert processed(case, size, shards=shards, trusted=trusted) == expected
    assert processed(case, 1, shards=shards, trusted=trusted, keep=PutAway()) == expected


Facts = dict[str, tuple[int, int, bool]]
"""By stream: predicates, columns taken, and whether every row is."""


@pytest.mark.parametrize("queries", [TABLE_1["queries"], WITHOUT_ALL], ids=["with Q1", "without Q1"])
def test_what_is_told_is_what_the_engine_does(queries: list[dict[str, Any]]) -> None:
    """As many predicates, the same columns, and rows left out or not."""
    raw = said(*STREAMS, ("H", "EXPLAIN PREFILTER Q4"), queries=queries)
    rows = {"Vitals": {"sid": 0, "wt": 8.0, "bp": 130.0, "pr": 1.0}, "Position": {"sid": 0, "lat": "a", "lon": "4E"}}
    raw["input"] += [{"stream": name, "time": 4, "level": "L", "row": row} for name, row in rows.items()]
    done: Facts = {}

    def look(processor: LevelProcessor) -> LevelProcessor:
        if processor.world.level == "H":
            done.update(what_is_done(processor))
        return processor

    lines = [json.loads(line) for line in processed(read_case(json.dumps(raw)), 1000, keep=look)]
    (told_lines,) = (line["shown"] for line in lines if "shown" in line)
    assert what_is_said(told_lines) == done
    assert done["Vitals"][2] == (queries is not WITHOUT_ALL)


def what_is_said(lines: list[str]) -> Facts:
    """The facts out of the text."""
    heads = [head for line in lines if (head := re.match(r"(\w+)@L: read by \d+, (\d+) cheap", line))]
    columns = [int(line.split()[1]) for line in lines if line.startswith("columns: ")]
    rows = [line.startswith("rows: all taken") for line in lines if line.startswith("rows: ")]
    together = zip(heads, columns, rows, strict=True)
    return {head[1]: (int(head[2]), taken, every) for head, taken, every in together}


def what_is_done(processor: LevelProcessor) -> Facts:
    """The facts of the streams that come from outside."""
    streams = processor.world.streams
    return {
        name: (len(one.conditions), len((one.columns or frozenset()) & {*range(len(streams[name]))}), one.wants_all)
        for (_, name, serial), one in processor.wanted[1].items()
        if not serial
    }
