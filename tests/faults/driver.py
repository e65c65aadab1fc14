"""A program with a gate, to be killed at any moment and started again with the same directory.

It says ``ready`` when Spark is there, waits for a line, then opens the gate, says what it does and ends with ``done``.
A line says up to which second of the stream to go; the clock also stops before the first tuple that is not in the log
yet, so no tuple is late, however slow the machine is. When there are no more lines, the parent has died.

Run as: python -m tests.faults.driver GATE INPUT WORK
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from tests.faults.world import BEFORE, EARLY, END, FIRST, LEVELS, PASSING, SCHEMA, SECOND, STREAM, instant_of
from tidegate.engine.herd import segments_of
from tidegate.engine.segments import numbers_in, read_segment
from tidegate.engine.session import has_ended, spark_session
from tidegate.errors import EngineError, TidegateError
from tidegate.security.lattice import Level
from tidegate.sources.directory import directory
from tidegate.system.clock import Clock
from tidegate.system.gate import Gate
from tidegate.system.session import Query, Session

SPEED, TICK = 4.0, 0.2
MOST_BEHIND = 8
"""Epochs: the clock waits for the levels too, so that a kill finds all of them at work."""
FAILED = 3


class HeldClock(Clock):
    """A clock that goes no further than it is let, and stands still there."""

    limit = FIRST - 1
    most = FIRST - 1

    def now(self) -> int:
        """Microseconds since 1970."""
        reached = min(Clock.now(self), self.limit, self.most)
        self.resume(reached)
        return reached

    def obey(self) -> None:
        """Go as far as the parent says, in seconds of the stream."""
        line = sys.stdin.readline()
        if not line:
            os._exit(FAILED)
        self.most = FIRST + int(line) * SECOND

    def obey_for_ever(self) -> None:
        """In a thread."""
        while True:
            self.obey()

    def resume(self, instant: int) -> None:
        """Go on from an instant, also from one before the clock's own."""
        self._from, self._since = max(instant, round(BEFORE.timestamp() * SECOND)), time.monotonic()


def tuples_in_log(gate: Path) -> int:
    """How many tuples are in segments: those are safe."""
    place = segments_of(gate, "Vitals")
    return sum(len(read_segment(place / f"{number}.arrow")) for number in numbers_in(place)) if place.exists() else 0


def say(text: str) -> None:
    """Tell the parent."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def ask(session: Session, name: str, text: str) -> Query:
    """The query of a name; registered if it is not there."""
    try:
        return session.find(name)
    except EngineError:
        return session.query(text, name)


def follow(query: Query, seen: Path) -> None:
    """Read results as they come, each once whatever happens: a line is written for each batch, and says its epoch."""
    read = seen.read_bytes() if seen.exists() else b""
    whole = read[: read.rfind(b"\n") + 1]
    after = json.loads(whole.splitlines()[-1])["epoch"] if whole else -1
    with seen.open("wb", buffering=0) as file, suppress(TidegateError):
        file.write(whole)
        for batch in query.results(after):
            line = {"epoch": int(batch.schema.metadata[b"epoch"]), "rows": texts(batch)}
            file.write(json.dumps(line).encode() + b"\n")


def texts(batch: pa.RecordBatch) -> list[str]:
    """Rows as text, exact to the bit."""
    return [repr(tuple(row.values())) for row in batch.to_pylist()]


def pass_by(sessions: dict[str, Session], instant: int) -> None:
    """Register and drop what comes and goes at this time of the stream."""
    for one in PASSING:
        names = [query.name for query in sessions[one.level].queries()]
        past = instant >= FIRST + one.comes * SECOND
        gone = one.goes is not None and instant >= FIRST + one.goes * SECOND
        if one.name == "derived" and past and "high@S" not in sessions["S"].execute("SHOW STREAMS"):
            sessions["S"].execute(STREAM)
        if past and not gone and one.name not in names:
            sessions[one.level].query(one.text, one.name)
            say(f"registered {one.name}")
        elif gone and one.name in names:
            sessions[one.level].find(one.name).drop()
            say(f"dropped {one.name}")


def next_passing(instant: int) -> int:
    """How far the clock may go before the next query comes or goes: a little further than that, and the delay."""
    moments = [FIRST + second * SECOND for one in PASSING for second in (one.comes, one.goes) if second is not None]
    return min((moment + 3 * SECOND // 2 for moment in moments if moment > instant), default=2 * END)


def answered(gate: Gate) -> int:
    """Grows when a level answers."""
    return sum(runtime.results.done + 1 for runtime in gate.runtimes.values())


def live(gate: Gate, clock: HeldClock, seen: Path) -> None:
    """Until every level has answered everything up to the end."""
    sessions = {level: gate.login("ana", level) for level in ("U", "S")}
    queries = [ask(sessions[level], name, text) for name, (level, text) in EARLY.items()]
    say(f"open at {gate.shepherd.latest.instant - FIRST}")
    threading.Thread(target=follow, args=(queries[0], seen), daemon=True).start()
    told, before, answering = 0, answered(gate), False
    while True:
        status = gate.status()
        for level in sessions:
            gate.check_sound(Level(level))
        if status.streams[0].failure is not None:
            raise RuntimeError(status.streams[0].failure)
        pass_by(sessions, status.instant)
        if all(one.behind < MOST_BEHIND for one in status.levels):
            clock.limit = min(instant_of(tuples_in_log(gate.directory)) - 1, next_passing(status.instant))
        else:
            clock.limit = clock.now()
        if not answering and answered(gate) > before:
            answering = True
            say("answering")
        if status.instant - told > SECOND:
            told = status.instant
            say(f"at {told - FIRST} {status.line()}")
        if status.instant >= END and all(one.behind == 0 for one in status.levels):
            return
        time.sleep(0.05)


def main(gate_directory: Path, folder: Path, work: Path) -> int:
    """Spark, then a line from the parent, then the gate."""
    work.mkdir(parents=True, exist_ok=True)
    with spark_session(work) as spark:
        say("ready")
        clock = HeldClock(BEFORE, SPEED)
        clock.obey()
        threading.Thread(target=clock.obey_for_ever, daemon=True).start()
        try:
            with Gate(spark, LEVELS, gate_directory, tick=TICK, clock=clock, keep=None) as gate:
                source = directory(spark, folder, SCHEMA, most_files=2)
                gate.stream("Vitals", source, delay=1.0, skew=1e6)
                live(gate, clock, gate_directory.with_suffix(".seen"))
        except Exception as error:
            if not isinstance(error, TidegateError) and not has_ended(spark):
                raise
            say(f"failed {type(error).__name__}: {error}")
            return FAILED
    say("done")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
