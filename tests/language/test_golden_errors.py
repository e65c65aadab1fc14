"""Errors as people read them, and what they must not say (Q-12)."""

from __future__ import annotations

import re

import pytest

from tests.language.golden import Golden, accept, golden_errors
from tests.language.world import LATTICE, LEVELS, ask, invisible_names, seen_from, world
from tidegate.errors import CODES
from tidegate.security.lattice import Level

WHILE_RUNNING = {
    "DIVISION_BY_ZERO", "CAST_FAILED", "OVERFLOW", "INVALID_ARGUMENT", "SCALAR_MANY_ROWS", "FUNCTION_FAILED",
}  # fmt: skip
IN_SESSIONS = {"LOGIN_REFUSED", "IN_TRANSACTION", "SET_REFUSED"}  # see test_session.py
TOO_LONG_FOR_A_FILE = {"TEXT_TOO_LONG"}  # see test_parser.py
WORD = re.compile(r"\w+")

EVERY = pytest.mark.parametrize("golden", golden_errors(), ids=lambda golden: golden.id)
AT_EVERY_LEVEL = pytest.mark.parametrize("level", LEVELS)


def test_accepting_rewrites_the_file(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--accept"):
        accept()
        golden_errors.cache_clear()
    assert all(golden.expected for golden in golden_errors())


@EVERY
def test_the_error_reads(golden: Golden, pytestconfig: pytest.Config) -> None:
    if not pytestconfig.getoption("--accept"):
        assert golden.answer() == golden.expected


def test_every_code_that_a_text_can_raise_is_among_them() -> None:
    codes = {golden.expected.split(":")[0] for golden in golden_errors()}
    assert codes == set(CODES) - WHILE_RUNNING - IN_SESSIONS - TOO_LONG_FOR_A_FILE
    assert len(golden_errors()) >= 60


def said(answer: str, text: str) -> str:
    """Problem and hint without the asker's own words: the place only repeats them."""
    lines = [line for line in answer.split("\n") if not re.match(r"  line \d+: |   +\^", line)]
    own = {word.casefold() for word in WORD.findall(text)}
    return " ".join(word for word in WORD.findall("\n".join(lines).casefold()) if word not in own)


@EVERY
@AT_EVERY_LEVEL
def test_no_error_says_a_name_that_its_asker_may_not_see(golden: Golden, level: Level) -> None:
    """Q-12: hints and "does not exist" use only names visible to the asker."""
    answer = said(ask(golden.text, level), golden.text)
    assert not {name for name in invisible_names(level) if name.casefold() in answer}


@EVERY
@AT_EVERY_LEVEL
def test_what_is_not_yours_reads_like_what_is_not_there(golden: Golden, level: Level) -> None:
    """Q-12: the answer is to the byte the one of a world without anything that the asker may not see."""
    assert ask(golden.text, level) == ask(golden.text, level, seen_from(world(), level))


def test_many_of_the_texts_name_what_their_asker_may_not_see() -> None:
    """The two tests above would otherwise show nothing."""
    hidden = [
        golden
        for golden in golden_errors()
        if set(WORD.findall(golden.text.casefold())) & {name.casefold() for name in invisible_names(golden.level)}
    ]
    assert len(hidden) >= 15
    assert {LATTICE.level(golden.level) for golden in hidden} >= set(LEVELS) - {LATTICE.top, "west"}


def test_the_search_for_names_finds_one() -> None:
    """A hint that gave a hidden name away would be seen."""
    leaking = 'UNKNOWN_STREAM: stream "Submarin" does not exist\n  hint: did you mean "Submarine"?'
    assert "submarine" in said(leaking, "SELECT a FROM Submarin")
    assert "submarine" not in said(leaking, "SELECT a FROM Submarine, Submarin")
