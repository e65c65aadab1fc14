"""What a person reads who wrote something else: the word that does not fit, and what may have been meant (Q-12)."""

from __future__ import annotations

import pytest

from tidegate.errors import CaseError, Problem, QueryError, Refusal, TidegateError
from tidegate.language.parser import children, parse
from tidegate.text import NOWHERE, Span, did_you_mean, listed, locate


def error(text: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        parse(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "write a statement, for example SELECT * FROM s"),
        ("  -- nothing", ""),
        ("SELECT (a FROM s", ""),
        ("SELECT (a", 'a ")" is missing'),
        ("SELECT a FROM s [ROWS 5", 'a "]" is missing'),
        ("SELECT a FROM s WHERE", ""),
        ("SELECT 'a FROM s", "the quote is never closed"),
        ('SELECT "a FROM s', "the quote is never closed"),
        ("SELECT `a FROM s", "the quote is never closed"),
        ("SELECT 5a FROM s", "a number and a name need a space between them"),
        ("SELECT a FROM s;;", 'one statement at a time: nothing may follow ";"'),
        ("SELECT a FROM s; SELECT b FROM s", 'one statement at a time: nothing may follow ";"'),
    ],
)
def test_a_syntax_error_says_what_may_be_missing(text: str, hint: str) -> None:
    assert (error(text).code, error(text).hint) == ("SYNTAX_ERROR", hint)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM s ORDER BY a",
        "SELECT a FROM s LIMIT 5",
        "SELECT a FROM s OFFSET 5",
        "SELECT a FROM s INTERSECT SELECT a FROM t",
        "SELECT a FROM s EXCEPT SELECT a FROM t",
        "SELECT a FROM s JOIN t USING (a)",
        "SELECT AVG(a) OVER (PARTITION BY b) FROM s",
        "SELECT AVG(a) OVER w FROM s",
        "INSERT INTO s VALUES (1)",
        "UPDATE s SET a = 1",
        "DELETE FROM s",
        "SELECT a FROM s LEFT JOIN t ON s.a = t.a",
        "SELECT a FROM s RIGHT OUTER JOIN t ON s.a = t.a",
        "SELECT a FROM s FULL JOIN t ON s.a = t.a",
        "SELECT a FROM s NATURAL JOIN t",
        "SELECT a FROM s UNION SELECT a FROM t",
        "SELECT a FROM s UNION DISTINCT SELECT a FROM t",
        "SELECT a FROM s WHERE a IN (SELECT a FROM t)",
        "SELECT a FROM s WHERE a NOT IN (SELECT a FROM t)",
        "SELECT a FROM s WHERE EXISTS (SELECT a FROM t)",
    ],
)
def test_sql_without_a_meaning_here_is_refused_by_name_and_with_a_hint(text: str) -> None:
    """Q-7: OUTER JOIN, ORDER BY, LIMIT: refused with a hint."""
    assert error(text).code == "NOT_SUPPORTED"
    assert error(text).hint


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\u3000", "\x0b", "\x85", "\u2028", "\ufeff", "\u200b"])
def test_an_unusual_space_is_a_space_or_the_place_of_the_error(space: str) -> None:
    """Texts are pasted from documents; "the text ends too early" would send people to the wrong end."""
    assert place_of_error(f"SELECT a{space}FROM s WHERE a > 1") in (None, len("SELECT a"))


def place_of_error(text: str) -> int | None:
    try:
        parse(text)
    except QueryError as found:
        return found.span.start if found.span else -1
    return None


def test_the_place_is_the_line_and_the_column_of_the_word() -> None:
    place = error("SELECT a\r\nFROM s\r\nWHERE a >> 1").report().place
    assert place is not None
    assert (place.line, place.column, place.text, place.underline) == (3, 10, "WHERE a >> 1", "         ^")


def test_a_text_that_ends_too_early_is_marked_at_its_end() -> None:
    place = error("SELECT a\nFROM s [ROWS 5  ").report().place
    assert place is not None
    assert (place.line, place.column, place.underline.index("^")) == (2, 15, 14)


def test_a_long_line_is_cut_around_the_place() -> None:
    text = f"SELECT {'a, ' * 200}5b {', c' * 200} FROM s"
    drawn = error(text).report()
    assert drawn.place is not None
    assert len(drawn.place.text) == 160
    assert drawn.place.text[drawn.place.underline.index("^") :].startswith("5b")
    assert drawn.place.column == text.index("5b") + 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT a FROM s [RANGE 5]", "UNIT_REQUIRED"),
        ("SELECT a FROM s [5]", "UNIT_REQUIRED"),
        ("SELECT a FROM s [RANGE 5 s SLIDE 3]", "UNIT_REQUIRED"),
        ("SELECT a FROM s [ROWS 0]", "BAD_WINDOW"),
        ("SELECT a FROM s [ROWS 5 SLIDE 0]", "BAD_WINDOW"),
        ("SELECT a FROM s [ROWS 1000000001]", "BAD_WINDOW"),
        ("SELECT a FROM s [RANGE 0 s SLIDE 1 s]", "BAD_WINDOW"),
        ("SELECT a FROM s [RANGE 1 s SLIDE 0 s]", "BAD_WINDOW"),
        ("SELECT a FROM s [RANGE 1.0000001 s]", "BAD_WINDOW"),
        ("SELECT a FROM s [RANGE 1.00000000000000000000000000000001 s]", "BAD_WINDOW"),
        ("SELECT a FROM s [RANGE 36501 days]", "BAD_WINDOW"),
        ("SELECT COUNT(*) FROM s GROUP BY a EVERY 1 m UPDATE 0 s", "BAD_WINDOW"),
        ("CREATE STREAM s (a int)", "ADMINISTRATOR_ONLY"),
        ("CREATE SOURCE s (a int) FROM 'x' LEVELS U TO U SHED SHED", "SYNTAX_ERROR"),
        ("CREATE SOURCE s (a int) FROM 'x' LEVELS U TO U DELAY 1 s SKEW 1 s DELAY 2 s", "SYNTAX_ERROR"),
        ("ATTACH TAG 'x' TO s WITH TAG_MODE = COMBINE AND TAG_MODE = OVERWRITE", "SYNTAX_ERROR"),
        ("ATTACH TAG 'x' TO s WITH TAG_SIGN = 'x'", "BAD_LITERAL"),
        ("PERMIT f ON s.a.b AT x", "SYNTAX_ERROR"),
        ("PERMIT f ON s AT x", "SYNTAX_ERROR"),
        ("SELECT a.b.* FROM s", "SYNTAX_ERROR"),
        ("START", "SYNTAX_ERROR"),
        ("SHOW ME", "SYNTAX_ERROR"),
    ],
)
def test_what_the_grammar_knows_to_be_wrong_is_refused_at_once(text: str, code: str) -> None:
    assert error(text).code == code


def test_children_are_the_nodes_below_in_the_order_of_the_text() -> None:
    tree = parse("SELECT CASE WHEN a THEN b ELSE c END FROM s [ROWS 5 WHERE d] JOIN t ON e WHERE f")
    assert [type(node).__name__ for node in children(tree)] == ["Item", "Source", "Source", "Name"]


# ------------------------------------------------------------------------------ errors and places as data


def test_an_error_has_four_parts_and_is_drawn_from_them() -> None:
    found = QueryError("BAD_LITERAL", "not a date", Span(7, 10), "write it so", "SELECT 'x' FROM s")
    assert found.report().to_json() == {
        "code": "BAD_LITERAL",
        "problem": "not a date",
        "place": {"line": 1, "column": 8, "text": "SELECT 'x' FROM s", "underline": "       ^^^"},
        "hint": "write it so",
    }
    assert (
        str(found) == "BAD_LITERAL: not a date\n  line 1: SELECT 'x' FROM s\n                 ^^^\n  hint: write it so"
    )
    assert Problem("CYCLE", "p").draw() == "CYCLE: p"


def test_an_error_keeps_the_first_text_that_it_is_told() -> None:
    found = QueryError("CYCLE", "p", NOWHERE)
    assert found.within("a").within("b").text == "a"
    assert str(QueryError("CYCLE", "p")) == "CYCLE: p"


def test_a_code_that_is_not_in_the_list_cannot_be_raised() -> None:
    with pytest.raises(AssertionError):
        QueryError("NEW_CODE", "p")


def test_every_error_on_purpose_has_one_base() -> None:
    assert issubclass(Refusal, QueryError)
    assert issubclass(QueryError, TidegateError)
    assert issubclass(CaseError, TidegateError)


def test_hints_use_the_names_given_and_only_those() -> None:
    assert did_you_mean("VITAL", ["Vitals", "Position"]) == 'did you mean "Vitals"?'
    assert did_you_mean("zzz", ["Vitals"]) == did_you_mean("zzz", []) == ""
    assert listed("abcdefghij") == '"a", "b", "c", "d", "e", "f", "g", "h" and 2 more'


def test_spans_join_and_places_stay_in_the_text() -> None:
    assert Span(3, 5).to(Span(1, 4)) == Span(1, 5)
    assert locate("abc", Span(9, 12)).underline == "   ^"
    assert locate("", NOWHERE).draw() == "line 1: \n        ^"
    assert locate("a\nb", Span(0, 3)).underline == "^"


def test_a_tab_before_the_place_does_not_shift_the_mark() -> None:
    """Carets stand below the words that are meant, also where the line is indented by tabs."""
    drawn = locate("\tWHERE bmp > 1", Span(7, 10)).draw().split("\n")
    assert drawn[0].expandtabs().index("bmp") == drawn[1].expandtabs().index("^^^")
