"""What the queries of a level want of a stream: which tuples, by conditions that are cheap to test, and which columns.

One prefilter per stream and level (P-1): a shared one would let a low query feel the conditions of high ones. A query
wants a tuple if all of its cheap conditions before the window hold (P-2); one without any wants every tuple. Conditions
in normal form are equal if they are written the same (P-1); join conditions stay out.

Reads: plan, sharing (normal).  Read by: sharing, engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tidegate.plan import expressions as ex
from tidegate.plan import nodes
from tidegate.plan.expressions import Expression
from tidegate.sharing.normal import movable

MOST_WANTED = 0.5
"""Where more of the tuples are wanted they are all taken: picking them would cost more than it saves."""

_CHEAP = (ex.Column, ex.Literal, ex.Compare, ex.In, ex.Between, ex.IsNull, ex.And, ex.Or, ex.Not, ex.Convert)


def is_cheap(condition: Expression) -> bool:
    """Comparisons of columns with constants, whatever AND, OR and NOT make of them; of texts only with constants."""
    return all(isinstance(part, _CHEAP) for part in ex.walk(condition)) and all(
        test_of_text(part) for part in ex.walk(condition) if isinstance(part, ex.Compare) and _about_text(part)
    )


def _about_text(test: ex.Compare) -> bool:
    return test.left.type.name in ("string", "binary", "decimal")


def test_of_text(test: Expression) -> tuple[ex.Column, ex.Literal] | None:
    """A column of texts beside a constant: what can be tested without making an object of each text."""
    match test:
        case ex.Compare(_, ex.Column() as column, ex.Literal() as literal) if column.type.name == "string":
            return (column, literal) if isinstance(literal.value, str) else None
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Kept:
    """A condition directly behind a stream that its query tests itself, and why."""

    condition: Expression
    reason: str


NOT_CHEAP, CAN_FAIL, BEHIND_ONE = "not cheap", "can fail", "behind one that can fail"


@dataclass(frozen=True, slots=True)
class Want:
    """What a query wants of a stream: tuples for which all conditions hold (none: every tuple), and some columns.

    The columns are those that are read behind the conditions; ``tested`` are those that the conditions read.
    """

    scan: nodes.Scan
    conditions: tuple[Expression, ...]
    columns: frozenset[int]
    tested: frozenset[int]
    kept: tuple[Kept, ...] = ()


def wants(plan: nodes.QueryPlan, *, by_bits: bool = True) -> Iterator[Want]:
    """What a plan wants of each stream, once for each time that it reads it; sub-queries included.

    Without ``by_bits`` conditions are tested again later, and their columns read.
    """
    for inner in nodes.every_plan(plan):
        everything = frozenset(range(len(inner.columns)))
        yield from _below(inner.root, everything, by_bits)


def _below(node: nodes.Node, read: frozenset[int], by_bits: bool) -> Iterator[Want]:
    """The wants of the streams below a node of whose columns some are read."""
    match node:
        case nodes.Scan() | nodes.Before():
            yield from _want(node, read, by_bits)
        case nodes.Project(below) | nodes.Aggregate(below) | nodes.Panes(below):
            yield from _below(below, _columns(node.expressions()), by_bits)
        case nodes.Select(below, condition, beside):
            yield from _below(below, read | _columns((condition, *beside)), by_bits)
        case nodes.Windowed(below, _, partition):
            yield from _below(below, read | frozenset(partition), by_bits)
        case nodes.Join(parts):
            yield from _parts(parts, read | _columns(node.expressions()), by_bits)
        case nodes.Distinct(below):
            yield from _below(below, frozenset(range(len(below.schema))), by_bits)
        case nodes.UnionAll(parts):
            for part in parts:
                yield from _below(part, read, by_bits)
        case _:
            return  # relations, and sub-queries, which are asked for themselves


def _parts(parts: tuple[nodes.Node, ...], read: frozenset[int], by_bits: bool) -> Iterator[Want]:
    start = 0
    for part in parts:
        width = len(part.schema)
        yield from _below(part, frozenset(one - start for one in read if start <= one < start + width), by_bits)
        start += width


def _want(node: nodes.Node, read: frozenset[int], by_bits: bool) -> Iterator[Want]:
    """The conditions directly behind the stream, as far as they are cheap and nothing before them can fail."""
    chain = list[nodes.Before]()
    while isinstance(node, nodes.Before):
        chain.append(node)
        node = node.input
    if not isinstance(node, nodes.Scan):
        return  # over a sub-query
    conditions, kept = list[Expression](), list[Kept]()
    for before in reversed(chain):
        cheap, others = _sorted(before, any(one.reason == CAN_FAIL for one in kept))
        conditions, kept = [*conditions, *cheap], [*kept, *others]
        if others or not by_bits:
            read |= _columns((before.condition,))
    yield Want(node, tuple(dict.fromkeys(conditions)), read, _columns(conditions), tuple(kept))


def _sorted(before: nodes.Before, has_failing: bool) -> tuple[list[Expression], list[Kept]]:
    """What may be tested in the prefilter, and what stays where it is."""
    parts = movable(before)
    if not parts:
        return [], [Kept(before.condition, CAN_FAIL)]
    if has_failing:
        return [], [Kept(part, BEHIND_ONE) for part in parts]
    cheap = [part for part in parts if is_cheap(part)]
    return cheap, [Kept(part, NOT_CHEAP) for part in parts if not is_cheap(part)]


def _columns(expressions: Iterable[Expression]) -> frozenset[int]:
    return frozenset(column for one in expressions for column in ex.columns(one))
