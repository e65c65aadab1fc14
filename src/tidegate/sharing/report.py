"""What is told about sharing: the matrix of a set of queries, their merged plans, and EXPLAIN SHARING (N-4).

Reads: plan, security, sharing.  Read by: language, cli.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidegate.plan import nodes
from tidegate.plan.explain import headline
from tidegate.security.lattice import Lattice
from tidegate.sharing.compare import CLASSES, COMPLETE, IMPLIED, NONE, Compared, Sharing, compare
from tidegate.sharing.drawing import drawing
from tidegate.sharing.merge import Merged, Query, merged

Matrix = dict[str, dict[str, Sharing]]
UNNAMED = ""
"""The name of a query that is only asked about; none that is registered has it."""


def matrix(queries: Sequence[Query], lattice: Lattice, *, paper: bool = False) -> Matrix:
    """Every pair, as Table 6 has it: by the executing query, then by the incoming one. ``paper`` knows no implied."""
    names, compared = labels(queries), [Compared.of(query) for query in queries]
    return {
        row: {column: _cell(compare(one, other, lattice), paper) for column, other in zip(names, compared, strict=True)}
        for row, one in zip(names, compared, strict=True)
    }


def _cell(found: Sharing, paper: bool) -> Sharing:
    return Sharing(NONE) if paper and found.kind == IMPLIED else found


def labels(queries: Sequence[Query]) -> list[str]:
    """The name of each query; with its level where another level has the same name (Q-14)."""
    plain = [query.name.casefold() for query in queries]
    return [
        query.name if plain.count(query.name.casefold()) == 1 else f"{query.name}@{query.level}" for query in queries
    ]


def merged_drawing(queries: Sequence[Query], lattice: Lattice, *, paper: bool = False) -> str:
    """The merged plan of each level, drawn; levels in the order of their first query."""
    blocks: list[str] = []
    for level in dict.fromkeys(query.level for query in queries):
        own = [query for query in queries if query.level == level]
        blocks.append(f"level {level}\n{drawing(merged(own, lattice, implied=not paper))}")
    return "\n\n".join(blocks)


# ------------------------------------------------------------------------------ EXPLAIN SHARING


def explain_sharing(asked: Query, running: Sequence[Query], lattice: Lattice) -> tuple[str, ...]:
    """What a query shares with the running queries of its level, in order of registration; others are not looked at.

    A query that runs is compared with those registered before it, and it is said which later ones use its nodes.
    """
    own = [query for query in running if query.level == asked.level]
    place = next((place for place, query in enumerate(own) if query.name == asked.name), len(own))
    before, after = own[:place], own[place + 1 :]
    return tuple(_lines(asked, before, merged([*before, asked, *after], lattice), lattice))


def _lines(asked: Query, before: Sequence[Query], whole: Merged, lattice: Lattice) -> Iterator[str]:
    found, partner = _best(asked, before, lattice)
    yield f"{asked.name or 'this query'} at {asked.level}: {found.kind}" + (f", with {partner.name}" if partner else "")
    if found.nodes and partner:
        yield f"shared with {partner.name}: {', '.join(found.nodes)}"
    if found.kind == COMPLETE:
        yield "new: nothing"
        return
    earlier = {query.name for query in before}
    counted = [node for node in whole.nodes if _counts(node, asked, whole)]
    for node in counted:
        if names := [name for name in whole.users[node] if name in earlier]:
            yield f"reused: {headline(node)}, of {', '.join(names)}"
    for node in counted:
        if earlier.isdisjoint(whole.users[node]):
            yield f"new: {headline(node)}"
    for node in counted:
        if names := [name for name in whole.users[node] if name not in (*earlier, asked.name)]:
            yield f"used by {', '.join(names)}: {headline(node)}"


def _counts(node: nodes.Node, asked: Query, whole: Merged) -> bool:
    """Streams and relations are there anyway."""
    return asked.name in whole.users[node] and not isinstance(node, nodes.Scan | nodes.RelationScan)


def _best(asked: Query, before: Sequence[Query], lattice: Lattice) -> tuple[Sharing, Query | None]:
    """The best class, then the most nodes, then the query registered first."""
    incoming = Compared.of(asked)
    found = [(compare(Compared.of(query), incoming, lattice), query) for query in before]
    found.sort(key=lambda one: (CLASSES.index(one[0].kind), -len(one[0].nodes)))
    return found[0] if found and found[0][0].kind != NONE else (Sharing(NONE), None)
