"""What is written once and decides everything after a crash: lines of JSON, each whole or not there.

Two journals belong to a live gate. ``statements`` has what was said and declared, in order. ``ticks`` has, for each
tick, which segments and statements came before it; epochs follow from it and are written after it. A line is on the
disk before anything acts on it. A torn last line, left by a crash, is cut off: nothing had acted on it.

Reads: errors.  Read by: engine, system.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tidegate.errors import EngineError
from tidegate.security.lattice import Level

TICKS_PER_FILE = 4_096
MOST_SPANS = 16
"""Spans of ticks that a line names at most, however many tuples wait."""


class Lines:
    """A file of JSON lines that only grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _cut_torn_line(path)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise cannot_write(path, error) from None

    def append(self, value: object) -> None:
        """Put a line on the disk; when this returns a crash cannot take it back, when it raises nothing was added."""
        data = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        before = os.fstat(self._file.fileno()).st_size
        try:
            written = self._file.write(data)
            if written != len(data):
                raise OSError(errno.ENOSPC, "")
            os.fsync(self._file.fileno())
        except OSError as error:
            self._file.truncate(before)
            raise cannot_write(self.path, error) from None

    def read(self) -> Iterator[Any]:
        """Every line so far."""
        yield from read_lines(self.path)

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


def read_lines(path: Path) -> Iterator[Any]:
    """The whole lines of a file; EngineError at one that was damaged."""
    if path.exists():
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n"):
                    yield _read_line(line, path, number)


def _read_line(line: bytes, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        raise EngineError(f"{path}, line {number}: this was damaged; restore the directory from a copy") from None


def cannot_write(path: Path, error: OSError) -> EngineError:
    """A full disk, or whatever else keeps a file from being written."""
    words = os.strerror(error.errno) if error.errno else str(error)
    hint = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else "mend that"
    return EngineError(f"cannot write {path}: {words}; {hint} and open the gate again: nothing is lost")


def _cut_torn_line(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        end = size
        while end > 0:
            start = max(0, end - 65_536)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            if found >= 0:
                end = start + found + 1
                break
            end = start
        if end < size:
            file.truncate(end)


@dataclass(frozen=True, slots=True)
class Counted:
    """Tuples, late ones and shed ones per level, and what was quarantined. Shown only where the level may see it."""

    tuples: Mapping[Level, int] = field(default_factory=dict)
    late: Mapping[Level, int] = field(default_factory=dict)
    shed: Mapping[Level, int] = field(default_factory=dict)
    quarantined: int = 0

    def __add__(self, other: Counted) -> Counted:
        """Both together."""
        tuples, late = _sum(self.tuples, other.tuples), _sum(self.late, other.late)
        return Counted(tuples, late, _sum(self.shed, other.shed), self.quarantined + other.quarantined)


def _sum(one: Mapping[Level, int], other: Mapping[Level, int]) -> dict[Level, int]:
    return {level: one.get(level, 0) + other.get(level, 0) for level in {**one, **other}}


Spans = tuple[tuple[int, int], ...]
"""Numbers of ticks, as pairs of a first and a last one."""


def spans(numbers: Iterable[int]) -> Spans:
    """Some numbers as few spans that have them all: neighbours together, and the nearest ones where they are too many.

    >>> spans([7, 3, 4, 5])
    ((3, 5), (7, 7))
    """
    found = sorted(set(numbers))
    gaps = [(here, there) for here, there in pairwise(found) if there > here + 1]
    kept = sorted(sorted(gaps, key=lambda gap: gap[0] - gap[1])[: MOST_SPANS - 1])
    firsts, lasts = [*found[:1], *(there for _, there in kept)], [*(here for here, _ in kept), *found[-1:]]
    return tuple(zip(firsts, lasts, strict=True))


@dataclass(frozen=True, slots=True)
class Tick:
    """One tick: the instants (last, instant] are complete. What came before it, and what is true after it."""

    number: int
    last: int
    instant: int
    clock: int
    segments: tuple[tuple[str, int], ...] = ()
    said: int = 0
    """How many lines of the statements' journal are at or before this tick."""
    arrivals: int = 0
    """How many tuples had arrived before those of this tick."""
    waiting: Spans = ()
    """Earlier ticks in whose segments are the tuples that still waited before this one."""
    held: int = 0
    """How many tuples these were."""
    epochs: dict[Level, int] = field(default_factory=dict)
    """The number of this tick's epoch at each level that is awake."""
    taken: dict[str, int] = field(default_factory=dict)
    """The newest segment of each stream that any tick has taken."""
    shed: tuple[Level, ...] = ()
    """Levels that were too far behind, and were given no tuples (Q-16)."""
    counted: Counted = field(default_factory=Counted)
    """Everything that was counted before this tick, since the gate began."""

    def to_json(self) -> dict[str, object]:
        """As a line."""
        return asdict(self)


def tick_from(line: dict[str, Any]) -> Tick:
    """A tick from its line."""
    waiting = tuple((first, last) for first, last in line["waiting"])
    segments = tuple((name, number) for name, number in line["segments"])
    shed, counted = tuple(map(Level, line["shed"])), Counted(**line["counted"])
    return Tick(**{**line, "segments": segments, "waiting": waiting, "shed": shed, "counted": counted})


class TickJournal:
    """The ticks of a gate, in files of some thousands so that old ones can be dropped."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self._open: Lines | None = None

    def append(self, tick: Tick) -> None:
        """Put a tick on the disk."""
        path = self._path(tick.number - tick.number % TICKS_PER_FILE)
        if self._open is None or self._open.path != path:
            self.close()
            self._open = Lines(path)
        self._open.append(tick.to_json())

    def read(self) -> Iterator[Tick]:
        """Every tick that is kept, in order."""
        for path in self._files():
            _cut_torn_line(path)
            yield from map(tick_from, read_lines(path))

    def forget(self, before: int, needed: int) -> None:
        """Drop files in which every tick is older than an instant, and than the oldest tick that is needed."""
        for path, following in pairwise(self._files()):
            first = next(map(tick_from, read_lines(following)), None)
            if first is not None and first.last < before and first.number <= needed:
                path.unlink()

    def close(self) -> None:
        """Let the file go."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _path(self, first: int) -> Path:
        return self.directory / f"ticks-{first:012d}.jsonl"

    def _files(self) -> list[Path]:
        return sorted(self.directory.glob("ticks-*.jsonl"))
