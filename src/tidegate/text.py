"""Places in a query text, and how to show them.

A span is a half-open range of characters. It is kept on syntax and plan nodes but never
compared: two queries are equal when they say the same, wherever they say it.

Reads: nothing.  Read by: errors, language, plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start`` to ``end`` (exclusive) of a query text."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The smallest span that covers both."""
        return Span(min(self.start, other.start), max(self.end, other.end))


NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Place:
    """A span as a person sees it: the first line it touches, underlined."""

    line: int
    column: int
    text: str
    underline: str

    def draw(self) -> str:
        """Two lines of text, the second with carets below the words that are meant."""
        head = f"line {self.line}: "
        return f"{head}{self.text}\n{' ' * len(head)}{self.underline}"


LONGEST_LINE_SHOWN = 160


def locate(text: str, span: Span) -> Place:
    """Find the line, the column (both counted from 1) and the underline of a span.

    >>> print(locate("SELECT a\\nWHERE bmp > 1", Span(15, 18)).draw())
    line 2: WHERE bmp > 1
                  ^^^
    """
    start = min(span.start, len(text))
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line = text[line_start : len(text) if line_end < 0 else line_end].rstrip("\r")
    column = start - line_start
    width = max(1, min(span.end - start, len(line) - column))
    shown, offset = _shorten(line, column)
    width = max(1, min(width, len(shown) - (column - offset)))
    return Place(text.count("\n", 0, start) + 1, column + 1, shown, _blank(shown[: column - offset]) + "^" * width)


def _blank(text: str) -> str:
    """As wide as the text: tabs stay tabs."""
    return "".join("\t" if character == "\t" else " " for character in text)


def _shorten(line: str, column: int) -> tuple[str, int]:
    """Cut a long line around the column, so that an error stays readable."""
    if len(line) <= LONGEST_LINE_SHOWN:
        return line, 0
    first = max(0, min(column - LONGEST_LINE_SHOWN // 2, len(line) - LONGEST_LINE_SHOWN))
    return line[first : first + LONGEST_LINE_SHOWN], first


def did_you_mean(name: str, visible: Iterable[str]) -> str:
    """A hint drawn only from the names given: pass what the asker may see and nothing else.

    >>> did_you_mean("bmp", ["bpm", "sid"])
    'did you mean "bpm"?'
    """
    names = {candidate.casefold(): candidate for candidate in sorted(visible)}
    close = get_close_matches(name.casefold(), names, n=1, cutoff=0.6)
    return f'did you mean "{names[close[0]]}"?' if close else ""


def is_unicode(text: str) -> bool:
    """Whether a text has no half characters, which JSON can write but nothing can encode."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def one_line(message: str) -> str:
    r"""A message on one line that every terminal can show: what is not printable is escaped.

    >>> one_line("a\nb")
    'a\\nb'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names as a readable list, the first few of many.

    >>> listed(["a", "b"])
    '"a", "b"'
    """
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(f'"{name}"' for name in every[:most]) + more
