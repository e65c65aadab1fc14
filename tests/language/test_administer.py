"""Statements that are checked now and run later: sources, sinks, relations, tags, permissions (Q-14, T-3, S-1, F-1)."""

from __future__ import annotations

import pytest

from tests.language.world import FLOOR, ROOF, ask, code_of
from tidegate.security.lattice import Level

LATER, ADMINISTRATOR = "NOT_AVAILABLE_YET", "ADMINISTRATOR_ONLY"
SOURCE = "CREATE SOURCE Taps (litres double) FROM 'x:' LEVELS floor TO roof"
SINK = "CREATE SINK Wall FROM {} TO 'x:' LEVELS floor TO roof"


def as_administrator(text: str, level: Level = FLOOR) -> str:
    return ask(text, level, administrator=True).split(":")[0]


@pytest.mark.parametrize(
    "text",
    [
        SOURCE,
        SINK.format("Vitals"),
        SINK.format("pulse"),
        SINK.format("Mirror@floor"),
        "CREATE RELATION Allies (name string) LEVELS floor TO roof",
    ],
)
def test_external_things_are_the_administrators(text: str) -> None:
    """Q-14: each with a label range, bound by the administrator."""
    assert code_of(text, FLOOR) == ADMINISTRATOR
    assert as_administrator(text) == LATER


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (SOURCE.replace("roof", "cellar"), "UNKNOWN_LEVEL"),
        (SOURCE.replace("floor TO roof", "roof TO floor"), "UNKNOWN_LEVEL"),
        (SOURCE.replace("floor TO roof", "east TO west"), "UNKNOWN_LEVEL"),
        (SOURCE.replace("floor TO roof", "east TO east"), LATER),
        (SOURCE.replace("litres", "Level"), "LEVEL_NOT_ASSIGNABLE"),
        (SOURCE.replace("double", "money"), "UNKNOWN_TYPE"),
        (SOURCE.replace("double", "double, LITRES int"), "DUPLICATE_COLUMN"),
        (SINK.format("Nothing"), "UNKNOWN_STREAM"),
        (SINK.format("Submarine"), "UNKNOWN_STREAM"),
        ("CREATE RELATION r (a level) LEVELS floor TO roof", "UNKNOWN_TYPE"),
    ],
)
def test_what_is_wrong_with_it_is_said_first(text: str, code: str) -> None:
    assert as_administrator(text) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("PERMIT f ON Vitals.bp AT A", LATER),
        ("WITHDRAW * ON Vitals.* AT A", LATER),
        ("PERMIT f ON Vitals.level AT A", LATER),
        ("PERMIT f ON Vitals.bmp AT A", "UNKNOWN_COLUMN"),
        ("PERMIT f ON Nothing.bp AT A", "UNKNOWN_STREAM"),
        ("PERMIT f ON Submarine.depth AT A", "UNKNOWN_STREAM"),
    ],
)
def test_a_permission_names_a_field_that_exists(text: str, code: str) -> None:
    """S-1."""
    assert code_of(text, FLOOR) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ATTACH TAG 'x' TO Vitals", LATER),
        ("ATTACH TAG 'x' TO Vitals.bp", LATER),
        ("ATTACH TAG 'x' TO Vitals.bp.value", LATER),
        ("ATTACH TAG 'x' TO Vitals.bp.VALUE WITH TAG_SIGN = -", LATER),
        ("ATTACH TAG 'x' TO Vitals.bp.other", "UNKNOWN_COLUMN"),
        ("ATTACH TAG 'x' TO Vitals.bp.value.value", "UNKNOWN_COLUMN"),
        ("ATTACH TAG 'x' TO Vitals.bmp", "UNKNOWN_COLUMN"),
        ("ATTACH TAG 'x' TO Nothing", "UNKNOWN_STREAM"),
        ("ATTACH TAG 'x' TO Vitals WHERE bp > 80 AND TAG = 'y'", LATER),
        ("ATTACH TAG 'x' TO Vitals WHERE bp", "TYPE_MISMATCH"),
        ("ATTACH TAG 'x' TO Vitals WHERE bmp > 80", "UNKNOWN_COLUMN"),
        ("ATTACH TAG 'x' CONTINUOUSLY TO Vitals.sid.value WHERE (SELECT sid FROM Vitals WHERE bp > 80)", LATER),
        ("ATTACH TAG 'x' CONTINUOUSLY TO Vitals.sid.value WHERE (SELECT bmp FROM Vitals)", "UNKNOWN_COLUMN"),
        ("ATTACH TAG 'x' TO Vitals WHERE OBJECT = Vitals.bp", LATER),
        ("SELECT TAGS FROM Vitals", LATER),
        ("SELECT TAGS FROM Vitals WHERE TAG_SIGN = -", LATER),
        ("SELECT TAGS FROM Vitals WHERE TAG_SIGN = '-' AND TAGGER = 'ann' AND bp > 3", LATER),
        ("SELECT TAGS FROM Vitals WHERE OBJECT = Vitals.bp AND TAG = 'x'", LATER),
        ("SELECT TAGS FROM Vitals WHERE OBJECT = Vitals.bmp", "UNKNOWN_COLUMN"),
        ("SELECT TAGS FROM Vitals WHERE OBJECT = Nothing", "UNKNOWN_STREAM"),
        ("SELECT TAGS FROM Nothing", "UNKNOWN_STREAM"),
        ("SELECT TAGGED OBJECTS FROM Vitals [1 min] V WHERE TAG = 'Emergency' WITH TAGS", LATER),
        ("SELECT TAGGED OBJECTS FROM Vitals WHERE TAG = 5", "TYPE_MISMATCH"),
        ("CREATE QUERY t AS SELECT sid FROM Vitals WITH TAGS", LATER),
        ("SELECT bmp FROM Vitals WITH TAGS", "UNKNOWN_COLUMN"),
    ],
)
def test_tags_are_checked_as_far_as_their_meaning_goes(text: str, code: str) -> None:
    """T-3: what passes today runs unchanged when tags run."""
    assert code_of(text, FLOOR) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT FREQUENT(sid, 10) FROM Vitals [ROWS 1000 SLIDE 50]", LATER),
        ("SELECT frequent(sid, 10) FROM Vitals [RANGE 1 HOUR SLIDE 1 MINUTE] WHERE bp > 3", LATER),
        ("SELECT FREQUENT(note, 10) WHERE bp > 3 FROM Vitals [ROWS 1000 SLIDE 50] ABOVE 0.01", LATER),
        ("SELECT FREQUENT(note, 10) ABOVE .5 FROM Vitals [ROWS 1000 SLIDE 50]", LATER),
        ("SELECT FREQUENT(note, 10) ABOVE 1.5 FROM Vitals [ROWS 1000 SLIDE 50]", "BAD_LITERAL"),
        ("SELECT FREQUENT(note, 10) ABOVE 0 FROM Vitals [ROWS 1000 SLIDE 50]", "BAD_LITERAL"),
        ("SELECT FREQUENT(bmp, 10) FROM Vitals [ROWS 1000 SLIDE 50]", "UNKNOWN_COLUMN"),
        ("SELECT FREQUENT(sid, 10) FROM Vitals [ROWS 1000 SLIDE 50] WHERE bp", "TYPE_MISMATCH"),
        ("SELECT FREQUENT(sid) FROM Vitals [ROWS 1000 SLIDE 50]", "WRONG_ARGUMENTS"),
        ("SELECT FREQUENT(sid, 0) FROM Vitals [ROWS 1000 SLIDE 50]", "WRONG_ARGUMENTS"),
        ("SELECT FREQUENT(sid, bp) FROM Vitals [ROWS 1000 SLIDE 50]", "WRONG_ARGUMENTS"),
        ("SELECT FREQUENT(sid, 10), bp FROM Vitals [ROWS 1000 SLIDE 50]", "WRONG_ARGUMENTS"),
        ("SELECT FREQUENT(V.sid, 10) FROM Vitals [ROWS 1000 SLIDE 50] V, Units", "WRONG_ARGUMENTS"),
        ("SELECT FREQUENT(sid, 10) FROM Vitals [ROWS 1000]", "WINDOW_REQUIRED"),
        ("SELECT FREQUENT(sid, 10) FROM Vitals", "WINDOW_REQUIRED"),
        ("SELECT FREQUENT(sid, 10) FROM Vitals [PARTITIONED BY sid ROWS 10 SLIDE 5]", "WINDOW_REQUIRED"),
        ("SELECT FREQUENT(sid, 10) FROM Vitals [ROWS 1000 SLIDE 33]", "BAD_WINDOW"),
        ("SELECT sid FROM Vitals [ROWS 1000 SLIDE 50] ABOVE 0.1", "SYNTAX_ERROR"),
        ("SELECT 1 + FREQUENT(sid, 10) FROM Vitals [ROWS 1000 SLIDE 50]", "AGGREGATE_NOT_ALLOWED"),
    ],
)
def test_frequent_items_are_checked_as_far_as_their_meaning_goes(text: str, code: str) -> None:
    """F-1, F-7, F-8: one attribute, one sliding window of a whole number of slides, a share as the threshold."""
    assert code_of(text, FLOOR) == code


@pytest.mark.parametrize("text", ["BEGIN", "COMMIT", "ABORT"])
def test_sets_of_statements_belong_to_sessions(text: str) -> None:
    assert code_of(text, ROOF) == "NO_TRANSACTION"
