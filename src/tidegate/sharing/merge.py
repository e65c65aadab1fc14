"""Decomposing a plan over what runs already, and merging plans of one level into one (M-17, M-18).

A select that needs more than a running one becomes the running one and a select for the rest behind it. After that, two
nodes do the same work exactly if they are equal; so merging is adding what is not there yet, and the edges of a
decomposed plan lead to the nodes that are (Algorithm 1, with its third loop put right: a node is added only if there is
*no* equivalent one).

Reads: plan, security, sharing.  Read by: sharing, engine, cli.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from tidegate.plan import nodes
from tidegate.plan.expressions import Column, Expression, can_fail, conjunction
from tidegate.security.lattice import Lattice
from tidegate.sharing.implication import Facts, implies
from tidegate.sharing.normal import movable, normal, with_inputs

Reusable = nodes.Select | nodes.Before
MOST_TRIED = 8
MOST_LINKS = 4
"""So many executing conditions one behind the other: a longer way costs every query that goes it more than it saves."""


def decomposed(
    plan: nodes.QueryPlan,
    executing: Iterable[nodes.Node],
    lattice: Lattice | None = None,
    *,
    implied: bool = True,
    projects: bool = False,
) -> nodes.QueryPlan:
    """The plan with each condition built on the best executing one over the same input; the meaning stays.

    ``Select(x, {p, q})`` over an executing ``Select(x, {p})`` becomes ``Select(Select(x, {p}), {q})``; with ``implied``
    also over one that only follows (M-21), with ``projects`` columns are taken from an executing project (M-17).
    A condition that can fail, or that has sub-queries or something beside it, is left alone.
    """
    there = Executing(lattice, implied, projects)
    there.add(executing)
    return there.decomposed(plan)


def every_node(plan: nodes.QueryPlan) -> Iterator[nodes.Node]:
    """The nodes of a plan and of the plans inside it: what it executes."""
    for inner in nodes.every_plan(plan):
        yield from nodes.walk(inner.root)


@lru_cache(maxsize=16_384)
def _facts(node: nodes.Node, lattice: Lattice | None) -> Facts | None:
    """The condition of a node, if its conjuncts may be tested apart.

    Remembered, so only to be compared with: an equal node may have other names in it, and names must not travel.
    """
    parts = movable(node)
    return Facts.of(parts, lattice) if parts else None


@dataclass(frozen=True, slots=True)
class _Chain:
    """Executing conditions one behind the other; what they test, and what is left to test.

    ``own`` is the same as ``node``, built on the input of the plan itself: nodes are equal whatever texts they come
    from, but an error below them must point at the plan's own text (Q-9).
    """

    node: nodes.Node
    own: nodes.Node
    tested: tuple[Expression, ...]
    rest: tuple[Expression, ...]
    links: int = 0


@dataclass(slots=True)
class Executing:
    """What executes at one level, by input: to decompose one plan after the other without looking at all again."""

    lattice: Lattice | None = None
    implied: bool = True
    projects: bool = False
    above: dict[nodes.Node, dict[nodes.Node, Facts | None]] = field(default_factory=dict)

    def add(self, executing: Iterable[nodes.Node]) -> None:
        """More nodes that execute."""
        for node in executing:
            if isinstance(node, nodes.Select | nodes.Before | nodes.Project):
                self.above.setdefault(node.input, {})[node] = _facts(node, self.lattice)

    def decomposed(self, plan: nodes.QueryPlan) -> nodes.QueryPlan:
        """See :func:`decomposed`."""
        root = self._node(plan.root)
        return plan if root is plan.root else replace(plan, root=root)

    def _node(self, node: nodes.Node) -> nodes.Node:
        if isinstance(node, nodes.StreamOf | nodes.RelationOf):
            inner = self.decomposed(node.plan)
            return node if inner is node.plan else replace(node, plan=inner)
        node = with_inputs(node, tuple(self._node(below) for below in node.inputs))
        match node:
            case nodes.Select() | nodes.Before():
                return self._condition(node)
            case nodes.Project() if self.projects:
                return self._project(node)
            case _:
                return node

    # ---------------------------------------------------------------- conditions

    def _condition(self, node: Reusable) -> nodes.Node:
        parts = movable(node)
        if not parts:
            return node
        wanted = Facts.of(parts, self.lattice)
        chain = self._longest(_Chain(node.input, node.input, (), wanted.parts), type(node), wanted, MOST_TRIED)
        rest = conjunction(chain.rest)
        if not chain.tested:
            return node
        return chain.own if rest is None else type(node)(chain.own, rest)

    def _longest(self, chain: _Chain, kind: type[Reusable], wanted: Facts, tried: int) -> _Chain:
        """The chain that leaves least to test: by conditions that are parts of the wanted one, and by implied ones."""
        if chain.links == MOST_LINKS:
            return chain
        left = frozenset(chain.rest)
        above = self.above.get(chain.node, {}).items()
        found = [(node, own) for node, own in above if own is not None and isinstance(node, kind)]
        parts = [(node, own) for node, own in found if own.known <= wanted.known and not left.isdisjoint(own.known)]
        parts.sort(key=lambda one: -len(left & one[1].known))
        tightest = self._tightest(chain, found, wanted) if self.implied and left else None
        options = [*parts[:tried], *([tightest] if tightest and tightest not in parts else [])]
        longer = [self._longest(self._over(chain, *one), kind, wanted, max(1, tried // 2)) for one in options]
        return min(longer, key=lambda one: len(one.rest), default=chain)

    def _over(self, chain: _Chain, node: Reusable, own: Facts) -> _Chain:
        tested = (*chain.tested, *own.parts)
        rest = tuple(part for part in chain.rest if part not in own.known)
        if self.implied:
            rest = tuple(part for part in rest if not implies(tested, part, self.lattice))
        return _Chain(node, type(node)(chain.own, node.condition), tested, rest, chain.links + 1)

    def _tightest(
        self, chain: _Chain, found: Sequence[tuple[Reusable, Facts]], wanted: Facts
    ) -> tuple[Reusable, Facts] | None:
        """The executing condition that follows from the wanted one and from which most others follow."""
        best: tuple[Reusable, Facts] | None = None
        tested = Facts.of(chain.tested, self.lattice)
        for node, own in found:
            if not wanted.imply(own, self.lattice) or tested.imply(own, self.lattice):
                continue
            if best is None or (own.imply(best[1], self.lattice) and not best[1].imply(own, self.lattice)):
                best = (node, own)
        return best

    # ---------------------------------------------------------------- projects

    def _project(self, node: nodes.Project) -> nodes.Node:
        """Project(x, {a})  ->  Project(Project(x, {a, b}), {a})  where the inner one executes."""
        for wider in self.above.get(node.input, ()):
            if isinstance(wider, nodes.Project) and wider != node and gives(wider, node):
                places = {column: place for place, column in enumerate(wider.columns)}
                taken = tuple(
                    Column(places[column], name, type=column.type)
                    for column, name in zip(node.columns, node.names, strict=True)
                )
                return nodes.Project(wider, taken, node.names)
        return node


def gives(wider: nodes.Project, node: nodes.Project) -> bool:
    """Whether all columns of a project are among those of another, which cannot fail for any of its own."""
    return set(node.columns) <= set(wider.columns) and not any(map(can_fail, wider.columns))


# ------------------------------------------------------------------------------ merging


@dataclass(frozen=True, slots=True)
class Query:
    """A query of a level; its name is what people see."""

    name: str
    level: str
    plan: nodes.QueryPlan


@dataclass(frozen=True, slots=True)
class Merged:
    """The plans of one level as one: who uses which node. Equal nodes are the same node."""

    plans: tuple[tuple[str, nodes.QueryPlan], ...] = ()
    users: Mapping[nodes.Node | nodes.QueryPlan, tuple[str, ...]] = field(default_factory=dict)

    @property
    def nodes(self) -> tuple[nodes.Node, ...]:
        """Every node once, each after those that feed it."""
        return tuple(node for node in self.users if isinstance(node, nodes.Node))


def merged(queries: Sequence[Query], lattice: Lattice | None = None, *, implied: bool = True) -> Merged:
    """The merged plan of queries of one level, in the order of their registration (M-15)."""
    if len({query.level for query in queries}) > 1:
        raise ValueError("queries of different levels are never merged")
    there = Executing(lattice, implied, projects=True)
    plans: list[tuple[str, nodes.QueryPlan]] = []
    users: dict[nodes.Node | nodes.QueryPlan, tuple[str, ...]] = {}
    for query in queries:
        plan = there.decomposed(normal(query.plan))
        used = list(dict.fromkeys(_upwards(plan)))
        there.add(used)
        plans.append((query.name, plan))
        every: list[nodes.Node | nodes.QueryPlan] = [*used, plan]
        for one in every:
            users[one] = (*users.get(one, ()), query.name)
    return Merged(tuple(plans), users)


def _upwards(plan: nodes.QueryPlan) -> Iterator[nodes.Node]:
    """Every node of a plan and of the plans inside it, each after those that feed it."""
    for inner in reversed(list(nodes.every_plan(plan))):
        yield from reversed(list(nodes.walk(inner.root)))
