"""Queries as plans: windows, groups, unions and sub-queries where they have a meaning, and nowhere else (Q-3, Q-7)."""

from __future__ import annotations

import pytest

from tests.language.test_execute import do
from tests.language.test_legality import answers
from tests.language.world import FLOOR, ask, code_of, plan_of
from tidegate.plan import nodes
from tidegate.plan.windows import MINUTE, Range, Rows, Unbounded, Window


def windows(text: str) -> list[Window]:
    return [node.window for node in nodes.walk(plan_of(text).root) if isinstance(node, nodes.Windowed)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT sid FROM Vitals", Unbounded()),
        ("SELECT sid FROM Vitals [1 min]", Range(MINUTE)),
        ("SELECT sid, COUNT(*) FROM Vitals GROUP BY sid EVERY 1m UPDATE 15s", Range(MINUTE, MINUTE // 4)),
        (
            "SELECT COUNT(*) FROM Vitals [PARTITION BY level, note ROWS 5 RANGE 1 m]",
            Rows(5, None, ("level", "note"), MINUTE),
        ),
    ],
)
def test_a_window_is_the_one_written_or_unbounded(text: str, expected: Window) -> None:
    """Q-3."""
    assert windows(text) == [expected]


@pytest.mark.parametrize(
    ("text", "emit"),
    [
        ("SELECT sid FROM Vitals", nodes.ISTREAM),
        ("SELECT DSTREAM sid FROM Vitals [NOW]", nodes.DSTREAM),
        ("RSTREAM(SELECT sid FROM Vitals [NOW])", nodes.RSTREAM),
        ("RSTREAM(SELECT sid FROM Vitals [NOW] UNION ALL SELECT sid FROM Position [NOW])", nodes.RSTREAM),
        ("SELECT sid FROM Vitals UNION ALL SELECT sid FROM Position", nodes.ISTREAM),
        ("SELECT COUNT(*) FROM Vitals GROUP BY time/60", nodes.PANES),
        ("SELECT RSTREAM COUNT(*) FROM Vitals GROUP BY time/60", nodes.PANES),
    ],
)
def test_a_relation_becomes_a_stream_as_written_or_by_istream(text: str, emit: str) -> None:
    """Q-5."""
    assert plan_of(text).emit == emit


@pytest.mark.parametrize(
    ("inner", "emit"),
    [
        ("SELECT sid FROM Vitals", nodes.ISTREAM),
        ("SELECT DSTREAM sid FROM Vitals [NOW]", nodes.DSTREAM),
        ("SELECT sid FROM Vitals [ROWS 4 SLIDE 2]", nodes.SLIDES),
        ("SELECT ISTREAM sid FROM Vitals [ROWS 4 SLIDE 2]", nodes.ISTREAM),
        ("SELECT COUNT(*) AS sid FROM Vitals GROUP BY time/60", nodes.PANES),
    ],
)
def test_a_sub_query_under_a_window_is_a_stream(inner: str, emit: str) -> None:
    """Q-7: the R2S written, none written = RSTREAM at slide boundaries if its window slides, else ISTREAM."""
    plan = plan_of(f"SELECT sid FROM ({inner}) [ROWS 5]")
    assert [sub.emit for sub in nodes.subplans(plan)] == [emit]
    assert any(isinstance(node, nodes.StreamOf) for node in nodes.walk(plan.root))


def test_a_sub_query_without_a_window_is_a_relation() -> None:
    """Q-7."""
    plan = plan_of("SELECT top FROM (SELECT MAX(bp) AS top FROM Vitals [ROWS 5])")
    assert any(isinstance(node, nodes.RelationOf) for node in nodes.walk(plan.root))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT sid FROM (SELECT DSTREAM sid FROM Vitals [NOW])", "WINDOW_REQUIRED"),
        ("SELECT sid FROM (SELECT COUNT(*) AS sid FROM Vitals GROUP BY time/60)", "WINDOW_REQUIRED"),
        ("SELECT DISTINCT sid FROM Vitals", "WINDOW_REQUIRED"),
        ("SELECT RSTREAM sid FROM Vitals", "WINDOW_REQUIRED"),
        ("SELECT MAX(bp) FROM Vitals", "WINDOW_REQUIRED"),
        ("SELECT sid FROM Vitals GROUP BY sid", "WINDOW_REQUIRED"),
        ("SELECT 1 AS x FROM Vitals HAVING COUNT(*) > 1", "WINDOW_REQUIRED"),
        ("SELECT Vitals.sid FROM Vitals, Units", "WINDOW_REQUIRED"),
        ("SELECT sid FROM Units [NOW]", "WINDOW_NOT_ALLOWED"),
        ("SELECT COUNT(*) FROM Vitals [NOW] GROUP BY sid EVERY 1 m UPDATE 1 s", "WINDOW_NOT_ALLOWED"),
        ("SELECT COUNT(*) FROM Vitals, Units GROUP BY unit EVERY 1 m UPDATE 1 s", "WINDOW_NOT_ALLOWED"),
        ("SELECT unit FROM Units", "STREAM_REQUIRED"),
        ("SELECT (SELECT unit FROM Units) AS x FROM Vitals", "STREAM_REQUIRED"),
        ("SELECT V.* FROM (SELECT level FROM Vitals) [NOW] V", "SYNTAX_ERROR"),
        ("SELECT sid FROM Vitals [NOW] GROUP BY note", "NOT_GROUPED"),
        ("SELECT sid + 1 FROM Vitals [NOW] GROUP BY sid + 2", "NOT_GROUPED"),
        ("SELECT sid FROM Vitals [NOW] HAVING sid > 1", "NOT_GROUPED"),
        ("SELECT COUNT(*) FROM Vitals [NOW] GROUP BY COUNT(*)", "AGGREGATE_NOT_ALLOWED"),
        ("SELECT sid FROM Vitals [NOW] WHERE COUNT(*) > 1", "AGGREGATE_NOT_ALLOWED"),
        ("SELECT sid WHERE bp > (SELECT MAX(bp) FROM Vitals [NOW]) FROM Vitals", "SUBQUERY_NOT_ALLOWED"),
        ("SELECT sid FROM Vitals WHERE bp > (SELECT bp, wt FROM Vitals)", "SUBQUERY_COLUMNS"),
        ("SELECT COUNT(*) FROM Vitals GROUP BY time/60, Vitals.time/60", "BAD_PANES"),
        ("SELECT COUNT(*) FROM Vitals GROUP BY time/1.5", "BAD_PANES"),
        ("SELECT COUNT(*) FROM Vitals GROUP BY time/10000000000", "BAD_PANES"),
        ("SELECT DSTREAM COUNT(*) FROM Vitals GROUP BY time/60", "BAD_PANES"),
        ("ISTREAM(ISTREAM(SELECT sid FROM Vitals))", "NOT_SUPPORTED"),
        ("ISTREAM(SELECT ISTREAM sid FROM Vitals)", "NOT_SUPPORTED"),
        ("RSTREAM(SELECT sid FROM Vitals [NOW] UNION ALL ISTREAM(SELECT sid FROM Position))", "UNION_MISMATCH"),
        ("SELECT sid FROM Vitals UNION ALL SELECT note FROM Vitals UNION ALL SELECT sid FROM Vitals", "UNION_MISMATCH"),
        ("SELECT LUB(sid) FROM Vitals [NOW]", "WRONG_ARGUMENTS"),
        ("SELECT MIN(level) FROM Vitals [NOW]", "LEVEL_AGGREGATE"),
        ("SELECT SUM(level) FROM Vitals [NOW]", "WRONG_ARGUMENTS"),
        ("SELECT sid FROM Vitals WHERE sid = 1 OR ok OR 2", "MIXED_SHORTHAND"),
        ("SELECT sid FROM Vitals WHERE ok AND 5", "MIXED_SHORTHAND"),
        ("SELECT sid FROM Vitals WHERE level = east OR west AND ok", "MIXED_SHORTHAND"),
        ("SELECT sid FROM Vitals WHERE sid = 1 OR -2 OR 3", "NAME_REQUIRED"),
        ("SELECT sid FROM Vitals WHERE level = east OR west", "NAME_REQUIRED"),
        ("SELECT sid FROM Vitals WHERE (level = 'east' OR 'west') AND ok", "NAME_REQUIRED"),
    ],
)  # fmt: skip
def test_what_stands_where_it_has_no_meaning_is_refused(text: str, code: str) -> None:
    """Q-3, Q-4, Q-6, Q-7."""
    assert code_of(text) == code


@pytest.mark.parametrize(
    ("aggregate", "kind"),
    [
        ("COUNT(*)", "bigint"), ("COUNT(note)", "bigint"), ("COUNT(NULL)", "bigint"), ("SUM(sid)", "bigint"),
        ("SUM(bp)", "double"), ("AVG(sid)", "double"), ("MIN(note)", "string"), ("MAX(ok)", "boolean"),
        ("MIN(NULL)", "double"), ("SUM(NULL)", "double"), ("STDDEV(sid)", "double"), ("VARIANCE(bp)", "double"),
        ("LUB(level)", "level"), ("COUNT(DISTINCT note)", "bigint"),
    ],
)  # fmt: skip
def test_the_type_of_an_aggregate(aggregate: str, kind: str) -> None:
    """Q-7, Q-8."""
    assert str(plan_of(f"SELECT {aggregate} AS x FROM Vitals [NOW]").columns[0].type) == kind


def test_the_sum_of_decimals_is_a_wide_decimal() -> None:
    assert str(plan_of("SELECT SUM(fee) AS x FROM Bills [NOW]").columns[0].type) == "decimal(38,2)"


def test_an_aggregate_over_one_partitioned_window_is_grouped_by_its_partition() -> None:
    """Q-3: the same text with GROUP BY of the partition attributes."""
    implied = plan_of("SELECT AVG(bp) FROM Vitals [PARTITIONED BY level, sid ROWS 20]")
    written = plan_of("SELECT AVG(bp) FROM Vitals [PARTITIONED BY level, sid ROWS 20] GROUP BY level, sid")
    assert implied == written


def test_a_key_may_be_used_by_its_name_its_text_or_inside_an_expression() -> None:
    for item in ("half", "sid / 2", "sid/2", "1 + sid / 2", "half + 1"):
        plan_of(
            f"SELECT {item} AS x, COUNT(*) AS n FROM Vitals [NOW] GROUP BY sid / 2 AS half HAVING half > 1 OR n > 1"
        )


def test_having_may_use_the_names_of_the_select_list() -> None:
    named = plan_of("SELECT AVG(bp) AS mean FROM Vitals [NOW] HAVING mean > 3")
    written = plan_of("SELECT AVG(bp) AS mean FROM Vitals [NOW] HAVING AVG(bp) > 3")
    assert named == written


def test_equal_aggregates_are_computed_once() -> None:
    plan = plan_of("SELECT AVG(bp) AS a, 1 + avg(BP) AS b FROM Vitals [NOW] HAVING AVG(bp) > 3")
    assert [len(node.calls) for node in nodes.walk(plan.root) if isinstance(node, nodes.Aggregate)] == [1]


def test_where_before_from_is_the_same_as_in_the_window() -> None:
    """Q-4, M-12b, M-12c."""
    before = plan_of("SELECT AVG(bp) WHERE level = 'east' FROM Vitals [ROWS 100]")
    inside = plan_of("SELECT AVG(bp) FROM Vitals [ROWS 100 level = 'east']")
    also = plan_of("SELECT AVG(bp) FROM Vitals [ROWS 100 WHERE level = 'east']")
    after = plan_of("SELECT AVG(bp) FROM Vitals [ROWS 100] WHERE level = 'east'")
    assert before == inside == also != after


def test_in_a_join_conjuncts_over_one_stream_go_before_its_window_and_the_others_to_the_join() -> None:
    """Q-4."""
    text = "WHERE V.sid = P.sid AND bp > 120 AND 1 = 1 AND V.pr > (SELECT MAX(pr) FROM Vitals [NOW])"
    plan = plan_of(f"SELECT AVG(pr) {text} FROM Vitals [ROWS 10] V, Position [ROWS 10] P")
    befores = [node for node in nodes.walk(plan.root) if isinstance(node, nodes.Before)]
    (join,) = [node for node in nodes.walk(plan.root) if isinstance(node, nodes.Join)]
    assert len(befores) == 1
    assert isinstance(befores[0].input, nodes.Scan)
    assert len(getattr(join.condition, "operands", ())) == 3


def test_a_union_has_the_names_of_its_first_part_and_types_that_hold_all() -> None:
    plan = plan_of(
        "SELECT sid AS n, note FROM Vitals UNION ALL SELECT total, NULL FROM Bills UNION ALL SELECT bp, '' FROM Vitals"
    )
    assert [str(column) for column in plan.columns] == ["n double", "note string"]


def test_equal_texts_have_equal_plans_wherever_their_words_stand() -> None:
    one = plan_of("SELECT   sid,bp FROM Vitals\nWHERE bp>3")
    other = plan_of("select SID, Bp from VITALS where BP > 3")
    assert one == other
    assert hash(one) == hash(other)


def test_a_declared_time_hides_the_systems() -> None:
    """A stream may have an attribute called time; GROUP BY time/60 then groups by it, and needs a window."""
    assert code_of("SELECT COUNT(*) FROM (SELECT sid AS time FROM Vitals) [NOW] GROUP BY time/60") == "NAME_REQUIRED"
    assert code_of("SELECT COUNT(*) FROM Vitals [NOW] GROUP BY time/60") == "NAME_REQUIRED"
    timed = do("CREATE STREAM Timed AS SELECT sid AS time FROM Vitals").catalog
    assert ask("SELECT COUNT(*) FROM Timed GROUP BY time/60", FLOOR, timed).startswith("WINDOW_REQUIRED")


@pytest.mark.parametrize(
    "inner",
    [
        "SELECT DISTINCT level, sid FROM Vitals [ROWS 5]",
        "SELECT DISTINCT sid FROM Vitals [ROWS 5]",
        "SELECT level, sid FROM Vitals [ROWS 5]",
        "SELECT level, sid, COUNT(*) AS n FROM Vitals [ROWS 5] GROUP BY level, sid",
        "SELECT level, sid FROM Vitals [ROWS 5] UNION ALL SELECT level, sid FROM Vitals [NOW]",
    ],
)
def test_a_sub_query_has_as_many_rows_as_it_has_alone(inner: str) -> None:
    """Q-7: a sub-query steps as a query of its own; that ``level`` is no column of a table changes no row."""
    tuples = [(1.0, "U", 1, 1), (1.0, "C", 1, 1), (1.0, "C", 1, 1)]
    alone = answers(inner, tuples)
    assert len(answers(f"SELECT x.sid, x.level FROM ({inner}) x", tuples)) == len(alone)
    assert len(answers(f"SELECT x.sid, x.level FROM ({inner}) [NOW] x", tuples)) == len(alone)
