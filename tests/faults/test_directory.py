"""The directory of a gate: one process at a time, opened as it was made, and nothing else is taken for one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.functions.support import comes_true
from tidegate.errors import EngineError
from tidegate.system import directory
from tidegate.system.directory import VERSION, GateDirectory, read_about, started

ABOUT: dict[str, Any] = {"levels": "U < S", "shards": 2, "processors": ["U", "S"], "began": 0}
HOLDER = """
import sys
from pathlib import Path
from tidegate.system.directory import GateDirectory
home = GateDirectory(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.readline()
"""


def test_a_second_gate_is_refused_and_the_holder_named(tmp_path: Path) -> None:
    """DESIGN 1."""
    home = GateDirectory(tmp_path)
    with pytest.raises(EngineError, match=f"{tmp_path} is in use by process {os.getpid()} on .*; end that one first"):
        GateDirectory(tmp_path)
    home.note_spark(1)
    with pytest.raises(EngineError, match=f"in use by process {os.getpid()} on {socket.gethostname()}; end"):
        GateDirectory(tmp_path)
    home.close()
    GateDirectory(tmp_path).close()


def test_a_second_process_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    """However it ends: here it is killed."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(EngineError, match=f"{tmp_path} is in use by process {other.pid} on "):
            GateDirectory(tmp_path)
        other.kill()
    GateDirectory(tmp_path).close()


def test_the_spark_of_a_killed_process_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Q-10: it goes on writing until it notices."""
    monkeypatch.setattr(directory, "SPARK_SECONDS", 0.2)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as spark:
        assert comes_true(lambda: started(spark.pid) != "")
        (tmp_path / "lock").write_text(f"process 1 on {socket.gethostname()}, Spark {spark.pid} {started(spark.pid)}\n")
        with pytest.raises(EngineError, match=f"{tmp_path} is still in use by Spark, process {spark.pid}; end that"):
            GateDirectory(tmp_path)
        spark.kill()
        spark.wait()
        GateDirectory(tmp_path).close()


def test_a_number_that_another_process_has_now_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(f"process 1 on {socket.gethostname()}, Spark {os.getpid()} 12\n")
    GateDirectory(tmp_path).close()
    (tmp_path / "lock").write_text(f"process 1 on elsewhere, Spark {os.getpid()} {started(os.getpid())}\n")
    GateDirectory(tmp_path).close()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("levels", "U < C < S", 'was made with levels "U < S", not "U < C < S"; open it as it was made'),
        ("shards", 3, "was made with shards 2, not 3"),
        ("processors", ["S"], r'was made with processors \["U", "S"\], not \["S"\]'),
    ],
)
def test_a_directory_is_opened_as_it_was_made(key: str, value: object, message: str, tmp_path: Path) -> None:
    home = GateDirectory(tmp_path)
    assert home.agree(ABOUT) == {"version": VERSION, **ABOUT}
    with pytest.raises(EngineError, match=f"{tmp_path} {message}"):
        home.agree({**ABOUT, key: value})
    assert home.agree({**ABOUT, "began": 7})["began"] == 0
    home.close()


def test_a_directory_of_another_version_is_refused(tmp_path: Path) -> None:
    home = GateDirectory(tmp_path)
    home.agree(ABOUT)
    (tmp_path / "gate.json").write_text(json.dumps({**ABOUT, "version": 99}))
    with pytest.raises(
        EngineError, match=f"{tmp_path} was written by version 99 of the log, and this is version {VERSION}"
    ):
        home.agree(ABOUT)
    home.close()


@pytest.mark.parametrize("name", ["log", "letter.txt", ".profile"])
def test_a_directory_with_something_else_in_it_is_refused_and_left_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    home = GateDirectory(tmp_path)
    with pytest.raises(EngineError, match=f'is not the directory of a gate: it has no gate.json, but "{name}"; give'):
        home.agree(ABOUT)
    home.close()
    assert {path.name for path in tmp_path.iterdir()} == {name, "lock"}


def test_a_damaged_description_is_named(tmp_path: Path) -> None:
    (tmp_path / "gate.json").write_text("{")
    with pytest.raises(EngineError, match=f"{tmp_path}/gate.json cannot be read; it is not the directory of a gate"):
        read_about(tmp_path)
    with pytest.raises(EngineError, match=f"{tmp_path}/x is not the directory of a gate: it has no gate.json"):
        read_about(tmp_path / "x")


def test_a_place_that_cannot_be_a_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError, match=f"cannot use {tmp_path}/file/gate: Not a directory; give a directory"):
        GateDirectory(tmp_path / "file" / "gate")


def test_a_directory_that_cannot_be_written_is_named(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(EngineError, match=f"cannot use {small_disk}: Read-only file system; give a directory that can"):
        GateDirectory(small_disk)
