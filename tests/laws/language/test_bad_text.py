"""Whatever the text: one statement or one error, with a code, a problem and a place in the text (Q-12)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random
from traceback import extract_tb

import pytest

from tests.conftest import examples
from tests.language import world
from tests.language.golden import golden_errors
from tests.laws.language import papers
from tests.laws.language.mutations import Mutations
from tests.laws.language.random_trees import random_statement
from tidegate.catalog import Catalog
from tidegate.errors import CODES, QueryError
from tidegate.language.execute import execute
from tidegate.language.parser import parse
from tidegate.language.print_statements import print_statement
from tidegate.language.statements import Statement
from tidegate.security.subject import Subject
from tidegate.text import Place

MUTATED = examples(20_000, 100_000)


@dataclass(frozen=True)
class World:
    """What can be asked about, who asks, and texts to start from."""

    catalog: Catalog
    askers: tuple[Subject, ...]
    texts: tuple[str, ...]


PAPERS = World(
    papers.catalog(),
    (Subject(None, papers.LATTICE.bottom), Subject("ann", papers.LATTICE.level("TS"), administrator=True)),
    tuple(listed.text for listed in papers.paper_statements()),
)
GOLDEN = World(
    world.world(),
    (Subject(None, world.FLOOR), Subject("ann", world.ROOF)),
    tuple(golden.text for golden in golden_errors()),
)


def check(text: str, around: World = PAPERS) -> str:
    """What became of a text: ``runs`` or the code of its error; anything but a proper error raises."""
    try:
        statement = parse(text)
    except QueryError as error:
        check_error(error, text)
        return error.code
    check_print(statement)
    outcomes = [check_execution(text, around.catalog, subject) for subject in around.askers]
    return outcomes[-1]


def check_print(statement: Statement) -> None:
    printed = print_statement(statement)
    try:
        again = parse(printed)
    except QueryError:
        again = None
    assert again == statement, f"printed as {printed}"


def check_execution(text: str, catalog: Catalog, subject: Subject) -> str:
    try:
        execute(parse(text), catalog, subject, 1)
    except QueryError as error:
        check_error(error.within(text), text)
        return error.code
    return "runs"


def check_error(error: QueryError, text: str) -> None:
    report = error.report()
    assert report.code in CODES
    assert report.problem.strip()
    assert str(error).startswith(f"{report.code}: ")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        assert report.place is None  # half a character cannot be shown
        return
    assert report.place is not None, "the error has no place"
    check_place(report.place, text)


def check_place(place: Place, text: str) -> None:
    lines = text.split("\n")
    assert 1 <= place.line <= len(lines)
    line = lines[place.line - 1]
    assert 1 <= place.column <= len(line) + 1
    assert place.text in line
    assert set(place.underline) <= {" ", "\t", "^"}
    assert place.underline.endswith("^")
    assert len(place.underline) <= len(place.text) + 1


def corpus(around: World, seed: int) -> list[str]:
    """Ten times as often a text that was right (or nearly) as one that only looks like it."""
    generated = [print_statement(random_statement(seed, number, depth=2)) for number in range(300)]
    return [*around.texts * (3_000 // len(around.texts)), *generated]


@pytest.mark.parametrize("around", [PAPERS, GOLDEN], ids=["of the papers", "that was wrong already"])
def test_a_spoilt_text_gives_one_proper_error_or_means_something_else(around: World, seed: int) -> None:
    mutations = Mutations(Random(seed), corpus(around, seed))
    outcomes: Counter[str] = Counter()
    wrong: dict[str, str] = {}
    for _ in range(MUTATED // 2):
        text = mutations.text()
        try:
            outcomes[check(text, around)] += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what this test looks for
            kind = f"{type(error).__name__} in {extract_tb(error.__traceback__)[-1].name}"
            wrong[kind] = min(wrong.get(kind, text), text, key=len)
    assert not wrong, "\n".join(f"seed {seed}: {kind}\n    {text!r}" for kind, text in wrong.items())
    assert len(outcomes) > 25, outcomes  # the texts are not all wrong in the same way
    assert outcomes["SYNTAX_ERROR"] < 0.7 * outcomes.total(), outcomes
