"""Plans as people read them: one line per node, its operator and its parameters (M-13)."""

from __future__ import annotations

import pytest

from tests.language.test_conjuncts import condition
from tests.language.test_literals import selected
from tests.language.world import FLOOR, ROOF, ask, plan_of
from tidegate.plan import nodes
from tidegate.plan.describe import describe
from tidegate.plan.explain import draw, plan_text
from tidegate.plan.expressions import Expression
from tidegate.plan.schema import declared, has
from tidegate.plan.windows import DAY, HOUR, Range, Rows, Unbounded, duration_text


def test_a_select_project_query() -> None:
    assert plan_text(plan_of("SELECT sid, bp * 2 AS twice WHERE bp > 120 AND level = 'floor' FROM Vitals")) == (
        "emit ISTREAM\n"
        "  project sid, bp * 2.0 AS twice\n"
        "    window UNBOUNDED\n"
        "      select (bp > 120.0) AND (level = 'floor') (before the window)\n"
        "        scan Vitals@floor"
    )


def test_a_join_of_windows_with_a_relation() -> None:
    """Q-4: what speaks of one stream goes before its window, the rest to the join."""
    text = (
        "SELECT V.sid, unit, AVG(pr) WHERE V.sid = P.sid AND bp > 120 AND lon = '4E' AND U.sid = 1 "
        "FROM Vitals [ROWS 10] V, Position [RANGE 1 MINUTE] P, Units U GROUP BY V.sid, unit HAVING AVG(pr) > 3"
    )
    assert plan_text(plan_of(text)) == (
        "emit ISTREAM\n"
        "  project sid, unit, AVG(pr)\n"
        "    select AVG(…) > 3.0\n"
        "      aggregate AVG(V.pr) by V.sid, U.unit\n"
        "        join on (P.sid = V.sid) AND (U.sid = 1)\n"
        "          window ROWS 10\n"
        "            select V.bp > 120.0 (before the window)\n"
        "              scan Vitals@floor\n"
        "          window RANGE 1 MINUTE\n"
        "            select P.lon = '4E' (before the window)\n"
        "              scan Position@floor\n"
        "          relation Units@floor"
    )


def test_sub_queries_are_drawn_under_what_reads_them() -> None:
    text = (
        "RSTREAM(SELECT DISTINCT x.sid FROM (SELECT sid FROM Vitals [RANGE 1 MINUTE SLIDE 30 SECONDS]) [NOW] x, "
        "(SELECT MAX(bp) AS top FROM Vitals [ROWS 5]) y WHERE y.top > (SELECT AVG(bp) FROM Vitals [ROWS 9]))"
    )
    assert draw(plan_of(text)) == (
        "emit RSTREAM\n"
        "├─ distinct\n"
        "│  └─ project sid\n"
        "│     └─ join on y.top > (SELECT AVG(bp) FROM Vitals [ROWS 9])\n"
        "│        ├─ window NOW\n"
        "│        │  └─ stream of\n"
        "│        │     └─ emit RSTREAM at slides\n"
        "│        │        └─ project sid\n"
        "│        │           └─ window RANGE 1 MINUTE SLIDE 30 SECONDS\n"
        "│        │              └─ scan Vitals@floor\n"
        "│        └─ relation of\n"
        "│           └─ emit ISTREAM\n"
        "│              └─ project top\n"
        "│                 └─ aggregate MAX(bp)\n"
        "│                    └─ window ROWS 5\n"
        "│                       └─ scan Vitals@floor\n"
        "└─ scalar sub-query 1\n"
        "   └─ emit ISTREAM\n"
        "      └─ project AVG(bp)\n"
        "         └─ aggregate AVG(bp)\n"
        "            └─ window ROWS 9\n"
        "               └─ scan Vitals@floor"
    )


def test_a_union_and_panes() -> None:
    assert plan_text(plan_of("SELECT sid AS n FROM Vitals UNION ALL SELECT total FROM Bills")) == (
        "emit ISTREAM\n"
        "  union all\n"
        "    project n\n"
        "      project sid AS n\n"
        "        window UNBOUNDED\n"
        "          scan Vitals@floor\n"
        "    project total AS n\n"
        "      project total\n"
        "        window UNBOUNDED\n"
        "          scan Bills@floor"
    )
    assert plan_text(plan_of("SELECT t, sid, COUNT(*) FROM Vitals WHERE ok GROUP BY time/60 AS t, sid")) == (
        "emit at the end of each pane\n"
        "  project time / 60 AS t, sid, COUNT(*)\n"
        "    aggregate COUNT(*) by time / 60, sid in panes of 60 s\n"
        "      select ok (before the window)\n"
        "        scan Vitals@floor"
    )


def test_groups_without_aggregates_and_joins_of_every_pair() -> None:
    assert plan_text(plan_of("SELECT 1 AS x FROM Vitals [ROWS 5], Units GROUP BY wt")) == (
        "emit ISTREAM\n"
        "  project 1 AS x\n"
        "    aggregate groups by Vitals.wt\n"
        "      join (every pair)\n"
        "        window ROWS 5\n"
        "          scan Vitals@floor\n"
        "        relation Units@floor"
    )


def test_a_registered_query_is_explained_by_its_name() -> None:
    """The drawing is the one of its text, and of lower queries too (Q-14)."""
    drawn = ask("EXPLAIN SELECT AVG(pr) FROM Vitals [ROWS 10]", FLOOR)
    assert ask("EXPLAIN pulse", FLOOR) == ask("EXPLAIN pulse@floor", ROOF) == drawn
    assert ask("EXPLAIN Quick", ROOF).startswith("shown:\nemit ISTREAM\n└─ project sid, pr")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("bp > 3", "bp > 3.0"),
        ("ok AND (sid = 1 OR sid = 2)", "ok AND ((sid = 1) OR (sid = 2))"),
        ("NOT ok", "NOT ok"),
        ("NOT (ok AND sid = 1)", "NOT (ok AND (sid = 1))"),
        ("note IS NULL", "note IS NULL"),
        ("note IS NOT NULL", "note IS NOT NULL"),
        ("sid IN (1, 2)", "sid IN (1, 2)"),
        ("note LIKE 'it''s'", "note LIKE 'it''s'"),
        ("level >= 'east'", "level >= 'east'"),
        ("ok = TRUE", "ok = TRUE"),
        ("ok = FALSE", "ok = FALSE"),
        ("bp = NULL", "bp = NULL"),
        ("CASE WHEN ok THEN 1 END = 1", "CASE WHEN ok THEN 1 ELSE NULL END = 1"),
        ("TRY_CAST(note AS int) = CAST(bp AS int)", "TRY_CAST(note AS int) = CAST(bp AS int)"),
        ("UPPER(note) = note", "UPPER(note) = note"),
        ("half(bp) > -wt", "half(bp) > -wt"),
        ("-(bp + wt) * 2 > 1", "(-(bp + wt) * 2.0) > 1.0"),
    ],
)
def test_an_expression_reads_as_a_person_would_write_it(text: str, shown: str) -> None:
    assert describe(condition(text)) == shown


def test_times_read_as_they_were_written() -> None:
    assert describe(selected("paid + INTERVAL 90 SECONDS > '2024-01-31'", "Bills")) == (
        "(paid + INTERVAL 90 SECONDS) > '2024-01-31'"
    )


def test_the_escape_of_a_pattern_is_shown() -> None:
    """Two conditions that mean two things do not read the same."""
    assert describe(condition("note LIKE 'a' ESCAPE '!'")) != describe(condition("note LIKE 'a'"))


def test_an_unknown_expression_has_the_name_of_its_class() -> None:
    assert describe(Expression()) == "expression"


@pytest.mark.parametrize(
    ("window", "shown"),
    [
        (Rows(5), "ROWS 5"),
        (Rows(5, 2), "ROWS 5 SLIDE 2"),
        (Rows(5, 2, ("a", "b"), 1_000), "PARTITIONED BY a, b ROWS 5 SLIDE 2 RANGE 1 MILLISECOND"),
        (Range(0), "NOW"),
        (Range(2 * HOUR), "RANGE 2 HOURS"),
        (Range(DAY, 1), "RANGE 1 DAY SLIDE 1 MICROSECOND"),
        (Unbounded(), "UNBOUNDED"),
    ],
)
def test_a_window_reads_as_it_is_written(window: Rows | Range | Unbounded, shown: str) -> None:
    assert str(window) == shown


def test_a_time_reads_in_its_largest_whole_unit() -> None:
    assert [duration_text(time) for time in (0, 1, 1_500, 60_000_000, 90_000_000, 36 * HOUR)] == [
        "0 DAYS", "1 MICROSECOND", "1500 MICROSECONDS", "1 MINUTE", "90 SECONDS", "36 HOURS",
    ]  # fmt: skip


# ------------------------------------------------------------------------------ nodes


def test_every_node_says_what_it_evaluates_and_what_it_gives() -> None:
    plan = plan_of(
        "SELECT DISTINCT V.sid, COUNT(*) AS n FROM Vitals [ROWS 5 WHERE bp > 1] V, Units U WHERE V.sid = U.sid "
        "GROUP BY V.sid HAVING COUNT(*) > 1"
    )
    every = list(nodes.walk(plan.root))
    assert [type(node).__name__ for node in every] == [
        "Distinct", "Project", "Select", "Aggregate", "Join", "Windowed", "Before", "Scan", "RelationScan",
    ]  # fmt: skip
    assert [len(node.expressions()) for node in every] == [0, 2, 1, 1, 1, 0, 1, 0, 0]
    assert [len(node.schema) for node in every] == [2, 2, 2, 2, 11, 8, 8, 8, 3]
    assert [str(column) for column in declared(every[-1].schema)] == ["sid int", "unit string"]
    assert has(every[-1].schema, "UNIT")
    assert not has(every[-1].schema, "time")


def test_a_plan_knows_every_stream_that_it_reads() -> None:
    """Q-2: sub-queries included."""
    plan = plan_of(
        "SELECT x FROM (SELECT sid AS x FROM Vitals) [NOW], (SELECT MAX(total) AS y FROM Bills [ROWS 5]) "
        "WHERE x > (SELECT COUNT(*) FROM Position [NOW])"
    )
    assert sorted(scan.name for scan in nodes.scans(plan)) == ["Bills", "Position", "Vitals"]
    assert len(nodes.subplans(plan)) == 3


def test_a_node_of_no_kind_has_no_schema() -> None:
    with pytest.raises(TypeError, match="Node has no schema"):
        assert nodes.Node().schema
    assert not nodes.Node().inputs
    assert not nodes.Node().expressions()


def test_an_invalid_node_cannot_be_built() -> None:
    scan = next(node for node in nodes.walk(plan_of("SELECT sid FROM Vitals").root) if isinstance(node, nodes.Scan))
    number = selected("1")
    for build in (
        lambda: nodes.Select(scan, number),
        lambda: nodes.Before(scan, number),
        lambda: nodes.Join((scan,)),
        lambda: nodes.Project(scan, (number,), ()),
    ):
        with pytest.raises(AssertionError):
            build()
