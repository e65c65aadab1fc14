"""How a gate goes: one row per level, per stream, per prefilter and per sink, for the administrator.

Reads: engine, system.  Read by: gate, outlets, cli.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidegate.engine.feeds import Passed
from tidegate.security.lattice import Level
from tidegate.text import one_line

if TYPE_CHECKING:
    from tidegate.system.gate import Gate


@dataclass(frozen=True, slots=True)
class LevelStatus:
    """A level: its queries, its own tuples, what came late or was shed, how many epochs it is behind, why it ended."""

    level: Level
    awake: bool
    queries: int
    tuples: int
    late: int
    shed: int
    epochs: int
    behind: int
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class StreamStatus:
    """A stream: its newest segment, and why its source ended, if it has."""

    name: str
    segments: int
    failure: str | None


@dataclass(frozen=True, slots=True)
class PrefilterStatus:
    """What a level left of a stream since the gate was opened, before any query ran (P-14)."""

    level: Level
    stream: str
    passed: Passed


@dataclass(frozen=True, slots=True)
class SinkStatus:
    """A sink: whose rows it gets, how far it has come, what it missed, and why it is being tried again, if it is."""

    name: str
    query: str
    level: Level
    state: str
    epoch: int
    behind: int
    rows: int
    missed: int
    """Epochs whose results were dropped by age before the sink had them."""
    attempts: int
    failure: str | None


@dataclass(frozen=True, slots=True)
class Status:
    """A gate at a moment."""

    tick: int
    instant: int
    waiting: int
    quarantined: int
    levels: tuple[LevelStatus, ...]
    streams: tuple[StreamStatus, ...]
    sinks: tuple[SinkStatus, ...] = ()
    prefilters: tuple[PrefilterStatus, ...] = ()

    def line(self) -> str:
        """All of it in one line, to look at while it runs."""
        awake = ", ".join(
            f"{one.level} {one.queries} {'query' if one.queries == 1 else 'queries'} {one.behind} behind"
            for one in self.levels
            if one.awake
        )
        tuples = sum(one.tuples for one in self.levels)
        failed = "".join(f" · {one.failure}" for one in self.levels if one.failure)
        failed += "".join(f" · {one.name}: {one.failure}" for one in self.streams if one.failure)
        failed += "".join(f" · {one.name}: {one.failure}" for one in self.sinks if one.failure)
        failed += "".join(f" · {one.name}: missed {one.missed:,} epochs" for one in self.sinks if one.missed)
        return f"tick {self.tick} · {tuples:,} tuples · {awake or 'all levels asleep'}{failed}"

    def __str__(self) -> str:
        """Tables, and below them what has failed: for ``print``."""
        return _drawn(self)

    def _repr_html_(self) -> str:
        """The same in a notebook."""
        return f"<pre>{escape(str(self))}</pre>"


# ------------------------------------------------------------------------------ tables

WIDEST = 160


def _drawn(status: Status) -> str:
    found = StringIO()
    console = Console(file=found, width=WIDEST, color_system=None, force_jupyter=False)
    console.print(_head(status), highlight=False)
    for table in _tables(status):
        if table.row_count:
            console.print(table)
    failures = [(str(one.level), one.failure) for one in status.levels]
    failures += [(one.name, one.failure) for one in status.streams] + [(one.name, one.failure) for one in status.sinks]
    lines = [one_line(f"{name}: {failure}") for name, failure in failures if failure]
    return "\n".join([found.getvalue().rstrip(), *lines])


def _head(status: Status) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=status.instant)
    counts = f"{status.waiting:,} tuples wait for their tick, {status.quarantined:,} quarantined"
    return f"tick {status.tick}, complete up to {moment:%Y-%m-%d %H:%M:%S} UTC; {counts}"


def _tables(status: Status) -> tuple[Table, ...]:
    return _levels(status.levels), _streams(status.streams), _prefilters(status.prefilters), _sinks(status.sinks)


def _levels(levels: Iterable[LevelStatus]) -> Table:
    rows = [
        (one.level, "ended" if one.failure else "awake" if one.awake else "asleep", one.queries, one.tuples, one.late,
         one.shed, one.epochs, one.behind)
        for one in levels
    ]  # fmt: skip
    return _table(("level", "is", "queries", "tuples", "late", "shed", "epochs", "behind"), rows)


def _streams(streams: Iterable[StreamStatus]) -> Table:
    rows = [(one.name, "ended" if one.failure else "running", one.segments) for one in streams]
    return _table(("stream", "source is", "segments"), rows)


def _prefilters(prefilters: Iterable[PrefilterStatus]) -> Table:
    rows = [(one.level, one.stream, *astuple(one.passed)) for one in prefilters]
    return _table(("level", "prefilter of", "tuples", "taken", "bytes", "bytes taken"), rows)


def _sinks(sinks: Iterable[SinkStatus]) -> Table:
    rows = [(one.name, one.query, one.level, one.state, one.epoch, one.behind, one.rows, one.missed) for one in sinks]
    return _table(("sink", "query", "level", "is", "epoch", "behind", "rows", "missed"), rows)


def _table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """Numbers to the right; names are the users' own, and are not read as markup."""
    table = Table()
    for place, name in enumerate(names):
        is_number = bool(rows) and isinstance(rows[0][place], int)
        table.add_column(name, justify="right" if is_number else "left")
    for row in rows:
        table.add_row(*(Text(f"{cell:,}" if isinstance(cell, int) else one_line(str(cell))) for cell in row))
    return table


def status_of(gate: Gate) -> Status:
    """What is known now."""
    shepherd = gate.shepherd
    levels = tuple(_level(gate, level) for level in gate.reserved)
    streams = tuple(
        StreamStatus(name, shepherd.latest.taken.get(name, -1) + 1, None if one.failure is None else str(one.failure))
        for name, one in gate.bindings.items()
    )
    latest, herd = shepherd.latest, shepherd.herd
    sinks = gate.outlets.status()
    passed = tuple(_passed(gate))
    return Status(latest.number, latest.instant, herd.held, herd.counted.quarantined, levels, streams, sinks, passed)


def _passed(gate: Gate) -> Iterator[PrefilterStatus]:
    for level in gate.reserved:
        runtime = gate.runtimes.get(level)
        for stream, passed in sorted(runtime.results.passed.items()) if runtime is not None else ():
            yield PrefilterStatus(level, stream, passed)


def _level(gate: Gate, level: Level) -> LevelStatus:
    runtime, counted = gate.runtimes.get(level), gate.shepherd.herd.counted
    queries = len(gate.desk.interpreter(level).queries()) if runtime is not None else 0
    epochs, behind = (runtime.written + 1, runtime.behind) if runtime is not None else (0, 0)
    tuples, late = counted.tuples.get(level, 0), counted.late.get(level, 0)
    shed, failure = counted.shed.get(level, 0), gate.ended.get(level)
    ended = None if failure is None else str(failure)
    return LevelStatus(level, runtime is not None, queries, tuples, late, shed, epochs, behind, ended)
