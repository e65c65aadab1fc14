"""Sessions: who says what at which level, and sets of statements that count as one (Q-13, M-3)."""

from __future__ import annotations

import pytest

from tests.language.world import EAST, FLOOR, ROOF, WEST, world
from tidegate.catalog import FUNCTION, QUERY, STREAM
from tidegate.language.session import Sessions, Spoken
from tidegate.security.lattice import Level

SELECT = "SELECT sid FROM Vitals"


def sessions() -> Sessions:
    return Sessions(world())


def codes(spoken: list[Spoken]) -> list[str | None]:
    return [entry.problem.code if entry.problem else None for entry in spoken]


def said(to: Sessions, *texts: str, level: Level = FLOOR, user: str | None = None) -> list[str | None]:
    """The codes of everything that came of some statements; None for what took place."""
    return [code for text in texts for code in codes(to.say(text, level, user))]


# ------------------------------------------------------------------------------ one statement


def test_a_statement_changes_the_catalog_and_says_what_began() -> None:
    open_ = sessions()
    (spoken,) = open_.say(f"CREATE QUERY q AS {SELECT}", FLOOR)
    assert spoken.begun is not None
    assert (spoken.begun.kind, spoken.begun.name, spoken.begun.level, spoken.name) == (QUERY, "q", FLOOR, "q")
    assert open_.catalog.own((QUERY,), "Q", FLOOR) == spoken.begun


def test_a_listed_query_has_its_name_beside_its_text() -> None:
    open_ = sessions()
    (spoken,) = open_.say(SELECT, FLOOR, name="my query")
    assert spoken.begun is not None
    assert spoken.begun.name == spoken.name == "my query"


def test_a_refused_statement_changes_nothing() -> None:
    open_ = sessions()
    (spoken,) = open_.say("CREATE QUERY q AS SELECT bmp FROM Vitals", FLOOR)
    assert spoken.problem is not None
    assert (spoken.problem.code, spoken.problem.place and spoken.problem.place.column) == ("UNKNOWN_COLUMN", 26)
    assert open_.catalog == world()


def test_statements_have_numbers_that_grow() -> None:
    """Q-13: statements have a place in their level's order."""
    open_ = sessions()
    numbers = [open_.say(text, FLOOR)[0].serial for text in (f"CREATE QUERY a AS {SELECT}", "nonsense", "SHOW LEVELS")]
    assert numbers == sorted(set(numbers))


def test_what_is_shown_is_said_and_changes_nothing() -> None:
    open_ = sessions()
    (spoken,) = open_.say("SHOW LEVELS", FLOOR)
    assert spoken.shown == ("floor", "east", "west", "roof")
    assert open_.catalog == world()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("CREATE QUERY q AS nonsense", "q"),
        ("create  stream `my ``stream` AS nonsense", "my `stream"),
        ("DROP FUNCTION f f", "f"),
        ("START q q", "q"),
        ("SELECT nonsense", None),
        ("CREATE", None),
    ],
)
def test_a_text_that_does_not_parse_still_tells_what_it_is_about(text: str, name: str | None) -> None:
    (spoken,) = sessions().say(text, FLOOR)
    assert (spoken.name, codes([spoken])) == (name, ["SYNTAX_ERROR"])


# ------------------------------------------------------------------------------ who


def test_a_user_logs_in_at_any_level_that_the_clearance_dominates() -> None:
    """M-3."""
    open_ = Sessions(world(), {"ann": EAST})
    assert codes(open_.say("SHOW LEVELS", EAST, "ann")) == [None]
    assert codes(open_.say("SHOW LEVELS", FLOOR, "ann")) == [None]
    for level in (WEST, ROOF):
        assert codes(open_.say("SHOW LEVELS", level, "ann")) == ["LOGIN_REFUSED"]


def test_an_unknown_user_is_refused_like_one_whose_clearance_is_too_low() -> None:
    """Q-12: not there and not yours read the same."""
    open_ = Sessions(world(), {"ann": EAST})
    known, unknown = open_.say("SHOW LEVELS", ROOF, "ann"), open_.say("SHOW LEVELS", ROOF, "bob")
    assert known[0].problem == unknown[0].problem


def test_where_nobody_logs_in_everybody_is_who_they_say() -> None:
    assert codes(sessions().say("SHOW LEVELS", ROOF, "anybody")) == [None]
    assert codes(Sessions(world(), {"ann": EAST}).say("SHOW LEVELS", ROOF)) == [None]


# ------------------------------------------------------------------------------ sets


def test_a_set_takes_place_at_commit() -> None:
    """Q-13: all or none, at the place of COMMIT."""
    open_ = sessions()
    assert said(open_, "BEGIN", f"CREATE QUERY a AS {SELECT}", f"CREATE QUERY b AS {SELECT}") == []
    assert open_.catalog == world()
    spoken = open_.say("COMMIT", FLOOR)
    assert [entry.begun and entry.begun.name for entry in spoken] == ["a", "b"]
    assert open_.catalog.own((QUERY,), "b", FLOOR) is not None


def test_a_statement_of_a_set_sees_those_before_it() -> None:
    open_ = sessions()
    assert said(open_, "BEGIN", f"CREATE STREAM s AS {SELECT}", "CREATE QUERY q AS SELECT sid FROM s", "COMMIT") == [
        None, None,
    ]  # fmt: skip


def test_one_refusal_refuses_the_set() -> None:
    open_ = sessions()
    said(
        open_, "BEGIN", f"CREATE QUERY a AS {SELECT}", "CREATE QUERY b AS SELECT bmp FROM Vitals", "CREATE QUERY c AS ("
    )
    assert said(open_, "COMMIT") == ["SET_REFUSED", "UNKNOWN_COLUMN", "SYNTAX_ERROR"]
    assert open_.catalog == world()
    assert said(open_, "COMMIT") == ["NO_TRANSACTION"]


def test_an_aborted_set_leaves_nothing() -> None:
    open_ = sessions()
    assert said(open_, "BEGIN", f"CREATE QUERY a AS {SELECT}", "ABORT") == []
    assert open_.catalog == world()
    assert said(open_, "ABORT") == ["NO_TRANSACTION"]


def test_begin_inside_begin_is_refused_and_the_set_stays_open() -> None:
    open_ = sessions()
    assert said(open_, "BEGIN", "BEGIN") == ["IN_TRANSACTION"]
    assert said(open_, f"CREATE QUERY a AS {SELECT}", "COMMIT") == [None]


def test_looking_does_not_wait() -> None:
    open_ = sessions()
    assert said(open_, "BEGIN", f"CREATE QUERY a AS {SELECT}") == []
    (shown,) = open_.say("SHOW QUERIES", FLOOR)
    assert shown.shown == ("pulse@floor", "resting@floor")
    assert codes(open_.say("EXPLAIN pulse", FLOOR)) == [None]


def test_sets_of_two_sessions_do_not_meet() -> None:
    """A session is a user at a level."""
    open_ = sessions()
    said(open_, "BEGIN", f"CREATE QUERY a AS {SELECT}", user="ann")
    said(open_, "BEGIN", f"CREATE QUERY b AS {SELECT}", user="bob")
    said(open_, "BEGIN", f"CREATE QUERY c AS {SELECT}", level=EAST, user="ann")
    assert said(open_, "ABORT", user="bob") == []
    assert said(open_, f"CREATE QUERY d AS {SELECT}") == [None]
    assert said(open_, "COMMIT", user="ann") == [None]
    assert [entry.name for entry in open_.catalog.visible((QUERY,), FLOOR)] == ["pulse", "resting", "d", "a"]
    assert said(open_, "COMMIT", level=EAST, user="ann") == [None]


def test_a_refused_login_does_not_end_up_in_a_set() -> None:
    open_ = Sessions(world(), {"ann": EAST})
    assert said(open_, "BEGIN", level=ROOF) == []
    assert said(open_, f"CREATE QUERY a AS {SELECT}", level=ROOF, user="ann") == ["LOGIN_REFUSED"]
    assert said(open_, "COMMIT", level=ROOF) == []


def test_a_set_may_drop_and_create_the_same_name() -> None:
    open_ = sessions()
    assert said(open_, "BEGIN", "DROP QUERY pulse", f"CREATE QUERY pulse AS {SELECT}", "COMMIT") == [None, None]
    assert said(open_, "BEGIN", f"CREATE QUERY pulse AS {SELECT}", "DROP QUERY pulse", "COMMIT") == [
        "NAME_EXISTS", "SET_REFUSED",
    ]  # fmt: skip


def test_the_text_of_everything_that_began_is_kept() -> None:
    open_ = sessions()
    text = f"CREATE QUERY q AS {SELECT} -- as written"
    (spoken,) = open_.say(text, FLOOR)
    assert spoken.begun is not None
    assert open_.texts == {(QUERY, FLOOR, "q", spoken.begun.serial): text}


def test_names_belong_to_a_level() -> None:
    """Q-14: CREATE and DROP never depend on higher levels, nor on lower ones."""
    open_ = sessions()
    for level in (FLOOR, EAST, WEST, ROOF):
        assert said(open_, f"CREATE STREAM Same AS {SELECT}", level=level) == [None]
        assert said(open_, "CREATE FUNCTION same(a int) RETURNS int AS 'return a'", level=level) == [None]
        assert said(open_, f"CREATE QUERY same AS {SELECT}", level=level) == [None]
    assert said(open_, f"CREATE STREAM SAME AS {SELECT}", level=EAST) == ["NAME_EXISTS"]
    assert said(open_, "DROP STREAM Same", level=EAST) == [None]
    assert open_.catalog.own((STREAM,), "Same", FLOOR) is not None
    assert open_.catalog.own((FUNCTION,), "SAME", EAST) is not None
