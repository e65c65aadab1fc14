"""The five lines in Spark's own shell, as it comes with its package: nothing is set for tidegate."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pyspark

from tests.live.processes import running
from tidegate.engine.session import JVM

SHELL = Path(pyspark.__file__).parent / "bin" / "pyspark"
SETTINGS = {
    "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
    "PYSPARK_DRIVER_PYTHON_OPTS": "-i",  # a shell although nobody sits before it
    "JDK_JAVA_OPTIONS": JVM,  # nothing that Spark or a gate sees: Java compiles less, which is dear in a short life
    "TZ": "America/New_York",  # Spark's zone is the machine's, and most machines are not in UTC
}

NOISE = (
    "adaptive.enabled is not supported",
    "Disabling AQE",
    "No more data to read from the socket",
    "Value state head doesn't contain",
    "replaced a previously registered data source",
)
"""What Spark would warn of because of what a gate does; whoever sits before the shell can do nothing about it."""
TYPED = """\
import json, time, tidegate
names = ["spark.sql.streaming.stateStore.providerClass", "spark.sql.shuffle.partitions"]
def settings():
    shown = spark.sql("SET -v").collect()
    return {row.key: row.value for row in shown} | {name: spark.conf.get(name) for name in names}

def tell(**facts): print("told", json.dumps(facts), flush=True)

before = settings()
label = "IF(value % 2 = 0, 'U', 'S') AS level"
df = spark.readStream.format("rate").option("rowsPerSecond", 20).load().selectExpr("timestamp", label, "value AS wt")

gate = tidegate.Gate(spark, levels="U < S")
gate.stream("Vitals", df, time="timestamp", level="level")
session = gate.login("ana", "U")
q = session.query("SELECT COUNT(*), MAX(wt) FROM Vitals [ROWS 10]")
for batch in q.results():
    row = batch.to_pylist()[-1]
    if row["COUNT(*)"] == 10: break

gate.stop()
off, active = abs(time.time() - row["row_time"].timestamp()), len(spark.streams.active)
tell(newest=row["MAX(wt)"], level=row["row_level"], off=off, active=active, directory=str(gate.directory))

again = tidegate.Gate(spark, levels="U < S")
again.stream("Vitals", df, time="timestamp", level="level")
q = again.login("ana", "S").query("SELECT DISTINCT level FROM Vitals [ROWS 10]")
found = set()
for batch in q.results():
    found.update(batch.column("row_level").to_pylist())
    if len(found) == 2: break

after = settings()
changed = {key: after.get(key) for key in {**before, **after} if before.get(key) != after.get(key)}
tell(found=sorted(found), changed=changed, provider=after[names[0]], directory=str(again.directory))

exit()
"""


def told(text: str) -> list[dict[str, Any]]:
    """What the shell said in JSON; Spark may speak in the middle of a line."""
    return [json.JSONDecoder().raw_decode(piece)[0] for piece in text.split("told ")[1:]]


def test_five_lines_answer_in_the_shell_and_change_none_of_its_settings(tmp_path: Path) -> None:
    """The first gate is stopped, the second is not: leaving the shell ends it."""
    (tmp_path / "shell.in").write_text(TYPED)
    settings = {**SETTINGS, "TMPDIR": str(tmp_path), "SPARK_LOCAL_DIRS": str(tmp_path)}
    with running([str(SHELL), "--master", "local[2]"], tmp_path, "shell", settings) as shell:
        code, left = shell.finish(), shell.left()
    said = shell.said()
    assert (code, left) == (0, []), said[-4000:]
    assert 'File "<stdin>"' not in said, "no line raises an error; a worker of Spark's may, and is started again"
    assert "StackOverflowError" not in said
    assert [line for line in said.splitlines() if "WARN" in line and re.search("|".join(NOISE), line)] == []
    first, second = told(said)
    assert first["newest"] % 2 == 0
    assert (first["level"], first["active"]) == ("U", 0)
    assert first["off"] < 3600, "in the right time zone"
    assert second["found"] == ["S", "U"]
    assert second["changed"] == {}
    assert second["provider"].endswith(".HDFSBackedStateStoreProvider"), "Spark's default, in which we keep nothing"
    assert not any(Path(one["directory"]).exists() for one in (first, second))
