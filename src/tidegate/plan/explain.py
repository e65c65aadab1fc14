"""A plan as text and as a drawing: the same lines, with and without branches.

Reads: plan.  Read by: language, sharing, cli, tests.
"""

from __future__ import annotations

from tidegate.plan import nodes
from tidegate.plan.describe import describe, describe_aggregate
from tidegate.plan.expressions import Column, Expression


def headline(node: nodes.Node) -> str:
    """One node as one line: its operator, then its parameters (M-13)."""
    match node:
        case nodes.Scan(name, level):
            return f"scan {name}@{level}"
        case nodes.RelationScan(name, level):
            return f"relation {name}@{level}"
        case nodes.StreamOf():
            return "stream of"
        case nodes.RelationOf():
            return "relation of"
        case nodes.Before(_, condition):
            return f"select {describe(condition)} (before the window)"
        case nodes.Windowed(_, window):
            return f"window {window}"
        case nodes.Select(_, condition):
            return f"select {describe(condition)}"
        case nodes.Join(_, condition):
            return f"join on {describe(condition)}" if condition else "join (every pair)"
        case nodes.Aggregate() | nodes.Panes():
            return _groups(node)
        case nodes.Project():
            return f"project {', '.join(_column(c, n) for c, n in zip(node.columns, node.names, strict=True))}"
        case nodes.Distinct():
            return "distinct"
        case _:
            return "union all"


def _groups(node: nodes.Aggregate | nodes.Panes) -> str:
    calls = ", ".join(describe_aggregate(call) for call in node.calls) or "groups"
    keys = f" by {', '.join(describe(key) for key in node.keys)}" if node.keys else ""
    panes = f" in panes of {node.seconds} s" if isinstance(node, nodes.Panes) else ""
    return f"aggregate {calls}{keys}{panes}"


def _column(column: Expression, name: str) -> str:
    same = isinstance(column, Column) and (column.name == name or column.name.endswith(("." + name, "(…)")))
    text = describe(column)
    return name if same or text == name else f"{text} AS {name}"


def lines(plan: nodes.QueryPlan, indent: int = 0) -> list[str]:
    """The plan as indented text, the emitted stream first."""
    head = "  " * indent + f"emit {plan.emit}"
    return [head, *_lines(plan.root, indent + 1), *_scalars(plan, indent + 1)]


def _lines(node: nodes.Node, indent: int) -> list[str]:
    below = [line for child in node.inputs for line in _lines(child, indent + 1)]
    if isinstance(node, nodes.StreamOf | nodes.RelationOf):
        below = lines(node.plan, indent + 1)
    return ["  " * indent + headline(node), *below]


def _scalars(plan: nodes.QueryPlan, indent: int) -> list[str]:
    found: list[str] = []
    for number, scalar in enumerate(nodes.scalar_subqueries(plan), 1):
        found += ["  " * indent + f"scalar sub-query {number}", *lines(scalar.plan, indent + 1)]
    return found


def plan_text(plan: nodes.QueryPlan) -> str:
    """The plan as plain indented lines."""
    return "\n".join(lines(plan))


def draw(plan: nodes.QueryPlan) -> str:
    """The plan as a tree with branches.

    The indentation of :func:`lines` says who is whose child; a branch leads to each child.
    """
    return "\n".join(branches([((len(line) - len(line.lstrip())) // 2, line.lstrip()) for line in lines(plan)]))


def branches(entries: list[tuple[int, str]]) -> list[str]:
    """Lines with their depths as lines of a tree."""
    return [_branches(entries, n) + text for n, (_, text) in enumerate(entries)]


def _branches(entries: list[tuple[int, str]], number: int) -> str:
    depth = entries[number][0]
    if depth == 0:
        return ""
    trunk = ["│  " if _continues(entries, number, level) else "   " for level in range(1, depth)]
    return "".join(trunk) + ("├─ " if _continues(entries, number, depth) else "└─ ")


def _continues(entries: list[tuple[int, str]], number: int, depth: int) -> bool:
    """Whether another node follows below the same parent."""
    for later, _ in entries[number + 1 :]:
        if later < depth:
            return False
        if later == depth:
            return True
    return False
