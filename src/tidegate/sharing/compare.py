"""What an incoming query can share with an executing one: complete, strict, loose, implied or none (M-15 to M-21).

A query is its operator tree: each node an operator with a set of parameters, over its inputs (Definition 5). Two nodes
are equivalent if all of that is equal (Definition 6). Streams and windows stand in the tree, so that inputs can be
compared, but do not count as something shared (M-20).

Reads: plan, security, sharing.  Read by: sharing, cli.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tidegate.plan import nodes
from tidegate.plan.conjuncts import conjuncts
from tidegate.plan.describe import describe, describe_aggregate
from tidegate.plan.expressions import Column, Expression, RowLevel, can_fail, walk
from tidegate.plan.types import LEVEL
from tidegate.security.lattice import Lattice
from tidegate.sharing.implication import implies
from tidegate.sharing.merge import Query
from tidegate.sharing.normal import movable, normal

COMPLETE, STRICT, LOOSE, IMPLIED, NONE = "complete", "strict", "loose", "implied", "none"
CLASSES = (COMPLETE, STRICT, LOOSE, IMPLIED, NONE)
"""The best first."""

SELECT, PROJECT, JOIN, SOURCE, WINDOW = "select", "project", "join", "source", "window"
BLOCKING = (JOIN, "aggregate", "distinct")
UNCOUNTED = (SOURCE, WINDOW)


@dataclass(frozen=True)
class Operator:
    """A node of an operator tree; ``synopsis`` is what must be equal besides the parameters."""

    op: str
    parameters: frozenset[object]
    synopsis: tuple[object, ...]
    inputs: tuple[Operator, ...]
    node: nodes.Node = field(compare=False, repr=False)
    apart: tuple[Expression, ...] = field(compare=False, repr=False, default=())
    """The conjuncts of a select, if they may be tested apart."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """What can be shared: the class, and the executing nodes by name, inputs first. Complete is the whole query."""

    kind: str
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """A query ready to be compared with many."""

    level: str
    emit: str
    root: Operator
    operators: tuple[Operator, ...]

    @staticmethod
    def of(query: Query) -> Compared:
        """From a query; its plan is put in normal form."""
        plan = normal(query.plan)
        root = operator_tree(plan.root)
        counted = (one for one in _upwards(root) if one.op not in UNCOUNTED)
        return Compared(query.level, plan.emit, root, tuple(dict.fromkeys(counted)))


def compare(executing: Compared, incoming: Compared, lattice: Lattice | None = None) -> Sharing:
    """The one rule of all cells (M-20), and implied sharing behind it (M-21); nothing across levels (M-15)."""
    if executing.level != incoming.level:
        return Sharing(NONE)
    if executing.root == incoming.root and executing.emit == incoming.emit:
        return Sharing(COMPLETE)
    found = [(node, _subsuming(executing, node)) for node in incoming.operators]
    names = tuple(dict.fromkeys(node_name(other.node) for _, other in found if other is not None))
    if any(other == node for node, other in found if node.op in BLOCKING):
        return Sharing(STRICT, names)
    if names:
        return Sharing(LOOSE, names)
    implied = (_implied(executing, node, lattice) for node in incoming.operators)
    names = tuple(dict.fromkeys(node_name(other.node) for other in implied if other is not None))
    return Sharing(IMPLIED, names) if names else Sharing(NONE)


def _subsuming(executing: Compared, node: Operator) -> Operator | None:
    """The executing node that is equivalent, else the one that subsumes a node and leaves least to do."""
    equal = next((one for one in executing.operators if one == node), None)
    if equal is not None:
        return equal
    wider = [one for one in executing.operators if subsumes(one, node)]
    sign = -1 if node.op == SELECT else 1
    return min(wider, key=lambda one: sign * len(one.parameters), default=None)


def subsumes(wider: Operator, node: Operator) -> bool:
    """Definition 7: the same operator over the same input, of more rows or of more columns, not blocking.

    Where a condition can fail it is one parameter, so only an equal one subsumes it; a project that can fail for a
    column that the other does not have subsumes nothing.
    """
    if wider.op != node.op or wider.inputs != node.inputs:
        return False
    if node.op == SELECT:
        return wider.parameters <= node.parameters and bool(node.apart)
    return (
        node.op == PROJECT and node.parameters <= wider.parameters and not any(map(can_fail, wider.node.expressions()))
    )


def _implied(executing: Compared, node: Operator, lattice: Lattice | None) -> Operator | None:
    for one in executing.operators if node.apart else ():
        same = one.op == node.op and one.inputs == node.inputs and one.apart
        if same and implies(node.apart, one.apart, lattice):
            return one
    return None


# ------------------------------------------------------------------------------ operator trees


def operator_tree(node: nodes.Node) -> Operator:
    """A plan's tree, labelled as the paper labels it (Definition 5)."""
    inputs = tuple(operator_tree(below) for below in node.inputs)
    op, parameters, synopsis = _label(node)
    return Operator(op, parameters, synopsis, inputs, node, movable(node))


def _label(node: nodes.Node) -> tuple[str, frozenset[object], tuple[object, ...]]:
    match node:
        case nodes.Before() | nodes.Select():
            whole = (frozenset({node.condition}), node.expressions()[1:])
            parts = movable(node)
            return (SELECT, frozenset(parts), ()) if parts else (SELECT, *whole)
        case nodes.Join(_, condition):
            apart = condition is not None and not can_fail(condition)
            return JOIN, frozenset(conjuncts(condition) if apart else (condition,)), ()
        case nodes.Aggregate(_, keys, calls, grouped):
            return "aggregate", frozenset((*keys, *calls)), (keys, calls, grouped)
        case nodes.Panes(_, seconds, keys, calls):
            return "aggregate", frozenset((*keys, *calls)), (keys, calls, seconds)
        case nodes.Project(_, columns, names):
            return PROJECT, frozenset(columns), (columns, names)
        case nodes.Windowed(_, window, partition):
            return WINDOW, frozenset(partition), (window,)
        case nodes.Distinct() | nodes.UnionAll():
            return type(node).__name__.lower(), frozenset(), ()
        case _:
            return SOURCE, frozenset({node}), ()


def _upwards(root: Operator) -> Iterator[Operator]:
    for below in root.inputs:
        yield from _upwards(below)
    yield root


# ------------------------------------------------------------------------------ names


def node_name(node: nodes.Node) -> str:
    """A node as Table 6 names it: ``select(bp)``, ``join``."""
    match node:
        case nodes.Before() | nodes.Select():
            return f"select({', '.join(_columns(node))})"
        case nodes.Join():
            return "join"
        case nodes.Aggregate() | nodes.Panes():
            calls = ", ".join(describe_aggregate(call) for call in node.calls)
            return f"aggregate({calls})"
        case nodes.Project():
            return f"project({', '.join(node.names)})"
        case nodes.Windowed(_, window):
            return f"window({window})"
        case nodes.Distinct():
            return "distinct"
        case nodes.UnionAll():
            return "union all"
        case nodes.Scan(name) | nodes.RelationScan(name):
            return name
        case _:
            return "sub-query"


def _columns(node: nodes.Before | nodes.Select) -> list[str]:
    """The columns that a condition reads, as declared; the system's level in capitals, as in the table."""
    below = node.input
    named = ["LEVEL" if entry.hidden and entry.type == LEVEL else entry.name for entry in below.schema]
    if isinstance(below, nodes.Aggregate | nodes.Panes):
        named = [*map(describe, below.keys), *map(describe_aggregate, below.calls)]
    found: dict[str, None] = {}
    for part in walk(node.condition):
        if isinstance(part, Column | RowLevel):
            found["LEVEL" if isinstance(part, RowLevel) else named[part.index]] = None
    return list(found)
