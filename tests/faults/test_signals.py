"""A script that reads results is interrupted or ended, loses its JVM, or forgets to stop: no process is left."""

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
HOW = {"ctrl-c": "read_for_ever", "term": "read_for_ever", "jvm": "read_again", "forgets": "forget"}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Scripts]]:
    """One script for each test; all start at the same time, because Spark is slow to start."""
    work = tmp_path_factory.mktemp("s")
    found = {name: launch("reader", [how, work / name], work) for name, how in HOW.items()}
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


def test_a_reader_hears_that_the_jvm_has_died_and_can_start_another(scripts: tuple[Path, Scripts]) -> None:
    """Q-10: it does not hang, nor does closing the gate; the same process goes on with the same directory."""
    work, script = scripts[0], scripts[1]["jvm"]
    script.hear_until("row")
    (jvm,) = java(script.mark, script.popen.pid)
    kill(jvm)
    assert script.end() == 0, script.log.read_text()
    lost, found = (line for line in script.said if line != "row")
    assert lost.startswith(
        "lost: Spark has ended: its process died or was stopped; start Spark again and open the gate"
    )
    assert found == "found"
    assert verify(work / "jvm", read_about(work / "jvm")).differing == {}


def test_a_gate_that_nobody_stops_ends_with_its_script(scripts: tuple[Path, Scripts]) -> None:
    """Also where Spark was stopped first; what was temporary is gone."""
    work, script = scripts[0], scripts[1]["forgets"]
    assert script.end() == 0, script.log.read_text()
    assert script.said == ["row"]
    assert "Traceback" not in script.log.read_text()
    assert not Path((work / "forgets").read_text()).exists()
