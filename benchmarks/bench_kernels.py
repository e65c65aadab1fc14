"""How many tuples per second do the kernels take on one core?

Generated vitals and positions of four levels, one tuple per microsecond, in epochs of 100,000; one query at a time at
TS, a warm-up, then the median of 3 runs of a million tuples. Results are computed but not printed.
"""

from __future__ import annotations

import json
import statistics
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from tidegate.catalog import STREAM, Catalog
from tidegate.catalog import Table as Stream
from tidegate.language.binder import bind_query
from tidegate.language.parser import parse
from tidegate.language.syntax import Select
from tidegate.operators.batch import Batch
from tidegate.operators.evaluate import Evaluator
from tidegate.operators.query import Arrived, QueryKernel
from tidegate.operators.vector import Failures, LevelTable, Vector
from tidegate.plan import nodes
from tidegate.plan.schema import Field
from tidegate.plan.types import BIGINT, DOUBLE, INT, LEVEL
from tidegate.security.declare import declare

TUPLES, EPOCH, RUNS = 1_000_000, 100_000, 3
LATTICE = declare("blp4")
QUERIES = {
    "select": "SELECT sid, wt FROM Vitals [ROWS 100] WHERE wt > 100 AND wt < 200",
    "average": "SELECT AVG(wt) FROM Vitals [ROWS 100]",
    "average by level": "SELECT AVG(wt) FROM Vitals [ROWS 100] WHERE wt > 100 AND wt < 200 GROUP BY level",
    "minimum and maximum": "SELECT MIN(wt), MAX(wt) FROM Vitals [ROWS 100]",
    "join": "SELECT V.sid, wt, lat FROM Position [ROWS 100] P, Vitals [ROWS 50] V WHERE V.sid = P.sid AND wt > 100",
}


def catalog() -> Catalog:
    """The two streams of paper 000."""
    vitals = Stream(STREAM, LATTICE.bottom, "Vitals", 1, (Field("sid", INT), Field("wt", DOUBLE)))
    position = Stream(STREAM, LATTICE.bottom, "Position", 2, (Field("sid", INT), Field("lat", DOUBLE)))
    return Catalog(LATTICE).add(vitals).add(position)


def plan_of(text: str) -> nodes.QueryPlan:
    """A query as TS asks it."""
    statement = parse(text)
    assert isinstance(statement, Select)
    return bind_query(statement, catalog(), LATTICE.top)


def epochs(plan: nodes.QueryPlan) -> list[dict[nodes.Scan, Arrived]]:
    """The same tuples every time, shared out between the streams of the query."""
    chance = np.random.default_rng(1)
    scans = list(dict.fromkeys(nodes.scans(plan)))
    return [
        {scan: _tuples(chance, start + n, EPOCH // len(scans), len(scans)) for n, scan in enumerate(scans)}
        for start in range(0, TUPLES, EPOCH)
    ]


def _tuples(chance: np.random.Generator, start: int, count: int, step: int) -> Arrived:
    instants = np.arange(count, dtype=np.int64) * step + start
    level = chance.integers(0, 4, count)
    columns = (
        Vector(INT, chance.integers(0, 500, count)),
        Vector(DOUBLE, chance.uniform(50, 250, count)),
        Vector(LEVEL, level),
        Vector(BIGINT, instants // 1_000_000),
    )
    return Arrived(Batch(columns, level), instants)


def seconds(plan: nodes.QueryPlan, stream: list[dict[nodes.Scan, Arrived]]) -> float:
    """One run over the whole stream."""
    levels = LevelTable(LATTICE)
    levels.encode(list(LATTICE.levels()))
    kernel = QueryKernel(plan, Evaluator(levels, Failures(), lambda node, arguments: []), {})
    start = time.perf_counter()
    for number, epoch in enumerate(stream):
        kernel.advance(epoch, number * EPOCH - 1, (number + 1) * EPOCH - 1)
    return time.perf_counter() - start


def main() -> None:
    """One JSON line per query, then a table."""
    table = Table("query", "tuples/s", title=f"kernels, {TUPLES:,} tuples, epochs of {EPOCH:,}, median of {RUNS}")
    for name, text in QUERIES.items():
        plan = plan_of(text)
        stream = epochs(plan)
        seconds(plan, stream)
        rate = TUPLES / statistics.median(seconds(plan, stream) for _ in range(RUNS))
        print(json.dumps({"bench": "kernels", "query": name, "tuples_per_s": round(rate)}))
        table.add_row(name, f"{rate:,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
