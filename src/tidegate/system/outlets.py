"""Sinks bound to queries by the administrator, each with the range of levels that may leave through it (Q-14).

Reads: errors, gates, engine, sinks, system.  Read by: gate.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidegate.engine.herd import path_name
from tidegate.engine.results import Results
from tidegate.errors import EngineError
from tidegate.gates.release import may_export
from tidegate.security.lattice import Level
from tidegate.sinks.sink import Outlet, Sink
from tidegate.system.status import SinkStatus

if TYPE_CHECKING:
    from tidegate.system.gate import Gate
    from tidegate.system.session import Query

STOP_SECONDS = 5.0
"""How long sinks may take to put out what is there when the gate is closed."""


@dataclass(slots=True)
class Outlets:
    """All sinks of a gate, by name."""

    gate: Gate
    bound: dict[str, Outlet] = field(default_factory=dict)

    def bind(self, query: Query, sink: Sink, levels: tuple[str, str] | None, name: str | None) -> Outlet:
        """Let a sink follow a query, from where the sink of this name was; refuse a level outside the range."""
        gate, (low, high) = self.gate, self.gate._range(levels)
        if query.gate is not gate:
            raise EngineError(f'query "{query.name}" belongs to another gate')
        if not may_export(low, high, query.level, gate.lattice):
            raise EngineError(
                f'query "{query.name}" is at level "{query.level}", and the sink may have levels from "{low}" to '
                f'"{high}" only: results go by the level of their query, whatever the levels of their rows'
            )
        called = name or f"{query.name}@{query.level} {query.entry.serial}"
        if called in self.bound and self.bound[called].is_alive:
            raise EngineError(f'sink "{called}" is bound already; give this one a name of its own')
        path = gate.directory / "sinks" / f"{path_name(called)}.json"
        outlet = Outlet(called, query.followed(), sink, path, lambda: self._results(query.level), query.when_dropped())
        self.bound[called] = outlet
        outlet.start()
        return outlet

    def _results(self, level: Level) -> Results | None:
        runtime = self.gate.runtimes.get(level)
        return None if runtime is None else runtime.results

    def status(self) -> tuple[SinkStatus, ...]:
        """How each of them goes."""
        return tuple(_status(one) for one in self.bound.values())

    def stop(self) -> None:
        """Let them put out what is there, all at the same time and not for long; the rest goes out the next time."""
        until = time.monotonic() + STOP_SECONDS
        for one in self.bound.values():
            one.end_by(until)
        for one in self.bound.values():
            one.stop(until)


def _status(outlet: Outlet) -> SinkStatus:
    followed = outlet.followed
    return SinkStatus(outlet.name, followed.query, followed.level, outlet.state, outlet.position, outlet.behind,
                      outlet.rows, outlet.gap, outlet.attempts, outlet.failure)  # fmt: skip
