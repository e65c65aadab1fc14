"""The life of one child process: start, ask, end.

It gets no environment, no descriptor beyond its pipes, a session of its own, and as its working folder one that is
removed at once, in which nothing can be made. Whatever happens to it reaches the caller as a FunctionFailed, and ending
it takes its whole group along.

Reads: failure, limits, wire.  Read by: host.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tidegate.functions.failure import FunctionFailed, Reason
from tidegate.functions.limits import Limits
from tidegate.functions.wire import TooLarge, receive, send

START_SECONDS = 60.0
LONGEST_NAP = 0.1
PIPE_BYTES = 1 << 20  # 65,536 rows of two doubles: 1.0 ms instead of 1.8 ms
SPARE_BYTES = 1 << 16  # an answer is a little longer than the data in it

# A package "tidegate" that has only this folder. The restraints come first, Arrow after them.
START = """
import sys, types
for name, path in (("tidegate", []), ("tidegate.functions", [sys.argv[1]])):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = path
from tidegate.functions.restraint import restrain
pipes = restrain(int(sys.argv[2]))
from tidegate.functions.child import serve
serve(*pipes, int(sys.argv[3]), float(sys.argv[4]))
"""
FLAGS = ("-s", "-P", "-B")  # "-I" without "-E", which would ignore the hash seed as well
# Everything that a result could depend on is fixed. Arrow's own allocators reserve address space ahead of need.
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


class Process:
    """A child that holds one function. Not for two threads at once; a forked copy of the host must not use it."""

    def __init__(self, limits: Limits, setup: bytes) -> None:
        self.limits = limits
        self.owner = os.getpid()
        self._popen = _start(limits)
        self._end = weakref.finalize(self, _end, self._popen, self.owner)
        self._requests, self._answers = _descriptor(self._popen.stdin), _descriptor(self._popen.stdout)
        self._exchange([setup], START_SECONDS, Reason.NOT_STARTED)

    @property
    def pid(self) -> int:
        """Of the process and of its group."""
        return self._popen.pid

    def is_ready(self) -> bool:
        """True if it can be asked: it lives, belongs to this process and has said nothing unasked."""
        return self._end.alive and self.owner == os.getpid() and not _ready(self._answers, select.POLLIN, 0)

    def ask(self, parts: Sequence[Any]) -> memoryview:
        """The answer to one frame. After a FunctionFailed the process is no more."""
        return self._exchange(parts, self.limits.seconds)

    def end(self) -> int | None:
        """Kill the whole group; the exit status the first time."""
        status: int | None = self._end()
        return status

    def _exchange(self, parts: Sequence[Any], seconds: float, instead: Reason | None = None) -> memoryview:
        patience = _Patience(seconds)
        try:
            send(self._requests, parts, lambda: patience.wait(self._requests, select.POLLOUT))
            largest = self.limits.memory_bytes + SPARE_BYTES
            return receive(self._answers, largest, lambda: patience.wait(self._answers, select.POLLIN))
        except TimeoutError:
            reason = Reason.TOO_SLOW
        except TooLarge:
            reason = Reason.TOO_MUCH_MEMORY
        except (OSError, EOFError):
            reason = Reason.DIED
        except BaseException:  # interrupted: the answer still to come must not be taken for the next one's
            self.end()
            raise
        if self.end() == -signal.SIGXCPU:
            reason = Reason.TOO_SLOW
        raise FunctionFailed(instead or reason)  # outside of the handlers: an error's context is told to no one


class _Patience:
    """A time limit that runs only while this process does.

    The processor and its children are stopped between slots. So a wait is cut into naps, and a nap counts for no more
    than it was meant to last.
    """

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    def wait(self, descriptor: int, event: int) -> None:
        """Return when the descriptor is ready; TimeoutError when patience ends."""
        while self.left > 0:
            nap = min(self.left, LONGEST_NAP)
            start = time.monotonic()
            ready = _ready(descriptor, event, nap)
            self.left -= min(time.monotonic() - start, nap) if ready else nap
            if ready:
                return
        raise TimeoutError


def _ready(descriptor: int, event: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(round(seconds * 1000)))


def _start(limits: Limits) -> subprocess.Popen[bytes]:
    """The child; NOT_STARTED if the system has no room for it."""
    here = str(Path(__file__).resolve().parent)
    facts = (here, str(os.getpid()), str(limits.memory_bytes), str(limits.seconds))
    try:
        with tempfile.TemporaryDirectory(prefix="tidegate-function-") as folder:
            return _open([sys.executable, *FLAGS, "-c", START, *facts], folder)
    except OSError as error:
        raise FunctionFailed(Reason.NOT_STARTED) from error


def _open(command: list[str], folder: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd=folder,
        env=ENVIRONMENT,
        start_new_session=True,
    )


def _descriptor(pipe: Any) -> int:
    descriptor: int = pipe.fileno()
    os.set_blocking(descriptor, False)
    if sys.platform == "linux":
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except PermissionError:  # the user has used up what may be had of large pipes: the small one does as well
            pass
    return descriptor


def _end(popen: subprocess.Popen[bytes], owner: int) -> int | None:
    """Runs once: when asked, when the object is forgotten, or when the interpreter ends."""
    for pipe in (popen.stdin, popen.stdout):
        if pipe is not None:
            pipe.close()
    if os.getpid() != owner:  # a forked copy: the child is not ours to kill, nor to wait for
        popen.returncode = 0
        return None
    try:
        os.killpg(popen.pid, signal.SIGKILL)  # before waiting: until then the number cannot be another's
    except (ProcessLookupError, PermissionError):
        pass
    return popen.wait()
