"""What is told about the prefilter: EXPLAIN PREFILTER, for each stream that a query reads (N-8).

Everything is found from the plans alone, in normal form as they run; what the prefilter did is counted elsewhere. Only
names of the asker's level are said (X-2). Streams that are derived at levels below read the same tuples at the asker's
level, so they count, but have no name here.

Reads: plan, sharing.  Read by: language.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tidegate.plan import expressions as ex
from tidegate.plan import nodes
from tidegate.plan.describe import describe
from tidegate.sharing.bits import assign_bits
from tidegate.sharing.matrix import matrix_of, members
from tidegate.sharing.merge import Query, every_node
from tidegate.sharing.normal import movable, normal
from tidegate.sharing.prefilter import CAN_FAIL, MOST_WANTED, Kept, Want, wants

AFTER_WINDOW = "after its window"


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a stream, what it wants of it, once for each time that it reads it, and what it tests itself."""

    label: str
    is_own: bool
    wants: tuple[Want, ...]
    kept: tuple[Kept, ...]

    @property
    def always_runs(self) -> bool:
        """Whether it wants every tuple."""
        return any(not want.conditions for want in self.wants)


def explain_prefilter(asked: Query, running: Sequence[Query]) -> tuple[str, ...]:
    """For each stream that a query reads: bits, signatures, columns, and whether rows can be left out.

    ``running`` is what runs at the asker's level, in order of registration; the asked query is added if it does not
    run. What is of another level is not named.
    """
    together = [*running, *(() if asked in running else (asked,))]
    plans = [(query, normal(query.plan)) for query in together]
    streams = dict.fromkeys(nodes.scans(asked.plan))
    return tuple(line for scan in streams for line in _lines(scan, _readers(scan, plans, asked.level)))


def _readers(scan: nodes.Scan, plans: Sequence[tuple[Query, nodes.QueryPlan]], level: str) -> list[Reader]:
    found = list[Reader]()
    for query, plan in plans:
        if own := tuple(want for want in wants(plan) if want.scan == scan):
            kept = dict.fromkeys((*(one for want in own for one in want.kept), *_after_windows(plan, scan)))
            found.append(Reader(_label(query, level), query.level == level, own, tuple(kept)))
    return found


def _label(query: Query, level: str) -> str:
    return (query.name or "this query") if query.level == level else f"a stream of {query.level}"


def _after_windows(plan: nodes.QueryPlan, scan: nodes.Scan) -> Iterator[Kept]:
    """The conditions over a window of the stream: those that may cross it are before it in normal form."""
    for node in every_node(plan):
        if isinstance(node, nodes.Select) and _source(node) == scan:
            parts = movable(node)
            yield from (Kept(part, AFTER_WINDOW) for part in parts)
            yield from () if parts else (Kept(node.condition, CAN_FAIL),)


def _source(node: nodes.Node) -> nodes.Node:
    while isinstance(node, nodes.Select | nodes.Windowed | nodes.Before):
        node = node.input
    return node


# ------------------------------------------------------------------------------ one stream


def _lines(scan: nodes.Scan, readers: Sequence[Reader]) -> Iterator[str]:
    name = f"{scan.name}@{scan.level}"
    if scan.serial:
        yield f"{name} is derived: its rows are made where they are read, and none is filtered before"
        return
    matrix, predicates = matrix_of(want.conditions for reader in readers for want in reader.wants)
    bits = assign_bits(matrix)
    predicates = tuple(_as_declared(one, scan) for one in predicates)
    counts = _count(len(predicates), "cheap predicate"), _count(len(bits.composites), "bit")
    yield f"{name}: read by {len(readers)}, {', '.join(counts)}"
    for number, composite in enumerate(bits.composites, 1):
        yield f"bit {number}: {_text(tuple(predicates[place] for place in members(composite)))}"
    shown = (bits.shown(place) for place in range(len(matrix.columns)))
    for reader in readers:
        signatures = dict.fromkeys(next(shown) for _ in reader.wants)
        yield f"{reader.label}: {_why_always(reader) if reader.always_runs else ' or '.join(signatures)}"
    yield from _kept(scan, readers)
    yield _columns(scan, [want for reader in readers for want in reader.wants])
    yield _rows(readers)


def _why_always(reader: Reader) -> str:
    if any(want.conditions for want in reader.wants):
        return f"always runs, it reads {len(reader.wants)} times and tests nothing here for one of them"
    return f"always runs, {'its conditions stay in it' if reader.kept else 'it has no condition'}"


def _kept(scan: nodes.Scan, readers: Sequence[Reader]) -> Iterator[str]:
    """The conditions that their query tests itself; those of a stream of a level below are not told."""
    for reader in readers:
        for kept in reader.kept if reader.is_own else ():
            yield f"stays in {reader.label}: {describe(_as_declared(kept.condition, scan))} ({kept.reason})"


def _columns(scan: nodes.Scan, asked: Sequence[Want]) -> str:
    """How many of the declared columns are taken out of the file, and which are only tested there."""
    taken = frozenset(column for want in asked for column in want.columns)
    tested = frozenset(column for want in asked for column in want.tested) - taken
    names = [", ".join(field.name for place, field in enumerate(scan.fields) if place in of) for of in (taken, tested)]
    count = sum(place in taken for place in range(len(scan.fields)))
    return f"columns: {count} of {len(scan.fields)} taken" + "".join(
        f"{before}{listed}" for before, listed in zip((": ", "; only tested: "), names, strict=True) if listed
    )


def _rows(readers: Sequence[Reader]) -> str:
    always = sorted((reader for reader in readers if reader.always_runs), key=lambda reader: not reader.is_own)
    if always:
        return f"rows: all taken, {always[0].label} wants every one"
    return f"rows: those that nobody wants are left out, unless more than {MOST_WANTED:.0%} are wanted"


# ------------------------------------------------------------------------------ words


def _as_declared(condition: ex.Expression, scan: nodes.Scan) -> ex.Expression:
    """The condition with columns named as the stream declares them: queries may call it by other names."""

    def named(part: ex.Expression) -> ex.Expression:
        return replace(part, name=scan.schema[part.index].name) if isinstance(part, ex.Column) else part

    return ex.rewrite(condition, named)


def _text(parts: tuple[ex.Expression, ...]) -> str:
    whole = ex.conjunction(parts)
    assert whole is not None
    return describe(whole)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
