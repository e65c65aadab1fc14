"""Short ways to define and call a function, and to see whether a process is still there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from tidegate.functions.definition import FunctionDefinition
from tidegate.functions.host import FunctionHost
from tidegate.functions.limits import MEBIBYTE, Limits

SMALL = Limits(memory_bytes=128 * MEBIBYTE, seconds=60.0)  # ample time: a busy machine must fail no test
SHORT = Limits(memory_bytes=128 * MEBIBYTE, seconds=0.5)  # for what never ends
PATIENCE = 30.0
ONE = pa.array([1, 2, 3], pa.int64())


def define(body: str, *types: str, returns: str = "bigint", name: str = "f") -> FunctionDefinition:
    """A function whose parameters are called a, b, c …; one ``bigint`` if no type is given."""
    return FunctionDefinition(name, tuple(zip("abcdefgh", types or ("bigint",), strict=False)), returns, body)


def values(host: FunctionHost, definition: FunctionDefinition, *columns: pa.Array) -> list[Any]:
    """The results of a call as Python values."""
    given: Sequence[pa.Array] = columns or (ONE,)
    called: list[Any] = host.call(definition, given, len(given[0])).to_pylist()
    return called


def is_alive(pid: int) -> bool:
    """True if the process exists and is not just waiting to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def comes_true(condition: Callable[[], bool]) -> bool:
    """True as soon as the condition is; how long that takes is the kernel's affair."""
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def is_gone(pid: int) -> bool:
    """True as soon as the process is no more."""
    return comes_true(lambda: not is_alive(pid))


def script(text: str) -> subprocess.Popen[str]:
    """A Python program beside the tests, with the same imports."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, env=environment)
