"""A record that could not be decoded, on its way from its file to the quarantine: why, where it stood, and its text.

Reads: nothing.  Read by: sources, engine.
"""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class Broken:
    """The problem names attributes and never a value; the record is shown only where the quarantine is, at the top."""

    problem: str
    record: str
    file: str | None = None
    line: int | None = None

    def to_text(self) -> str:
        """As one text, which passes through a column of Spark's and through a segment."""
        return json.dumps(astuple(self))

    def shown(self) -> object:
        """What the quarantine shows in the place of a row."""
        return self.record if self.file is None else {"file": self.file, "line": self.line, "record": self.record}


def broken_from(text: str) -> Broken:
    """A record from its text; a text that is none of ours is the record itself.

    >>> broken_from(Broken("not JSON", "{", "a.json", 7).to_text()).line
    7
    """
    try:
        return Broken(*json.loads(text))
    except (ValueError, TypeError):
        return Broken("", text)
