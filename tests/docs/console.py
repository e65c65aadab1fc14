"""Console sessions of the pages: commands behind ``$``, what they print below.

Commands run inside this process, at the root of the project; those that start Spark in one of their own. A line ``…``
stands for any number of lines, ``…`` within a line for any text. In a session marked ``live`` a number stands for any
number, and spaces for any spaces: what it prints depends on the moment.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from click.testing import CliRunner

from tests.cli.apart import run_apart
from tests.docs.pages import ROOT, Block
from tidegate.cli.main import cli

ELISION = "…"
PROMPT = "$ "
LIVE = "live"


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
            case ["tidegate", *arguments] if starts_spark(text):
                return self._apart(arguments)
            case ["tidegate", *arguments]:
                return self._tidegate(arguments)
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

    def _apart(self, arguments: list[str]) -> list[str]:
        done = run_apart(*arguments)
        self.status = done.returncode
        return lines_of(done.stdout + done.stderr)


def starts_spark(text: str) -> bool:
    """Whether a command starts Spark.

    >>> starts_spark("tidegate replay --engine spark a.json"), starts_spark("tidegate replay a.json")
    (True, False)
    """
    return "--engine spark" in text


def lines_of(output: str) -> list[str]:
    """Lines without spaces at their ends, and without empty ones at both ends of the whole."""
    return "\n".join(line.rstrip() for line in output.split("\n")).strip("\n").split("\n")


def fits(expected: tuple[str, ...], actual: list[str], live: bool = False) -> bool:
    """Whether an output is the expected one, elisions filled in.

    >>> fits(("a", "…", "d…f"), ["a", "b", "c", "d e f"]), fits(("a",), ["a", "b"])
    (True, False)
    >>> fits(("at 9 s  1,000.5",), ["at 10 s     7.5"], live=True), fits(("at 9 s",), ["at no s"], live=True)
    (True, False)
    """
    pattern = "".join(_pattern(line, live) for line in lines_of("\n".join(expected)))
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in actual)) is not None


def _pattern(line: str, live: bool) -> str:
    if line.strip() == ELISION:
        return r"(?:[^\n]*\n)*?"
    return ("".join(map(_loosely, re.split(r"(\d[\d,.]*| +)", line))) if live else _exactly(line)) + r"\n"


def _loosely(text: str) -> str:
    if text[:1].isdigit():
        return r"(?:NULL|\d[\d,.]*)"
    return " +" if text.startswith(" ") else _exactly(text)


def _exactly(text: str) -> str:
    return re.escape(text).replace(ELISION, r"[^\n]*?")
