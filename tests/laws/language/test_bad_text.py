"""Whatever the text: one statement or one error, with a code, a problem and a place in the text (Q-12)."""

from __future__ import annotations

from random import Random
from traceback import extract_tb

import pytest

from tests.conftest import examples
from tests.laws.language.mutations import Mutations
from tests.laws.language.papers import LATTICE, catalog, paper_statements
from tests.laws.language.random_trees import random_statement
from tidegate.errors import CODES, QueryError
from tidegate.language.execute import execute
from tidegate.language.parser import parse
from tidegate.language.print_statements import print_statement
from tidegate.language.statements import Statement
from tidegate.security.subject import Subject
from tidegate.text import Place

MUTATED = examples(20_000, 100_000)
ASKERS = [Subject(None, LATTICE.bottom), Subject("ann", LATTICE.level("TS"), administrator=True)]


def check(text: str) -> str:
    """What became of a text: ``runs`` or the code of its error; anything but a proper error raises."""
    try:
        statement = parse(text)
    except QueryError as error:
        check_error(error, text)
        return error.code
    check_print(statement)
    outcomes = [check_execution(text, subject) for subject in ASKERS]
    return outcomes[-1]


def check_print(statement: Statement) -> None:
    printed = print_statement(statement)
    try:
        again = parse(printed)
    except QueryError:
        again = None
    assert again == statement, f"printed as {printed}"


def check_execution(text: str, subject: Subject) -> str:
    try:
        execute(parse(text), catalog(), subject, 1)
    except QueryError as error:
        check_error(error.within(text), text)
        return error.code
    return "runs"


def check_error(error: QueryError, text: str) -> None:
    report = error.report()
    assert report.code in CODES
    assert report.problem.strip()
    assert str(error).startswith(f"{report.code}: ")
    assert report.place is not None, "the error has no place"
    check_place(report.place, text)


def check_place(place: Place, text: str) -> None:
    lines = text.split("\n")
    assert 1 <= place.line <= len(lines)
    line = lines[place.line - 1]
    assert 1 <= place.column <= len(line) + 1
    assert place.text in line
    assert set(place.underline) <= {" ", "^"}
    assert place.underline.endswith("^")
    assert len(place.underline) <= len(place.text) + 1


def corpus(seed: int) -> list[str]:
    generated = [print_statement(random_statement(seed, number, depth=2)) for number in range(300)]
    return [*(listed.text for listed in paper_statements() for _ in range(10)), *generated]


def test_a_spoilt_text_gives_one_proper_error_or_means_something_else(seed: int) -> None:
    mutations = Mutations(Random(seed), corpus(seed))
    outcomes: dict[str, int] = {}
    wrong: dict[str, str] = {}
    for _ in range(MUTATED):
        text = mutations.text()
        try:
            code = check(text)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what this test looks for
            kind = f"{type(error).__name__} in {extract_tb(error.__traceback__)[-1].name}"
            wrong[kind] = min(wrong.get(kind, text), text, key=len)
            continue
        outcomes[code] = outcomes.get(code, 0) + 1
    assert not wrong, "\n".join(f"seed {seed}: {kind}\n    {text!r}" for kind, text in wrong.items())
    assert len(outcomes) > 25, outcomes  # the texts are not all wrong in the same way
    assert outcomes["SYNTAX_ERROR"] < 0.8 * MUTATED, outcomes
