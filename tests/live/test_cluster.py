"""A gate on a standalone cluster of Spark: master and two workers from the pip package, on loopback."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pyspark
import pytest

from tests.live.processes import Program, running
from tests.live.running import checked

ROOT = Path(__file__).parents[2]
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
DEPLOY = "org.apache.spark.deploy"
# without the port on which anybody may submit a program, which is the same one for every master
QUICK = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dspark.master.rest.enabled=false"
DAEMON = {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": QUICK}
ANYWHERE = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")


def daemon(kind: str, *arguments: str) -> list[str]:
    """The command that starts a part of the cluster on a free port."""
    return [str(SPARK_CLASS), f"{DEPLOY}.{kind}", *ANYWHERE, *arguments]


def local_to(work: Path) -> dict[str, str]:
    """Temporary files of a daemon, and of what it starts, in its own folder."""
    return {**DAEMON, "SPARK_LOCAL_DIRS": str(work / "local")}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[Program]]]:
    """The address of a master with two workers of one core each, and all three programs."""
    with ExitStack() as stack:
        command = daemon("master.Master")
        master = stack.enter_context(running(command, tmp_path / "master", "master", DAEMON))
        master.wait_for("New state: ALIVE")
        found = re.search(r"spark://127\.0\.0\.1:\d+", master.said())
        assert found is not None
        programs = [master]
        for name in ("one", "two"):
            work = tmp_path / name
            command = daemon("worker.Worker", "--cores", "1", "--memory", "1g", "--work-dir", str(work), found[0])
            programs.append(stack.enter_context(running(command, work, name, local_to(work))))
        for worker in programs[1:]:
            worker.wait_for("Successfully registered with master")
        yield found[0], programs
    assert [program.session() for program in programs] == [[], [], []]


def test_a_cluster_answers_what_the_log_means(cluster: tuple[str, list[Program]], tmp_path: Path) -> None:
    """Q-10: with shards in two executors, which share the gate's directory and nothing else."""
    master, (_, *workers) = cluster
    command = [sys.executable, "-m", "tests.live.on_cluster", master, str(tmp_path / "gate"), str(tmp_path / "driver")]
    settings = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    with running(command, tmp_path / "driver", "driver", settings) as driver:
        driver.wait_for("told ")
        assert driver.finish() == 0
        assert driver.left() == []
    assert "StackOverflowError" not in driver.said(), "stopping is no error"
    told = json.loads(driver.said().partition("told ")[2].splitlines()[0])
    assert len(told["tasks"]) == 2
    assert all(told["tasks"].values()), "each executor has run tasks"
    for worker in workers:
        assert len(list(worker.log.parent.glob("app-*/*/stderr"))) == 1, "each worker has had an executor"
    verdict = checked(tmp_path / "gate")
    assert all(told["rows"])
    assert verdict.lines >= sum(told["rows"])
    assert verdict.queries == len(told["rows"])
