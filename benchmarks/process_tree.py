"""CPU seconds and memory of a process and everything below it, by program: this one, or the one named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

PARTS = ("driver", "JVM", "Python workers")


def processes(root: int | None = None) -> Iterator[tuple[int, str, float]]:
    """A process and its descendants: pid, program, CPU seconds with those of children that have ended."""
    children: dict[int, list[int]] = {}
    known: dict[int, tuple[str, float]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path("/proc", name, "stat").read_text()
        except OSError:
            continue
        head, _, tail = text.rpartition(")")
        fields = tail.split()
        children.setdefault(int(fields[1]), []).append(int(name))
        ticks = sum(map(int, fields[11:15]))
        known[int(name)] = head.partition("(")[2], ticks / os.sysconf("SC_CLK_TCK")
    ahead = [root or os.getpid()]
    while ahead:
        pid = ahead.pop()
        ahead += children.get(pid, [])
        if pid in known:
            yield pid, *known[pid]


def _part(pid: int, name: str, root: int | None = None) -> str:
    return "driver" if pid == (root or os.getpid()) else "JVM" if name == "java" else "Python workers"


def cpu_seconds(root: int | None = None) -> dict[str, float]:
    """CPU seconds of a driver, of the JVM and of Spark's Python workers."""
    found = dict.fromkeys(PARTS, 0.0)
    for pid, name, seconds in processes(root):
        found[_part(pid, name, root)] += seconds
    return found


def megabytes(field: str = "VmRSS") -> dict[str, float]:
    """Memory by part: what is held now (``VmRSS``), or the most that was (``VmHWM``); of workers the largest."""
    found = dict.fromkeys(PARTS, 0.0)
    for pid, name, _ in processes():
        try:
            lines = Path("/proc", str(pid), "status").read_text().splitlines()
        except OSError:
            continue
        held = sum(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))
        found[_part(pid, name)] = max(found[_part(pid, name)], held)
    return found


def held_megabytes(root: int) -> float:
    """What a process and its descendants hold now; a page that several of them share counts once."""
    total = 0
    for pid, _, _ in processes(root):
        try:
            lines = Path("/proc", str(pid), "smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024
