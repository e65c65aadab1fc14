"""The pages for people as data: their fenced blocks, tables and links.

Everything here takes text and gives facts; the claims stand in the test files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"<!-- file: (\S+) -->\s*$")
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its path, and its text as it is now."""

    path: Path

    @property
    def name(self) -> str:
        """The path for people."""
        return str(self.path.relative_to(ROOT))

    @property
    def text(self) -> str:
        """The whole page."""
        return self.path.read_text(encoding="utf-8")

    @property
    def prose(self) -> str:
        """The page without its fenced blocks."""
        return FENCE.sub("", self.text)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its page, the words behind the fence, its text, and the file that it must equal, if any."""

    page: Page
    line: int
    info: str
    text: str
    file: str | None = None

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


@cache
def pages() -> tuple[Page, ...]:
    """Every page for people: at the root, in docs and in examples."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")]
    return tuple(Page(path) for path in sorted(found))


def page(name: str) -> Page:
    """One page by its path."""
    return Page(ROOT / name)


def blocks(kind: str, where: Page | None = None) -> list[Block]:
    """The blocks whose fence begins with a word, of one page or of all."""
    every = (block for each in ([where] if where else pages()) for block in _blocks(each))
    return [block for block in every if block.info.split(" ")[0] == kind]


def _blocks(where: Page) -> Iterator[Block]:
    text = where.text
    for match in FENCE.finditer(text):
        before = text[: match.start()]
        named = FILE.search(before)
        yield Block(where, before.count("\n") + 1, match["info"].strip(), match["text"], named[1] if named else None)


def links(where: Page) -> list[str]:
    """What a page links to."""
    return LINK.findall(where.prose)


def anchors(where: Page) -> set[str]:
    """What a link may name behind ``#``: the headings, as GitHub spells them.

    >>> "three-places-of-a-condition" in anchors(page("docs/language.md"))
    True
    """
    headings = re.findall(r"^#+ (.+)$", where.prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def table(where: Page, first_heading: str) -> list[list[str]]:
    """The cells of every table of a page whose first column has this heading.

    >>> table(page("docs/levels.md"), "preset")[0][0]
    '`blp4`'
    """
    rows: list[list[str]] = []
    inside = False
    for line in where.prose.split("\n"):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")] if line.startswith("|") else []
        if not cells:
            inside = False
        elif cells[0] == first_heading:
            inside = True
        elif inside and not set(line) <= set("|- :"):
            rows.append(cells)
    return rows


def code(cell: str) -> list[str]:
    """What stands between backticks in a cell.

    >>> code("`a`, or `b c`")
    ['a', 'b c']
    """
    return re.findall(r"`([^`]+)`", cell)
