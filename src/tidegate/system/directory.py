"""The directory of a gate: whose it is, what wrote it, and that one process at a time has it.

Reads: errors.  Read by: gate.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from tidegate.errors import EngineError

VERSION = 1
LOCK, ABOUT = "lock", "gate.json"


class GateDirectory:
    """A directory that is locked while this object lives, whatever way the process ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock: IO[str] = (path / LOCK).open("a+")
        except OSError as error:
            raise EngineError(f"cannot use {path}: {error.strerror}") from None
        self._take()

    def _take(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.seek(0)
            holder = self._lock.read().strip() or "another process"
            self._lock.close()
            raise EngineError(
                f"{self.path} is in use by {holder}; end that one first, or take another directory"
            ) from None
        self._lock.seek(0)
        self._lock.truncate()
        self._lock.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        self._lock.flush()

    def agree(self, about: Mapping[str, Any]) -> dict[str, Any]:
        """What the directory says about itself; written at the first time, and the same in ``about`` ever after."""
        path = self.path / ABOUT
        if not path.exists():
            if (self.path / "log").exists():
                raise EngineError(f"{self.path} has a log but no {ABOUT}: it is not the directory of a gate")
            unfinished = path.with_suffix(".new")
            unfinished.write_text(json.dumps({"version": VERSION, **about}, indent=1))
            unfinished.replace(path)
        found = read_about(self.path)
        for key in ("levels", "shards", "processors"):
            if key in about and about[key] != found.get(key):
                raise EngineError(
                    f"{self.path} was made with {key} {json.dumps(found.get(key))}, not {json.dumps(about[key])}; "
                    "open it as it was made, or take another directory"
                )
        return found

    def close(self) -> None:
        """Let somebody else have it."""
        with suppress(OSError):
            self._lock.close()


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
