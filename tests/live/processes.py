"""Programs that a test starts, each in a session of its own, so that whatever they start can be found and ended.

PySpark's worker daemon leaves its process group, but nothing of Spark leaves its session.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.live.running import LONGEST, wait_until

PATIENCE = 10.0
"""Seconds that a program has to end by itself before it is killed."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that runs, and the file with what it says."""

    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        """All that it has said so far."""
        return self.log.read_text(errors="replace")

    def wait_for(self, word: str) -> None:
        """Return as soon as it has said something; it must not end before."""
        wait_until(f"{self.log.name} says {word!r}", lambda: word in self.said() or self.process.poll() is not None)
        assert word in self.said(), f"it ended with {self.process.returncode}:\n{self.said()[-4000:]}"

    def finish(self) -> int:
        """Wait until it has ended by itself, give its exit code; it may do several things that each take long."""
        return self.process.wait(3 * LONGEST)

    def session(self) -> list[int]:
        """The processes of its session that are alive: itself, and all that it or they have started."""
        return [int(path.name) for path in Path("/proc").glob("[0-9]*") if _session_of(path) == self.process.pid]

    def left(self) -> list[int]:
        """What is still there some time after it has ended."""
        end = time.monotonic() + PATIENCE
        while (found := self.session()) and time.monotonic() < end:
            time.sleep(0.05)
        return found

    def end(self) -> None:
        """Ask it to end; then end, one by one, whatever of its session has not."""
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE)
        for process in self.left():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.process.wait()


def _session_of(path: Path) -> int | None:
    """The session of a process; of one that has ended, None."""
    try:
        state, _, _, session = (path / "stat").read_text().rpartition(")")[2].split()[:4]
    except OSError:
        return None
    return None if state == "Z" else int(session)


@contextmanager
def running(command: Sequence[str], work: Path, name: str, settings: Mapping[str, str]) -> Iterator[Program]:
    """A program, with settings in its environment, that is ended whatever happens; it reads ``name``.in if there is."""
    work.mkdir(parents=True, exist_ok=True)
    told, log = work / f"{name}.in", work / f"{name}.log"
    with (told if told.exists() else Path(os.devnull)).open("rb") as given, log.open("wb") as said:
        process = subprocess.Popen(
            command, stdin=given, stdout=said, stderr=said, env=environment(settings), cwd=work, start_new_session=True
        )
    program = Program(process, log)
    try:
        yield program
    finally:
        program.end()


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Ours without what Spark would take from it, with settings, and all on loopback."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    return {**ours, "SPARK_LOCAL_IP": "127.0.0.1", **settings}
