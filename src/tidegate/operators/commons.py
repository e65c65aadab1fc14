"""What queries of one level have in common: windows that are held once, and relations that are computed once an epoch.

A query is a function of what its windows hold and of the tuples of the epoch (decision 6). So two nodes of two queries
give the same rows if they have the same shape and the windows below them hold the same. A window that several queries
have is held from the start of the first of them on; each later one has a place in it, the number of tuples that had
arrived before it came, and sees what came after (Q-13). Once everything before that place has left, it sees the same as
the others, and whatever is computed above the window is computed once for all of them.

Anything that could go wrong sends a query apart: it then runs the epoch by itself, from what its windows held before,
with its own text to point at (Q-9).

Reads: plan, operators.  Read by: query, processor.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from tidegate.operators.batch import Changes
from tidegate.operators.failing import Failing
from tidegate.operators.vector import Numbers, Vector
from tidegate.operators.windows import Held
from tidegate.plan import nodes
from tidegate.plan.conjuncts import conjuncts
from tidegate.plan.expressions import Expression, can_fail
from tidegate.plan.windows import Rows

Found = TypeVar("Found")


class Apart(Exception):
    """The query has to run this epoch by itself."""


class Watchful(Failing):
    """Where an error would be noted the query goes apart: only its own text can say where the error is."""

    def note(self, vectors: Any, instants: Numbers) -> Numbers | None:
        """None: all rows are sound."""
        watch(vectors)
        return None


def watch(vectors: Any) -> None:
    """Go apart if any value is an error."""
    if any(vector.failure is not None and vector.failure.any() for vector in vectors):
        raise Apart


# ------------------------------------------------------------------------------ shapes


class Shape:
    """What a node does, whoever wrote it: two nodes that do the same have one shape."""

    __slots__ = ("__weakref__",)


@dataclass(slots=True)
class Shapes:
    """The shapes of all nodes that somebody holds; names of columns and places in texts do not count."""

    known: WeakValueDictionary[Hashable, Shape] = field(default_factory=WeakValueDictionary)

    def of(self, node: nodes.Node, found: dict[int, Shape] | None = None) -> Shape:
        """The shape of a node, the same as long as anyone keeps it; ``found`` are those of nodes seen before."""
        found = {} if found is None else found
        if id(node) not in found:
            below = tuple(self.of(child, found) for child in node.inputs)
            found[id(node)] = self._shape((type(node).__name__, below, *self._own(node)))
        return found[id(node)]

    def of_plan(self, plan: nodes.QueryPlan) -> Shape:
        """The shape of a whole query."""
        return self._shape(("QueryPlan", self.of(plan.root), plan.emit))

    def window(self, node: nodes.Windowed | nodes.Panes) -> Shape:
        """The shape of what a window holds: that of a pane does not depend on how it is grouped."""
        return self.of(node) if isinstance(node, nodes.Windowed) else self.of(replace(node, keys=(), calls=()))

    def _shape(self, key: Hashable) -> Shape:
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = Shape()
        return found

    def _own(self, node: nodes.Node) -> Iterator[Hashable]:
        if isinstance(node, nodes.StreamOf | nodes.RelationOf):
            yield self.of_plan(node.plan)
            return
        for one in fields(node):
            if one.name not in ("input", "parts", "names"):
                value = getattr(node, one.name)
                yield _condition(value) if one.name == "condition" and value is not None else value


def _condition(condition: Expression) -> Hashable:
    """A conjunction is a set, unless something in it can fail: then its order says which error is told."""
    return condition if can_fail(condition) else frozenset(conjuncts(condition))


def is_flexible(node: nodes.Windowed | nodes.Panes) -> bool:
    """Whether who comes later sees what came after: not so where a window counts from its own beginning.

    Nor where the tuples come from a sub-query, which would have given others to who came later.
    """
    if isinstance(node, nodes.Windowed) and isinstance(node.window, Rows) and node.window.slide is not None:
        return False
    below = node.input
    while isinstance(below, nodes.Before) and not can_fail(below.condition):
        below = below.input
    return isinstance(below, nodes.Scan)


# ------------------------------------------------------------------------------ windows


@dataclass(frozen=True, slots=True)
class View:
    """What happens to a window in an epoch, with each tuple's place among all that ever arrived."""

    changes: Changes
    sequence: Numbers
    boundaries: Numbers

    def behind(self, start: int) -> tuple[int, Changes]:
        """What who came at a place sees; and that place, or 0 if nothing before it is left."""
        cut = int(np.searchsorted(self.sequence, start))
        return (start, self.changes.take(slice(cut, None))) if cut else (0, self.changes)


@dataclass(slots=True)
class CommonWindow:
    """A window that queries share: what it holds, and at which place each of them came."""

    number: int
    key: Hashable
    held: Held | None
    starts: dict[int, int] = field(default_factory=dict)
    """By user."""
    before: Held | None = None
    epoch: int = -1
    """The epoch that it was advanced in last; ``before`` is what it held before that."""

    def advanced(self, epoch: int, held: Held) -> None:
        """Take what it holds after an epoch, and remember what it held before."""
        self.before, self.held, self.epoch = self.until(epoch), held, epoch

    def until(self, epoch: int) -> Held | None:
        """What it held before the epoch, whether it has advanced in it or not."""
        return self.before if self.epoch == epoch else self.held

    def own(self, start: int, epoch: int) -> Held | None:
        """What a window of one's own would have held before the epoch, begun at that place."""
        held = self.until(epoch)
        if held is None:
            return None
        cut = int(np.searchsorted(held.sequence, start))
        mine = held.take(np.arange(cut, len(held.sequence)))
        return replace(mine, sequence=mine.sequence - start, arrived=mine.arrived - start)

    def leave(self, user: int) -> None:
        """Forget a user, and the tuples that nobody else can see."""
        del self.starts[user]
        first = min(self.starts.values(), default=0)
        if self.held is not None and len(self.held.sequence) and self.held.sequence[0] < first:
            cut = int(np.searchsorted(self.held.sequence, first))
            self.held = self.held.take(np.arange(cut, len(self.held.sequence)))


@dataclass(frozen=True, slots=True)
class Seat:
    """A query's place in a window."""

    window: CommonWindow
    start: int


@dataclass(slots=True)
class Commons:
    """The common ground of queries of one level that are given the same tuples."""

    shapes: Shapes
    number: Callable[[], int]
    """Numbers for windows, each given once."""
    windows: dict[Hashable, CommonWindow] = field(default_factory=dict)
    epoch: int = 0
    found: dict[Hashable, object] = field(default_factory=dict)
    """What was computed in this epoch."""
    reused: int = 0
    """How often something was there already."""

    def begin(self) -> None:
        """A new epoch."""
        self.epoch += 1

    def end(self) -> None:
        """Keep nothing of the epoch but what the windows hold, and no window without a user."""
        self.found.clear()
        self.windows = {key: window for key, window in self.windows.items() if window.starts}
        for window in self.windows.values():
            window.before = None

    def once(self, key: Hashable, compute: Callable[[], Found]) -> Found:
        """What was computed for this key, or is computed now; who was sent apart once is sent apart again."""
        if key in self.found:
            self.reused += 1
            known: Any = self.found[key]
            if known is Apart:
                raise Apart
            return known  # type: ignore[no-any-return]
        try:
            result = compute()
        except Apart:
            self.found[key] = Apart
            raise
        self.found[key] = result
        return result

    def join(self, node: nodes.Windowed | nodes.Panes, own: Held | None, user: int, birth: Hashable) -> Seat:
        """A place in the window that others have, or the window itself for others to come.

        ``own`` is what it holds by itself, ``birth`` tells those that began with the same tuple.
        """
        key: Hashable = (self.shapes.window(node), None if is_flexible(node) else birth)
        window = self.windows.get(key)
        if window is None:
            window = self.windows[key] = CommonWindow(self.number(), key, own)
        arrived, mine = (0 if held is None else held.arrived for held in (window.held, own))
        window.starts[user] = arrived - mine
        return Seat(window, arrived - mine)

    def restore(self, node: nodes.Windowed | nodes.Panes, number: int, start: int, user: int) -> Seat:
        """The place that a query had before it was put away; what the window holds is to come."""
        window = next((one for one in self.windows.values() if one.number == number), None)
        if window is None:
            key = (self.shapes.window(node), None if is_flexible(node) else ("restored", number))
            window = self.windows[key] = CommonWindow(number, key, None)
        window.starts[user] = start
        return Seat(window, start)


def sound(changes: Changes) -> Changes:
    """Rows that others may use too: none of their values is an error."""
    columns: tuple[Vector, ...] = changes.rows.columns
    watch(columns)
    return changes
