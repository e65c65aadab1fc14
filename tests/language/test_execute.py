"""What each statement does, and what it shows to whom (Q-13, Q-14, M-4)."""

from __future__ import annotations

import pytest

from tests.language.world import EAST, FLOOR, LEVELS, ROOF, WEST, ask, code_of, invisible_names, seen_from, world
from tidegate.catalog import QUERY, STREAM, Catalog, Entry, RegisteredQuery, Table, UserDefined
from tidegate.language.execute import Outcome, execute
from tidegate.language.parser import parse
from tidegate.security.lattice import Level
from tidegate.security.subject import Subject


def do(text: str, level: Level = FLOOR, catalog: Catalog | None = None) -> Outcome:
    return execute(parse(text), catalog if catalog is not None else world(), Subject(None, level), 77)


def test_a_query_begins_with_its_plan_and_its_number() -> None:
    begun = do("CREATE QUERY q AS SELECT sid FROM Vitals WHERE bp > 3").begun
    assert isinstance(begun, RegisteredQuery)
    assert (begun.kind, begun.level, begun.name, begun.serial, begun.running) == (QUERY, FLOOR, "q", 77, True)
    assert begun.plan is not None
    assert begun.plan.text == "SELECT sid FROM Vitals WHERE bp > 3"


def test_a_derived_stream_has_the_columns_of_its_query_without_level() -> None:
    """M-5: every stream has a level of its own."""
    begun = do("CREATE STREAM s AS SELECT sid, level, bp * 2 AS twice FROM Vitals").begun
    assert isinstance(begun, Table)
    assert (begun.kind, [str(field) for field in begun.fields]) == (STREAM, ["sid int", "twice double"])


def test_a_stream_may_be_derived_from_a_lower_one_of_its_own_name() -> None:
    """Q-14: own level first, then dominated ones; only a name that is nowhere would be a cycle."""
    outcome = do("CREATE STREAM Quick AS SELECT sid FROM Quick", EAST)
    assert outcome.begun is not None
    assert code_of("CREATE STREAM Fresh AS SELECT sid FROM (SELECT sid FROM Fresh) [NOW]") == "CYCLE"
    assert code_of("CREATE STREAM Quick AS SELECT sid FROM Quick", FLOOR) == "NAME_EXISTS"


def test_a_function_begins_with_its_types_and_its_body() -> None:
    begun = do("CREATE FUNCTION f(a double, b Decimal(10, 2)) RETURNS STRING AS 'return a'").begun
    assert isinstance(begun, UserDefined)
    assert (begun.parameters, begun.returns, begun.body) == (
        (("a", "double"), ("b", "decimal(10,2)")), "string", "return a",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CREATE FUNCTION avg(a int) RETURNS int AS 'return a'", "NAME_EXISTS"),
        ("CREATE FUNCTION Half(a int) RETURNS int AS 'return a'", "NAME_EXISTS"),
        ("CREATE FUNCTION f(a money) RETURNS int AS 'return a'", "UNKNOWN_TYPE"),
        ("CREATE FUNCTION f(a int) RETURNS money AS 'return a'", "UNKNOWN_TYPE"),
        ("CREATE FUNCTION f(a int, A int) RETURNS int AS 'return a'", "DUPLICATE_COLUMN"),
        ("CREATE FUNCTION f(a int) RETURNS int AS ''", "SYNTAX_ERROR"),
        ("CREATE FUNCTION f(a int) RETURNS int AS 'a = 1'", "SYNTAX_ERROR"),
        ("CREATE FUNCTION f(`a b` int) RETURNS int AS 'return 1'", "SYNTAX_ERROR"),
        ("CREATE FUNCTION f() RETURNS int AS 'return 1'", "begun"),
    ],
)
def test_a_function_that_could_never_run_is_refused_when_it_is_created(text: str, code: str) -> None:
    """Q-15."""
    assert code_of(text, FLOOR) == code


def test_dropping_ends_what_is_ones_own() -> None:
    for text, name in (
        ("DROP QUERY PULSE", "pulse"),
        ("DROP STREAM quick", "Quick"),
        ("DROP FUNCTION half@floor", "half"),
    ):
        outcome = do(text)
        assert outcome.ended is not None
        assert outcome.ended.name == name
        assert outcome.ended not in outcome.catalog.entries.values()


def test_stopping_and_starting_end_and_begin() -> None:
    """Q-9: START begins anew."""
    stopped = do("STOP pulse")
    assert stopped.ended is not None
    started = do("START pulse", FLOOR, stopped.catalog)
    assert started.begun is not None
    assert (stopped.begun, started.ended) == (None, None)
    assert started.catalog == world()
    assert code_of("STOP resting", FLOOR) == "NOT_RUNNING"
    assert code_of("START pulse", FLOOR) == "ALREADY_RUNNING"


def test_a_derived_stream_can_be_stopped_too() -> None:
    stopped = do("STOP Quick")
    assert isinstance(stopped.ended, Table)
    assert not stopped.ended.running


@pytest.mark.parametrize(
    ("text", "level", "code"),
    [
        ("DROP QUERY pulse", EAST, "OTHER_LEVEL"),
        ("STOP pulse", ROOF, "OTHER_LEVEL"),
        ("START resting@floor", ROOF, "OTHER_LEVEL"),
        ("DROP STREAM Quick", ROOF, "OTHER_LEVEL"),
        ("DROP FUNCTION half", WEST, "OTHER_LEVEL"),
        ("DROP QUERY scout", FLOOR, "UNKNOWN_QUERY"),
        ("DROP QUERY scout", WEST, "UNKNOWN_QUERY"),
        ("DROP STREAM Mirror@east", WEST, "UNKNOWN_STREAM"),
        ("DROP STREAM Mirror", ROOF, "AMBIGUOUS_NAME"),
        ("DROP STREAM Mirror", EAST, "ADMINISTRATOR_ONLY"),
        ("DROP STREAM Units", FLOOR, "UNKNOWN_STREAM"),
        ("DROP RELATION Units", FLOOR, "ADMINISTRATOR_ONLY"),
        ("DROP SINK anything", FLOOR, "ADMINISTRATOR_ONLY"),
        ("DROP SOURCE Vitals", FLOOR, "ADMINISTRATOR_ONLY"),
        ("STOP Vitals", FLOOR, "ADMINISTRATOR_ONLY"),
        ("DROP QUERY pulse@cellar", FLOOR, "UNKNOWN_LEVEL"),
    ],
)
def test_objects_are_changed_at_their_own_level_only(text: str, level: Level, code: str) -> None:
    """M-4: no write down and no write up."""
    assert code_of(text, level) == code


# ------------------------------------------------------------------------------ looking


def shown(text: str, level: Level) -> list[str]:
    return ask(text, level).split("\n")[1:]


def test_a_listing_has_what_the_asker_may_see_with_its_level() -> None:
    assert shown("SHOW QUERIES", FLOOR) == ["pulse@floor", "resting@floor"]
    assert shown("SHOW QUERIES", EAST) == ["pulse@floor", "resting@floor", "scout@east"]
    assert shown("SHOW FUNCTIONS", ROOF) == ["half@floor", "armour@east", "sonar@west", "decrypt@roof"]
    assert shown("SHOW RELATIONS", WEST) == ["Units@floor", "Quays@west"]
    assert shown("SHOW STREAMS", FLOOR) == [
        "Vitals@floor",
        "Position@floor",
        "Bills@floor",
        "Mirror@floor",
        "Quick@floor",
    ]
    assert shown("SHOW LEVELS", FLOOR) == ["floor", "east", "west", "roof"]


@pytest.mark.parametrize("kind", ["SOURCES", "SINKS"])
def test_sources_and_sinks_are_the_administrators(kind: str) -> None:
    assert code_of(f"SHOW {kind}", ROOF) == "ADMINISTRATOR_ONLY"


LOOKING = (
    "SHOW STREAMS", "SHOW QUERIES", "SHOW FUNCTIONS", "SHOW RELATIONS", "SHOW LEVELS", "EXPLAIN pulse", "EXPLAIN Quick",
    "EXPLAIN SELECT half(bp) FROM Vitals", "EXPLAIN scout", "EXPLAIN Periscope", "EXPLAIN SELECT * FROM Mirror",
    "CREATE STREAM Submarine AS SELECT sid FROM Vitals", "CREATE QUERY warhead AS SELECT sid FROM Vitals",
    "CREATE FUNCTION decrypt(a int) RETURNS int AS 'return a'", "CREATE STREAM Convoy AS SELECT image FROM Mirror",
    "DROP QUERY beacon", "STOP scout", "START warhead", "ATTACH TAG 'x' TO Submarine", "PERMIT a ON Convoy.truck AT b",
    "CREATE SINK s FROM Wreck TO 'x' LEVELS floor TO roof", "EXPLAIN SHARING warhead",
    "EXPLAIN SHARING pulse", "EXPLAIN SHARING SELECT sid FROM Vitals", "EXPLAIN PREFILTER warhead",
    "EXPLAIN PREFILTER pulse", "EXPLAIN PREFILTER SELECT sid FROM Vitals", "EXPLAIN PREFILTER SELECT * FROM Mirror",
)  # fmt: skip


LISTING = (
    "SHOW", "EXPLAIN SELECT", "EXPLAIN p", "EXPLAIN SHARING SELECT", "EXPLAIN SHARING p", "EXPLAIN PREFILTER SELECT",
    "EXPLAIN PREFILTER p",
)  # fmt: skip


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("text", LOOKING)
def test_what_is_above_the_asker_changes_nothing_that_the_asker_sees(text: str, level: Level) -> None:
    """Q-12, Q-14: to the byte, whether the statement succeeds or not."""
    assert ask(text, level) == ask(text, level, seen_from(world(), level))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("text", [text for text in LOOKING if text.startswith(LISTING)])
def test_no_listing_and_no_plan_says_a_name_that_is_hidden(text: str, level: Level) -> None:
    answer = ask(text, level).casefold()
    assert not {name for name in invisible_names(level) if name.casefold() in answer}


def test_explaining_checks_the_query_first() -> None:
    assert code_of("EXPLAIN SELECT bmp FROM Vitals") == "UNKNOWN_COLUMN"
    assert code_of("EXPLAIN PREFILTER SELECT bmp FROM Vitals") == "UNKNOWN_COLUMN"
    assert code_of("EXPLAIN SHARING Vitals") == "UNKNOWN_QUERY"


def test_placement_is_understood_but_not_there_yet() -> None:
    assert code_of("EXPLAIN PLACEMENT pulse") == "NOT_AVAILABLE_YET"
    assert code_of("EXPLAIN PLACEMENT SELECT sid FROM Vitals") == "NOT_AVAILABLE_YET"


def test_a_query_without_a_name_is_checked_and_then_refused() -> None:
    assert code_of("SELECT sid FROM Vitals") == "NAME_REQUIRED"
    assert code_of("SELECT bmp FROM Vitals") == "UNKNOWN_COLUMN"


def test_a_query_and_a_stream_of_one_name_can_both_be_reached() -> None:
    """START and STOP take the query; a hint that offers one name twice would help nobody."""
    both = do("CREATE QUERY Quick AS SELECT sid FROM Vitals").catalog
    stopped = do("STOP Quick", FLOOR, both).ended
    assert stopped is not None
    assert stopped.kind == QUERY
    assert ask("EXPLAIN Quick", FLOOR, both) == ask("EXPLAIN SELECT sid FROM Vitals", FLOOR)
    assert ask("EXPLAIN Quick", ROOF, both) == ask("EXPLAIN SELECT sid FROM Vitals", FLOOR)


def test_a_statement_leaves_the_old_catalog_alone() -> None:
    """The catalog is a value: a statement gives a new one and leaves the old one alone."""
    before = dict(world().entries)
    outcome = do("CREATE QUERY q AS SELECT sid FROM Vitals")
    assert dict(world().entries) == before
    assert set(outcome.catalog.entries) - set(before) == {("query", "floor", "q")}
    assert isinstance(outcome.begun, Entry)
