"""Which condition may cross which window, and that this is what windows mean (Q-4)."""

from __future__ import annotations

import json
from random import Random

import pytest

from tests.conftest import examples
from tests.language.test_conjuncts import condition
from tidegate.case import read_case
from tidegate.language import syntax as sx
from tidegate.language.parser import parse
from tidegate.plan import expressions as ex
from tidegate.plan.legality import may_cross, uses_only_the_tuple
from tidegate.plan.types import BOOLEAN
from tidegate.plan.windows import MINUTE, Range, Rows, Unbounded, Window
from tidegate.reference.replay import replay

CROSSED = ("RANGE 4 SECONDS", "NOW", "UNBOUNDED", "RANGE 4 SECONDS SLIDE 2 SECONDS")
NOT_CROSSED = (
    "ROWS 3", "ROWS 4 SLIDE 2", "PARTITIONED BY sid ROWS 2", "PARTITIONED BY sid ROWS 2 RANGE 4 SECONDS",
    "PARTITIONED BY sid ROWS 2 SLIDE 2",
)  # fmt: skip
CASES = examples(25, 400)


def window(text: str) -> Window:
    tree = parse(f"SELECT a FROM s [{text}]")
    assert isinstance(tree, sx.Select)
    clause = tree.sources[0].window
    assert clause is not None
    return clause.window


SIMPLE = condition("bp > 3")


@pytest.mark.parametrize("text", CROSSED)
def test_a_condition_crosses_a_window_of_time(text: str) -> None:
    assert may_cross(SIMPLE, window(text))


@pytest.mark.parametrize("text", NOT_CROSSED)
def test_no_condition_crosses_a_window_that_counts(text: str) -> None:
    assert not may_cross(SIMPLE, window(text))


@pytest.mark.parametrize(
    ("text", "range_", "sliding"),
    [
        ("bp > 3 AND note LIKE 'x%'", True, True),
        ("level = 'east'", True, True),
        ("1 / sid = 1", True, False),
        ("CAST(note AS int) = 1", True, False),
        ("TRY_CAST(note AS int) = 1", True, True),
        ("bp > (SELECT AVG(bp) FROM Vitals [ROWS 5])", False, False),
    ],
)
def test_what_reads_more_than_the_tuple_stays_and_what_can_fail_waits_for_no_slide(
    text: str, range_: bool, sliding: bool
) -> None:
    """Q-4: conditions before a window use only the tuple itself; Q-9: an error matters when it is met."""
    assert may_cross(condition(text), Range(MINUTE)) is range_
    assert may_cross(condition(text), Unbounded()) is range_
    assert may_cross(condition(text), Range(MINUTE, MINUTE)) is sliding
    assert not may_cross(condition(text), Rows(5))


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("bp + 1 > 2", False),
        ("bp / 2 > 2", True),
        ("bp % 2 > 1", True),
        ("sid + 1 > 2", True),
        ("-sid > 2", True),
        ("ABS(sid) > 2", True),
        ("half(bp) > 2", True),
        ("CAST(note AS int) > 2", True),
        ("TRY_CAST(note AS int) > 2", False),
        ("sid > 2.5", False),
        ("CASE WHEN ok THEN 1 / sid END > 2", True),
        ("sid IN (1, 2) AND note LIKE 'x' OR note IS NULL", False),
        ("bp > (SELECT MAX(bp) FROM Vitals [NOW])", True),
    ],
)
def test_what_can_fail_is_known_from_the_condition(text: str, fails: bool) -> None:
    """Q-9: division by zero, a failing CAST, overflow are errors."""
    assert ex.can_fail(condition(text)) is fails


def test_the_level_of_the_row_is_not_the_level_of_the_tuple() -> None:
    """Q-6: a condition on the result row's level never crosses."""
    of_row = ex.Not(ex.IsNull(ex.RowLevel()), type=BOOLEAN)
    assert not uses_only_the_tuple(of_row)
    assert not may_cross(of_row, Unbounded())


# ------------------------------------------------------------------------------ the same answers


def answers(query: str, tuples: list[tuple[float, str, int, int]]) -> list[str]:
    case = {
        "levels": "U < C < S",
        "streams": {"Vitals": {"sid": "int", "bp": "int"}},
        "queries": [{"name": "q", "at": "S", "text": query}],
        "input": [
            {"stream": "Vitals", "time": time, "level": level, "row": {"sid": sid, "bp": bp}}
            for time, level, sid, bp in tuples
        ],
    }
    return list(replay(read_case(json.dumps(case)), None))


def random_tuples(random: Random) -> list[tuple[float, str, int, int]]:
    times = sorted(random.randrange(40) / 2 for _ in range(random.randrange(1, 14)))
    return [(time, random.choice("UCS"), random.randrange(3), random.randrange(6)) for time in times]


def differences(text: str, seed: int) -> int:
    """For how many inputs it matters on which side of the window the condition stands."""
    random = Random(f"{seed} {text}")
    found = 0
    for _ in range(CASES):
        tuples = random_tuples(random)
        for columns in ("sid, bp", "COUNT(*) AS n"):
            grouped = " GROUP BY sid" if "PARTITIONED" in text and "COUNT" in columns else ""
            before = answers(f"SELECT {columns} WHERE bp > 2 AND level <= 'C' FROM Vitals [{text}]{grouped}", tuples)
            after = answers(f"SELECT {columns} FROM Vitals [{text}] WHERE bp > 2 AND level <= 'C'{grouped}", tuples)
            found += before != after
    return found


@pytest.mark.parametrize("text", CROSSED)
def test_where_a_condition_may_cross_the_answers_are_the_same(text: str, seed: int) -> None:
    assert differences(text, seed) == 0


@pytest.mark.parametrize("text", NOT_CROSSED)
def test_where_a_condition_may_not_cross_the_answers_differ(text: str, seed: int) -> None:
    """The other direction: the rule forbids nothing for nothing."""
    assert differences(text, seed) > 0
