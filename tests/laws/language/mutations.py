"""Texts that somebody mistyped, cut off, pasted together or chose on purpose."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.laws.language.random_words import AWKWARD, KNOWN, NUMBERS, TWINS, grammar_words

TOKEN = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\w+|\s+|.", re.DOTALL)
MARKS = tuple("'\"`()[]{};,.*@+-/%|<>=!#$&?\\^~:\n\t \r\0\x0b\x85\u00a0\u2028\u200b\u0301\ufeff\ud800٣²½éß名𝔘🜁")
WORDS = (
    *grammar_words(), *KNOWN, *AWKWARD, *NUMBERS, "||", "<=", "<>", "''", '""', "``", "--", "/*", "*/", "5 SECONDS",
    "1 min", "[ROWS 5]", "[NOW]", "[RANGE 1 DAY SLIDE 1 HOUR]", "(SELECT sid FROM Vitals)", "COUNT(*)", "'S'", "Units",
    "Quick", "watch", "Dist", "loc", "at", "born", "fee", "ok", "9" * 400, "1e400", "1e-400", "INTERVAL 1 DAY", "NULL",
    "CAST(fee AS int)", "DATE '2024-01-31'", "CASE WHEN ok THEN 1 END", "GROUP BY", "HAVING", "Patients", "Packets",
)  # fmt: skip
# Words that can stand in each other's place, and what else may stand where a name or a literal stood.
ALIKE = (
    ("=", "<", ">", "<=", ">=", "<>", " LIKE ", " AND ", " OR ", "+", "-", "*", "/", "||"),
    (*(str(number) for number in range(101)), "1.5", "1e3", "9223372036854775807", "9223372036854775808", "1e400"),
    ("ROWS", "RANGE", "NOW"),
    ("AND", "OR", "UNION ALL"),
    ("SELECT", "SELECT DISTINCT", "SELECT ISTREAM", "SELECT RSTREAM", "SELECT DSTREAM", "CREATE QUERY q AS SELECT"),
    ("AVG", "SUM", "COUNT", "MIN", "MAX", "LUB", "STDDEV", "VARIANCE", "UPPER", "ABS", "COALESCE", "FREQUENT", "Dist"),
    ("int", "bigint", "double", "boolean", "string", "timestamp", "date", "binary", "level", "decimal(10,2)", "money"),
)
NAMES = (
    "sid bp wt pr lat lon note ok fee due paid scan total at born loc pid src level time unit image "
    "Vitals Position Bills Mirror Units Quick Patients Packets Convoy Submarine IPStream watch pulse resting"
).split()
LIKELY = (
    *NAMES * 5,
    "'x'", "'S'", "'east'", "'2024-01-31'", "NULL", "TRUE", "1", "2.5", "V.sid", "P.sid", "COUNT(*)", "AVG(bp)",
    "INTERVAL 1 DAY", "CAST(fee AS int)", "CASE WHEN ok THEN 1 END", "(SELECT MAX(bp) FROM Vitals [NOW])", "bp > 3",
    "NOT ok", "sid IN (1, 2)", "bp BETWEEN 1 AND 2", "note IS NULL", "DATE '2024-01-31'", "*", "time/60", "half(bp)",
)  # fmt: skip


def _alike(token: str) -> Sequence[str]:
    """What may stand in the place of a token; nothing for a keyword."""
    if (kind := next((kind for kind in ALIKE if token in kind), None)) is not None:
        return kind
    is_word = token[0].isalnum() or token[0] in "'\"`_"
    return LIKELY if is_word and token.upper() not in grammar_words() else ()


@dataclass(frozen=True, slots=True)
class Mutations:
    """Spoils texts; every choice comes from ``random``."""

    random: Random
    corpus: Sequence[str]

    def text(self) -> str:
        """A text of the corpus with one to four things wrong, or, every other time, with other words in it."""
        text = self.random.choice(self.corpus)
        mutators = MUTATORS if self.random.random() < 0.5 else (Mutations.exchange,)
        for _ in range(self.random.choice((1, 1, 1, 2, 3, 4))):
            text = self.random.choice(mutators)(self, TOKEN.findall(text))
        return text

    def _place(self, tokens: Sequence[str]) -> int:
        return self.random.randrange(len(tokens)) if tokens else 0

    def delete(self, tokens: list[str]) -> str:
        """One to three tokens are missing."""
        at = self._place(tokens)
        return "".join(tokens[:at] + tokens[at + self.random.choice((1, 1, 2, 3)) :])

    def double(self, tokens: list[str]) -> str:
        """A token stands twice."""
        at = self._place(tokens)
        return "".join([*tokens[: at + 1], " ", *tokens[at:]])

    def swap(self, tokens: list[str]) -> str:
        """Two tokens have changed places."""
        a, b = self._place(tokens), self._place(tokens)
        if tokens:
            tokens[a], tokens[b] = tokens[b], tokens[a]
        return "".join(tokens)

    def insert_word(self, tokens: list[str]) -> str:
        """A word too many."""
        at = self._place(tokens)
        return "".join([*tokens[:at], " ", self.random.choice(WORDS), " ", *tokens[at:]])

    def replace(self, tokens: list[str]) -> str:
        """Another word in place of one."""
        words = [n for n, token in enumerate(tokens) if not token.isspace()]
        if words:
            tokens[self.random.choice(words)] = self.random.choice(WORDS)
        return "".join(tokens)

    def exchange(self, tokens: list[str]) -> str:
        """A word for a word, a number for a number: often still a statement, but another one."""
        choices = [(n, alike) for n, token in enumerate(tokens) if (alike := _alike(token))]
        if choices:
            at, alike = self.random.choice(choices)
            tokens[at] = self.random.choice(alike)
        return "".join(tokens)

    def insert_character(self, tokens: list[str]) -> str:
        """A character too many, quotes and brackets among them."""
        text = "".join(tokens)
        at = self.random.randrange(len(text) + 1)
        return text[:at] + self.random.choice(MARKS) + text[at:]

    def any_character(self, tokens: list[str]) -> str:
        """A character from anywhere in Unicode."""
        text = "".join(tokens)
        at = self.random.randrange(len(text) + 1)
        return text[:at] + chr(self.random.randrange(0x110000)) + text[at + self.random.randrange(2) :]

    def delete_character(self, tokens: list[str]) -> str:
        """A character is missing."""
        text = "".join(tokens)
        at = self.random.randrange(len(text) + 1)
        return text[:at] + text[at + 1 :]

    def truncate(self, tokens: list[str]) -> str:
        """The rest is missing, or the beginning."""
        text = "".join(tokens)
        at = self.random.randrange(len(text) + 1)
        return text[:at] if self.random.random() < 0.7 else text[at:]

    def splice(self, tokens: list[str]) -> str:
        """The beginning of one text, the end of another."""
        other = TOKEN.findall(self.random.choice(self.corpus))
        return "".join(tokens[: self._place(tokens)] + other[self._place(other) :])

    def twin(self, tokens: list[str]) -> str:
        """A letter that is the same but for its case, and not for every rule of case."""
        text = "".join(tokens)
        places = [n for n, letter in enumerate(text) if letter.lower() in TWINS]
        if not places:
            return text
        at = self.random.choice(places)
        return text[:at] + self.random.choice(TWINS[text[at].lower()]) + text[at + 1 :]


MUTATORS: tuple[Callable[[Mutations, list[str]], str], ...] = (
    Mutations.delete, Mutations.double, Mutations.swap, Mutations.insert_word, Mutations.replace, Mutations.replace,
    Mutations.insert_character, Mutations.any_character, Mutations.delete_character, Mutations.truncate,
    Mutations.splice, Mutations.twin,
)  # fmt: skip
