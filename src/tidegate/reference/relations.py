"""Relation to relation: the rows of a node, computed anew at every step (R2R).

Reads: plan, reference.  Read by: query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product

from tidegate.plan import nodes
from tidegate.plan.expressions import Aggregate as AggregateCall
from tidegate.plan.expressions import Expression
from tidegate.reference.evaluate import World, evaluate, is_true, level_with
from tidegate.reference.rows import Row, key_of, matters
from tidegate.scalars.aggregates import aggregate
from tidegate.scalars.values import Failure, representative

Leaves = Mapping[nodes.Node, list[Row]]


def rows_of(node: nodes.Node, leaves: Leaves, world: World) -> list[Row]:
    """The relation of a node, given the relations of windows, stored relations and sub-queries."""
    match node:
        case nodes.Select(below, condition, beside):
            return selected(rows_of(below, leaves, world), condition, world, beside)
        case nodes.Project(below, columns):
            return _projected(rows_of(below, leaves, world), columns, world)
        case nodes.Join(parts, condition):
            return _joined([rows_of(part, leaves, world) for part in parts], condition, world)
        case nodes.Aggregate(below):
            return grouped(node, rows_of(below, leaves, world), world)
        case nodes.Distinct(below):
            return _distinct(rows_of(below, leaves, world), world)
        case nodes.UnionAll(parts):
            return [row for part in parts for row in rows_of(part, leaves, world)]
        case _:
            return leaves[node]


def selected(rows: list[Row], condition: Expression, world: World, beside: tuple[Expression, ...] = ()) -> list[Row]:
    """The rows for which the condition is true; its scalar sub-queries count in their levels (Q-6)."""
    failures: list[Failure] = []
    raised = [Row(row.values, level_with(row.level, (condition, *beside), world)) for row in rows]
    kept = [row for row in raised if is_true(condition, row, world, failures)]
    matters(failures)
    return kept


def _joined(parts: list[list[Row]], condition: Expression | None, world: World) -> list[Row]:
    """Every combination whose condition is true; its level is the lub of the joined tuples (Q-6)."""
    pairs = [
        Row(tuple(value for row in rows for value in row.values), world.lattice.lub_of(row.level for row in rows))
        for rows in product(*parts)
    ]
    return pairs if condition is None else selected(pairs, condition, world)


def _projected(rows: list[Row], columns: tuple[Expression, ...], world: World) -> list[Row]:
    """The SELECT list; an error in a kept row matters (Q-9)."""
    failures: list[Failure] = []
    result: list[Row] = []
    for row in rows:
        raised = Row(row.values, level_with(row.level, columns, world))
        values = tuple(evaluate(column, raised, world) for column in columns)
        failures += [value for value in values if isinstance(value, Failure)]
        result.append(Row(values, raised.level))
    matters(failures)
    return result


def grouped(node: nodes.Aggregate | nodes.Panes, rows: list[Row], world: World) -> list[Row]:
    """One row per group, at the lub of the whole group; without GROUP BY one row, at the bottom if empty (Q-6, Q-7)."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    failures: list[Failure] = []
    for row in rows:
        values = tuple(evaluate(key, row, world) for key in node.keys)
        failures += [value for value in values if isinstance(value, Failure)]
        groups.setdefault(key_of(values), []).append(row)
    matters(failures)
    _check_arguments(node, rows, world)
    if isinstance(node, nodes.Aggregate) and not node.grouped:
        groups = {(): rows}
    return [_group(node, members, world) for members in groups.values()]


def _check_arguments(node: nodes.Aggregate | nodes.Panes, rows: list[Row], world: World) -> None:
    """Q-9: an error in an aggregate's input matters, whatever HAVING would say of its group."""
    inputs = (evaluate(call.argument, row, world) for call in node.calls if call.argument for row in rows)
    matters([value for value in inputs if isinstance(value, Failure)])


def _group(node: nodes.Aggregate | nodes.Panes, members: list[Row], world: World) -> Row:
    keys = tuple(representative(evaluate(key, members[0], world)) for key in node.keys)
    results = [_aggregated(call, members, world) for call in node.calls]
    level = world.lattice.lub_of(row.level for row in members)
    return Row((*keys, *results), level_with(level, _reasons(node), world))


def _reasons(node: nodes.Aggregate | nodes.Panes) -> tuple[Expression, ...]:
    """What a group's level depends on besides its rows: without GROUP BY also the conditions that left none (Q-6)."""
    alone = isinstance(node, nodes.Aggregate) and not node.grouped
    return (*node.expressions(), *(nodes.conditions_below(node.input) if alone else ()))


def _aggregated(call: AggregateCall, members: list[Row], world: World) -> object:
    values = [evaluate(call.argument, row, world) if call.argument else None for row in members]
    return aggregate(call, values, world.lattice)


def _distinct(rows: list[Row], world: World) -> list[Row]:
    """One row for all that are the same, at the lub of all duplicates (Q-6)."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(key_of(row.values), []).append(row)
    return [
        Row(tuple(representative(value) for value in same[0].values), world.lattice.lub_of(row.level for row in same))
        for same in groups.values()
    ]


def difference(new: list[Row], old: list[Row], text: Callable[[Row], str]) -> list[Row]:
    """Q-5: the bag difference over (values, level), where NaN = NaN, -0.0 = 0.0 and NULL = NULL.

    Rows that are equal to the bit cancel first, then rows that are only the same, in the order of their text: so
    which of 0.0 and -0.0 remains is a function of the two bags.
    """
    exact_new, exact_old = Counter(map(_exact, new)), Counter(map(_exact, old))
    gained = _remaining(new, exact_new - exact_old, text)
    lost = _remaining(old, exact_old - exact_new, text)
    cancelled = Counter(_class_of(row) for row in lost)
    result: list[Row] = []
    for row in gained:
        if cancelled[_class_of(row)] > 0:
            cancelled[_class_of(row)] -= 1
        else:
            result.append(row)
    return result


def _exact(row: Row) -> tuple[object, ...]:
    return (*(repr(value) if isinstance(value, float) else value for value in row.values), row.level)


def _class_of(row: Row) -> tuple[object, ...]:
    return (*key_of(row.values), row.level)


def _remaining(rows: list[Row], counts: Counter[tuple[object, ...]], text: Callable[[Row], str]) -> list[Row]:
    left = Counter(counts)
    kept: list[Row] = []
    for row in rows:
        if left[_exact(row)] > 0:
            left[_exact(row)] -= 1
            kept.append(row)
    return sorted(kept, key=text)
