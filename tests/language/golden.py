"""The golden errors: texts with the level that asks and the error drawn, in one file that ``--accept`` rewrites.

=== level [administrator]
the text
---
the error
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.language.world import LATTICE, ask
from tidegate.security.lattice import Level

FILE = Path(__file__).with_name("golden_errors.txt")
HEAD = """Errors as people read them. Each entry is the asker's level, the text, and the error after the line of dashes.
The world they are asked in is world.py. Rewrite the errors with --accept, then review the difference."""


@dataclass(frozen=True, slots=True)
class Golden:
    """One entry: who asks what, and the error that the file expects."""

    level: Level
    administrator: bool
    text: str
    expected: str

    @property
    def id(self) -> str:
        """The beginning of the text, for the name of a test."""
        return f"{self.level} {' '.join(self.text.split())[:60]}"

    def answer(self) -> str:
        """The error of today."""
        return ask(self.text, self.level, administrator=self.administrator)

    def written(self, answer: str) -> str:
        """The entry as it stands in the file."""
        return f"=== {self.level}{' administrator' * self.administrator}\n{self.text}\n---\n{answer}\n"


@cache
def golden_errors() -> tuple[Golden, ...]:
    """All entries of the file, in order."""
    blocks = FILE.read_text(encoding="utf-8").split("\n=== ")[1:]
    return tuple(_entry(block.rstrip("\n")) for block in blocks)


def _entry(block: str) -> Golden:
    head, rest = block.split("\n", 1)
    level, *role = head.split(" ")
    text, _, expected = rest.partition("\n---\n") if "\n---\n" in rest else (rest.removesuffix("\n---"), "", "")
    return Golden(LATTICE.level(level), role == ["administrator"], text, expected)


def accept() -> None:
    """Rewrite the file with the errors of today."""
    entries = (entry.written(entry.answer()) for entry in golden_errors())
    FILE.write_text("\n".join([HEAD, "", *entries]), encoding="utf-8")
