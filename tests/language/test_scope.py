"""What a name means at one place of a query (Q-7, Q-14)."""

from __future__ import annotations

import pytest

from tests.language.world import EAST, FLOOR, ROOF, WEST, ask, code_of, plan_of, schema
from tidegate.errors import QueryError
from tidegate.language import syntax as sx
from tidegate.language.scope import Part, Scope
from tidegate.plan.nodes import Join, Project, RelationScan, Scan, walk
from tidegate.plan.schema import with_hidden
from tidegate.security.lattice import Level

VITALS = Part("V", with_hidden(schema("sid int, bp double"), instants=True), 0)
POSITION = Part("P", with_hidden(schema("sid int, Lat string"), instants=True), 4)
NAMELESS = Part(None, with_hidden(schema("x int"), instants=False), 8)
MANY = '"sid", "bp", "level", "time", "sid", "Lat", "level", "time" and 2 more'
BOTH = Scope((VITALS, POSITION, NAMELESS))


@pytest.mark.parametrize(
    ("written", "index", "shown"),
    [
        (("bp",), 1, "V.bp"),
        (("BP",), 1, "V.bp"),
        (("v", "SID"), 0, "V.sid"),
        (("P", "sid"), 4, "P.sid"),
        (("lat",), 5, "P.Lat"),
        (("P", "level"), 6, "P.level"),
        (("V", "time"), 3, "V.time"),
        (("x",), 8, "x"),
    ],
)
def test_a_name_means_one_column_whatever_its_case(written: tuple[str, ...], index: int, shown: str) -> None:
    column = BOTH.resolve(sx.Name(written))
    assert (column.index, column.name) == (index, shown)


def test_in_a_scope_of_one_the_column_is_shown_without_its_stream() -> None:
    assert Scope((VITALS,)).resolve(sx.Name(("V", "bp"))).name == "bp"


@pytest.mark.parametrize(
    ("written", "code", "hint"),
    [
        (("sid",), "AMBIGUOUS_COLUMN", "write V.sid or P.sid"),
        (("bpp",), "UNKNOWN_COLUMN", 'did you mean "bp"?'),
        (("W", "bp"), "UNKNOWN_COLUMN", 'FROM has "V", "P"'),
        (("V", "zzz"), "UNKNOWN_COLUMN", 'columns: "sid", "bp", "level", "time"'),
        (("V", "bp", "value"), "UNKNOWN_COLUMN", f"columns: {MANY}"),
        (("zzz",), "UNKNOWN_COLUMN", f"columns: {MANY}"),
    ],
)  # fmt: skip
def test_a_name_that_means_nothing_or_two_things_is_an_error_with_a_hint(
    written: tuple[str, ...], code: str, hint: str
) -> None:
    with pytest.raises(QueryError) as caught:
        BOTH.resolve(sx.Name(written))
    assert (caught.value.code, caught.value.hint) == (code, hint)


def test_an_ambiguous_column_of_nameless_sub_queries_has_no_hint_to_give() -> None:
    with pytest.raises(QueryError) as caught:
        Scope((NAMELESS, NAMELESS)).resolve(sx.Name(("x",)))
    assert (caught.value.code, caught.value.hint) == ("AMBIGUOUS_COLUMN", "")


def test_a_qualifier_that_is_not_in_from_where_nothing_has_a_name() -> None:
    with pytest.raises(QueryError) as caught:
        Scope((NAMELESS,)).resolve(sx.Name(("V", "x")))
    assert (caught.value.code, caught.value.hint) == ("UNKNOWN_COLUMN", "")


def test_a_star_takes_what_is_declared() -> None:
    assert [field.name for _, _, field in BOTH.star(None, sx.Star())] == ["sid", "bp", "sid", "Lat", "x"]
    assert [field.name for _, _, field in BOTH.star("p", sx.Star("p"))] == ["sid", "Lat"]


def test_a_star_of_nothing_asks_for_what_is_near() -> None:
    with pytest.raises(QueryError) as caught:
        Scope((Part("Vitals", VITALS.schema, 0),)).star("Vital", sx.Star("Vital"))
    assert (caught.value.code, caught.value.hint) == ("UNKNOWN_STREAM", 'did you mean "Vitals"?')


# ------------------------------------------------------------------------------ levels of names


def scanned(text: str, level: Level = ROOF) -> list[tuple[str, str]]:
    plan = plan_of(text, level)
    return [(node.name, node.level) for node in walk(plan.root) if isinstance(node, Scan | RelationScan)]


def test_look_up_goes_own_level_first_then_dominated_ones() -> None:
    """Q-14."""
    assert scanned("SELECT image FROM Mirror", FLOOR) == [("Mirror", "floor")]
    assert scanned("SELECT image FROM mirror", EAST) == [("Mirror", "east")]
    assert scanned("SELECT image FROM Mirror", WEST) == [("Mirror", "west")]
    assert scanned("SELECT image FROM Mirror@floor", EAST) == [("Mirror", "floor")]
    assert scanned("SELECT image FROM Mirror@'west'") == [("Mirror", "west")]
    assert code_of("SELECT image FROM Mirror") == "AMBIGUOUS_NAME"


def test_a_level_without_such_a_name_is_said_with_the_level() -> None:
    """The hint may not send the asker back to what was written."""
    answer = ask("SELECT image FROM Mirror@roof", ROOF)
    assert answer.startswith("UNKNOWN_STREAM")
    assert 'did you mean "Mirror"?' not in answer


def test_one_stream_can_be_read_twice_under_two_names() -> None:
    """Q-7: a stream with itself."""
    plan = plan_of("SELECT a.sid, b.bp FROM Vitals [ROWS 5] a, Vitals [NOW] b WHERE a.sid = b.sid")
    assert scanned("SELECT a.sid, b.bp FROM Vitals [ROWS 5] a, Vitals [NOW] b") == [("Vitals", "floor")] * 2
    assert isinstance(plan.root, Project)
    assert isinstance(plan.root.input, Join)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT sid FROM Vitals [ROWS 5], Units WHERE level = 'floor'", "LEVEL_AMBIGUOUS"),
        ("SELECT V.sid FROM Vitals [ROWS 5] V JOIN Units U ON level = 'floor'", "LEVEL_AMBIGUOUS"),
        ("SELECT V.sid WHERE level = 'floor' FROM Vitals [ROWS 5] V, Units U", "LEVEL_AMBIGUOUS"),
        ("SELECT V.sid, level FROM Vitals [ROWS 5] V, Units U WHERE V.level = U.level", "NAME_REQUIRED"),
        ("SELECT level FROM Vitals WHERE level = 'floor'", "NAME_REQUIRED"),
        ("SELECT MAX(bp) FROM Vitals [ROWS 5] HAVING level = 'floor'", "NAME_REQUIRED"),
        ("SELECT level, COUNT(*) FROM Vitals [ROWS 5] GROUP BY level", "NAME_REQUIRED"),
        ("SELECT level, COUNT(*) FROM Vitals [ROWS 5] V, Units GROUP BY level", "NAME_REQUIRED"),
    ],
)
def test_whose_level_it_is_depends_on_the_place(text: str, code: str) -> None:
    """Q-6: in SELECT and HAVING the result row's, in WHERE of a join an error, ``V.level`` the tuple's."""
    assert code_of(text) == code
