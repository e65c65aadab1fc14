"""Processes of a test: found by a mark in their environment, which every child inherits, and ended by it."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

MARK = "TIDEGATE_TEST_RUN"
PATIENCE = 300.0
"""Seconds until something that must happen is given up: long, because nothing is shown by being slow."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process as /proc shows it."""

    pid: int
    parent: int
    name: str
    command: str
    environment: tuple[bytes, ...] = ()


def marked(mark: str) -> list[Process]:
    """Every process that has the mark, and is not a zombie."""
    return [one for one in _every() if f"{MARK}={mark}".encode() in one.environment]


def _every() -> list[Process]:
    found = (_look(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return [one for one in found if one is not None]


def _look(pid: int) -> Process | None:
    place = Path("/proc") / str(pid)
    try:
        environment = tuple((place / "environ").read_bytes().split(b"\0"))
        name, _, rest = (place / "stat").read_text().partition("(")[2].rpartition(")")
        state, parent = rest.split()[:2]
        command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except (OSError, ValueError):
        return None  # ended meanwhile, or not ours
    return None if state == "Z" else Process(pid, int(parent), name, command, environment)


def java(mark: str, driver: int) -> list[Process]:
    """The JVM of a driver."""
    return [one for one in marked(mark) if one.name == "java" and one.parent == driver]


def workers(mark: str, driver: int) -> list[Process]:
    """The Python processes that a driver's JVM started: daemons, workers, readers of sources."""
    return [worker for jvm in java(mark, driver) for worker in below(jvm.pid)]


def below(jvm: int) -> list[Process]:
    """The Python processes that a JVM started, and those that they started."""
    every = _every()
    parents = {one.pid: one.parent for one in every}
    return [one for one in every if "python" in one.name and jvm in _ancestors(one.pid, parents)]


def _ancestors(pid: int, parents: dict[int, int]) -> list[int]:
    found = list[int]()
    while (pid := parents.get(pid, 0)) and pid not in found:
        found.append(pid)
    return found


def kill(process: Process) -> None:
    """Kill at once, if it is still there."""
    try:
        os.kill(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def left_behind(mark: str, seconds: float = PATIENCE) -> list[Process]:
    """What is still there after waiting for all to end."""
    end = time.monotonic() + seconds
    while (found := marked(mark)) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def sweep(mark: str) -> None:
    """End everything that has the mark: a test that failed leaves nothing either."""
    for process in marked(mark):
        kill(process)
