"""Random words of the language: names, strings, numbers, levels, times.

Names are drawn from four pots: what a catalog might hold, every word that the grammar knows, characters that are
hard to quote, and letters that are the same as another one when case is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import TypeVar

from tidegate.language.build import LONGEST_DURATION, MOST_ROWS
from tidegate.plan.windows import DAY, HOUR, MICROSECOND, MILLISECOND, MINUTE, SECOND

T = TypeVar("T")

KNOWN = (
    "sid wt bp pr lat lon level LEVEL time Vitals Position vitals V P a b x t value q1 AVG avg COUNT SUM MIN MAX LUB "
    "UPPER COALESCE ABS FREQUENT tag_sign TAG OBJECT quick Units unit Fast half"
).split()
AWKWARD = (
    "a b", "a.b", "`", "``", "a`b", "'", '"', "*", "AVG(bp)", "1", "1a", "9:00AM", "--", "/*", ";", "@", "[", ")", " ",
    "\n", "é", "名前", "a\u00a0b", "_", "_1", "١", "-", "+", "ROWS 5", "\u2028", "naïve", "straße", "ΣΑΣ",
)  # fmt: skip
# Letters that match i, s or k where case is ignored, though upper() and lower() do not always bring them back.
TWINS = {"i": "ıİ", "s": "ſ", "k": "\u212a"}
LEVELS = ("U", "C", "S", "TS", "H", "L", "S:NATO,CRYPTO", "", "from", "top secret", "it's", "Ω", "to")
NUMBERS = ("0", "1", "7", "42", "007", "2147483648", "1.5", "1.", ".5", "1e3", "2.5E-7", "1.e+2", "9" * 30, "0.0")
STRINGS = (
    "",
    "S",
    "TS",
    "4E",
    "it's",
    'say "x"',
    "''",
    "%a_",
    "2024-01-31",
    "line\nbreak",
    "\\",
    "𝔘",
    "--",
    "*/",
    "\0",
)
TYPES = "int bigint double boolean string timestamp date binary level money".split()
UNITS = (MICROSECOND, MILLISECOND, SECOND, MINUTE, HOUR, DAY)


@cache
def grammar_words() -> tuple[str, ...]:
    """Every word that stands in the grammar, keyword or not.

    >>> {"SELECT", "TAGGED", "RESTAMP", "MICROSECONDS", "START"} <= set(grammar_words())
    True
    """
    text = files("tidegate.language").joinpath("cql.lark").read_text(encoding="utf-8")
    quoted = [*re.findall(r'"([A-Z_]+)"i', text), *re.findall(r"[A-Z][A-Z_]+(?=[|)\\])", text)]
    units = re.findall(r"[a-z]+(?=[?|)])", text.partition("DURATION: ")[2].split("\n")[0])
    return tuple(sorted({*quoted, *(word.upper() for word in units), "MICROSECONDS", "START", "STOP"}))


@dataclass(frozen=True, slots=True)
class RandomWords:
    """Draws words; every draw comes from ``random``, so that a seed brings a tree back."""

    random: Random

    def one(self, options: Sequence[T]) -> T:
        """Any one of them."""
        return options[int(self.random.random() * len(options))]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random.random() < probability

    def name(self) -> str:
        """A name that a text can spell, in backticks if need be."""
        draw = self.random.random()
        if draw < 0.70:
            return self.one(KNOWN)
        if draw < 0.88:
            word = self.one(grammar_words())
            return word if self.chance(0.5) else word.lower()
        return self.one(AWKWARD) if draw < 0.97 else self.twin()

    def twin(self) -> str:
        """A word of the grammar with one letter exchanged for one that is the same but for its case."""
        word = self.one([word for word in grammar_words() if set(word) & set("ISK")])
        places = [n for n, letter in enumerate(word) if letter in "ISK"]
        at = self.one(places)
        return word[:at] + self.one(TWINS[word[at].lower()]) + word[at + 1 :]

    def level(self) -> str:
        """What stands behind ``@``."""
        return self.one(LEVELS)

    def string(self) -> str:
        """The value of a string."""
        return self.one(STRINGS)

    def number(self) -> str:
        """A number as written."""
        return self.one(NUMBERS)

    def duration(self, least: int = 0) -> int:
        """A time in microseconds that the language can write."""
        drawn = self.one(UNITS) * self.random.choice((0, 1, 1, 2, 15, 90, 1_001))
        return min(max(drawn, least), LONGEST_DURATION)

    def count(self) -> int:
        """Rows of a window."""
        return self.one((1, 2, 10, 100, MOST_ROWS))

    def type_name(self) -> str:
        """A type, known or not, as the parser keeps it: in small letters."""
        if self.chance(0.2):
            return f"decimal({self.random.randrange(40)},{self.random.randrange(40)})"
        return self.one(TYPES)
