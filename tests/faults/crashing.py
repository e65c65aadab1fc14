"""Drivers that are killed and started again, always with one more waiting: starting Spark takes longest."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.faults.driver import FAILED
from tests.faults.processes import MARK, PATIENCE, Process, java, kill, left_behind, sweep, workers
from tests.faults.world import END, FIRST, SECOND

ROOT = Path(__file__).parents[2]
JVM, WORKER, DRIVER = "jvm", "worker", "driver"
SECONDS = (END - FIRST) // SECOND
_KILLED = -signal.SIGKILL


@dataclass(slots=True)
class Driver:
    """One life of the driver: a subprocess, and what it says."""

    mark: str
    popen: subprocess.Popen[str]
    log: Path
    said: list[str] = field(default_factory=list)
    is_over: bool = False
    _thread: threading.Thread = field(init=False)
    _lines: queue.Queue[str | None] = field(default_factory=queue.Queue)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        assert self.popen.stdout is not None
        with self.popen.stdout as lines:
            for line in lines:
                self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def hear(self, seconds: float = PATIENCE) -> str | None:
        """The next line; None at its end."""
        try:
            line = None if self.is_over else self._lines.get(timeout=max(0.0, seconds))
        except queue.Empty:
            raise TimeoutError(f"it has said {self.said[-5:]}") from None
        self.is_over = line is None
        self.said += [] if line is None else [line]
        return line

    def hear_for(self, seconds: float) -> bool:
        """Listen for a while; whether it has ended by then."""
        end = time.monotonic() + seconds
        try:
            while self.hear(end - time.monotonic()) is not None:
                pass
        except TimeoutError:
            return False
        return True

    def hear_until(self, word: str) -> None:
        """Listen until it says something, if it has not said it yet."""
        while word not in self.said and self.hear() is not None:
            pass

    def go(self, seconds: int) -> None:
        """Let it go on to a second of the stream; the first time it opens the gate."""
        self.hear_until("ready")
        assert self.popen.stdin is not None
        self.popen.stdin.write(f"{seconds}\n")
        self.popen.stdin.flush()

    def end(self) -> int:
        """Listen to its end; its exit status, when nothing of it is left."""
        while self.hear() is not None:
            pass
        status = self.popen.wait(PATIENCE)
        assert left_behind(self.mark) == []
        return status

    def discard(self) -> None:
        """Kill it with all that it started."""
        self.popen.kill()
        self.popen.wait()
        sweep(self.mark)
        self._thread.join()
        assert self.popen.stdin is not None
        with suppress(BrokenPipeError):
            self.popen.stdin.close()


def launch(module: str, arguments: list[str | Path], work: Path) -> Driver:
    """Start a program of this folder, in a session and with a mark of its own; what it complains of is in a log."""
    mark = uuid.uuid4().hex
    command = [sys.executable, "-m", f"tests.faults.{module}", *map(str, arguments), str(work / mark[:6])]
    environment = {**os.environ, MARK: mark, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    with (work / f"{mark[:6]}.log").open("ab") as log:
        popen = subprocess.Popen(
            command,
            env=environment,
            cwd=ROOT,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
    return Driver(mark, popen, work / f"{mark[:6]}.log")


@dataclass(slots=True)
class Lives:
    """The lives of one gate, and how each ended."""

    gate: Path
    folder: Path
    work: Path
    chance: Random
    story: list[str] = field(default_factory=list)
    standby: Driver | None = None
    _all: list[Driver] = field(default_factory=list)

    def next(self) -> Driver:
        """The next life, which was started ahead of time."""
        found, self.standby = self.standby or self._launch(), None
        return found

    def _launch(self) -> Driver:
        self._all.append(launch("driver", [self.gate, self.folder], self.work))
        return self._all[-1]

    def run(self, kills: list[str]) -> None:
        """Live, with kills at random moments, and then to the end."""
        driver = self.next()
        for place, kind in enumerate(kills):
            if self.standby is None and {JVM, DRIVER} & set(kills[place:]):
                self.standby = self._launch()
            driver.go(SECONDS * (place + 1) // (len(kills) + 1))
            driver = self._disturb(driver, kind)
        driver.go(2 * SECONDS)
        status = driver.end()
        assert (status, driver.said[-1]) == (0, "done"), (self.story, driver.said[-5:])

    def _disturb(self, driver: Driver, kind: str) -> Driver:
        """Wait a while, kill, and go on with the same driver or with the next."""
        if self.chance.random() < 0.6:
            driver.hear_until("answering")
        assert not driver.hear_for(self.chance.uniform(0.0, 3.0)), (self.story, driver.said[-5:])
        while not (victims := self._victims(kind, driver)):
            assert not driver.hear_for(0.1), (self.story, driver.said[-5:])
        self._kill_one(kind, victims)
        if kind == WORKER:
            return driver
        status = driver.end()
        assert status in (_KILLED, FAILED), (self.story, driver.said[-5:])
        self.story.append(f"ended {status}: {driver.said[-1]}")
        return self.next()

    def _victims(self, kind: str, driver: Driver) -> list[Process]:
        if kind == DRIVER:
            return [Process(driver.popen.pid, os.getpid(), "python", "")]
        return (java if kind == JVM else workers)(driver.mark, driver.popen.pid)

    def _kill_one(self, kind: str, candidates: list[Process]) -> None:
        chosen = self.chance.choice(candidates)
        kill(chosen)
        self.story.append(f"killed {kind} {chosen.pid} {chosen.command[-60:]}")

    def close(self) -> None:
        """Leave nothing behind."""
        for driver in self._all:
            driver.discard()
