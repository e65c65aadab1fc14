"""A script that reads results is interrupted, ended, or loses its JVM: it ends, clearly, and leaves no process."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.crashing import Driver, launch
from tests.faults.processes import java, kill, marked
from tidegate.engine.verify import verify
from tidegate.system.directory import GateDirectory, read_about

Scripts = dict[str, Driver]
NAMES = ("ctrl-c", "term", "jvm")


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Scripts]]:
    """One script for each test; all start at the same time, because Spark is slow to start."""
    work = tmp_path_factory.mktemp("s")
    found = {name: launch("reader", [work / name], work) for name in NAMES}
    yield work, found
    for script in found.values():
        script.discard()


def test_ctrl_c_ends_it_with_one_trace_and_no_process_left(scripts: tuple[Path, Scripts]) -> None:
    """As a terminal does it: every process of the foreground gets the signal."""
    work, script = scripts[0], scripts[1]["ctrl-c"]
    script.hear_until("row")
    assert {"java", "python"} <= {one.name[:6] for one in marked(script.mark)}
    os.killpg(script.popen.pid, signal.SIGINT)
    assert script.end() == -signal.SIGINT
    complaint = script.log.read_text()
    assert complaint.count("Traceback") == 1, complaint
    assert complaint.rstrip().endswith("KeyboardInterrupt"), complaint
    GateDirectory(work / "ctrl-c").close()
    assert verify(work / "ctrl-c", read_about(work / "ctrl-c")).differing == {}


def test_sigterm_leaves_no_process(scripts: tuple[Path, Scripts]) -> None:
    work, script = scripts[0], scripts[1]["term"]
    script.hear_until("row")
    script.popen.terminate()
    assert script.end() == -signal.SIGTERM
    GateDirectory(work / "term").close()
    assert verify(work / "term", read_about(work / "term")).differing == {}


def test_a_reader_hears_that_the_jvm_has_died(scripts: tuple[Path, Scripts]) -> None:
    """It does not hang, and closing the gate does not either."""
    work, script = scripts[0], scripts[1]["jvm"]
    script.hear_until("row")
    (jvm,) = java(script.mark, script.popen.pid)
    kill(jvm)
    assert script.end() == 1
    complaint = script.log.read_text().rstrip().splitlines()[-1]
    assert complaint.startswith("tidegate.errors.EngineError: Spark has ended: its process died or was stopped; start")
    assert verify(work / "jvm", read_about(work / "jvm")).differing == {}
