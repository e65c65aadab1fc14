"""Help: short lines are whole sentences, and every operator of a lattice is named."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tidegate.cli.level import FORMS, QUESTIONS
from tidegate.cli.main import cli


def text_of(*arguments: str) -> str:
    """What a command says of itself, its line breaks taken out."""
    return " ".join(CliRunner().invoke(cli, [*arguments, "--help"]).output.split())


@pytest.mark.parametrize("group", [[], ["function"]], ids=["tidegate", "function"])
def test_no_short_text_is_cut(group: list[str]) -> None:
    listed = text_of(*group).partition("Commands: ")[2]
    assert listed.endswith(".")
    assert "..." not in listed


@pytest.mark.parametrize("operator", QUESTIONS)
def test_every_operator_is_in_the_help_and_in_the_complaint(operator: str) -> None:
    assert f"a {operator} b" in text_of("level")
    assert f"a {operator} b" in FORMS
