"""Every statement of the five papers parses, comes back from its own print, and does what it should (M-12, T-3)."""

from __future__ import annotations

import pytest

from tests.laws.language.papers import Listed, outcome, paper_statements
from tidegate.language.parser import parse
from tidegate.language.print_statements import print_statement

EVERY = pytest.mark.parametrize("listed", paper_statements(), ids=lambda listed: f"{listed.source} at {listed.level}")


@EVERY
def test_it_comes_back(listed: Listed) -> None:
    tree = parse(listed.text)
    printed = print_statement(tree)
    assert parse(printed) == tree
    assert print_statement(parse(printed)) == printed


@EVERY
def test_it_does_what_it_should(listed: Listed) -> None:
    assert outcome(listed.text, listed.level) == listed.outcome


@EVERY
def test_its_print_does_the_same(listed: Listed) -> None:
    assert outcome(print_statement(parse(listed.text)), listed.level) == listed.outcome


@pytest.mark.parametrize("wanted", [*(f"M-12{letter}" for letter in "abcdefghij"), "M-14", "P-10", "S-9", "T-3", "F-1"])
def test_the_list_has(wanted: str) -> None:
    assert any(listed.source.split(",")[0].split(" ")[0] == wanted for listed in paper_statements())


def test_the_list_has_every_query_of_table_1() -> None:
    found = [listed.source for listed in paper_statements()]
    assert all(f"M-14 Q{number}" in found for number in range(1, 9))
