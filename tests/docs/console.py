"""Console sessions of the pages: commands behind ``$``, what they print below.

Commands run inside this process, at the root of the project. A line ``…`` stands for any number of lines, ``…`` within
a line for any text.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from click.testing import CliRunner

from tests.docs.pages import ROOT, Block
from tidegate.cli.main import cli

ELISION = "…"
PROMPT = "$ "


@dataclass(frozen=True, slots=True)
class Command:
    """One command and the lines printed below it."""

    text: str
    expected: tuple[str, ...]


def commands(block: Block) -> list[Command]:
    """The commands of a session, in order."""
    found: list[Command] = []
    for line in block.text.rstrip("\n").split("\n"):
        if line.startswith(PROMPT):
            found.append(Command(line.removeprefix(PROMPT), ()))
        else:
            assert found, f"{block}: a session begins with a command"
            found[-1] = Command(found[-1].text, (*found[-1].expected, line))
    return found


@dataclass(slots=True)
class Shell:
    """Runs the few commands that pages use, and remembers the last exit status."""

    status: int = 0

    def run(self, text: str) -> list[str]:
        """What a command prints, both streams together."""
        match shlex.split(text):
            case ["tidegate", *arguments]:
                return self._tidegate(arguments)
            case ["make", "demo"]:
                return self._tidegate(["demo"])
            case ["echo", "$?"]:
                return [str(self.status)]
            case ["cat", file]:
                return lines_of((ROOT / file).read_text(encoding="utf-8"))
            case _:
                raise AssertionError(f"pages may not use this command: {text}")

    def _tidegate(self, arguments: list[str]) -> list[str]:
        result = CliRunner().invoke(cli, arguments, prog_name="tidegate")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        self.status = result.exit_code
        return lines_of(result.output)


def lines_of(output: str) -> list[str]:
    """Lines without spaces at their ends, and without empty ones at both ends of the whole."""
    return "\n".join(line.rstrip() for line in output.split("\n")).strip("\n").split("\n")


def fits(expected: tuple[str, ...], actual: list[str]) -> bool:
    """Whether an output is the expected one, elisions filled in.

    >>> fits(("a", "…", "d…f"), ["a", "b", "c", "d e f"]), fits(("a",), ["a", "b"])
    (True, False)
    """
    pattern = "".join(_pattern(line) for line in lines_of("\n".join(expected)))
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in actual)) is not None


def _pattern(line: str) -> str:
    if line.strip() == ELISION:
        return r"(?:[^\n]*\n)*?"
    return re.escape(line).replace(ELISION, r"[^\n]*?") + r"\n"
