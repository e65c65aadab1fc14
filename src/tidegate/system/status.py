"""How a gate goes: one row per level, per stream and per sink, for the administrator.

Reads: engine, system.  Read by: gate, outlets, cli.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate.security.lattice import Level

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
    return Status(latest.number, latest.instant, herd.held, herd.counted.quarantined, levels, streams, sinks)


def _level(gate: Gate, level: Level) -> LevelStatus:
    runtime, counted = gate.runtimes.get(level), gate.shepherd.herd.counted
    queries = len(gate.desk.interpreter(level).queries()) if runtime is not None else 0
    epochs, behind = (runtime.written + 1, runtime.behind) if runtime is not None else (0, 0)
    tuples, late = counted.tuples.get(level, 0), counted.late.get(level, 0)
    shed, failure = counted.shed.get(level, 0), gate.ended.get(level)
    ended = None if failure is None else str(failure)
    return LevelStatus(level, runtime is not None, queries, tuples, late, shed, epochs, behind, ended)
