"""A contestant: Apache Flink SQL, in one JVM, as separate INSERTs or as one statement set, into a black hole.

What a good user would set: one thread per operator (there are more queries than cores), no copies between operators
(`pipeline.object-reuse`), state on the heap, no checkpoints, which is Flink's default and spares it what the others do.

Not the same in meaning: no levels of rows and no differences of steps, so an OVER window gives a row for each tuple,
changed or not; AVG … GROUP BY level becomes four columns; sums are not exact; and joins of row windows do not exist: it
is a join by time, which gives the same pairs only because tuples come at even distances here. The package brings no
Parquet, so it reads CSV; complete 1 as a statement set is hardly more than that reading.

Reads: contest.  Read by: bench_against, in a Python of its own.
"""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any

from contest import Answer, Request, serve

SETTINGS = {"parallelism.default": "1", "pipeline.object-reuse": "true"}
SOURCE = """CREATE TEMPORARY TABLE {name} (sid INT, {value} DOUBLE, level STRING, ms BIGINT,
 ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts)
 WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"""


def environment(request: Request) -> Any:
    """A table environment with the streams of the request."""
    table = importlib.import_module("pyflink.table")
    found = table.TableEnvironment.create(table.EnvironmentSettings.in_streaming_mode())
    for name, value in SETTINGS.items():
        found.get_config().set(name, value)
    for name, value in request["streams"].items():
        path = Path(request["directory"], f"{name}.csv")
        found.execute_sql(SOURCE.format(name=name, value=value, path=path))
    return found


def answer(request: Request) -> Answer:
    """Run the queries of a request to the end of their input, all at the same time."""
    begin = time.perf_counter()
    flink = environment(request)
    sinks = request.get("sinks")
    for number, columns in enumerate(request["columns"]):
        options = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{sinks}/{number}'" if sinks else ""
        options = options or "'connector' = 'blackhole'"
        flink.execute_sql(f"CREATE TEMPORARY TABLE sink{number} ({', '.join(columns)}) WITH ({options})")
    inserts = [f"INSERT INTO sink{number} {query}" for number, query in enumerate(request["queries"])]
    if request["as"] == "set":
        together = flink.create_statement_set()
        for insert in inserts:
            together.add_insert_sql(insert)
        together.execute().wait()
    else:
        for running in [flink.execute_sql(insert) for insert in inserts]:
            running.wait()
    return {"seconds": time.perf_counter() - begin}


if __name__ == "__main__":
    serve(answer)
