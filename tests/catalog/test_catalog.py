"""Names belong to (level, name), and what is above the asker reads like what does not exist (Q-12, Q-14)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tidegate.catalog import FUNCTION, QUERY, RELATION, STREAM, TABLES, Catalog, Entry, RegisteredQuery, Table
from tidegate.errors import QueryError
from tidegate.security.declare import declare
from tidegate.security.lattice import Level

CHAIN = declare("U < C < S < TS")
DIAMOND = declare("lo < a, lo < b, a < hi, b < hi")


def stream(level: str, name: str, serial: int = 0) -> Table:
    """A stream without columns."""
    return Table(STREAM, Level(level), name, serial)


def catalog(*entries: Entry, lattice: object = CHAIN) -> Catalog:
    """A catalog of these entries."""
    found = Catalog(lattice)  # type: ignore[arg-type]
    for entry in entries:
        found = found.add(entry)
    return found


def code(problem: pytest.ExceptionInfo[QueryError]) -> tuple[str, str, str]:
    """An error as the asker reads it."""
    return problem.value.code, problem.value.problem, problem.value.hint


def test_look_up_goes_to_the_own_level_first_and_then_below() -> None:
    """Q-14."""
    both = catalog(stream("U", "x", 1), stream("C", "x", 2))
    assert both.find(TABLES, "x", Level("C")).serial == 2
    assert both.find(TABLES, "x", Level("U")).serial == 1


def test_two_dominated_matches_are_ambiguous_until_one_is_named() -> None:
    """Q-14: ``x@C`` where two match."""
    both = catalog(stream("U", "x", 1), stream("C", "x", 2))
    with pytest.raises(QueryError) as problem:
        both.find(TABLES, "x", Level("S"))
    assert code(problem) == ("AMBIGUOUS_NAME", '"x" exists at more than one level', "write x@U or x@C")
    assert both.find(TABLES, "x", Level("S"), at="C").serial == 2


def test_incomparable_levels_do_not_see_each_other() -> None:
    """M-1: nothing assumes a chain."""
    both = catalog(stream("a", "x", 1), stream("b", "x", 2), lattice=DIAMOND)
    assert both.find(TABLES, "x", Level("a")).serial == 1
    assert both.find(TABLES, "x", Level("b")).serial == 2
    assert [entry.serial for entry in both.visible(TABLES, Level("hi"))] == [1, 2]
    assert not list(both.visible(TABLES, Level("lo")))


@pytest.mark.parametrize("at", [None, "S"])
def test_not_there_and_not_yours_read_the_same(at: str | None) -> None:
    """Q-12: also when the level is named, and the hint uses visible names only."""
    hidden, empty = catalog(stream("U", "vitals"), stream("S", "vital")), catalog(stream("U", "vitals"))
    texts = []
    for world in (hidden, empty):
        with pytest.raises(QueryError) as problem:
            world.find(TABLES, "vital", Level("C"), at)
        texts.append(code(problem))
    assert texts[0] == texts[1]
    asked = "vital" if at is None else f"vital@{at}"
    assert texts[0] == ("UNKNOWN_STREAM", f'stream or relation "{asked}" does not exist', 'did you mean "vitals"?')


def test_a_level_that_is_none_is_an_error_of_its_own() -> None:
    """Q-6: level names are public configuration."""
    with pytest.raises(QueryError) as problem:
        catalog(stream("U", "x")).find(TABLES, "x", Level("U"), at="X")
    assert code(problem) == ("UNKNOWN_LEVEL", '"X" is not a level', 'levels: "U", "C", "S", "TS"')


@pytest.mark.parametrize(("kind", "expected"), [(QUERY, "UNKNOWN_QUERY"), (FUNCTION, "UNKNOWN_FUNCTION")])
def test_each_kind_has_its_own_error(kind: str, expected: str) -> None:
    with pytest.raises(QueryError) as problem:
        catalog(Entry(kind, Level("S"), "x")).find((kind,), "x", Level("U"))
    assert code(problem) == (expected, f'{kind} "x" does not exist', "")


def test_names_are_case_insensitive() -> None:
    """Q-7."""
    assert catalog(stream("U", "Vitals", 3)).find(TABLES, "VITALS", Level("C")).serial == 3
    with pytest.raises(QueryError) as problem:
        catalog(stream("U", "Vitals"), stream("U", "vitals"))
    assert problem.value.code == "NAME_EXISTS"


def test_creating_never_depends_on_another_level() -> None:
    """Q-14: the same name at every level, whatever is above or below."""
    full = catalog(*(stream(level, "x") for level in CHAIN.levels()))
    assert len(full.entries) == CHAIN.size


def test_a_relation_and_a_stream_of_one_level_share_their_names_but_queries_do_not() -> None:
    world = catalog(stream("U", "x"), RegisteredQuery(QUERY, Level("U"), "x"))
    with pytest.raises(QueryError) as problem:
        world.add(Table(RELATION, Level("U"), "X"))
    assert code(problem)[:2] == ("NAME_EXISTS", 'relation "X" exists at level U')


def test_a_catalog_is_a_value() -> None:
    """Q-13: a set of statements can be tried and dropped."""
    before = catalog(stream("U", "x", 1))
    after = before.add(stream("C", "y")).remove(stream("U", "x")).replace(stream("C", "y", 9))
    assert [entry.name for entry in before.visible(TABLES, Level("TS"))] == ["x"]
    assert [(entry.name, entry.serial) for entry in after.visible(TABLES, Level("TS"))] == [("y", 9)]


def test_the_own_entry_is_of_exactly_one_level() -> None:
    """M-4: what may be changed is what stands at the own level."""
    world = catalog(stream("U", "x"))
    assert world.own(TABLES, "X", Level("U")) == stream("U", "x")
    assert world.own(TABLES, "x", Level("C")) is None
    assert world.own((QUERY,), "x", Level("U")) is None


def test_replacing_keeps_the_order_of_creation() -> None:
    world = catalog(stream("U", "x"), stream("U", "y"))
    changed = world.replace(replace(stream("U", "X"), running=False))
    assert [entry.name for entry in changed.visible((STREAM,), Level("U"))] == ["X", "y"]
