"""Texts that are very long, very deep or full of digits: one proper error, for work that grows with the text (Q-12)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from tests.laws.language.papers import LATTICE, catalog
from tests.laws.language.test_bad_text import check
from tidegate.errors import QueryError
from tidegate.language.execute import execute
from tidegate.language.parser import DEEPEST_TREE, LONGEST_TEXT, parse
from tidegate.security.subject import Subject

MANY = 3_000
DIGITS = "9" * 5_000  # more than Python turns into an int

HARD = {
    "nothing": "",
    "only spaces": " " * MANY,
    "only a comment": "-- " + "x" * MANY,
    "an endless comment": "SELECT /*" + "*" * MANY,
    "open parentheses": "SELECT " + "(" * MANY,
    "parentheses around nothing much": f"SELECT {'(' * MANY}sid{')' * MANY} FROM Vitals",
    "closed parentheses": "SELECT " + ")" * MANY,
    "open brackets": "SELECT sid FROM Vitals " + "[" * MANY,
    "quotes": "SELECT " + "'" * (2 * MANY + 1),
    "backticks": "SELECT " + "`" * MANY,
    "NOT NOT NOT": f"SELECT {'NOT ' * MANY}ok FROM Patients",
    "minus minus minus": f"SELECT {'- ' * MANY}sid FROM Vitals",
    "a long sum": f"SELECT {'sid + ' * MANY}sid FROM Vitals",
    "nested CASE": f"SELECT {'CASE WHEN ' * MANY}ok {'THEN ok END ' * MANY} FROM Patients",
    "nested calls": f"SELECT {'ABS(' * MANY}sid{')' * MANY} FROM Vitals",
    "nested sub-queries": f"{'SELECT * FROM (' * MANY}SELECT sid FROM Vitals{')' * MANY}",
    "nested ISTREAM": f"{'ISTREAM(' * MANY}SELECT sid FROM Vitals{')' * MANY}",
    "a long conjunction": f"SELECT sid FROM Vitals WHERE {' AND '.join(['bp > 1'] * MANY)}",
    "a long disjunction": f"SELECT sid FROM Vitals WHERE {' OR '.join(['bp > 1'] * MANY)}",
    "a long shorthand": f"SELECT sid FROM Vitals WHERE sid = {' OR '.join(['1'] * MANY)}",
    "a long list": f"SELECT sid FROM Vitals WHERE sid IN ({', '.join(['1'] * MANY)})",
    "a long union": " UNION ALL ".join(["SELECT sid FROM Vitals"] * 300),
    "a long name": f"SELECT {'a' * MANY} FROM Vitals",
    "a name of many parts": f"SELECT {'.'.join(['a'] * MANY)} FROM Vitals",
    "a long FROM": f"SELECT 1 AS x FROM {', '.join(f'Vitals [NOW] v{n}' for n in range(300))}",
    "a whole number of many digits": f"SELECT {DIGITS} AS x FROM Vitals",
    "a number of many digits": f"SELECT {DIGITS}.5 AS x FROM Vitals",
    "many digits beside a decimal": f"SELECT fee + {DIGITS}.5 AS x FROM Patients",
    "more than 28 digits beside a decimal": "SELECT fee FROM Patients WHERE fee > 1234567890123456789012345678901.5",
    "1e30 beside a decimal": "SELECT fee + 1e30 AS x FROM Patients",
    "1e-30 beside a decimal": "SELECT fee FROM Patients WHERE fee IN (1e-30)",
    "a large exponent": "SELECT 1e99999 AS x FROM Vitals",
    "a very large exponent": f"SELECT 1e{'9' * 30} AS x FROM Vitals",
    "a very small exponent": f"SELECT 1e-{'9' * 30} AS x FROM Vitals",
    "many rows": f"SELECT sid FROM Vitals [ROWS {DIGITS}]",
    "a slide of many rows": f"SELECT sid FROM Vitals [ROWS 5 SLIDE {DIGITS}]",
    "a long time": f"SELECT sid FROM Vitals [RANGE {DIGITS} DAYS]",
    "a short time": f"SELECT sid FROM Vitals [RANGE 0.{'0' * MANY}1 SECONDS]",
    "a long interval": f"SELECT at + INTERVAL {DIGITS} DAYS AS x FROM Patients",
    "a wide decimal": f"SELECT CAST(sid AS decimal({DIGITS},2)) AS x FROM Vitals",
    "wide panes": f"SELECT COUNT(*) FROM Vitals GROUP BY time/{DIGITS}",
    "many frequent items": f"SELECT FREQUENT(src, {DIGITS}) FROM Packets [ROWS 10 SLIDE 5]",
    "above a large share": f"SELECT FREQUENT(src, 5) FROM Packets [ROWS 10 SLIDE 5] ABOVE 1e{'9' * 30}",
    "a permit of many digits": f"PERMIT a ON Packets.src AT `{DIGITS}`",
    "a function nested too deeply for Python": f"CREATE FUNCTION f(a int) RETURNS int AS 'return {'(' * 900}a'",
    "a function of many signs": f"CREATE FUNCTION f(a int) RETURNS int AS 'return {'-' * MANY}a'",
    "a function with a zero byte": "CREATE FUNCTION f(a int) RETURNS int AS 'return a\0'",
    "a lone surrogate": "SELECT '\ud800' AS x FROM Vitals",
    "a lone surrogate as a name": "SELECT `\ud800` FROM Vitals",
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_a_hard_text_gives_one_proper_error_or_runs(text: str) -> None:
    check(text)


def test_a_text_beyond_the_limit_is_refused_before_it_is_read() -> None:
    with pytest.raises(QueryError) as caught:
        parse("x" * (LONGEST_TEXT + 1))
    assert caught.value.report().to_json() == {
        "code": "TEXT_TOO_LONG", "problem": "the text has more than 200,000 characters", "place": None, "hint": "",
    }  # fmt: skip


def test_the_deepest_tree_binds_and_one_deeper_is_refused() -> None:
    """Nothing that parses is too deep for the stages that recurse."""
    deepest = DEEPEST_TREE - 3  # the SELECT, its item and the name at the bottom
    execute(parse(f"EXPLAIN SELECT {'NOT ' * (deepest - 1)}ok AS x FROM Patients"), catalog(), ASKER, 1)
    with pytest.raises(QueryError) as caught:
        parse(f"EXPLAIN SELECT {'NOT ' * (deepest + 1)}ok AS x FROM Patients")
    assert caught.value.code == "TOO_DEEP"


# ------------------------------------------------------------------------------ work

ASKER = Subject(None, LATTICE.bottom)
Shape = Callable[[str], str]
# Ways to put one expression or query into another, a few words longer each time.
NESTED: dict[str, tuple[str, Shape, Shape]] = {
    "NOT": ("ok", lambda x: f"NOT {x}", lambda x: f"SELECT {x} AS x FROM Patients"),
    "sum": ("sid", lambda x: f"1 + ({x})", lambda x: f"SELECT {x} AS x FROM Vitals"),
    "call": ("sid", lambda x: f"COALESCE({x}, 1)", lambda x: f"SELECT {x} AS x FROM Vitals"),
    "comparison": ("ok", lambda x: f"({x}) = TRUE", lambda x: f"SELECT {x} AS x FROM Patients"),
    "BETWEEN": ("ok", lambda x: f"({x}) BETWEEN FALSE AND TRUE", lambda x: f"SELECT {x} AS x FROM Patients"),
    "IN": ("ok", lambda x: f"({x}) IN (FALSE, TRUE)", lambda x: f"SELECT {x} AS x FROM Patients"),
    "IS NULL": ("ok", lambda x: f"({x}) IS NULL", lambda x: f"SELECT {x} AS x FROM Patients"),
    "AND and OR": (
        "ok", lambda x: f"ok AND (V.sid = 1 OR ({x}))",
        lambda x: f"SELECT V.sid WHERE {x} FROM Both [NOW] V, Vitals [NOW]",
    ),
    "searched CASE": ("ok", lambda x: f"CASE WHEN {x} THEN ok END", lambda x: f"SELECT {x} AS x FROM Patients"),
    "simple CASE": (
        "sid", lambda x: f"CASE {x} WHEN 1 THEN 1 WHEN 2 THEN 2 END", lambda x: f"SELECT {x} AS x FROM Vitals",
    ),
    "shorthand": (
        "sid", lambda x: f"CASE WHEN {x} = 1 OR 2 THEN 1 END", lambda x: f"SELECT {x} AS x FROM Vitals",
    ),
    "grouped expression": (
        "sid", lambda x: f"1 + ({x})", lambda x: f"SELECT {x} AS x FROM Vitals [ROWS 5] GROUP BY sid",
    ),
    "sub-query": ("SELECT sid FROM Vitals", lambda x: f"SELECT 1 + ({x}) AS x FROM Vitals", str),
    "sub-query beside groups": (
        "SELECT sid FROM Vitals", lambda x: f"SELECT MAX(sid) + ({x}) AS x FROM Vitals [ROWS 5] GROUP BY bp", str,
    ),
    "sub-query in HAVING": (
        "SELECT sid FROM Vitals",
        lambda x: f"SELECT bp FROM Vitals [ROWS 5] GROUP BY bp HAVING MAX(bp) > ({x})", str,
    ),
    "FROM": ("SELECT sid FROM Vitals", lambda x: f"SELECT * FROM ({x}) [ROWS 5]", str),
}  # fmt: skip


def nested(shape: str, depth: int) -> str:
    text, inside, around = NESTED[shape]
    for _ in range(depth):
        text = inside(text)
    return f"EXPLAIN {around(text)}"


def calls(work: Callable[[], object]) -> int:
    """How many functions are called: a measure of work that no other process disturbs."""
    count = 0

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("shape", NESTED)
def test_the_work_grows_with_the_text_and_not_with_its_power(shape: str) -> None:
    """Twice the depth is about twice the work, at most four times; a power of two would be 2^4 times as much.

    An asker may not stop the others by asking: what binds in a moment at depth 8 must bind at depth 70.
    """
    world = execute(parse(BOTH), catalog(), ASKER, 1).catalog
    small, large = (parse(nested(shape, depth)) for depth in (4, 8))
    least = calls(lambda: execute(small, world, ASKER, 2))
    assert calls(lambda: execute(large, world, ASKER, 2)) < 5 * least


BOTH = "CREATE STREAM Both AS SELECT pid AS sid, ok FROM Patients"
