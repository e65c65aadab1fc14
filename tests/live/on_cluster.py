"""A program with a gate on a cluster: it asks, waits for answers, and says which executors ran tasks.

Run as: python -m tests.live.on_cluster MASTER GATE WORK
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from tests.live.running import catch_up, wait_until
from tidegate.engine.session import JVM
from tidegate.sources.generator import generator
from tidegate.system.gate import Gate
from tidegate.system.session import Query

EPOCHS = 8
"""Epochs that every level answers at least."""
WARDS = [{"level": "U", "sid": sid, "ward": f"ward {sid % 3}"} for sid in range(40)]
ASKED = (
    ("U", "SELECT COUNT(*), SUM(wt) FROM Vitals [ROWS 30]"),
    ("U", "SELECT sid, AVG(bp) FROM Vitals [RANGE 2 SECONDS] GROUP BY sid"),
    ("S", "SELECT sid, COUNT(*), MAX(bp) FROM Vitals [RANGE 4 SECONDS SLIDE 1 SECOND] GROUP BY sid"),
    ("S", "SELECT V.sid, W.ward, V.wt FROM Vitals [ROWS 20] V, Wards W WHERE V.sid = W.sid"),
)


def open_session(master: str, work: Path) -> SparkSession:
    """A session on the cluster, as somebody who knows nothing of tidegate opens one."""
    builder = SparkSession.builder.master(master).appName("on a cluster")
    settings = {
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": JVM,
        "spark.driver.extraJavaOptions": JVM,
        "spark.ui.enabled": "false",
        "spark.local.dir": str(work),
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        # both executors first: the state of a shard stays where its first task ran
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def tasks_by_executor(spark: SparkSession) -> dict[str, int]:
    """How many tasks each executor has completed."""
    found = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    executors = [found.apply(place) for place in range(found.size())]
    return {one.id(): one.completedTasks() for one in executors if one.id() != "driver"}


def rows_of(queries: list[Query]) -> list[int]:
    """How many rows each has given."""
    return [sum(batch.num_rows for batch in query.results(follow=False)) for query in queries]


def main(master: str, directory: Path, work: Path) -> None:
    """Ask at two levels; one more query comes and one goes on the way."""
    spark = open_session(master, work)
    with Gate(spark, "U < S", directory, tick=0.25, keep=None) as gate:
        gate.relation("Wards", WARDS, schema={"sid": "int", "ward": "string"})
        gate.stream("Vitals", generator(spark, "vitals", rate=40, levels={"U": 0.6, "S": 0.4}, seed=7), delay=1.0)
        queries = [gate.login("ana", level).query(text) for level, text in ASKED]
        wait_until("all have answered", lambda: all(rows_of(queries)) or gate.failure is not None)
        late = gate.login("bo", "S").query("SELECT DISTINCT sid FROM Vitals [RANGE 1 SECOND]")
        queries[0].drop()
        wait_until("the late one has answered", lambda: all(rows_of([late])) or gate.failure is not None)
        first = {level: runtime.results.done for level, runtime in gate.runtimes.items()}
        for level, runtime in gate.runtimes.items():
            wait_until("epochs", lambda: runtime.results.done >= first[level] + EPOCHS or gate.failure is not None)  # noqa: B023
        catch_up(gate)
        told = {"tasks": tasks_by_executor(spark), "rows": rows_of([*queries, late])}
    sys.stdout.write(f"told {json.dumps(told)}\n")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
