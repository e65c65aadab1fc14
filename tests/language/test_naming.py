"""The names of result columns, as the case format promises them (M-12i, Q-7)."""

from __future__ import annotations

import pytest

from tests.language.world import code_of, plan_of

JOIN = "FROM Vitals [ROWS 5] V, Position [ROWS 5] P WHERE V.sid = P.sid"


def names(text: str) -> list[str]:
    return [column.name for column in plan_of(text).columns]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("SID, Bp", ["sid", "bp"]),
        ("Vitals.sid, VITALS.BP", ["sid", "bp"]),
        ("level, TIME", ["level", "time"]),
        ("vitals.LEVEL", ["level"]),
        ("bp AS Pressure, wt heft", ["Pressure", "heft"]),
        ("bp AS `blood pressure`", ["blood pressure"]),
        ("bp+WT*2", ["bp + wt * 2"]),
        ("(bp+wt)*2", ["(bp + wt) * 2"]),
        ("Vitals.bp+1", ["Vitals.bp + 1"]),
        ("vitals.BP+1", ["Vitals.bp + 1"]),
        ("upper( NOTE )", ["UPPER(note)"]),
        ("HALF(bp)", ["half(bp)"]),
        ("half@floor(bp)", ["half@floor(bp)"]),
        ("cast(bp as INT)", ["CAST(bp AS int)"]),
        ("try_cast(note as Decimal(10, 2))", ["TRY_CAST(note AS decimal(10,2))"]),
        ("case when OK then 1 else 2 end", ["CASE WHEN ok THEN 1 ELSE 2 END"]),
        ("case Sid when 1 then 'a' end", ["CASE sid WHEN 1 THEN 'a' END"]),
        ("not Ok and bp>3", ["NOT ok AND bp > 3"]),
        ("NOTE like 'x' escape '!'", ["note LIKE 'x' ESCAPE '!'"]),
        ("bp between 1 and 2", ["bp BETWEEN 1 AND 2"]),
        ("sid in (1,2)", ["sid IN (1, 2)"]),
        ("note is not null", ["note IS NOT NULL"]),
        ("-BP", ["-bp"]),
        ("1", ["1"]),
        ("'x'", ["'x'"]),
        ('"x"', ["'x'"]),
        ("null", ["NULL"]),
        ('level = "east"', ["level = 'east'"]),
    ],
)  # fmt: skip
def test_a_column_has_its_last_part_and_an_expression_its_canonical_text(items: str, expected: list[str]) -> None:
    """Keywords upper case, names as declared, one space."""
    assert names(f"SELECT {items} FROM Vitals") == expected


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("avg( BP ), count(*)", ["AVG(bp)", "COUNT(*)"]),
        ("count(distinct SID)", ["COUNT(DISTINCT sid)"]),
        ("lub(LEVEL)", ["LUB(level)"]),
        ("max(bp)-min(bp) as spread", ["spread"]),
        ("Avg(bp+1)", ["AVG(bp + 1)"]),
    ],
)
def test_aggregates_are_named_like_other_expressions(items: str, expected: list[str]) -> None:
    assert names(f"SELECT {items} FROM Vitals [ROWS 5]") == expected


def test_the_columns_of_a_sub_query_in_a_name_are_spelled_as_declared_too() -> None:
    """Names as declared, wherever they stand."""
    text = "SELECT (select max(BP) from VITALS [rows 5]) FROM Vitals"
    assert names(text) == ["(SELECT MAX(bp) FROM Vitals [ROWS 5])"]


def test_where_two_collide_both_have_the_text_as_written() -> None:
    assert names(f"SELECT V.sid, p.SID, lat {JOIN}") == ["V.sid", "p.SID", "lat"]
    assert names(f"SELECT V.level, P.level {JOIN}") == ["V.level", "P.level"]
    assert names("SELECT Mirror.*, image FROM Mirror@floor") == ["Mirror.image", "image"]


def test_a_star_is_the_declared_attributes_in_order_without_level() -> None:
    assert names("SELECT * FROM Vitals") == ["sid", "wt", "bp", "pr", "note", "ok"]
    assert names("SELECT Vitals.*, level FROM Vitals") == ["sid", "wt", "bp", "pr", "note", "ok", "level"]


def test_a_star_over_a_join_has_the_streams_in_the_order_of_from() -> None:
    assert names(f"SELECT * {JOIN}") == ["V.sid", "wt", "bp", "pr", "note", "ok", "P.sid", "lat", "lon"]
    assert names(f"SELECT P.*, wt {JOIN}") == ["sid", "lat", "lon", "wt"]


def test_a_group_can_be_named_where_it_is_made() -> None:
    assert names("SELECT t, count(*) FROM Vitals GROUP BY time/60 AS t") == ["t", "COUNT(*)"]
    assert names("SELECT T + 1 FROM Vitals GROUP BY time/60 AS t") == ["T + 1"]
    assert names("SELECT time/60, count(*) FROM Vitals GROUP BY time/60") == ["time / 60", "COUNT(*)"]


@pytest.mark.parametrize(
    "items", ["bp, BP", "bp + 1, bp+1", "bp AS x, wt AS X", "sid, bp AS sid", "Vitals.bp, vitals.bp"]
)
def test_two_columns_of_one_name_are_refused(items: str) -> None:
    assert code_of(f"SELECT {items} FROM Vitals") == "DUPLICATE_COLUMN"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT bp AS level FROM Vitals",
        "SELECT bp LEVEL FROM Vitals",
        "SELECT bp AS `Level` FROM Vitals",
        "SELECT COUNT(*) FROM Vitals [ROWS 5] GROUP BY bp AS level",
        "SELECT sid FROM Vitals AS level",
        "CREATE QUERY level AS SELECT sid FROM Vitals",
        "CREATE FUNCTION level(a int) RETURNS int AS 'return a'",
        "CREATE FUNCTION f(level int) RETURNS int AS 'return level'",
        "CREATE FUNCTION f(a int) RETURNS level AS 'return a'",
        "CREATE RELATION r (level string) LEVELS floor TO roof",
        "SELECT x FROM (SELECT V.level, V.sid AS x FROM Vitals [ROWS 5] V, Position [ROWS 5] P)",
        "SELECT x FROM (SELECT V.level, V.sid AS x FROM Vitals [ROWS 5] V, Units) UNION ALL SELECT sid FROM Vitals",
        "SELECT x FROM (SELECT DISTINCT V.level, V.sid AS x FROM Vitals [ROWS 5] V, Units)",
        "CREATE STREAM s AS SELECT sid, level FROM Vitals UNION ALL SELECT P.sid, P.level FROM Position [NOW] P, Units",
        "CREATE STREAM s AS SELECT CAST('roof' AS level) AS x FROM Vitals",
    ],
)
def test_nothing_can_be_named_level_and_nothing_made_one(text: str) -> None:
    """M-5, Q-6: readable, assignable nowhere."""
    assert code_of(text) == "LEVEL_NOT_ASSIGNABLE"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT level, sid FROM Vitals",
        "SELECT Vitals.level, sid FROM Vitals",
        "SELECT DISTINCT level, sid FROM Vitals [ROWS 5]",
        "SELECT level, sid FROM Vitals UNION ALL SELECT level, sid FROM Position",
        "SELECT level, V.sid FROM Vitals [ROWS 5] V, Units",
        "SELECT level, MAX(sid) AS sid FROM Vitals [ROWS 5]",
    ],
)
def test_the_rows_own_level_is_the_level_of_a_derived_tuple_and_no_column_beside_it(text: str) -> None:
    """M-5: every stream has ``level`` anyway."""
    assert names(f"SELECT x.* FROM ({text}) [ROWS 5] x") == ["sid"]
    assert names(f"SELECT x.*, x.level FROM ({text}) [ROWS 5] x") == ["sid", "level"]
