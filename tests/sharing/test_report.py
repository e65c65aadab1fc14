"""N-4: EXPLAIN SHARING names the class, the reused nodes and what is new; only the asker's level counts (X-2)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.docs.pages import ROOT
from tests.engine.memory_store import PutAway
from tests.engine.processing import processed
from tests.sharing.queries import LATTICE, query
from tidegate.case import read_case
from tidegate.reference.replay import replay
from tidegate.sharing.report import explain_sharing, labels, merged_drawing

TABLE_1 = json.loads((ROOT / "examples" / "table_1.json").read_text(encoding="utf-8"))
LOW = {"name": "low", "at": "L", "text": "SELECT sid,bp WHERE bp > 120 FROM Vitals"}


def said(*statements: tuple[str, str], **changes: Any) -> dict[str, Any]:
    """Table 1 with statements, one a second: level and text."""
    told = [{"time": n, "at": at, "statement": text} for n, (at, text) in enumerate(statements, 1)]
    return {**TABLE_1, "input": told, **changes}


def shown(*statements: tuple[str, str], **changes: Any) -> list[Any]:
    """What each statement shows, or its error's code."""
    lines = [json.loads(line) for line in replay(read_case(json.dumps(said(*statements, **changes))))]
    found = [line for line in lines if line["query"] is None]
    return [line["shown"] if "shown" in line else line["error"]["code"] for line in found]


def test_a_registered_query_is_compared_with_those_before_it() -> None:
    assert shown(("H", "EXPLAIN SHARING q5")) == [[
        "Q5 at H: strict, with Q4",
        "shared with Q4: select(bp), select(lon), join",
        "reused: select bp > 50.0 (before the window), of Q3, Q4",
        "reused: select P.lon = '4E' (before the window), of Q4",
        "reused: window ROWS 10, of Q4",
        "reused: select V.bp > 120.0 (before the window), of Q4",
        "reused: window ROWS 10, of Q4",
        "reused: join on P.sid = V.sid, of Q4",
        "new: project sid, pr",
        "used by Q6: select bp > 50.0 (before the window)",
        "used by Q6: select V.bp > 120.0 (before the window)",
    ]]  # fmt: skip


def test_a_text_is_compared_with_all_that_run() -> None:
    complete, none = shown(
        ("H", "EXPLAIN SHARING SELECT sid FROM Vitals WHERE pr > 100"),
        ("H", "EXPLAIN SHARING SELECT wt FROM Vitals [NOW]"),
    )
    assert complete == ["this query at H: complete, with Q8", "new: nothing"]
    assert none == ["this query at H: none", "new: window NOW", "new: project wt"]


def test_implied_sharing_has_its_own_class() -> None:
    """M-21."""
    (told,) = shown(("H", "EXPLAIN SHARING SELECT wt FROM Vitals WHERE bp > 60"))
    assert told[:3] == [
        "this query at H: implied, with Q3",
        "shared with Q3: select(bp)",
        "reused: select bp > 50.0 (before the window), of Q3, Q4, Q5, Q6",
    ]


def test_a_query_that_was_stopped_or_dropped_shares_nothing() -> None:
    text = "EXPLAIN SHARING SELECT sid FROM Vitals WHERE pr > 100"
    told = shown(
        ("H", text), ("H", "STOP Q8"), ("H", text), ("H", "START Q8"), ("H", text), ("H", "DROP QUERY Q8"), ("H", text)
    )
    assert [lines[0] for lines in told] == [f"this query at H: {kind}" for kind in ("complete, with Q8", "none") * 2]


def test_queries_of_other_levels_are_not_seen() -> None:
    """M-15, X-2: neither from below, although they may be read, nor from above."""
    queries = [*TABLE_1["queries"], LOW]
    low, other, above = shown(
        ("L", "EXPLAIN SHARING low"), ("H", "EXPLAIN SHARING low"), ("L", "EXPLAIN SHARING Q6"), queries=queries
    )
    assert low[0] == "low at L: none"
    assert not any("Q" in line for line in low)
    assert (other, above) == ("OTHER_LEVEL", "UNKNOWN_QUERY")
    assert shown(("L", "EXPLAIN SHARING low"), queries=[LOW]) == [low]


def test_a_stream_is_asked_about_under_its_own_name() -> None:
    """A query and a stream may have the same name."""
    told = shown(("H", "CREATE STREAM hot AS SELECT sid, bp WHERE bp > 120 FROM Vitals"), ("H", "EXPLAIN SHARING hot"))
    assert told[0][0] == "stream hot at H: complete, with Q6"


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("trusted", [False, True])
def test_every_engine_tells_the_same(shards: int, trusted: bool) -> None:
    """Q-10: also after a query was suspended by an error, which only the engine that runs it sees."""
    failing = {"name": "bad", "at": "H", "text": "SELECT wt, 1 / sid AS x WHERE wt > 7 FROM Vitals"}
    row = {"sid": 0, "wt": 8.0, "bp": 130.0, "pr": 1.0}
    raw = said(queries=[*TABLE_1["queries"], LOW, failing])
    names = [entry["name"] for entry in raw["queries"]]
    ask = [("H", f"EXPLAIN SHARING {name}") for name in names] + [("L", "EXPLAIN SHARING low")]
    ask.append(("H", "EXPLAIN SHARING SELECT bp FROM Vitals WHERE wt > 7"))
    raw["input"] = [{"time": 1, "at": at, "statement": text} for at, text in ask]
    raw["input"].append({"stream": "Vitals", "time": 2, "level": "L", "row": row})
    raw["input"] += [{"time": 3, "at": at, "statement": text} for at, text in ask]
    case = read_case(json.dumps(raw))
    expected = list(replay(case))
    assert sum("loose, with bad" in line for line in expected) == 1
    for size in (1, 1000):
        assert processed(case, size, shards=shards, trusted=trusted) == expected
    assert processed(case, 1, shards=shards, trusted=trusted, keep=PutAway()) == expected


def test_the_drawing_of_the_page_is_what_is_drawn() -> None:
    case = read_case(json.dumps(TABLE_1))
    chosen = [query(entry.text, str(entry.name)) for entry in case.listed if entry.name in ("Q4", "Q5", "Q6", "Q7")]
    page = (ROOT / "docs" / "sharing.md").read_text(encoding="utf-8")
    assert f"```text\n{merged_drawing(chosen, LATTICE)}\n```" in page


def test_a_name_that_two_levels_have_carries_its_level() -> None:
    """Q-14."""
    two = [
        query("SELECT sid FROM Vitals", "a", "L"),
        query("SELECT sid FROM Vitals", "A", "H"),
        query("SELECT wt FROM Vitals", "b"),
    ]
    assert labels(two) == ["a@L", "A@H", "b"]


def test_a_query_of_another_level_is_not_looked_at() -> None:
    """Whoever calls may have more in hand than the asker may see."""
    asked, high = query("SELECT sid FROM Vitals", "a", "L"), query("SELECT sid FROM Vitals", "b", "H")
    assert explain_sharing(asked, [high], LATTICE) == explain_sharing(asked, [], LATTICE)


def test_names_do_not_travel_between_queries_that_never_meet() -> None:
    """Q-12: equal plans may have different names in them, and what was seen before must not be remembered."""
    high = query("SELECT U.sid FROM Vitals [ROWS 5] mole, Units U WHERE bp > 1 AND pr > 2", "a", "H")
    tests = {"b": "bp > 1", "c": "bp > 1 AND pr > 2", "d": "pr > 2"}
    low = [query(f"SELECT sid FROM Vitals [ROWS 5] WHERE {test}", name, "L") for name, test in tests.items()]
    told = explain_sharing(high, [high], LATTICE), *(explain_sharing(one, low, LATTICE) for one in low)
    assert ["mole" in "".join(lines) for lines in told] == [True, False, False, False]
    assert "mole" not in merged_drawing(low, LATTICE)
