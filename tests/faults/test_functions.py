"""A user function that misbehaves suspends the queries that use it, and nothing else (Q-9, Q-15)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.faults.lean import Lean, S, U, rows

BAD = {
    "raises": "return 1 / 0",
    "sleeps": "import time\ntime.sleep(1000)\nreturn a",
    "exits": "import os\nos._exit(1)\nreturn a",
    "eats": "x = []\nwhile True:\n    x.append(bytearray(1 << 24))\nreturn a",
    "lies": "return 'a'",
}
SUM = "SELECT COUNT(*), SUM(bp) FROM V [ROWS 10]"


def created(name: str, body: str) -> str:
    """A statement that creates a function."""
    quoted = body.replace("'", "''")
    return f"CREATE FUNCTION {name}(a double) RETURNS double AS '{quoted}'"


@pytest.mark.parametrize("name", BAD)
def test_a_bad_function_suspends_its_queries_only(lean: Lean, name: str) -> None:
    if name == "sleeps":
        lean.limits = replace(lean.limits, seconds=0.5)
    lean.say(created(name, BAD[name]))
    lean.say(created("good", "return a * 2.0"))
    lean.say(f"SELECT sid, CASE WHEN bp < 0.5 THEN bp ELSE {name}(bp) END FROM V [NOW]", S, "victim")
    lean.say(f"SELECT sid, {'bp' if name == 'sleeps' else 'good(bp)'} FROM V [NOW]", S, "neighbour")
    lean.say(SUM, S, "plain")
    lean.say(SUM, U, "below")
    for number in range(3):
        lean.feed(rows(4, number))
        lean.tick()
    lean.answer()
    runs = {query: lean.runs(query) for query in ("victim", "neighbour", "plain")}
    assert runs == {"victim": False, "neighbour": True, "plain": True}
    results = lean.runtimes[S].results
    ((serial, problem),) = results.suspended.items()
    assert problem["error"]["code"] == "FUNCTION_FAILED"
    assert sum(results.read(serial, epoch).num_rows for epoch in results.epochs(serial, -1)) == 2
    others = [sum(results.read(one, epoch).num_rows for epoch in results.epochs(one, -1)) for one in results.serials()]
    assert others.count(12) == 2, "the others answered every tuple"
    lean.reopen()
    assert not lean.runs("victim")
    assert lean.runs("neighbour")


def test_a_query_may_be_suspended_started_and_suspended_again(lean: Lean) -> None:
    """Q-9, also where the gate was opened anew in between: an old error does not end the new life."""
    lean.say("SELECT sid, bp / (bp - 0.5) FROM V [NOW]", S, "q")
    for _ in range(3):
        lean.feed(rows(4))
        lean.tick()
        lean.answer()
        assert not lean.runs("q")
        lean.reopen()
        lean.answer()
        assert not lean.runs("q")
        lean.say("START q")
        lean.answer()
        lean.reopen()
        lean.answer()
        assert lean.runs("q")
    assert len(list(lean.runtimes[S].results.problems(1))) == 3


def test_a_suspension_that_a_crash_kept_from_the_journal_is_written_down_when_the_gate_is_opened(lean: Lean) -> None:
    lean.say("SELECT sid, bp / (bp - 0.5) FROM V [NOW]", S, "q")
    lean.feed(rows(4))
    lean.tick()
    lean.runtimes[S].results.take(lean.told(S))
    assert lean.runs("q")
    lean.reopen()
    assert lean.runtimes[S].results.suspended[1]["error"]["code"] == "DIVISION_BY_ZERO"
    lean.answer()
    assert not lean.runs("q")
    lean.reopen()
    assert not lean.runs("q")
