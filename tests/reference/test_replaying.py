"""Whole small replays: what begins and ends, what is quarantined, and functions called a row at a time."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from tidegate.case import read_case
from tidegate.plan import nodes
from tidegate.reference.query import QueryState
from tidegate.reference.replay import replay

Entry = dict[str, Any]


def tuple_(time: float, a: object) -> Entry:
    """A tuple of A at U."""
    return {"stream": "A", "time": time, "level": "U", "row": {"a": a}}


def say(time: float, statement: str) -> Entry:
    """A statement at U."""
    return {"time": time, "at": "U", "statement": statement}


def lines(text: str, entries: list[Entry], **parts: object) -> list[tuple[float, Any]]:
    """Time and row (or code) of each line of one query at U."""
    raw = {"levels": "U < S", "streams": {"A": {"a": "int"}}, "queries": [{"name": "q", "at": "U", "text": text}]}
    found = [json.loads(line) for line in replay(read_case(json.dumps({**raw, **parts, "input": entries})))]
    return [(line["time"], line["row"] if "row" in line else line["error"]["code"]) for line in found]


# ------------------------------------------------------------------------------ what begins and ends


def test_a_query_started_anew_at_the_instant_of_its_failure_can_be_stopped() -> None:
    """Q-9, Q-13: the failure belongs to the run before STOP, not to the one that START began."""
    entries = [tuple_(1, 0), say(1, "STOP q"), say(1, "START q"), tuple_(2, 1), say(3, "STOP q"), tuple_(4, 1)]
    assert lines("SELECT 1/a AS v FROM A", entries) == [(1.0, "DIVISION_BY_ZERO"), (2.0, {"v": 1})]


def test_a_query_runs_once_however_often_it_is_started() -> None:
    """Q-13: START of what is running is refused, and never gives a second run."""
    entries = [tuple_(1, 0), say(1, "STOP q"), say(1, "START q"), say(2, "START q"), tuple_(3, 1)]
    found = lines("SELECT 1/a AS v FROM A", entries)
    assert found == [(1.0, "DIVISION_BY_ZERO"), (2.0, "ALREADY_RUNNING"), (3.0, {"v": 1})]


def test_starting_a_failed_query_begins_with_empty_windows() -> None:
    """Q-9: START q begins anew."""
    entries = [tuple_(1, 1), tuple_(2, 0), tuple_(3, 1), say(4, "START q"), tuple_(5, 1)]
    found = lines("SELECT SUM(1/a) AS v FROM A [ROWS 9]", entries)
    assert found == [(1.0, {"v": 1}), (2.0, "DIVISION_BY_ZERO"), (5.0, {"v": 1})]


def test_a_stream_stopped_and_started_feeds_its_old_readers() -> None:
    """Q-14: it is the same stream; a dropped and re-created one is another."""
    derived = [
        {"name": "v", "at": "U", "text": "CREATE STREAM v AS SELECT a FROM A"},
        {"name": "q", "at": "U", "text": "SELECT a FROM v"},
    ]
    paused = [tuple_(1, 1), say(2, "STOP v"), tuple_(3, 3), say(4, "START v"), tuple_(5, 5)]
    assert lines("", paused, queries=derived) == [(1.0, {"a": 1}), (5.0, {"a": 5})]
    again = [tuple_(1, 1), say(2, "DROP STREAM v"), say(2, "CREATE STREAM v AS SELECT a FROM A"), tuple_(3, 3)]
    assert lines("", again, queries=derived) == [(1.0, {"a": 1})]


def test_of_the_tuples_at_its_first_and_last_instant_a_query_sees_those_between() -> None:
    """Q-13: exactly the tuples after its registration, and before its drop."""
    made = [tuple_(1, 1), say(1, "CREATE QUERY q AS SELECT a FROM A"), tuple_(1, 2)]
    gone = [tuple_(3, 3), say(3, "DROP QUERY q"), tuple_(3, 4)]
    assert lines("", [*made, *gone], queries=[]) == [(1.0, {"a": 2}), (3.0, {"a": 3})]


# ------------------------------------------------------------------------------ sub-queries


def test_one_text_may_be_a_stream_and_a_relation_in_one_query() -> None:
    """Q-7: under a window a sub-query is a stream, without one it is a relation, whatever else has the same text."""
    text = "SELECT i.a AS x, j.a AS y FROM (SELECT a FROM A) [NOW] i, (SELECT a FROM A) j"
    assert lines(text, [tuple_(1, 1), tuple_(2, 2)]) == [
        (1.0, {"x": 1, "y": 1}),
        (2.0, {"x": 2, "y": 1}),
        (2.0, {"x": 2, "y": 2}),
    ]


def test_a_sub_query_is_empty_before_its_first_step() -> None:
    """Q-7: a scalar one is NULL then, even one that would count 0."""
    text = "SELECT a, (SELECT COUNT(*) AS n FROM B [ROWS 1]) AS n FROM A [NOW]"
    streams = {"A": {"a": "int"}, "B": {"a": "int"}}
    other = {"stream": "B", "time": 2, "level": "U", "row": {"a": 1}}
    found = lines(text, [tuple_(1, 1), other, tuple_(3, 3)], streams=streams)
    assert found == [(1.0, {"a": 1, "n": None}), (3.0, {"a": 3, "n": 1})]


def test_what_is_no_stream_has_no_tuples() -> None:
    """A plan that no binder makes is refused loudly."""
    state = object.__new__(QueryState)
    with pytest.raises(TypeError, match="is not a stream"):
        state._stream(nodes.Distinct(nodes.Scan("A", "U", ())), 0, {})


# ------------------------------------------------------------------------------ quarantine

QUARANTINE = [{"name": "q", "at": "S", "text": "SELECT stream, reason, row FROM QUARANTINE"}]


@pytest.mark.parametrize("value", ["1e400", "0.10000000000000000000001", "1.50", '"x"', "[1, {}]", 'null, "b": null'])
def test_a_quarantined_row_is_kept_as_json(value: str) -> None:
    """Q-11: with the reason, never silently; the text of the row is JSON and says what came."""
    row = '{"a": ' + value + "}"
    head = json.dumps({"levels": "U < S", "streams": {"A": {"a": "int"}}, "queries": QUARANTINE})[:-1]
    text = head + ', "input": [{"stream": "A", "time": 1, "level": "U", "row": ' + row + "}]}"
    [line] = [json.loads(line) for line in replay(read_case(text))]
    kept = line["row"]["row"]
    assert "Infinity" not in kept
    assert json.loads(kept, parse_float=Decimal) == json.loads(row, parse_float=Decimal)
    assert (line["level"], line["row"]["stream"]) == ("S", "A")


def test_a_late_tuple_goes_where_the_option_says() -> None:
    """Q-1: re-stamped to last tick + 1 µs, or quarantined as late."""
    entries = [{"time": 5}, tuple_(3, 1), {"time": 9}]
    assert lines("SELECT a FROM A", entries) == [(5.000001, {"a": 1})]
    found = lines("", entries, queries=QUARANTINE, options={"late": "quarantine"})
    assert found == [(5.000001, {"stream": "A", "reason": "late", "row": '{"a": 1}'})]


def test_a_quarantined_tuple_does_not_make_the_case_longer() -> None:
    """Q-1: the case ends at its last instant, quarantined tuples not counted; they are seen by then."""
    [(time, row)] = lines("", [{"time": 0}, tuple_(99, "x"), {"time": 5}], queries=QUARANTINE)
    assert (time, row["row"]) == (5.0, '{"a": "x"}')


def test_an_empty_case_still_says_which_queries_are_wrong() -> None:
    assert lines("SELECT b FROM A", []) == [(0.0, "UNKNOWN_COLUMN")]


# ------------------------------------------------------------------------------ user functions

FUNCTIONS = [
    "CREATE FUNCTION twice(a bigint) RETURNS bigint AS 'return pc.multiply(a, 2)'",
    "CREATE FUNCTION day_of(a bigint) RETURNS date AS 'return pc.cast(pc.cast(a, pa.int32()), pa.date32())'",
    'CREATE FUNCTION moment(a bigint) RETURNS timestamp AS \'return pc.cast(a, pa.timestamp("us", "UTC"))\'',
    "CREATE FUNCTION fails(a bigint) RETURNS bigint AS 'return int(str(a[0]) + \"x\")'",
]


def test_functions_are_called_with_values_nulls_and_times() -> None:
    """Q-15: NULL arguments are the function's own business; an error in an argument is an error."""
    text = "SELECT twice(a) AS t, day_of(a) AS d, moment(a) AS m FROM A"
    found = lines(text, [tuple_(1, 1), tuple_(2, None)], functions=FUNCTIONS)
    assert found == [
        (1.0, {"t": 2, "d": "1970-01-02", "m": "1970-01-01T00:00:00.000001Z"}),
        (2.0, {"t": None, "d": None, "m": None}),
    ]
    assert lines("SELECT twice(1/a) AS t FROM A", [tuple_(1, 0)], functions=FUNCTIONS) == [(1.0, "DIVISION_BY_ZERO")]


def test_a_failing_function_suspends_its_query_and_quotes_nothing() -> None:
    """Q-15, Q-9."""
    raw = {"levels": "U", "streams": {"A": {"a": "int"}}, "functions": FUNCTIONS[3:]}
    query = {"name": "q", "at": "U", "text": "SELECT fails(a) AS t FROM A"}
    case = {**raw, "queries": [query], "input": [tuple_(1, 123456), tuple_(2, 1)]}
    [line] = replay(read_case(json.dumps(case)))
    assert json.loads(line)["error"]["code"] == "FUNCTION_FAILED"
    assert "123456" not in line
