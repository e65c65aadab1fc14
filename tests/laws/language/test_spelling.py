"""Unusual spellings: a text is refused, or it means one thing, also after it was printed."""

from __future__ import annotations

import pytest

from tidegate.errors import QueryError
from tidegate.language import statements as st
from tidegate.language import syntax as sx
from tidegate.language.parser import parse
from tidegate.language.print_statements import print_statement

ODD = (
    # a bare sign that parentheses made possible
    "SELECT (tag_sign = -) AS x FROM s",
    "SELECT CASE WHEN (tag_sign = +) THEN 1 END AS x FROM s",
    "SELECT a FROM s [ROWS 5 WHERE (tag_sign = -)]",
    "SELECT a FROM s WHERE (tag_sign = -) GROUP BY a",
    "SELECT a FROM s WHERE x IN ((tag_sign = -), TRUE)",
    # types and typed literals whose names need quotes
    "SELECT CAST(a AS `a b`) AS x FROM s",
    "SELECT CAST(a AS `from`) AS x FROM s",
    "SELECT `from` 'x' AS x FROM s",
    "SELECT `a b` 'x' AS x FROM s",
    "SELECT straße 'x' AS x FROM s",
    "CREATE FUNCTION f(a `or`) RETURNS `as` AS ''",
    "CREATE SOURCE s (a `b,c`) FROM 'x' LEVELS U TO U",
    # names that are keywords to a parser that ignores case
    "STOP `LİKE`",
    "STOP `LI\u212aE`",
    "STOP `ſelect`",
    "STOP `lıke`",
    # names that are no words
    "STOP ```a``b```",
    "STOP `*`",
    "PERMIT `*` ON s.`*` AT `*`",
    "DROP STREAM x@'S:NATO,CRYPTO'",
    "SELECT TAGS FROM s WHERE OBJECT = s.a AND TAG_SIGN = -",
    "SELECT `TAGS` FROM s",
    "SELECT `DISTINCT`, `ISTREAM` FROM `FROM` [ROWS 5] AS `WHERE`",
    "EXPLAIN `SHARING`",
    "SELECT a FROM s [1 min] AS `1 min`",
)


@pytest.mark.parametrize("text", ODD)
def test_an_odd_spelling_is_refused_or_comes_back(text: str) -> None:
    try:
        tree = parse(text)
    except QueryError:
        return
    assert parse(print_statement(tree)) == tree


# Letters that equal i, s or k only where case is ignored; each text with its spelling in ASCII.
TWINS = (
    ("DROP S\u0130NK x", "DROP SINK x"),
    ("DROP SIN\u212a x", "DROP SINK x"),
    ("DROP FUNCT\u0130ON x", "DROP FUNCTION x"),
    ("COMM\u0130T", "COMMIT"),
    ("BEG\u0130N", "BEGIN"),
    ("W\u0130THDRAW a ON s.b AT c", "WITHDRAW a ON s.b AT c"),
    ("PERM\u0130T a ON s.b AT c", "PERMIT a ON s.b AT c"),
    ("SELECT \u0130STREAM a FROM s", "SELECT ISTREAM a FROM s"),
    ("\u0130STREAM(SELECT a FROM s)", "ISTREAM(SELECT a FROM s)"),
    ("SHOW QUER\u0130ES", "SHOW QUERIES"),
    ("EXPLAIN SHAR\u0130NG q", "EXPLAIN SHARING q"),
    ("CREATE SOURCE s (a int) FROM 'x' LEVELS U TO U LATE QUARANT\u0130NE",
     "CREATE SOURCE s (a int) FROM 'x' LEVELS U TO U LATE QUARANTINE"),
    ("ATTACH TAG 'x' TO s WITH TAG_MODE = COMB\u0130NE", "ATTACH TAG 'x' TO s WITH TAG_MODE = COMBINE"),
    ("\u017fELECT a FROM \u017f", "SELECT a FROM \u017f"),
    ("SELECT a FROM s [5 \u017feconds]", "SELECT a FROM s [5 seconds]"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "meant"), TWINS)
def test_a_letter_that_only_looks_like_a_keywords_is_refused_or_the_keyword(text: str, meant: str) -> None:
    """Otherwise a WITHDRAW would be taken for a PERMIT, and a COMMIT for an ABORT."""
    try:
        tree = parse(text)
    except QueryError:
        return
    assert tree == parse(meant)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("select A from S where X<>1;", "SELECT A FROM S WHERE X != 1"),
        ("SELECT a FROM s [ROWS 5 x = 1]", "SELECT a FROM s [ROWS 5 WHERE x = 1]"),
        ("SELECT a FROM s [1 min]", "SELECT a FROM s [RANGE 60 SECONDS]"),
        ("SELECT a FROM s [NOW]", "SELECT a FROM s [RANGE 0 SECONDS]"),
        ("SELECT a FROM s [RANGE UNBOUNDED]", "SELECT a FROM s [ROWS UNBOUNDED]"),
        ("SELECT a FROM s [UNBOUNDED]", "SELECT a FROM s [ROWS UNBOUNDED]"),
        ("SELECT a FROM s [PARTITION BY b ROWS 5]", "SELECT a FROM s [PARTITIONED BY b ROWS 5]"),
        ("SELECT a FROM s [PARTITION BY b ROWS 5 SLIDE 2 RANGE 1 h]",
         "SELECT a FROM s [PARTITION BY b ROWS 5 RANGE 60 m SLIDE 2]"),
        ("SELECT a FROM s x [NOW]", "SELECT a FROM s [NOW] AS x"),
        ("SELECT a x FROM s", "SELECT a AS x FROM s"),
        ("SELECT a FROM s CROSS JOIN t", "SELECT a FROM s, t"),
        ("SELECT a FROM s INNER JOIN t ON x = y", "SELECT a FROM s JOIN t ON x = y"),
        ("SELECT ((a)) FROM s WHERE ((x AND y)) AND z", "SELECT a FROM s WHERE x AND y AND z"),
        ('SELECT "it\'s" FROM s', "SELECT 'it''s' FROM s"),
        ('SELECT "say ""x""" FROM s', "SELECT 'say \"x\"' FROM s"),
        ("SELECT a -- comment\nFROM /* a * b */ s", "SELECT a FROM s"),
        ("SELECT a ABOVE 0.1 FROM s", "SELECT a FROM s ABOVE 0.1"),
        ("SELECT a FROM (SELECT b FROM t;)", "SELECT a FROM (SELECT b FROM t)"),
        ("ATTACH TAG 'x' TO s WITH TAG_LIFESPAN = 0 s AND TAG_SIGN = '-'",
         "ATTACH TAG 'x' TO s WITH TAG_SIGN = - AND TAG_LIFESPAN = INSTANT"),
        ("CREATE SOURCE s (a INT) FROM 'x' LEVELS 'U' TO U SHED DELAY 1 s",
         "CREATE SOURCE s (a int) FROM 'x' LEVELS U TO U DELAY 1000 ms SHED"),
    ],
)  # fmt: skip
def test_two_spellings_of_one_thing_are_one_tree(text: str, meant: str) -> None:
    """Q-3, Q-4, Q-7: where the language has two ways to say a thing, nothing later can tell them apart."""
    assert parse(text) == parse(meant)


def test_arithmetic_binds_as_in_school() -> None:
    """Q-7: products before sums, from the left; comparison before NOT, NOT before AND, AND before OR."""
    written = parse("SELECT x FROM s WHERE a OR NOT b = 1 - 2 - -3 * c % 4 AND d")
    full = parse("SELECT x FROM s WHERE a OR ((NOT (b = ((1 - 2) - (((-3) * c) % 4)))) AND d)")
    assert written == full


def test_a_keyword_of_one_place_is_a_name_in_another() -> None:
    """Streams of older systems have columns called rows, range, level, query …"""
    tree = parse(
        "SELECT rows, `range`, query, tag, start FROM stream [ROWS 5] AS source WHERE late = format AND now > 1"
    )
    assert isinstance(tree, sx.Select)
    assert [item.expression for item in tree.items if isinstance(item, sx.Item)] == [
        sx.Name((name,)) for name in ("rows", "range", "query", "tag", "start")
    ]


def test_the_printed_form_is_canonical() -> None:
    text = (
        "select  avg( bp ) , V.* where LEVEL='S' or 'TS' from Vitals V [rows 5], P [ now ] "
        "group by x+(1*2) having not (a or b)"
    )
    assert print_statement(parse(text)) == (
        "SELECT avg(bp), V.* WHERE LEVEL = 'S' OR 'TS' FROM Vitals [ROWS 5] AS V, P [NOW] "
        "GROUP BY x + 1 * 2 HAVING NOT (a OR b)"
    )


def test_a_statement_of_every_clause_reads_as_it_is_written() -> None:
    text = (
        "CREATE SOURCE Traffic (src string, `no of bytes` decimal(10,2)) FROM 'it''s' FORMAT csv "
        "LEVELS U TO 'top secret' FED BY ann DELAY 5 SECONDS SKEW 1 MINUTE LATE QUARANTINE SHED"
    )
    tree = parse(text)
    assert isinstance(tree, st.CreateSource)
    assert (tree.late, tree.shed, tree.delay, tree.skew) == ("QUARANTINE", True, 5_000_000, 60_000_000)
    assert print_statement(tree) == text
