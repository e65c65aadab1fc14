"""What the pages show is what the commands print; with --accept the pages are rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.console import ELISION, LIVE, PROMPT, Command, Shell, commands, fits
from tests.docs.pages import ROOT, Block, blocks, pages


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def sessions() -> list[Block]:
    """Every session of the pages but those of the live demo, which tests/cli/test_demo.py looks at in its one run."""
    return [block for block in blocks("console") if LIVE not in block.info]


@pytest.mark.parametrize("block", sessions(), ids=str)
def test_a_session_prints_what_the_page_shows(block: Block, pytestconfig: pytest.Config) -> None:
    shell = Shell()
    ran = [(command, shell.run(command.text)) for command in commands(block)]
    if pytestconfig.getoption("--accept"):
        accept(block, ran)
        return
    for command, actual in ran:
        assert fits(command.expected, actual), "\n".join([f"{block}: {command.text}", *actual])


def accept(block: Block, ran: list[tuple[Command, list[str]]]) -> None:
    """Rewrite the session; commands whose output is shortened by hand stay as they are."""
    lines: list[str] = []
    for command, actual in ran:
        by_hand = any(ELISION in line for line in command.expected)
        lines += [PROMPT + command.text, *(command.expected if by_hand else actual)]
    path = block.page.path
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(block.text, "\n".join(lines) + "\n"), encoding="utf-8")


@pytest.mark.parametrize("block", [block for block in blocks("json") if block.file], ids=str)
def test_a_file_that_a_page_prints_is_that_file(block: Block) -> None:
    assert block.text == (ROOT / str(block.file)).read_text(encoding="utf-8")


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.json")), ids=lambda path: path.name)
def test_every_example_is_run_by_a_page(example: Path) -> None:
    name = f"examples/{example.name}"
    assert any(name in command.text for block in blocks("console") for command in commands(block)), name


def test_a_line_that_is_missing_or_too_many_is_noticed() -> None:
    assert fits(("a", ELISION), ["a"])
    assert not fits(("a", "b"), ["a"])
    assert not fits(("a", ELISION, "d"), ["a", "d", "e"])


def test_there_are_pages_with_sessions() -> None:
    """An empty collection would pass every test above."""
    assert len(pages()) > 10
    assert len(blocks("console")) > 10
