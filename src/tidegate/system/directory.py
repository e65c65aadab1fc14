"""The directory of a gate: whose it is, what wrote it, and that one process at a time has it.

Reads: errors.  Read by: gate.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from tidegate.errors import EngineError

VERSION = 2
LOCK, ABOUT = "lock", "gate.json"
SPARK = ", Spark "
SPARK_SECONDS = 60.0
"""How long the Spark of a process that was killed may take to notice it."""


class GateDirectory:
    """A directory that is locked while this object lives, whatever way the process ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock: IO[str] = (path / LOCK).open("a+")
        except OSError as error:
            raise EngineError(f"cannot use {path}: {error.strerror}; give a directory that can be written") from None
        self._take()
        self._wait_for_former_spark()
        self._write_down(f"process {os.getpid()} on {socket.gethostname()}")

    def _take(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = self._read().partition(SPARK)[0] or "another process"
            self._lock.close()
            raise EngineError(
                f"{self.path} is in use by {holder}; end that one first, or take another directory"
            ) from None

    def _read(self) -> str:
        self._lock.seek(0)
        return self._lock.read().strip()

    def _write_down(self, holder: str) -> None:
        try:
            self._lock.seek(0)
            self._lock.truncate()
            self._lock.write(f"{holder}\n")
            self._lock.flush()
        except OSError as error:
            self.close()
            raise EngineError(f"cannot use {self.path}: {error.strerror}; free some space") from None

    def note_spark(self, process: int) -> None:
        """Write down where Spark runs: it may outlive this process for a moment, and goes on writing till then."""
        self._write_down(f"{self._read()}{SPARK}{process} {started(process)}")

    def _wait_for_former_spark(self) -> None:
        """Who held this before was killed, if it is still named; then its Spark is about to end."""
        holder, _, spark = self._read().partition(SPARK)
        if not spark or not holder.endswith(f" on {socket.gethostname()}"):
            return
        process, when = spark.split()
        end = time.monotonic() + SPARK_SECONDS
        while started(int(process)) == when:
            if time.monotonic() > end:
                self._lock.close()
                raise EngineError(f"{self.path} is still in use by Spark, process {process}; end that one first")
            time.sleep(0.05)

    def agree(self, about: Mapping[str, Any]) -> dict[str, Any]:
        """What the directory says about itself; written at the first time, and the same in ``about`` ever after."""
        path = self.path / ABOUT
        if not path.exists():
            self._begin(path, {"version": VERSION, **about})
        found = read_about(self.path)
        for key in ("levels", "shards", "processors", "off"):
            if key in about and about[key] != found.get(key):
                raise EngineError(
                    f"{self.path} was made with {key} {json.dumps(found.get(key))}, not {json.dumps(about[key])}; "
                    "open it as it was made, or take another directory"
                )
        return found

    def _begin(self, path: Path, about: Mapping[str, Any]) -> None:
        unfinished = path.with_suffix(".new")
        found = sorted({one.name for one in self.path.iterdir()} - {LOCK, unfinished.name})
        if found:
            raise EngineError(
                f'{self.path} is not the directory of a gate: it has no {ABOUT}, but "{found[0]}"; '
                "give an empty directory, or one that is not there yet"
            )
        try:
            unfinished.write_text(json.dumps(about, indent=1))
            unfinished.replace(path)
        except OSError as error:
            raise EngineError(f"cannot write {path}: {error.strerror}; free some space") from None

    def close(self) -> None:
        """Let somebody else have it."""
        with suppress(OSError, ValueError):
            self._lock.truncate(0)
        with suppress(OSError):
            self._lock.close()


def started(process: int) -> str:
    """When a process started, in ticks of the kernel; nothing if it has ended. A number may be used again."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def read_about(directory: Path) -> dict[str, Any]:
    """What a gate's directory says about itself."""
    path = directory / ABOUT
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        raise EngineError(f"{directory} is not the directory of a gate: it has no {ABOUT}") from None
    except (OSError, ValueError):
        raise EngineError(f"{path} cannot be read; it is not the directory of a gate, or was damaged") from None
    if found.get("version") != VERSION:
        raise EngineError(
            f"{directory} was written by version {found.get('version')} of the log, and this is version {VERSION}; "
            "open it with the tidegate that wrote it"
        )
    return found
