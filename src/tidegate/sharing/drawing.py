"""A merged plan as a drawing: each query as `tidegate explain` draws it, each shared node drawn once (M-18).

Behind a shared node stand the queries that use it. Where it is used again, a number leads back to it.

Reads: plan, sharing.  Read by: sharing, cli.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tidegate.plan import nodes
from tidegate.plan.explain import branches, headline
from tidegate.sharing.merge import Merged

Part = nodes.Node | nodes.QueryPlan
Entry = tuple[int, Part, bool]
"""How deep, what, and whether it was drawn before."""


def drawing(merged: Merged) -> str:
    """The merged plan as text; a query that shares everything stands beside the first of its kind."""
    return "\n".join(_Drawing(merged).lines())


@dataclass(slots=True)
class _Drawing:
    merged: Merged
    drawn: set[Part] = field(default_factory=set)
    numbers: dict[Part, int] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        blocks = [list(self._entries(plan, 0)) for plan in dict.fromkeys(plan for _, plan in self.merged.plans)]
        again = {what for block in blocks for _, what, before in block if before}
        for block in blocks:
            texts = [(depth, self._text(what, before, again)) for depth, what, before in block]
            yield from branches(texts)

    def _entries(self, part: Part, depth: int) -> Iterator[Entry]:
        """A node and what is below it, unless it was drawn before."""
        if part in self.drawn:
            yield depth, part, True
            return
        self.drawn.add(part)
        yield depth, part, False
        for below in _below(part):
            yield from self._entries(below, depth + 1)

    def _text(self, what: Part, before: bool, again: set[Part]) -> str:
        line = headline(what) if isinstance(what, nodes.Node) else f"emit {what.emit}"
        if before:
            return f"see #{self.numbers[what]}: {line}"
        users = self.merged.users.get(what, ())
        if len(users) > 1 or (users and isinstance(what, nodes.QueryPlan)):
            line += f"  [{', '.join(users)}]"
        if what in again:
            self.numbers[what] = len(self.numbers) + 1
            return f"#{self.numbers[what]} {line}"
        return line


def _below(part: Part) -> Iterator[Part]:
    if isinstance(part, nodes.QueryPlan):
        yield part.root
        yield from (scalar.plan for scalar in nodes.scalar_subqueries(part))
    elif isinstance(part, nodes.StreamOf | nodes.RelationOf):
        yield part.plan
    else:
        yield from part.inputs
