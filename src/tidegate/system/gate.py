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
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tidegate.engine.epochs import Epoch
from tidegate.engine.herd import path_name
from tidegate.engine.level import LevelRuntime
from tidegate.engine.live import RELATION, LiveShepherd
from tidegate.engine.quiet import ALWAYS, STOPPING, Quiet
from tidegate.engine.session import has_ended, own_session, process_of, without_farewells
from tidegate.errors import EngineError
from tidegate.language.session import Spoken
from tidegate.plan.schema import same_name
from tidegate.security.declare import declare
from tidegate.security.lattice import Lattice, Level
from tidegate.security.subject import login
from tidegate.sharing.switches import SWITCHES
from tidegate.sinks.sink import Outlet, Sink
from tidegate.system.binding import Binding, as_source, bind_relation
from tidegate.system.clock import MICROSECONDS, Clock
from tidegate.system.desk import Desk
from tidegate.system.directory import GateDirectory
from tidegate.system.failure import Patience, explain_end, reason, spoken_of
from tidegate.system.outlets import Outlets
from tidegate.system.session import Query, Session
from tidegate.system.status import Status, status_of

MOST_LEVELS = 16
"""A lattice with more levels than this must say which of them have processors."""
TIDY_EVERY = 20

Span = float | timedelta


class Gate:
    """A running system in your own Spark application. Levels are separate inputs and plans, not separate processes."""

    def __init__(self, spark: Any, levels: object, directory: str | Path | None = None, *, tick: Span = 0.5,
                 clock: Clock | None = None, users: Mapping[str, str] | None = None,
                 processors: Sequence[str] | None = None, shards: int = 2, keep: Span | None = 3600.0,
                 most_bytes: int = 1 << 30, shed: int | None = None, off: Sequence[str] = ()) -> None:  # fmt: skip
        self.lattice: Lattice = declare(levels)
        self.clock = clock or Clock()
        check_limits(tick=seconds(tick), shards=shards, most_bytes=most_bytes, shed=shed, keep=keep, off=off)
        self.tick_seconds, self.keep = seconds(tick), None if keep is None else seconds(keep)
        self.users = None if users is None else {name: self.lattice.level(text) for name, text in users.items()}
        self.most_bytes, self.shards, self.shed, self.off = most_bytes, shards, shed, frozenset(off)
        self.reserved = _reserved(self.lattice, processors)
        with spoken_of(spark):
            self.spark = own_session(spark)
        self.is_temporary = directory is None
        self.directory = Path(tempfile.mkdtemp(prefix="tidegate-") if directory is None else directory).absolute()
        self._home, self._quiet = GateDirectory(self.directory), Quiet(self.spark, ALWAYS)
        try:
            with spoken_of(spark):
                self._open(levels)
        except BaseException:
            self._leave()
            raise

    def _open(self, levels: object) -> None:
        """Go on where the directory says, or begin."""
        self._home.note_spark(process_of(self.spark))
        about = {"levels": levels, "shards": self.shards, "processors": [*self.reserved], "off": sorted(self.off),
                 "began": self.clock.now()}  # fmt: skip
        began = self._home.agree(about)["began"]
        self.runtimes: dict[Level, LevelRuntime] = {}
        self.bindings: dict[str, Binding] = {}
        self.outlets = Outlets(self)
        self.failure: EngineError | None = None
        self.ended: dict[Level, EngineError] = {}
        """Levels whose processor has ended for good, and why."""
        self._patience: defaultdict[Level, Patience] = defaultdict(Patience)
        self._told_suspended: dict[tuple[Level, int], int] = {}
        self._began: dict[tuple[Level, int], int] = {}
        """The epoch in which a query was last begun, since the gate was opened."""
        self._ending, self._stopping, self._is_stopped = threading.Event(), threading.Lock(), False
        self.shepherd = LiveShepherd(self.lattice, levels, self.directory, self._put, began, self.reserved, self.off)
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
        with self.lock, spoken_of(self.spark):
            self._check_open()
            if any(same_name(name, known) for known in self.bindings):
                raise EngineError(f'stream "{name}" has a source already')
            binding.prepare(self.directory, self._taken(name), self._room)
            line = binding.line(self.lattice.bottom)
            self.desk.check_declaration(line)
            binding.restart()  # first: what Spark refuses is not declared
            try:
                self.desk.declare(line)
            except BaseException:
                binding.stop()
                raise
            self.bindings[name] = binding

    def relation(self, name: str, rows: Any, *, schema: Mapping[str, str], level: str = "level") -> None:
        """Store a relation that queries may join: rows as dictionaries, or an Arrow table; each with its label."""
        self._check_open()
        with self.lock:
            known = [line.body["name"] for line in self.shepherd.lines if line.kind == RELATION]
            is_known = any(same_name(name, one) for one in known)
            line = bind_relation(name, rows, schema, level, self.lattice, self.directory, is_known=is_known)
            self.desk.declare(line)

    def sink(self, query: Query, sink: Sink, levels: tuple[str, str] | None = None, name: str | None = None) -> Outlet:
        """Send the rows of a query to a sink, from where the sink of this name was; ``levels`` may leave through it."""
        self._check_open()
        return self.outlets.bind(query, sink, levels, name)

    def restart(self, stream: str) -> None:
        """Start a source again, where its checkpoint says, after what had ended it was mended."""
        with self.lock:
            self._check_open()
            found = next((one for name, one in self.bindings.items() if same_name(name, stream)), None)
            if found is None:
                raise EngineError(f'no stream "{stream}" has a source; bind one with gate.stream')
        found.restart()  # without the lock: it waits for a micro-batch, which may be asking for room

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
        self.check_sound(found)
        return Session(self, user, found)

    def speak(self, text: str, level: Level, user: str | None, name: str | None = None) -> list[Spoken]:
        """Carry out a statement: what is refused raises QueryError and leaves no trace."""
        self._check_open()
        self.check_sound(level)
        with self.lock:
            spoken = self.desk.speak(text, level, user, name)
            runtime = self.runtimes.get(level)
            for begun in (one.begun for one in spoken if one.begun):
                self._began[level, begun.serial] = 0 if runtime is None else runtime.written + 1
            return spoken

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
            self.shepherd.tick(now, now - self.shepherd.delay, self._overloaded())
        for runtime in list(self.runtimes.values()):
            if runtime.query is None and runtime.level not in self.ended and not self._ending.is_set():
                self._start(runtime)

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
                self._restart(runtime, error)
            for serial, problem in sorted(runtime.results.suspended.items()):
                known = max(self._told_suspended.get((level, serial), -1), self._began.get((level, serial), 0) - 1)
                if problem["epoch"] > known:  # it may have been started again since
                    self.desk.suspend(level, serial, problem["epoch"])
                    self._told_suspended[level, serial] = problem["epoch"]
        with self.lock:
            for name, binding in self.bindings.items():
                binding.look_after()
                binding.note_old(self.shepherd.herd.old.get(name, 0))

    def _restart(self, runtime: LevelRuntime, error: Exception) -> None:
        """A streaming query that ended goes on from its checkpoint; one that ends again and again does not."""
        runtime.stop()
        if has_ended(self.spark):
            raise error
        if self._is_worth_it(runtime, error):
            self._start(runtime)

    def _start(self, runtime: LevelRuntime) -> None:
        """Start a level's query, or leave it to the next tick where what Spark needs for it has just died."""
        if runtime.is_lost:
            self._end(runtime.level, "and what it had not answered was dropped by age; take another directory")
            return
        try:
            runtime.start(self.spark)
        except Exception as error:
            if has_ended(self.spark):
                raise
            self._is_worth_it(runtime, error)

    def _is_worth_it(self, runtime: LevelRuntime, error: Exception) -> bool:
        """Whether to try once more; if not, this level has ended, and no other: nobody else is told of it."""
        if self._patience[runtime.level].is_left(error, runtime.results.done):
            return True
        self._end(runtime.level, f"again and again: {reason(error)}; {self._hint()}")
        return False

    def _end(self, level: Level, why: str) -> None:
        self.ended[level] = EngineError(f"the processor of level {level} ended {why}")
        self._wake_readers()

    def _hint(self) -> str:
        soon = "" if self.keep is None else f" within {timedelta(seconds=self.keep)}"
        return f"open the gate again with the same directory{soon}"

    def _tidy(self, keep: float) -> None:
        before = time.time() - keep
        for runtime in self.runtimes.values():
            runtime.forget(before, has_ended=runtime.level in self.ended)
        with self.lock:
            speed = self.clock.speed
            self.shepherd.forget(before, self.shepherd.latest.instant - round(keep * speed * MICROSECONDS))

    def _fail(self, error: Exception) -> None:
        self.failure = explain_end(error, self.spark)
        self._wake_readers()

    def _wake_readers(self) -> None:
        for runtime in self.runtimes.values():
            with runtime.results.changed:
                runtime.results.changed.notify_all()

    def _check_open(self) -> None:
        if self._ending.is_set():
            raise EngineError("the gate is closed")
        self.check_sound()

    def check_sound(self, level: Level | None = None) -> None:
        """Raise what has ended the gate, or the processor of a level, if something has."""
        found = self.failure or (None if level is None else self.ended.get(level))
        if found is not None:
            raise EngineError(str(found))  # a new one: each raise adds to an error's trace

    # ---------------------------------------------------------------- room

    def _taken(self, name: str) -> Any:
        return lambda: self.shepherd.latest.taken.get(name, -1)

    def _room(self) -> bool:
        """Q-16: whether a source may go on; it waits while what is not yet answered fills the log."""
        return not self.is_open or self._waiting_bytes() <= self.most_bytes

    def _waiting_bytes(self) -> int:
        with self.lock:
            going = [runtime for level, runtime in self.runtimes.items() if level not in self.ended]
            return self.shepherd.held_bytes() + sum(runtime.waiting_bytes() for runtime in going)

    # ---------------------------------------------------------------- the end

    @property
    def is_open(self) -> bool:
        """Whether it ticks."""
        return not self._ending.is_set() and self.failure is None

    def stop(self) -> None:
        """End everything that the gate started; a directory of its own choosing goes too. Again it does nothing."""
        self._ending.set()
        with self._stopping:
            if not self._is_stopped:
                self._stop()
            self._is_stopped = True

    def _stop(self) -> None:
        if threading.current_thread() is not self._thread:
            self._thread.join()
        with without_farewells(), Quiet(self.spark, STOPPING):
            for stop in (*(one.stop for one in self.bindings.values()), *(one.stop for one in self.runtimes.values())):
                _quietly(stop)
            self.outlets.stop()
            self._wake_readers()
            self.shepherd.close()
            self._leave()
        atexit.unregister(self.stop)

    def _leave(self) -> None:
        self._quiet.lift()
        self._home.close()
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


def check_limits(*, tick: float, shards: int, most_bytes: int, shed: int | None, keep: Span | None,
                 off: Sequence[str]) -> None:  # fmt: skip
    """Refuse limits that nothing could keep, and switches that there are not."""
    problems = {
        "tick is a span above 0": not 0 < tick < float("inf"),
        "shards is a whole number from 1 on": shards < 1,
        "most_bytes is above 0": most_bytes <= 0,
        "shed is a number of epochs, 0 or more": shed is not None and shed < 0,
        "keep is a span above 0": keep is not None and not seconds(keep) > 0,
        f"off is some of {', '.join(SWITCHES)}": isinstance(off, str) or not SWITCHES.keys() >= set(off),
    }
    for problem, is_so in problems.items():
        if is_so:
            raise EngineError(problem)


def _reserved(lattice: Lattice, processors: Sequence[str] | None) -> tuple[Level, ...]:
    if processors is not None:
        if not processors:
            raise EngineError("processors names no level; name those that somebody may log in at")
        return tuple(dict.fromkeys(lattice.level(text) for text in processors))
    if lattice.size > MOST_LEVELS:
        raise EngineError(f"there are {lattice.size} levels; say which have processors: Gate(processors=[…])")
    return tuple(lattice.levels())


def _quietly(stop: Any) -> None:
    try:
        stop()
    except Exception:  # noqa: BLE001 - Spark may be gone already
        pass
