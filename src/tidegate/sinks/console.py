"""Newest rows of one or more queries, side by side: a table that moves in a terminal, plain lines anywhere else.

What rows hold is foreign text: whatever a terminal would obey is escaped.

Reads: engine, security, sinks.  Read by: system.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO

import pyarrow as pa
from rich.columns import Columns
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tidegate.engine.results import ROW_LEVEL, ROW_TIME, about
from tidegate.security.lattice import Lattice, Level
from tidegate.sinks.sink import Followed
from tidegate.text import one_line

COLOURS = ("green", "cyan", "blue", "yellow", "magenta", "red")
"""From the bottom to the top."""
MOST_COLOURED = 64
LONGEST_VALUE = 60


@dataclass(slots=True)
class _Pane:
    """One query on the screen."""

    followed: Followed
    newest: deque[dict[str, object]]
    columns: tuple[str, ...] = ()
    count: int = 0


@dataclass(slots=True)
class ConsoleSink:
    """Give the same one to several queries to see them side by side; ``rows`` of each are shown in a terminal."""

    rows: int = 10
    file: IO[str] | None = None
    console: Console = field(init=False)
    _panes: dict[tuple[str, str], _Pane] = field(init=False, default_factory=dict)
    _opened: int = field(init=False, default=0)
    _live: Live | None = field(init=False, default=None)
    _lock: threading.RLock = field(init=False, default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self.console = Console(file=self.file)

    @property
    def _moves(self) -> bool:
        return self.console.is_terminal and not self.console.is_dumb_terminal

    def open(self, followed: Followed, after: int) -> int:
        """Make room for a query."""
        with self._lock:
            self._panes.setdefault((followed.level, followed.query), _Pane(followed, deque(maxlen=self.rows)))
            self._opened += 1
            if self._live is None and self._moves:
                self._live = Live(get_renderable=self._draw, console=self.console, refresh_per_second=4)
                self._live.start()
        return after

    def write(self, epoch: int, batch: pa.RecordBatch) -> None:
        """Show the newest rows; where nothing moves, a line for each row."""
        known = about(batch)
        pane = self._panes[known["level"], known["query"]]
        if self._moves:
            newest = batch.slice(max(0, batch.num_rows - self.rows)).to_pylist()
            with self._lock:
                pane.columns, pane.count = tuple(batch.schema.names), pane.count + batch.num_rows
                pane.newest.extend(newest)
            return
        lines = "".join(f"{_line(pane.followed, row)}\n" for row in batch.to_pylist())
        with self._lock:
            self.console.file.write(lines)
            self.console.file.flush()

    def close(self) -> None:
        """Behind the last query, leave the last picture where it is."""
        with self._lock:
            self._opened -= 1
            ending = self._live if self._opened == 0 else None
            self._live = None if self._opened == 0 else self._live
        if ending is not None:
            ending.stop()

    # ---------------------------------------------------------------- the picture

    def _draw(self) -> Columns:
        with self._lock:
            return Columns([_table(pane) for pane in self._panes.values()], padding=(0, 3))


def _table(pane: _Pane) -> Table:
    followed = pane.followed
    title = Text.assemble(one_line(followed.query), " at ", (followed.level, colour(followed.level, followed.lattice)),
                          f", {pane.count:,} rows")  # fmt: skip
    own = [name for name in pane.columns if name not in (ROW_LEVEL, ROW_TIME)]
    table = Table(title=title)
    for name in ("time", *own, "level"):
        table.add_column(Text(one_line(name)))
    for row in pane.newest:
        label = Level(str(row[ROW_LEVEL]))
        values = [Text(value_text(row[name])) for name in own]
        table.add_row(time_text(row[ROW_TIME]), *values, Text(label, style=colour(label, followed.lattice)))
    return table


def _line(followed: Followed, row: dict[str, object]) -> str:
    own = ((name, value) for name, value in row.items() if name not in (ROW_LEVEL, ROW_TIME))
    values = (f"{one_line(name)}={value_text(value)}" for name, value in own)
    where = f"{one_line(followed.query)}@{followed.level}"
    return f"{time_text(row[ROW_TIME])} {where} {row[ROW_LEVEL]}: {', '.join(values)}"


def value_text(value: object) -> str:
    r"""A value on one line, short, with nothing that a terminal would obey.

    >>> value_text("a\x1b[2J"), value_text(None), value_text(0.1)
    ('a\\x1b[2J', 'NULL', '0.1')
    """
    text = "NULL" if value is None else one_line(str(value))
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def time_text(moment: object) -> str:
    """The time of a row to the millisecond, UTC."""
    return f"{moment:%H:%M:%S.%f}"[:-3] if isinstance(moment, datetime) else ""


def colour(level: Level, lattice: Lattice) -> str:
    """Green at the bottom, red at the top, between them by how much a level dominates."""
    if level in (lattice.bottom, lattice.top):
        return COLOURS[0] if level == lattice.bottom else COLOURS[-1]
    if lattice.size > MOST_COLOURED:
        return COLOURS[len(COLOURS) // 2]
    below = sum(1 for _ in lattice.dominated_by(level))
    return COLOURS[1 + (below - 1) * (len(COLOURS) - 2) // lattice.size]
