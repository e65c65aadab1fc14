"""A gate: streams come in, sessions ask, and each level receives what it dominates.

One thread ticks: it lets the shepherd write the epochs of all levels that are awake, starts the streaming query of a
level that has just woken, and looks after those that run. Everything that a user says goes through ``speak``.

Reads: errors, security, plan, language, engine, system.  Read by: cli, the package itself.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tidegate.engine.epochs import Epoch
from tidegate.engine.herd import path_name
from tidegate.engine.level import LevelRuntime
from tidegate.engine.live import LiveShepherd
from tidegate.engine.session import own_session, without_farewells
from tidegate.errors import EngineError
from tidegate.language.session import Spoken
from tidegate.security.declare import declare
from tidegate.security.lattice import Lattice, Level
from tidegate.security.subject import login
from tidegate.sinks.sink import Outlet, Sink
from tidegate.system.binding import Binding, as_source, bind_relation
from tidegate.system.clock import MICROSECONDS, Clock
from tidegate.system.desk import Desk
from tidegate.system.directory import GateDirectory
from tidegate.system.outlets import Outlets
from tidegate.system.session import Query, Session
from tidegate.system.status import Status, status_of

MOST_LEVELS = 16
"""A lattice with more levels than this must say which of them have processors."""
TIDY_EVERY = 20
RESTARTS, RESTART_SECONDS = 3, 60.0

Span = float | timedelta


class Gate:
    """A running system in your own Spark application. Levels are separate inputs and plans, not separate processes."""

    def __init__(self, spark: Any, levels: object, directory: str | Path | None = None, *, tick: Span = 0.5,
                 clock: Clock | None = None, users: Mapping[str, str] | None = None,
                 processors: Sequence[str] | None = None, shards: int = 2, keep: Span | None = 3600.0,
                 most_bytes: int = 1 << 30, shed: int | None = None) -> None:  # fmt: skip
        self.lattice: Lattice = declare(levels)
        self.clock = clock or Clock()
        self.tick_seconds, self.keep = seconds(tick), None if keep is None else seconds(keep)
        self.users = None if users is None else {name: self.lattice.level(text) for name, text in users.items()}
        self.most_bytes, self.shards, self.shed = most_bytes, shards, shed
        self.is_temporary = directory is None
        self.directory = Path(tempfile.mkdtemp(prefix="tidegate-") if directory is None else directory).absolute()
        self.reserved = _reserved(self.lattice, processors)
        self._home = GateDirectory(self.directory)
        about = {"levels": levels, "shards": shards, "processors": list(self.reserved), "began": self.clock.now()}
        began = self._home.agree(about)["began"]
        self.spark = own_session(spark)
        self.runtimes: dict[Level, LevelRuntime] = {}
        self.bindings: dict[str, Binding] = {}
        self.outlets = Outlets(self)
        self.failure: EngineError | None = None
        self._restarts: dict[Level, list[float]] = {}
        self._told_suspended: dict[Level, set[int]] = {}
        self._ending = threading.Event()
        self.shepherd = LiveShepherd(self.lattice, levels, self.directory, self._put, began, self.reserved)
        self.desk = Desk(self.shepherd)
        self.lock = self.desk.lock
        self.clock.resume(self.shepherd.latest.clock)
        atexit.register(self.stop)
        self._thread = threading.Thread(target=self._run, name="tidegate ticks", daemon=True)
        self._thread.start()

    # ---------------------------------------------------------------- the administrator's part

    def stream(self, name: str, source: Any, *, time: str | None = None, level: str = "level",
               label: str | None = None, levels: tuple[str, str] | None = None, delay: Span = 2.0, skew: Span = 10.0,
               late: str = "restamp") -> None:  # fmt: skip
        """Bind a source to a stream: any streaming DataFrame, or what ``tidegate.sources`` gives.

        ``time`` and ``level`` name the columns with the tuple's time (none: it is stamped on arrival) and its label;
        ``label`` says it for all of them. ``levels`` is the range of labels that it may send (all, if not said).
        ``delay`` is how long the clock waits for tuples, ``skew`` how far ahead of it a tuple may be, ``late`` what
        becomes of those that come after their tick.
        """
        found = as_source(source, time, level, label)
        constant = None if label is None else self.lattice.level(label)
        binding = Binding(name, found, constant, self._range(levels), seconds(delay), seconds(skew), late)
        with self.lock:
            self._check_open()
            if name.casefold() in map(str.casefold, self.bindings):
                raise EngineError(f'stream "{name}" has a source already')
            self.desk.declare(binding.line(self.lattice.bottom))
            self.bindings[name] = binding
            binding.start(self.directory, self._taken(name), self._room)

    def relation(self, name: str, rows: Any, *, schema: Mapping[str, str], level: str = "level") -> None:
        """Store a relation that queries may join: rows as dictionaries, or an Arrow table; each with its label."""
        self._check_open()
        self.desk.declare(bind_relation(name, rows, schema, level, self.lattice, self.directory))

    def sink(self, query: Query, sink: Sink, levels: tuple[str, str] | None = None, name: str | None = None) -> Outlet:
        """Send the rows of a query to a sink, from where the sink of this name was; ``levels`` may leave through it."""
        self._check_open()
        return self.outlets.bind(query, sink, levels, name)

    def restart(self, stream: str) -> None:
        """Start a source again, where its checkpoint says, after what had ended it was mended."""
        with self.lock:
            self._check_open()
            self.bindings[stream].restart()

    def status(self) -> Status:
        """How it goes at every level: the administrator's view."""
        with self.lock:
            return status_of(self)

    def _range(self, levels: tuple[str, str] | None) -> tuple[Level, Level]:
        low, high = levels or (self.lattice.bottom, self.lattice.top)
        found = self.lattice.level(low), self.lattice.level(high)
        if not self.lattice.dominates(found[1], found[0]):
            raise EngineError(f'"{low}" to "{high}" is not a range of levels: the second must dominate the first')
        return found

    # ---------------------------------------------------------------- sessions

    def login(self, user: str, level: str) -> Session:
        """A session of a user at a level that their clearance dominates (M-3)."""
        self._check_open()
        found = self.lattice.level(level)
        if self.users is not None:
            login(self.users, user, level, self.lattice)
        if found not in self.reserved:
            raise EngineError(f'no processor is reserved for level "{found}"; name it in Gate(processors=…)')
        return Session(self, user, found)

    def speak(self, text: str, level: Level, user: str | None, name: str | None = None) -> list[Spoken]:
        """Carry out a statement: what is refused raises QueryError and leaves no trace."""
        self._check_open()
        return self.desk.speak(text, level, user, name)

    # ---------------------------------------------------------------- ticking

    def _run(self) -> None:
        following, count = time.monotonic() + self.tick_seconds, 0
        while not self._ending.wait(max(0.0, following - time.monotonic())):
            following = max(following + self.tick_seconds, time.monotonic())
            count += 1
            try:
                self.tick()
                self._look_after()
                if count % TIDY_EVERY == 0 and self.keep is not None:
                    self._tidy(self.keep)
            except Exception as error:  # noqa: BLE001 - whatever it is, everybody who waits must hear of it
                self._fail(error)
                return

    def tick(self) -> None:
        """Declare complete what the clock says is: now less the longest delay of a stream."""
        with self.lock:
            now = self.clock.now()
            delay = max((binding.delay for binding in self.bindings.values()), default=0.0)
            self.shepherd.tick(now, now - round(delay * MICROSECONDS), self._overloaded())
        for runtime in list(self.runtimes.values()):
            if runtime.query is None and not self._ending.is_set():
                runtime.start(self.spark)

    def _overloaded(self) -> list[Level]:
        """Q-16: each level by its own lag, which depends on its own data only."""
        behind = ((level, runtime.behind) for level, runtime in self.runtimes.items())
        return [] if self.shed is None else [level for level, epochs in behind if epochs > self.shed]

    def _put(self, level: Level, epoch: Epoch) -> None:
        if level not in self.runtimes:
            place = self.directory / "levels" / path_name(level)
            self.runtimes[level] = LevelRuntime(level, place, self.lattice, self.shards)
        self.runtimes[level].write(epoch)

    def _look_after(self) -> None:
        """Restart what died, write down what was suspended."""
        for level, runtime in self.runtimes.items():
            error = runtime.failure()
            if error is not None:
                self._restart(level, runtime, error)
            fresh = set(runtime.results.suspended) - self._told_suspended.setdefault(level, set())
            for serial in sorted(fresh):
                self._told_suspended[level].add(serial)
                self.desk.suspend(level, serial)
        for binding in self.bindings.values():
            binding.look_after()

    def _restart(self, level: Level, runtime: LevelRuntime, error: Exception) -> None:
        """A streaming query that ended goes on from its checkpoint; one that ends again and again does not."""
        now = time.monotonic()
        recent = [moment for moment in self._restarts.get(level, []) if now - moment < RESTART_SECONDS]
        if len(recent) >= RESTARTS:
            raise EngineError(f"the processor of level {level} ended {RESTARTS} times in a minute: {first_line(error)}")
        self._restarts[level] = [*recent, now]
        runtime.stop()
        runtime.start(self.spark)

    def _tidy(self, keep: float) -> None:
        before = time.time() - keep
        for runtime in self.runtimes.values():
            runtime.forget(before)
        with self.lock:
            speed = self.clock.speed
            self.shepherd.forget(before, self.shepherd.latest.instant - round(keep * speed * MICROSECONDS))

    def _fail(self, error: Exception) -> None:
        if isinstance(error, EngineError):
            self.failure = error
        else:
            self.failure = EngineError(
                f"the gate has ended: {first_line(error)}; open it again with the same directory"
            )
        for runtime in self.runtimes.values():
            with runtime.results.changed:
                runtime.results.changed.notify_all()

    def _check_open(self) -> None:
        if self.failure is not None:
            raise self.failure
        if self._ending.is_set():
            raise EngineError("the gate is closed")

    # ---------------------------------------------------------------- room

    def _taken(self, name: str) -> Any:
        return lambda: self.shepherd.latest.taken.get(name, -1)

    def _room(self) -> None:
        """Q-16: a source waits while what is not yet answered fills the log."""
        while not self._ending.is_set() and self.failure is None and self._waiting_bytes() > self.most_bytes:
            time.sleep(0.05)

    def _waiting_bytes(self) -> int:
        with self.lock:
            return self.shepherd.unclaimed() + sum(runtime.waiting_bytes() for runtime in self.runtimes.values())

    # ---------------------------------------------------------------- the end

    @property
    def is_open(self) -> bool:
        """Whether it ticks."""
        return not self._ending.is_set() and self.failure is None

    def stop(self) -> None:
        """End everything that the gate started; a directory of its own choosing goes too."""
        if self._ending.is_set():
            return
        self._ending.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        with without_farewells():
            for stop in (*(one.stop for one in self.bindings.values()), *(one.stop for one in self.runtimes.values())):
                _quietly(stop)
        self.outlets.stop()
        for runtime in self.runtimes.values():
            with runtime.results.changed:
                runtime.results.changed.notify_all()
        self.shepherd.close()
        self._home.close()
        atexit.unregister(self.stop)
        if self.is_temporary:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def seconds(span: Span) -> float:
    """A span of time as seconds."""
    return span.total_seconds() if isinstance(span, timedelta) else float(span)


def first_line(error: BaseException) -> str:
    """What an error says first: a Java trace behind it helps nobody."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:300]


def _reserved(lattice: Lattice, processors: Sequence[str] | None) -> tuple[Level, ...]:
    if processors is not None:
        return tuple(lattice.level(text) for text in processors)
    if lattice.size > MOST_LEVELS:
        raise EngineError(f"there are {lattice.size} levels; say which have processors: Gate(processors=[…])")
    return tuple(lattice.levels())


def _quietly(stop: Any) -> None:
    try:
        stop()
    except Exception:  # noqa: BLE001 - Spark may be gone already
        pass
