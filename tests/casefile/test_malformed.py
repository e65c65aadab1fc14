"""A malformed case gives one clear message and exit status 2, whatever is wrong with it (CASES.md, Q-12)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.casefile.malformed import MALFORMED, VALID, with_
from tidegate.case import build_case, read_case
from tidegate.cli.main import cli
from tidegate.errors import CaseError
from tidegate.reference.replay import replay


@pytest.mark.parametrize("name", MALFORMED)
def test_reading_it_raises_one_clear_message(name: str) -> None:
    text, words = MALFORMED[name]
    with pytest.raises(CaseError) as caught:
        read_case(text)
    message = str(caught.value)
    assert words in message
    assert message.strip()
    assert len(message.splitlines()) == 1, "one message is one line"


@pytest.mark.parametrize("name", MALFORMED)
def test_the_command_says_so_on_standard_error_and_exits_2(name: str, tmp_path: Path) -> None:
    text, words = MALFORMED[name]
    path = tmp_path / "broken.json"
    path.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(cli, ["replay", str(path)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
    assert result.stderr.startswith(f"tidegate: {path}: ")
    assert len(result.stderr.splitlines()) == 1, "one message is one line"


def test_the_table_is_about_a_case_that_is_valid() -> None:
    """Else each of its rows could be refused for another reason than the one it names."""
    assert list(replay(read_case(with_())))


@pytest.mark.parametrize("part", [part for part in VALID if part != "levels"])
def test_every_part_but_the_levels_may_be_left_out(part: str) -> None:
    """Streams only with all that reads them: input names a stream, and an undeclared one is malformed."""
    gone = (part, "input") if part == "streams" else (part,)
    list(replay(read_case(json.dumps({name: value for name, value in VALID.items() if name not in gone}))))


def test_the_smallest_case_is_its_levels() -> None:
    assert list(replay(read_case('{"levels": "U"}'))) == []


@pytest.mark.parametrize("content", [b"\xff\xfe{}", b"\x80", b"\xc3\x28"])
def test_a_file_that_is_not_text_is_one_message(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "binary.json"
    path.write_bytes(content)
    result = CliRunner().invoke(cli, ["replay", str(path)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"tidegate: {path}: not UTF-8 text\n"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "marked.json"
    path.write_text(with_(), encoding="utf-8-sig")
    assert CliRunner().invoke(cli, ["replay", str(path)]).exit_code == 0


@pytest.mark.parametrize("command", [["replay"], ["explain"], ["function", "check"]], ids=" ".join)
@pytest.mark.parametrize("broken", ["nowhere.json", "."])
def test_a_file_that_cannot_be_read_is_one_message(command: list[str], broken: str, tmp_path: Path) -> None:
    path = tmp_path / broken
    result = CliRunner().invoke(cli, [*command, str(path)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"tidegate: {path}: ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("read", [lambda: build_case({"levels": {1: "U"}}), lambda: build_case(None)])
def test_a_value_that_is_no_case_is_refused_like_a_text(read: Callable[[], object]) -> None:
    with pytest.raises(CaseError):
        read()


def test_an_epoch_is_a_number_that_something_can_count() -> None:
    """1e30000 would be an integer of 30,000 digits, and 1e999999 takes 20 seconds to become one."""
    with pytest.raises(CaseError, match="epoch"):
        read_case('{"levels": "U", "options": {"epoch": 1e30000}}')


def test_an_epoch_below_one_is_not_zero() -> None:
    """CASES.md: tuples or seconds per epoch; half a second is more than nothing."""
    assert read_case('{"levels": "U", "options": {"epoch": 0.5}}').epoch != 0
