"""A new query joins its level's plan: its own plan, rewritten to reuse what runs there (M-17, M-18).

The plan means the same. What is equal in two plans is then computed once (operators/commons.py).

Reads: plan, operators, security, sharing.  Read by: processor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tidegate.operators.processor import Ground, Part, ground_of
from tidegate.plan import nodes
from tidegate.security.lattice import Lattice, Level
from tidegate.sharing.merge import Executing, every_node
from tidegate.sharing.normal import normal
from tidegate.sharing.switches import IMPLIED, RESIDUAL, SHARING

Running = Callable[[Ground], Iterable[nodes.QueryPlan]]
"""The plans that run on a ground."""


@dataclass(slots=True)
class Merging:
    """What runs, by ground, as far as somebody has asked; found again after something has ended."""

    lattice: Lattice
    off: frozenset[str]
    running: Running
    known: dict[Ground, Executing] = field(default_factory=dict)

    def planned(self, plan: nodes.QueryPlan, level: Level, part: Part | None) -> nodes.QueryPlan:
        """The plan as it is to run; it runs from now on."""
        if RESIDUAL in self.off or SHARING in self.off:
            return plan
        ground = ground_of(level, part)
        if ground not in self.known:
            self.known[ground] = Executing(self.lattice, IMPLIED not in self.off)
            for one in self.running(ground):
                self.known[ground].add(every_node(one))
        found = self.known[ground].decomposed(normal(plan))
        self.known[ground].add(every_node(found))
        return found

    def forget(self) -> None:
        """Something has ended: nothing is built on it any more."""
        self.known.clear()
