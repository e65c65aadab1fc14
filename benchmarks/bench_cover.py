"""How long does it take to find few bits for many predicates, and how few are they?

Three questions of paper 003, asked of `examples/network.matrix`, which is made up in the shape of its Figure 6: seconds
by number of rectangles, for the exhaustive search, the paper's heuristic and ours (Figure 7); bits that each needs
(Figure 8); expected invocations by bits, with and without selectivities (Figure 9). Then random matrices of the same
kind with up to 1,000 queries and 500 predicates. Seconds of the processor on one core, the median of 3 runs; the
exhaustive search runs once.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tidegate.errors import EngineError
from tidegate.sharing.bits import assign_bits, assign_bits_literally
from tidegate.sharing.invocations import expected_invocations
from tidegate.sharing.matrix import Matrix, members, read_matrix, read_selectivities
from tidegate.sharing.rectangles import Rectangle, prune, search_rectangles

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
NETWORK = read_matrix((EXAMPLES / "network.matrix").read_text())
SELECTIVITIES = read_selectivities((EXAMPLES / "network.selectivity").read_text(), NETWORK.predicates)
QUERIES = (8, 12, 16, 20, 22, 24, 50)
MOST_EXHAUSTIVE = 23
"""Rectangles up to which the exhaustive search is run: each one more doubles its time."""
BUDGETS = (0, 1, 2, 4, 8, 10, 16, 24, 30, 35)
LARGE = ((30, 70, 100), (40, 210, 400), (60, 440, 1_000), (150, 350, 1_000))
"""Shared predicates, predicates of one query, queries."""


def timed(run: Callable[[], int]) -> tuple[float, int]:
    """Median seconds of the processor, and what was found."""
    seconds, found = [], 0
    for _ in range(3):
        start = time.process_time()
        found = run()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds), found


def exhaustive(matrix: Matrix, rectangles: Sequence[Rectangle]) -> int:
    """The size of the smallest set of rectangles that covers every one: all sets of one, then of two, and so on."""
    width = len(matrix.columns)
    ones = sum(row << predicate * width for predicate, row in enumerate(matrix.rows))
    cells = [sum(one.queries << predicate * width for predicate in members(one.predicates)) for one in rectangles]
    for size in range(len(cells) + 1):
        for some in combinations(cells, size):
            left = ones
            for one in some:
                left &= ~one
            if not left:
                return size
    raise AssertionError("the rectangles do not cover the matrix")


def literally(matrix: Matrix) -> int:
    """Bits of the paper's heuristic; 0 where it finds too many rectangles."""
    try:
        return len(assign_bits_literally(matrix).composites)
    except EngineError:
        return 0


def like_the_network(shared: int, single: int, queries: int) -> Matrix:
    """Some predicates in a hundredth to a fifth of the queries, the others in one each."""
    chance = random.Random(1)
    columns = [0] * queries
    for predicate in range(shared):
        for query in chance.sample(range(queries), max(2, round(queries * chance.choice([0.01, 0.02, 0.05, 0.2])))):
            columns[query] |= 1 << predicate
    for predicate in range(shared, shared + single):
        columns[chance.randrange(queries)] |= 1 << predicate
    return Matrix(shared + single, tuple(columns))


def measured(matrix: Matrix) -> dict[str, Any]:
    """Sizes, bits and seconds of one matrix."""
    found: dict[str, Any] = {"queries": len(matrix.columns), "predicates": sum(map(bool, matrix.rows))}
    found["ours_s"], found["ours_bits"] = timed(lambda: len(assign_bits(matrix).composites))
    seconds, bits = timed(lambda: literally(matrix))
    if bits:
        rectangles = prune(search_rectangles(matrix))
        found |= {"rectangles": len(rectangles), "paper_s": seconds, "paper_bits": bits}
        if len(rectangles) <= MOST_EXHAUSTIVE:
            start = time.process_time()
            found["exhaustive_bits"] = exhaustive(matrix, rectangles)
            found["exhaustive_s"] = time.process_time() - start
    return found


def coverings() -> Table:
    """Figures 7 and 8, then larger matrices."""
    heads = ("queries", "predicates", "rectangles", "ours_bits", "paper_bits", "exhaustive_bits")
    times = ("ours_s", "paper_s", "exhaustive_s")
    names = ("queries", "predicates", "rectangles", "bits", "paper", "least", "seconds", "paper", "exhaustive")
    table = Table(*names, title="bits, and seconds to find them; rectangles after pruning")
    some = [Matrix(NETWORK.predicates, NETWORK.columns[:count]) for count in QUERIES]
    for matrix in (*some, *(like_the_network(*shape) for shape in LARGE)):
        found = measured(matrix)
        print(json.dumps({"bench": "cover", **{k: round(v, 6) for k, v in found.items()}}), flush=True)
        table.add_row(
            *(f"{found[head]:,}" if head in found else "" for head in heads),
            *(f"{found[head]:.4f}" if head in found else "" for head in times),
        )
    return table


def invocations() -> Table:
    """Figure 9."""
    table = Table("bits", "without selectivities", "with them", title="expected invocations of 50 queries per tuple")
    for budget in BUDGETS:
        given = (None, SELECTIVITIES)
        without, knowing = (expected_invocations(assign_bits(NETWORK, budget, s), SELECTIVITIES) for s in given)
        print(json.dumps({"bench": "invocations", "bits": budget, "without": without, "knowing": knowing}))
        table.add_row(str(budget), f"{without:.1f}", f"{knowing:.1f}")
    return table


def main() -> None:
    """JSON lines, then two tables."""
    tables = [coverings(), invocations()]
    for table in tables:
        Console().print(table)


if __name__ == "__main__":
    main()
