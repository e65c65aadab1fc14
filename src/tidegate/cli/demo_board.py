"""The board of the live demo: a line for each second of the stream, which grows while tuples flow.

Lines, not a picture that is drawn anew: they read the same in a terminal, in a pipe and in a log.

Reads: engine, system.  Read by: demo_live.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
from rich.console import Console

from tidegate.cli.demo import FILTERED, HEADINGS, HIGH, LOW, shown
from tidegate.engine.results import ROW_TIME, about
from tidegate.system.session import Query

SECOND = 1_000_000
FULL = 100
"""Answers after which the windows are full, and shown."""


@dataclass(slots=True)
class Column:
    """One query on the board: what it has answered so far, by instant."""

    query: Query
    epoch: int = -1
    said: list[tuple[int, float | None]] = field(default_factory=list)

    def catch_up(self) -> None:
        """Read what is new."""
        for found in self.query.results(self.epoch, follow=False):
            self.epoch = int(about(found)["epoch"])
            instants = found.column(ROW_TIME).cast(pa.int64()).to_pylist()
            self.said += zip(instants, found.column(0).to_pylist(), strict=True)

    @property
    def newest(self) -> int:
        """The instant of the newest answer."""
        return self.said[-1][0] if self.said else 0

    def at(self, instant: int) -> str:
        """The answer that stands at an instant; nothing before the first."""
        return next((shown(value) for moment, value in reversed(self.said) if moment <= instant), "")


@dataclass(slots=True)
class Board:
    """A line for each second of the stream, as soon as both clearances have answered it."""

    console: Console
    columns: dict[str, Column]
    began: int
    second: int = 0
    """The newest second on the board, since 1970."""
    rows: int = 0
    notes: list[tuple[int, str]] = field(default_factory=list)
    """What happens at which second; each is printed before it."""

    def catch_up(self) -> None:
        """Print every second that is complete; what had piled up before the first answers is left out."""
        for column in self.columns.values():
            column.catch_up()
        reached = min(self.columns[name].newest for name in (LOW, HIGH)) // SECOND
        if self.second == 0 and min(len(self.columns[name].said) for name in (LOW, HIGH)) >= FULL:
            self.second = reached - 1
            self._print("t", {name: HEADINGS[name] for name in (LOW, HIGH, FILTERED)}, "bold")
        while 0 < self.second < reached:
            self.second += 1
            self._tell()
            self.rows += 1
            found = {name: column.at(self.second * SECOND) for name, column in self.columns.items()}
            self._print(f"{self.second - self.began} s", found)

    def _tell(self) -> None:
        while self.notes and self.notes[0][0] <= self.second:
            self.console.print(f"[yellow]{self.notes.pop(0)[1]}[/yellow]")

    def _print(self, moment: str, cells: dict[str, str], style: str = "") -> None:
        low, high, filtered = (cells.get(name, "") for name in (LOW, HIGH, FILTERED))
        line = f"{moment:>6}  {low:>12}  {high:>12}  {filtered:>32}".rstrip()
        self.console.print(line, style=style, markup=False)
