"""How many tuples per second do the kernels take on one core, and how many do batch engines?

Generated vitals and positions of four levels, one tuple per microsecond, in epochs of 100,000; one query at a time at
TS, a warm-up, then the median of 4 runs of a million tuples. Results are computed but not printed.

Where polars and DuckDB are installed (extra ``bench``) they answer, with one thread each, what they can say of the same
rows, all million at once; runs go there and back (A B C C B A), so that a slow spell of the machine meets all. They
compute no levels and no differences of steps, and do not promise exact sums.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from tidegate.catalog import STREAM, Catalog
from tidegate.catalog import Table as Stream
from tidegate.language.binder import bind_query
from tidegate.language.parser import parse
from tidegate.language.syntax import Select
from tidegate.operators.batch import Arrived, Batch, arrived
from tidegate.operators.evaluate import Evaluator
from tidegate.operators.query import QueryKernel
from tidegate.operators.vector import Failures, LevelTable, Vector
from tidegate.plan import nodes
from tidegate.plan.schema import Field
from tidegate.plan.types import BIGINT, DOUBLE, INT, LEVEL
from tidegate.security.declare import declare

TUPLES, EPOCH, ROUNDS = 1_000_000, 100_000, 2
LATTICE = declare("blp4")
QUERIES = {
    "select": "SELECT sid, wt FROM Vitals [ROWS 100] WHERE wt > 100 AND wt < 200",
    "average": "SELECT AVG(wt) FROM Vitals [ROWS 100]",
    "average by level": "SELECT AVG(wt) FROM Vitals [ROWS 100] WHERE wt > 100 AND wt < 200 GROUP BY level",
    "average by partition": "SELECT AVG(wt) FROM Vitals [PARTITIONED BY level ROWS 100]",
    "minimum": "SELECT MIN(wt) FROM Vitals [ROWS 100]",
    "minimum and maximum": "SELECT MIN(wt), MAX(wt) FROM Vitals [ROWS 100]",
    "join": "SELECT V.sid, wt, lat FROM Position [ROWS 100] P, Vitals [ROWS 50] V WHERE V.sid = P.sid AND wt > 100",
}
Run = Callable[[], tuple[float, list[float]]]
"""One run over all tuples: the seconds that it took, and the values of the last row."""


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
    return arrived(Batch(columns, level), instants)


def kernels(plan: nodes.QueryPlan, stream: list[dict[nodes.Scan, Arrived]]) -> tuple[float, list[float]]:
    """One run over the whole stream."""
    levels = LevelTable(LATTICE)
    levels.encode(list(LATTICE.levels()))
    kernel = QueryKernel(plan, Evaluator(levels, Failures(), lambda node, arguments, rows: []), {})
    start = time.perf_counter()
    for number, epoch in enumerate(stream):
        kernel.advance(epoch, number * EPOCH - 1, (number + 1) * EPOCH - 1)
    taken = time.perf_counter() - start
    assert kernel.emitted is not None
    return taken, [float(column.data[-1]) for column in kernel.emitted.rows.columns]


# ------------------------------------------------------------------------------ batch engines


def vitals() -> dict[str, Any]:
    """The same vitals as columns."""
    rows = [arrived for epoch in epochs(plan_of(QUERIES["average"])) for arrived in epoch.values()]
    places = {"sid": 0, "wt": 1, "level": 2}
    columns = {name: np.concatenate([r.rows.columns[n].data for r in rows]) for name, n in places.items()}
    return {**columns, "instant": np.concatenate([r.instants for r in rows])}


def polars_runs() -> dict[str, Run]:
    """What polars can say of the queries."""
    os.environ["POLARS_MAX_THREADS"] = "1"  # read when it is imported
    pl = importlib.import_module("polars")
    wt, level, last = pl.col("wt"), pl.col("level"), {"window_size": 100, "min_samples": 1}
    asked = {
        "average": [wt.rolling_mean(**last)],
        "average by level": [
            pl.when((wt > 100) & (wt < 200) & (level == n)).then(wt).rolling_mean(**last).alias(f"{n}")
            for n in range(4)
        ],
        "average by partition": [wt.rolling_mean(**last).over("level")],
        "minimum": [wt.rolling_min(**last)],
        "minimum and maximum": [wt.rolling_min(**last).alias("least"), wt.rolling_max(**last).alias("most")],
    }
    frame = pl.DataFrame(vitals())

    def run(columns: list[Any]) -> tuple[float, list[float]]:
        start = time.perf_counter()
        found = frame.select(columns)
        return time.perf_counter() - start, list(found.row(-1))

    return {name: lambda columns=columns: run(columns) for name, columns in asked.items()}  # type: ignore[misc]


def duckdb_runs() -> dict[str, Run]:
    """What DuckDB can say of the queries."""
    duckdb = importlib.import_module("duckdb")
    pyarrow = importlib.import_module("pyarrow")
    last = "(ORDER BY instant ROWS 99 PRECEDING)"
    by_level = ", ".join(
        f"avg(wt) FILTER (wt > 100 AND wt < 200 AND level = {n}) OVER {last} AS l{n}" for n in range(4)
    )
    asked = {
        "average": f"avg(wt) OVER {last}",
        "average by level": by_level,
        "average by partition": f"instant, avg(wt) OVER (PARTITION BY level {last[1:]}",
        "minimum": f"min(wt) OVER {last}",
        "minimum and maximum": f"min(wt) OVER {last}, max(wt) OVER {last}",
    }
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.register("arrived", pyarrow.table(vitals()))
    connection.execute("CREATE TABLE vitals AS SELECT * FROM arrived")

    def run(columns: str) -> tuple[float, list[float]]:
        start = time.perf_counter()
        found = connection.execute(f"SELECT {columns} FROM vitals").fetchnumpy()
        taken = time.perf_counter() - start
        at = int(found["instant"].argmax()) if "instant" in found else -1
        return taken, [float(column[at]) for column in found.values()]

    return {name: lambda columns=columns: run(columns) for name, columns in asked.items()}  # type: ignore[misc]


def installed() -> dict[str, dict[str, Run]]:
    """The batch engines that are there."""
    engines = {"polars": polars_runs, "duckdb": duckdb_runs}
    found = {name: runs() for name, runs in engines.items() if importlib.util.find_spec(name)}
    for name in engines.keys() - found.keys():
        print(f"{name} is not installed (extra: bench): the comparison with it is left out")
    return found


# ------------------------------------------------------------------------------ the race


def rates(runs: dict[str, Run]) -> dict[str, float]:
    """Tuples per second of each engine: a warm-up in which all must agree, then there and back, and the median."""
    answers = {engine: run()[1] for engine, run in runs.items()}
    for answer in answers.values():
        assert all(np.isclose(value, answer).any() for value in answers["tidegate"])
    seconds: dict[str, list[float]] = {engine: [] for engine in runs}
    for engine in [*runs, *reversed(runs)] * ROUNDS:
        seconds[engine].append(runs[engine]()[0])
    return {engine: TUPLES / statistics.median(taken) for engine, taken in seconds.items()}


def main() -> None:
    """One JSON line per query and engine, then a table."""
    others = installed()
    title = f"tuples per second on one core, {TUPLES:,} tuples, median of {2 * ROUNDS}; kernels in epochs of {EPOCH:,}"
    table = Table("query", "tidegate", *others, title=title)
    for name, text in QUERIES.items():
        plan = plan_of(text)
        stream = epochs(plan)
        runs: dict[str, Run] = {"tidegate": lambda plan=plan, stream=stream: kernels(plan, stream)}  # type: ignore[misc]
        runs |= {engine: asked[name] for engine, asked in others.items() if name in asked}
        found = rates(runs)
        for engine, rate in found.items():
            print(json.dumps({"bench": "kernels", "query": name, "engine": engine, "tuples_per_s": round(rate)}))
        table.add_row(name, *(f"{found[e]:,.0f}" if e in found else "" for e in ("tidegate", *others)))
    Console().print(table)


if __name__ == "__main__":
    main()
