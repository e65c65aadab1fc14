"""Printing a tree and parsing the text gives the tree: for every form that the language has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from tests.conftest import examples
from tests.laws.language.alternatives import required, seen
from tests.laws.language.random_trees import DEPTH, random_statement
from tidegate.errors import QueryError
from tidegate.language.parser import parse
from tidegate.language.print_statements import print_statement
from tidegate.language.statements import Statement

STATEMENTS = examples(5_000, 50_000)
GENERATED = 15_000  # so many that none of 900 alternatives is missed by chance, whatever the seed


def failure(tree: Statement) -> str | None:
    """What is wrong with a tree, or None if its text brings it back."""
    text = print_statement(tree)
    try:
        again = parse(text)
    except QueryError as error:
        return f"the printed text does not parse\n{error}"
    if again != tree:
        return f"the printed text means another tree\n{again}"
    return (
        None if print_statement(again) == text else f"the same tree is printed in another way\n{print_statement(again)}"
    )


def smaller(seed: int, limit: int) -> Iterator[tuple[str, Statement]]:
    """Trees of less depth that fail too, for a report that a person can read."""
    for depth in range(DEPTH):
        for number in range(limit):
            tree = random_statement(seed, number, depth)
            if failure(tree):
                yield print_statement(tree), tree


def test_a_printed_statement_parses_to_the_same_tree_and_prints_the_same_again(seed: int) -> None:
    """Q-7, M-12: one canonical text for each tree, for every kind of statement."""
    for number in range(STATEMENTS):
        tree = random_statement(seed, number)
        if problem := failure(tree):
            found = [(print_statement(tree), tree), *islice(smaller(seed, 3_000), 50)]
            text, least = min(found, key=lambda entry: len(entry[0]))
            pytest.fail(
                f"seed {seed}, statement {number}: {problem}\nsmallest found:\n{text}\n{least}\n{failure(least)}"
            )


def test_the_generator_makes_every_node_with_every_alternative_of_every_field(seed: int) -> None:
    found = {entry for number in range(GENERATED) for entry in seen(random_statement(seed, number))}
    missing = sorted(f"{node.__name__}.{name}: {kind}" for node, name, kind in required() - found)
    assert not missing, "\n".join(missing)
    assert len(found) > 400
