"""Sessions and queries, as a user holds them.

Reads: catalog, errors, plan, engine, sinks.  Read by: gate.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidegate.catalog import RegisteredQuery
from tidegate.engine.feeds import Passed
from tidegate.engine.level import LevelRuntime
from tidegate.engine.results import about, for_reader
from tidegate.errors import EngineError, TidegateError
from tidegate.language.session import registers_a_query
from tidegate.plan import nodes
from tidegate.plan.explain import draw
from tidegate.security.lattice import Level
from tidegate.sinks.console import ConsoleSink
from tidegate.sinks.sink import Followed

if TYPE_CHECKING:
    from tidegate.system.gate import Gate

POLL = 0.2


class Suspended(TidegateError):
    """A query met an error and answers no more until START (Q-9); ``error`` has code, problem, place and hint."""

    def __init__(self, name: str, error: dict[str, Any]) -> None:
        hint = f"; {error['hint']}" if error.get("hint") else ""
        super().__init__(f'query "{name}" is suspended: {error["code"]}: {error["problem"]}{hint}')
        self.error = error


@dataclass(frozen=True, slots=True)
class Session:
    """A user at a level."""

    gate: Gate
    user: str
    level: Level

    def __repr__(self) -> str:
        return f"<session of {self.user} at {self.level}>"

    def query(self, text: str, name: str | None = None) -> Query:
        """Register a continuous query: a SELECT, or a whole CREATE QUERY. It sees what comes after its place (Q-13)."""
        if registers_a_query(text) is False:
            raise EngineError("this statement registers no query; use session.execute for it")
        with self.gate.lock:
            if self.gate.desk.interpreter(self.level).in_set(self.user):
                raise EngineError("between BEGIN and COMMIT use session.execute, and find the query afterwards")
            spoken = self.gate.speak(text, self.level, self.user, name or self._free_name())
            begun = [one.begun for one in spoken if isinstance(one.begun, RegisteredQuery)]
        return Query(self.gate, self.level, self.user, begun[0])

    def execute(self, text: str) -> tuple[str, ...]:
        """Carry out any statement; what it shows, as lines."""
        spoken = self.gate.speak(text, self.level, self.user, None)
        return tuple(line for one in spoken for line in one.shown or ())

    def find(self, name: str) -> Query:
        """A query of this level by its name."""
        with self.gate.lock:
            found = self.gate.desk.interpreter(self.level).query(name)
        if found is None:
            raise EngineError(f'query "{name}" does not exist')
        return Query(self.gate, self.level, self.user, found)

    def queries(self) -> list[Query]:
        """All queries of this level, oldest first."""
        with self.gate.lock:
            found = self.gate.desk.interpreter(self.level).queries()
        return [Query(self.gate, self.level, self.user, one) for one in found]

    def _free_name(self) -> str:
        """Names count per level: nobody learns of another level's (Q-14)."""
        interpreter, number = self.gate.desk.interpreter(self.level), 1
        while interpreter.query(f"q{number}") is not None:
            number += 1
        return f"q{number}"


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a query did since the gate was opened, as far as its level may know."""

    tuples: int
    rows: int
    state_bytes: int
    epochs_behind: int
    seconds_behind: float
    latency: float
    """Seconds that the newest answer took, from its tick."""
    prefilter: Mapping[str, Passed] = field(default_factory=dict)
    """By stream that it reads: what all queries of its level left of it."""


@dataclass(frozen=True, slots=True)
class Query:
    """A registered query."""

    gate: Gate
    level: Level
    user: str
    entry: RegisteredQuery

    def __repr__(self) -> str:
        return f"<query {self.name} at {self.level}{'' if self._runs() else ', not running'}>"

    @property
    def name(self) -> str:
        """Its name at its level."""
        return self.entry.name

    # ---------------------------------------------------------------- results

    def results(self, after: int = -1, *, follow: bool = True) -> Iterator[pa.RecordBatch]:
        """Batches of rows, one per epoch that gave any, from behind an epoch on; the epoch is in the schema's metadata.

        Columns are the query's, then ``row_level`` and ``row_time``. It waits for more until the query is dropped or
        stopped or the gate is closed; with ``follow=False`` it gives what is there. A suspended query raises Suspended
        behind its last row. Results are kept by age: where some behind ``after`` have gone, it says so and gives none.
        """
        ending = _Ending(self, self._runs)
        while True:
            has_ended = ending.has_come()  # asked before, so that nothing slips between
            runtime = self.gate.runtimes.get(self.level)
            done = -1 if runtime is None else runtime.results.done
            for epoch in self._epochs(runtime, after, done):
                batch = self._read(runtime, epoch)
                after = epoch
                yield batch
            after = max(after, done)  # nothing is behind: what is dropped by age up to here was not missed
            self.gate.check_sound(self.level)
            if not follow or has_ended:
                self._raise_if_suspended(runtime)
                return
            self._wait(runtime, done)

    def _epochs(self, runtime: LevelRuntime | None, after: int, done: int) -> list[int]:
        if runtime is None:
            return []
        if -1 < after < runtime.results.kept - 1:
            raise _gone(runtime.results.kept)
        return [epoch for epoch in runtime.results.epochs(self.entry.serial, after) if epoch <= done]

    def _read(self, runtime: LevelRuntime | None, epoch: int) -> pa.RecordBatch:
        assert runtime is not None
        try:
            return for_reader(runtime.results.read(self.entry.serial, epoch), epoch, self.level)
        except FileNotFoundError:
            raise _gone(runtime.results.kept) from None

    def _runs(self) -> bool:
        with self.gate.lock:
            found = self.gate.desk.interpreter(self.level).by_serial(self.entry.serial)
        return found is not None and found.running

    def _raise_if_suspended(self, runtime: LevelRuntime | None) -> None:
        if runtime is not None and not self._runs():
            found = runtime.results.suspended.get(self.entry.serial)
            if found is not None and self._exists():
                raise Suspended(self.name, found["error"])

    def _exists(self) -> bool:
        with self.gate.lock:
            return self.gate.desk.interpreter(self.level).by_serial(self.entry.serial) is not None

    def _wait(self, runtime: LevelRuntime | None, done: int) -> None:
        if runtime is None:
            time.sleep(POLL / 4)
            return
        with runtime.results.changed:
            if runtime.results.done == done:
                runtime.results.changed.wait(POLL)

    def each(self, callback: Callable[[pa.RecordBatch], None], after: int = -1) -> None:
        """Call a function with every batch, until the query ends."""
        for batch in self.results(after):
            callback(batch)

    def show(self, rows: int = 10) -> None:
        """Show its newest rows, and those to come, until it ends or Ctrl-C; where nothing can move, a line for each."""
        runtime = self.gate.runtimes.get(self.level)
        before = [-1, *(runtime.results.epochs(self.entry.serial, -1) if runtime is not None else ())]
        sink = ConsoleSink(rows)
        sink.open(self.followed(), -1)
        try:
            for batch in self.results(before[max(0, len(before) - 1 - rows)]):
                sink.write(int(about(batch)["epoch"]), batch)
        except (KeyboardInterrupt, BrokenPipeError):
            pass
        finally:
            sink.close()

    # ---------------------------------------------------------------- about it

    def followed(self) -> Followed:
        """What a sink is told of it."""
        return Followed(self.name, self.level, self.entry.serial, self.gate.lattice)

    def when_dropped(self) -> Callable[[], bool]:
        """Something to ask again and again: was it dropped, and is everything there that it had given till then?"""
        return _Ending(self, self._exists).has_come

    def explain(self) -> str:
        """Its plan, drawn."""
        assert self.entry.plan is not None
        return draw(self.entry.plan)

    def metrics(self) -> Metrics:
        """Tuples in and rows out, state, and how far behind the clock its level is."""
        runtime = self.gate.runtimes.get(self.level)
        if runtime is None:
            return Metrics(0, 0, 0, 0, 0.0, 0.0)
        one, behind = runtime.results.measured[self.entry.serial], runtime.behind
        seconds, passed = behind * self.gate.tick_seconds, self._passed(runtime.results.passed)
        return Metrics(one.tuples, one.rows, one.state_bytes, behind, seconds, runtime.latency, passed)

    def _passed(self, streams: Mapping[str, Passed]) -> dict[str, Passed]:
        """Of the streams that it reads from outside; derived ones are not filtered before."""
        assert self.entry.plan is not None
        read = {scan.name for scan in nodes.scans(self.entry.plan) if not scan.serial}
        return {name: streams[name] for name in sorted(read & streams.keys())}

    def stop(self) -> None:
        """Stop it; ``start`` begins it anew, with empty windows."""
        self._say("STOP")

    def start(self) -> None:
        """Begin it anew."""
        self._say("START")

    def drop(self) -> None:
        """End it, and free its name."""
        self._say("DROP QUERY")

    def _say(self, verb: str) -> None:
        quoted = self.name.replace("`", "``")
        with self.gate.lock:
            if not self._exists():
                raise EngineError(f'query "{self.name}" does not exist any more')
            self.gate.speak(f"{verb} `{quoted}`", self.level, self.user, None)


def _gone(kept: int) -> EngineError:
    return EngineError(
        f"results before epoch {kept} were dropped by age; read on with results(after={kept - 1}), "
        "or keep them longer: Gate(keep=…)"
    )


@dataclass(slots=True)
class _Ending:
    """Notices that a query goes on no more, and from then on waits for the epoch in which that was said.

    Later epochs do not matter: a level that is always a little behind has answered that one too, some time.
    """

    query: Query
    goes_on: Callable[[], bool]
    last: int | None = None

    def has_come(self) -> bool:
        """Whether nothing more can come."""
        gate = self.query.gate
        if not gate.is_open:
            return True
        with gate.lock:
            if self.goes_on():
                self.last = None
                return False
            runtime = gate.runtimes.get(self.query.level)
            if runtime is None:
                return True
            if self.last is None:
                is_said = gate.shepherd.latest.said >= len(gate.shepherd.lines)
                self.last = runtime.written if is_said else runtime.written + 1
        return runtime.results.done >= self.last
