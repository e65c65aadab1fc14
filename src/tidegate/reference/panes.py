"""``GROUP BY time/c``: panes [kc, (k+1)c), each emitted once, at its end, then forgotten (Q-3).

Reads: plan, reference.  Read by: query.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tidegate.plan import nodes
from tidegate.reference.evaluate import World
from tidegate.reference.relations import grouped
from tidegate.reference.rows import Row, Tuple

MICROSECONDS = 1_000_000


@dataclass(slots=True)
class PaneState:
    """The open pane and, at the instant of its end, the pane that has just closed."""

    seconds: int
    open: list[Tuple] = field(default_factory=list)
    closed: list[Tuple] = field(default_factory=list)

    def advance(self, now: int, arrived: list[Tuple]) -> bool:
        """Close the pane whose end has come; whether one closed."""
        ended = bool(self.open) and self._end(self.open[0].instant) <= now
        self.closed, self.open = (self.open, []) if ended else ([], self.open)
        self.open = [*self.open, *arrived]
        return ended

    def next_event(self) -> int | None:
        """The end of the open pane, if it holds anything."""
        return self._end(self.open[0].instant) if self.open else None

    def _end(self, instant: int) -> int:
        width = self.seconds * MICROSECONDS
        return (instant // width + 1) * width

    def rows(self, node: nodes.Panes, world: World) -> list[Row]:
        """The groups of the pane that closed at this step."""
        return grouped(node, [tuple_.row for tuple_ in self.closed], world)
