"""A sink, and the outlet that feeds it: results of one query, epoch by epoch, each safely out before the next.

An outlet is a thread that reads what the processor wrote, so a slow or failing sink holds nothing back (Q-16). How far
it has come lies in a file that is written after a batch is out: a restart loses nothing, and doubles nothing where
writing the same epoch twice is the same as once.

Reads: errors, engine, security.  Read by: sinks, system.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from tidegate.engine.results import Results, for_reader
from tidegate.errors import EngineError
from tidegate.security.lattice import Lattice, Level
from tidegate.text import one_line

POLL = 0.2
STORE_EVERY = 5.0
"""Seconds after which a position that moved without rows is written down."""
LONGEST_WAIT = 30.0
LONGEST_FAILURE = 300
FOLLOWING, RETRYING, ENDED = "following", "retrying", "ended"


@dataclass(frozen=True, slots=True)
class Followed:
    """The query that a sink gets: its name, the level that its rows go by, its number at that level, the lattice."""

    query: str
    level: Level
    serial: int
    lattice: Lattice


class Sink(Protocol):
    """Where the rows of a query go. An outlet calls it from one thread; whatever it raises is tried again, later."""

    def open(self, followed: Followed, after: int) -> int:
        """Make ready, also after a failure. ``after`` is the last epoch known to be out; give where to go on from."""
        ...

    def write(self, epoch: int, batch: pa.RecordBatch) -> None:
        """Put the rows of an epoch out, and return when they are safe; the same epoch again must change nothing."""
        ...

    def close(self) -> None:
        """Let go; nothing is waiting to be written."""
        ...


@dataclass(slots=True)
class Outlet:
    """A sink that follows a query in a thread of its own."""

    name: str
    followed: Followed
    sink: Sink
    path: Path
    """Where its position is kept."""
    results: Callable[[], Results | None]
    """The results of the query's level, once that is awake."""
    is_over: Callable[[], bool] = lambda: False
    """Whether the query is gone and everything that it gave is there."""
    first_wait: float = 0.1
    position: int = field(init=False)
    """Up to this epoch everything is out."""
    gap: int = field(init=False, default=0)
    """Epochs that were dropped by age before the sink had them."""
    rows: int = field(init=False, default=0)
    attempts: int = field(init=False, default=0)
    """How often it was tried since it last went well."""
    failure: str | None = field(init=False, default=None)
    state: str = field(init=False, default=FOLLOWING)
    _stored: tuple[int, int] | None = field(init=False, default=None)
    _stored_at: float = field(init=False, default=0.0)
    _until: float | None = field(init=False, default=None)
    _stopping: threading.Event = field(init=False, default_factory=threading.Event)
    _let_go: bool = field(init=False, default=False)
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._load()
        self._thread = threading.Thread(target=self._run, name=f"tidegate sink {self.name}", daemon=True)

    def start(self) -> None:
        """Begin, or go on where the file says."""
        self._thread.start()

    @property
    def behind(self) -> int:
        """Epochs that are answered and not yet out."""
        results = self.results()
        return 0 if results is None else max(0, results.done - self.position)

    @property
    def is_alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread.is_alive()

    def end_by(self, until: float) -> None:
        """Put out what is there until a moment of ``time.monotonic``, then end; does not wait for it."""
        self._until = until
        self._stopping.set()
        results = self.results()
        if results is not None:
            with results.changed:
                results.changed.notify_all()

    def stop(self, until: float) -> None:
        """The same, and wait for it.

        What is not out by then goes out the next time. A sink that does not return from a call is left alone, and
        moves no position any more.
        """
        self.end_by(until)
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(max(0.0, until - time.monotonic()) + POLL)
        self._let_go = self._thread.is_alive()

    # ---------------------------------------------------------------- following

    def _run(self) -> None:
        while True:
            try:
                self._follow()
                self.state = ENDED
                return
            except (Exception, SystemExit) as error:  # noqa: BLE001 - it is foreign code, and nobody else must suffer
                self._note(error)
            if self._stopping.wait(min(LONGEST_WAIT, self.first_wait * 2 ** min(self.attempts - 1, 20))):
                return

    def _note(self, error: BaseException) -> None:
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        self.failure, self.state = one_line(text)[:LONGEST_FAILURE], RETRYING
        self.attempts += 1

    def _follow(self) -> None:
        self.position = self.sink.open(self.followed, self.position)
        try:
            while True:
                is_last = self._stopping.is_set() or self.is_over()  # asked before, so that nothing slips between
                results = self.results()
                if results is not None:
                    self._put_out(results)
                if is_last:
                    self._store()
                    return
                self._wait(results)
        finally:
            self.sink.close()

    def _put_out(self, results: Results) -> None:
        """Everything that is answered; where rows were dropped meanwhile, the next call counts them."""
        self._skip_dropped(results)
        done, serial = results.done, self.followed.serial
        for epoch in results.epochs(serial, self.position):
            if epoch > done:
                break
            if self._until is not None and time.monotonic() >= self._until:
                return
            try:
                found = results.read(serial, epoch)
            except FileNotFoundError:
                if epoch < results.kept:
                    return
                raise
            batch = for_reader(found, epoch, self.followed.level)
            self.sink.write(epoch, batch)
            self.rows += batch.num_rows
            self._move(epoch)
            self._store()
        self._move(max(done, self.position))
        if time.monotonic() - self._stored_at > STORE_EVERY:
            self._store()

    def _skip_dropped(self, results: Results) -> None:
        missed = results.kept - 1 - self.position
        if missed > 0:
            self.gap += missed
            self.position = results.kept - 1
            self._store()

    def _move(self, epoch: int) -> None:
        """It went well: what had been wrong is over."""
        self.position, self.failure, self.attempts, self.state = epoch, None, 0, FOLLOWING

    def _wait(self, results: Results | None) -> None:
        if results is None:
            self._stopping.wait(POLL)
            return
        with results.changed:
            if results.done <= self.position and not self._stopping.is_set():
                results.changed.wait(POLL)

    # ---------------------------------------------------------------- its position

    def _load(self) -> None:
        """A new one begins with the oldest results that are kept: it has missed nothing that it was promised."""
        results = self.results()
        self.position = -1 if results is None else results.kept - 1
        try:
            known = json.loads(self.path.read_text())
            followed, self.position, self.gap = (known["level"], known["serial"]), known["position"], known["gap"]
        except FileNotFoundError:
            self._store()
            return
        except (ValueError, KeyError, TypeError):
            raise EngineError(f"{self.path} was damaged; remove it to begin anew, or give the sink a name") from None
        if followed != (self.followed.level, self.followed.serial):
            raise EngineError(
                f'sink "{self.name}" has followed another query, "{known["query"]}"; give it another name'
            )
        self._stored = self.position, self.gap

    def _store(self) -> None:
        """On the disk, whole or as it was before."""
        if self._let_go or self._stored == (self.position, self.gap):
            return
        followed = self.followed
        body = {"query": followed.query, "level": followed.level, "serial": followed.serial, "position": self.position,
                "gap": self.gap}  # fmt: skip
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_safely(self.path, lambda file: file.write_text(json.dumps(body)))
        self._stored, self._stored_at = (self.position, self.gap), time.monotonic()


def write_safely(path: Path, write: Callable[[Path], object]) -> None:
    """Write beside its place, onto the disk, then move there; a failure leaves nothing behind."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        write(unfinished)
        _onto_the_disk(unfinished)
        unfinished.replace(path)
        _onto_the_disk(path.parent)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _onto_the_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
