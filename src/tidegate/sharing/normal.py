"""A plan in normal form: every condition as canonical conjuncts, each in the one place that it can have (M-13, X-1).

Queries that mean the same are written in many ways. Here a condition of a join that speaks of one part moves to that
part, and a condition after a window moves before it where both mean the same. What can fail stays where it is: with
errors it matters what is tested first (Q-9).

Reads: plan.  Read by: sharing.
"""

from __future__ import annotations

from dataclasses import replace

from tidegate.plan import nodes
from tidegate.plan.conjuncts import conjuncts
from tidegate.plan.expressions import Expression, can_fail, columns, conjunction, shift
from tidegate.plan.legality import may_cross, uses_only_the_tuple
from tidegate.plan.windows import Range, Rows, Unbounded

Conjuncts = tuple[Expression, ...]


def normal(plan: nodes.QueryPlan, quiet: bool = True) -> nodes.QueryPlan:
    """The plan in normal form. It gives the same rows at the same instants.

    ``quiet``: nothing around it shows a step at which no row changes, as RSTREAM would.
    """
    quiet = quiet and plan.emit in (nodes.ISTREAM, nodes.DSTREAM)
    root = _normal(plan.root, quiet)
    return plan if root is plan.root else replace(plan, root=root)


def movable(node: nodes.Node) -> Conjuncts:
    """The conjuncts of a Select or Before that may be tested apart from each other; () if they may not.

    NULL AND error is an error, so where anything can fail the whole condition is one. Sub-queries can fail.
    """
    if not isinstance(node, nodes.Select | nodes.Before) or (isinstance(node, nodes.Select) and node.beside):
        return ()
    return () if can_fail(node.condition) else conjuncts(node.condition)


def with_inputs(node: nodes.Node, inputs: tuple[nodes.Node, ...]) -> nodes.Node:
    """A node over other inputs; the same node where they are the same."""
    if all(old is new for old, new in zip(node.inputs, inputs, strict=True)):
        return node
    if isinstance(node, nodes.Join | nodes.UnionAll):
        return replace(node, parts=inputs)
    assert isinstance(node, nodes.Above)
    return replace(node, input=inputs[0])


def _normal(node: nodes.Node, quiet: bool) -> nodes.Node:
    if isinstance(node, nodes.StreamOf | nodes.RelationOf):
        inner = normal(node.plan, quiet)
        return node if inner is node.plan else replace(node, plan=inner)
    node = with_inputs(node, tuple(_normal(below, quiet) for below in node.inputs))
    match node:
        case nodes.Before(below) if kept := movable(node):
            return _before(below, kept)
        case nodes.Select(below) if kept := movable(node):
            return _selected(below, kept, quiet)
        case nodes.Join():
            return _joined(node, quiet)
        case nodes.Windowed(below, Rows() as window, partition) if partition:
            spelled = replace(window, partition=tuple(below.schema[place].name for place in partition))
            return replace(node, window=spelled)
        case _:
            return node


def _before(below: nodes.Node, wanted: Conjuncts) -> nodes.Node:
    """Before(Before(x, p), q)  ->  Before(x, p and q)."""
    if isinstance(below, nodes.Before) and (inner := movable(below)):
        below, wanted = below.input, (*inner, *wanted)
    condition = conjunction(tuple(dict.fromkeys(wanted)))
    return nodes.Before(below, condition) if condition else below


def _selected(below: nodes.Node, wanted: Conjuncts, quiet: bool) -> nodes.Node:
    """Select(Windowed(x), p and q)  ->  Select(Windowed(Before(x, p)), q)  for every p that may cross."""
    if isinstance(below, nodes.Select) and (inner := movable(below)):
        below, wanted = below.input, (*inner, *wanted)
    if isinstance(below, nodes.Windowed) and _stays(below, quiet):
        window = below.window
        early = tuple(part for part in wanted if may_cross(part, window))
        wanted = tuple(part for part in wanted if part not in early)
        below = replace(below, input=_before(below.input, early)) if early else below
    condition = conjunction(tuple(dict.fromkeys(wanted)))
    return nodes.Select(below, condition) if condition else below


def _stays(node: nodes.Windowed, quiet: bool) -> bool:
    """Whether a condition before the window leaves what is seen of its steps as it was (Q-2).

    A tuple that never enters a RANGE window never leaves it: one step less, which only RSTREAM would show.
    """
    if isinstance(node.window, Unbounded):
        return True
    return isinstance(node.window, Range) and node.window.slide is None and quiet


def _joined(node: nodes.Join, quiet: bool) -> nodes.Node:
    """Join((x, y), p and q)  ->  Join((Select(x, p), y), q)  for every p that speaks of x alone."""
    if node.condition is None or can_fail(node.condition):
        return node
    offsets = [sum(len(part.schema) for part in node.parts[:place]) for place in range(len(node.parts))]
    early: list[list[Expression]] = [[] for _ in node.parts]
    late: list[Expression] = []
    for part in conjuncts(node.condition):
        homes = {max(place for place, offset in enumerate(offsets) if offset <= index) for index in columns(part)}
        alone = homes.pop() if len(homes) == 1 and uses_only_the_tuple(part) else None
        (late if alone is None else early[alone]).append(part)
    parts = tuple(
        _selected(part, tuple(shift(one, -offsets[place]) for one in early[place]), quiet) if early[place] else part
        for place, part in enumerate(node.parts)
    )
    return nodes.Join(parts, conjunction(tuple(late)))
