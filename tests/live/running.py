"""Live gates for tests: waiting, answers, and what a gate's directory says."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tidegate.engine.verify import Verdict, verify
from tidegate.system.directory import read_about
from tidegate.system.gate import Gate

LONGEST = 120.0
"""Seconds until a test gives up: a bound against hanging, not a measure."""


def wait_until(what: str, condition: Callable[[], bool]) -> None:
    """Return as soon as a condition holds."""
    end = time.monotonic() + LONGEST
    while not condition():
        assert time.monotonic() < end, f"waited in vain until {what}"
        time.sleep(0.05)


def catch_up(gate: Gate) -> None:
    """Wait until every level has answered what is written now."""
    written = {level: runtime.written for level, runtime in gate.runtimes.items()}
    for level, runtime in list(gate.runtimes.items()):
        wait_until(f"{level} has answered", lambda: _failed(gate) or runtime.results.done >= written[level])  # noqa: B023
    assert gate.failure is None


def _failed(gate: Gate) -> bool:
    return gate.failure is not None


def checked(directory: Path) -> Verdict:
    """What a gate answered against what its log means."""
    verdict = verify(directory, read_about(directory))
    assert verdict.differing == {}
    return verdict
