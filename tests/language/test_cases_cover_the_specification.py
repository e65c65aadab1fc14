"""Every line on the meaning of queries, and on the model and language of the first paper, has a text case."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.cases.text_case import load

CASES = Path(__file__).resolve().parents[1] / "cases"
MEANING = [f"Q-{number}" for number in range(1, 17)]
MODEL = [f"M-{number}" for number in range(1, 15)]
SHAPES = [f"M-12{letter}" for letter in "abcdefghij"]


@cache
def named() -> dict[str, list[str]]:
    """The lines that each case names."""
    return {str(path.relative_to(CASES)): load(path).ids for path in sorted(CASES.rglob("*.case"))}


@pytest.mark.parametrize("line", [*MEANING, *(line for line in MODEL if line != "M-12"), *SHAPES])
def test_a_case_shows(line: str) -> None:
    assert [case for case, ids in named().items() if line in ids]


def test_there_are_at_least_150_cases() -> None:
    assert len(named()) >= 150
