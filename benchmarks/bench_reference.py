"""How fast is the specification itself? Statements bound per second, and tuples per second through the reference.

2,000 generated vitals of four levels, one query at TS at a time; a warm-up, then the median of 5. These figures are
the floor that every faster engine is compared with; nothing depends on them.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from tidegate.case import Case, read_case
from tidegate.catalog import STREAM, Catalog
from tidegate.catalog import Table as Stream
from tidegate.language.binder import bind_query
from tidegate.language.parser import parse
from tidegate.language.syntax import Select
from tidegate.reference.replay import replay

TUPLES = 2_000
RUNS = 5
QUERIES = {
    "select": "SELECT sid, bp FROM Vitals WHERE bp > 120",
    "average": "SELECT AVG(bp) FROM Vitals [ROWS 100]",
    "groups": "SELECT level, AVG(wt) FROM Vitals [ROWS 100] WHERE wt > 100 GROUP BY level",
    "range": "SELECT COUNT(*) FROM Vitals [RANGE 10 SECONDS]",
    "join": "SELECT a.sid, b.bp FROM Vitals [ROWS 20] a, Vitals [ROWS 20] b WHERE a.sid = b.sid",
    "panes": "SELECT t, sid, SUM(wt) FROM Vitals GROUP BY time/60 AS t, sid",
}


def vitals() -> list[dict[str, object]]:
    """The same stream every time."""
    chance = random.Random(1)
    return [
        {
            "stream": "Vitals",
            "time": n / 10,
            "level": chance.choice(["U", "C", "S", "TS"]),
            "row": {"sid": chance.randrange(50), "wt": chance.uniform(50, 250), "bp": chance.uniform(50, 200)},
        }
        for n in range(TUPLES)
    ]


def case_of(query: str, stream: list[dict[str, object]]) -> Case:
    """One query over the stream."""
    columns = {"sid": "int", "wt": "double", "bp": "double"}
    queries = [{"name": "q", "at": "TS", "text": query}]
    return read_case(
        json.dumps({"levels": "blp4", "streams": {"Vitals": columns}, "queries": queries, "input": stream})
    )


def median_seconds(run: Callable[[], object]) -> float:
    """Warm up once, then the median."""
    run()
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def bind(text: str, catalog: Catalog, case: Case) -> None:
    """Parse and bind one text."""
    statement = parse(text)
    assert isinstance(statement, Select)
    bind_query(statement, catalog, case.lattice.top)


def main() -> None:
    """One JSON line per setting, then a table."""
    stream = vitals()
    table = Table("query", "bind (per s)", "replay (tuples/s)", title=f"reference, {TUPLES:,} tuples, median of {RUNS}")
    for name, text in QUERIES.items():
        case = case_of(text, stream)
        vital = Stream(STREAM, case.lattice.bottom, "Vitals", 0, case.streams["Vitals"])
        catalog = Catalog(case.lattice).add(vital)
        bound = 1 / median_seconds(lambda text=text, catalog=catalog, case=case: bind(text, catalog, case))  # type: ignore[misc]
        rate = TUPLES / median_seconds(lambda case=case: list(replay(case)))  # type: ignore[misc]
        print(
            json.dumps({"bench": "reference", "query": name, "bind_per_s": round(bound), "tuples_per_s": round(rate)})
        )
        table.add_row(name, f"{bound:,.0f}", f"{rate:,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
