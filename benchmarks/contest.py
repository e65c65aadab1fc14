"""Engines side by side: each in a process of its own, asked in turn, measured from outside.

A contestant is a program that answers one JSON line of standard input with one of standard output, and keeps its JVM
between questions, so that all are warm and none pays for another's heap. CPU seconds are those of its whole process
tree; memory is the most that the tree held, looked at once a second.

Reads: process_tree.  Read by: bench_against, bench_prefilter and what they start. Standard library only: Flink's
Python has other packages.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from process_tree import cpu_seconds, held_megabytes

Request = dict[str, Any]
Answer = dict[str, Any]
GLANCE = 1.0


# ------------------------------------------------------------------------------ in the contestant


def serve(answer: Callable[[Request], Answer]) -> None:
    """Answer until standard input ends; what an engine cannot do is an answer too."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed goes where errors go
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
            reply = {"cannot": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply, default=str), file=replies, flush=True)


# ------------------------------------------------------------------------------ outside


@dataclass(frozen=True)
class Contestant:
    """A running contestant; its own words go to a file."""

    name: str
    process: subprocess.Popen[str]

    def ask(self, request: Request) -> Answer:
        """One question, one answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        reply: Answer = json.loads(line) if line else {"cannot": f"{self.name} has died"}
        return reply


@contextmanager
def contestant(name: str, python: Path, program: str, work: Path) -> Iterator[Contestant]:
    """Start a program beside this file; it ends when its standard input does."""
    command = [str(python), str(Path(__file__).with_name(program)), str(work)]
    with (work / f"{name}.log").open("w") as words:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words, text=True)
    try:
        yield Contestant(name, process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


@dataclass(frozen=True)
class Measured:
    """One run: seconds on the clock, CPU seconds by program, the most memory, rows that came out."""

    seconds: float
    cpu: Mapping[str, float]
    megabytes: float
    rows: int | None = None
    cannot: str | None = None

    @property
    def cpu_seconds(self) -> float:
        """Of the whole tree."""
        return sum(self.cpu.values())


@dataclass
class _Glance:
    """The most that a tree held while it was looked at."""

    root: int
    most: float = 0.0
    over: threading.Event = field(default_factory=threading.Event)

    def look(self) -> None:
        while True:
            self.most = max(self.most, held_megabytes(self.root))
            if self.over.wait(GLANCE):
                return


def measure(who: Contestant, request: Request) -> Measured:
    """Ask, and measure the tree of the one that is asked; the clock is the contestant's own."""
    glance = _Glance(who.process.pid)
    looking = threading.Thread(target=glance.look)
    before = cpu_seconds(who.process.pid)
    looking.start()
    reply = who.ask(request)
    after = cpu_seconds(who.process.pid)
    glance.over.set()
    looking.join()
    if "cannot" in reply:
        return Measured(0.0, {}, 0.0, cannot=reply["cannot"])
    spent = {part: after[part] - before[part] for part in after}
    return Measured(reply["seconds"], spent, glance.most, reply.get("rows"))


def there_and_back(names: Iterable[str], rounds: int) -> list[str]:
    """The order of runs.

    >>> there_and_back("AB", 3)
    ['A', 'B', 'B', 'A', 'A', 'B']
    """
    forth = list(names)
    return [name for turn in range(rounds) for name in (forth if turn % 2 == 0 else forth[::-1])]


def race(
    asks: Mapping[str, Callable[[], Measured]], rounds: int, most: Mapping[str, int] | None = None
) -> dict[str, list[Measured]]:
    """All runs of each, there and back; who cannot is asked once, and a slow one at most so often as is said."""
    found: dict[str, list[Measured]] = {name: [] for name in asks}
    for name in there_and_back(asks, rounds):
        if not any(one.cannot for one in found[name]) and len(found[name]) < (most or {}).get(name, rounds):
            found[name].append(asks[name]())
    return found


def median(runs: list[Measured]) -> Measured:
    """The middle of each number by itself."""
    stuck = next((one for one in runs if one.cannot), None)
    if stuck is not None:
        return stuck
    parts = {part: statistics.median(one.cpu[part] for one in runs) for part in runs[0].cpu}
    seconds, most = statistics.median(one.seconds for one in runs), statistics.median(one.megabytes for one in runs)
    return Measured(seconds, parts, most, runs[-1].rows)
