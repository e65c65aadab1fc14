"""The demo through Spark: a live gate, a board that grows while tuples flow, and at the end the reference's word.

The flood is real: a file with TS tuples falls into a directory that is part of the stream. Nobody can live the same
seconds twice, so the run without the flood is the gate's own log without the flood's tuples, asked of the reference;
``verify`` says that the reference and the gate agree where nothing was taken out.

Reads: engine, reference, sources, system.  Read by: demo.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.status import Status

from tidegate.cli.complain import one_message
from tidegate.cli.demo import (
    ASKED,
    FILTERED,
    HIGH,
    LEVELS,
    LOW,
    QUERY,
    Answers,
    comparison,
    tell_the_point,
    wrong_claims,
)
from tidegate.cli.demo_board import SECOND, Board, Column
from tidegate.engine.livelog import read_live
from tidegate.engine.session import spark_session
from tidegate.engine.verify import Span, Verdict, live_lines, verify
from tidegate.errors import EngineError
from tidegate.log import Arrived, Entry
from tidegate.reference.replay import replay_lines
from tidegate.security.lattice import Level
from tidegate.sources.directory import directory
from tidegate.sources.generator import generator
from tidegate.system.directory import read_about
from tidegate.system.gate import Gate

RATE = 80.0
FLOOD_TUPLES, FLOOD_SECONDS = 1_000, 2
FLOODING = 9_999
"""The soldier of the flood: the generator knows nobody of this number."""
BEFORE, BETWEEN, AFTER = 3, 2, 3
"""Seconds on the board: until the query is added, until the flood, and behind it."""
LONGEST = 120.0
"""Seconds without news after which something must be broken."""
POLL = 0.1


def run_live(console: Console, seed: int) -> list[str]:
    """The demo through Spark; which claims are wrong."""
    wrong: list[str] = []
    with TemporaryDirectory(prefix="tidegate-") as work, one_message("the demo", Path(work) / "spark.log"):
        console.print(f"\n[bold]{QUERY}[/bold], asked at two clearances; levels {' < '.join(LEVELS)}")
        console.print(f"Live through Spark, which takes some seconds to start: {RATE:.0f} made-up vitals a second\n")
        lived = _live(console, seed, Path(work))
        with console.status("asking the reference"):
            calm, flooded, verdict = _judged(Path(work) / "gate", lived)
        wrong += _told(console, lived, calm, flooded, verdict)
    return wrong


# ------------------------------------------------------------------------------ the run


@dataclass(frozen=True, slots=True)
class Lived:
    """What happened when, in whole seconds since 1970: the start, the end of the flood, the end."""

    began: int
    flooded: int
    ended: int


def _live(console: Console, seed: int, work: Path) -> Lived:
    interrupts = Interrupts()
    with interrupts.held(), console.status("starting Spark") as status, spark_session(work) as spark:
        signal.signal(signal.SIGINT, interrupts.note)  # Spark has installed its own
        interrupts.check()
        status.update("starting a gate and its stream")
        with _gate(spark, seed, work) as gate:
            board = Board(console, {name: _ask(gate, name) for name in (LOW, HIGH)}, int(time.time()))
            lived = _story(Watch(gate, board, status, interrupts), work / "flood")
            status.update("stopping Spark")
    return lived


def _story(watch: Watch, where: Path) -> Lived:
    """Two clearances, a third query while it runs, then the flood."""
    gate, board = watch.gate, watch.board
    watch.until(lambda: board.rows >= BEFORE)
    board.columns[FILTERED] = _ask(gate, FILTERED)
    level, text = ASKED[FILTERED]
    board.notes.append((gate.status().instant // SECOND + 1, f"added while it runs, at {level}: {text}"))
    watch.until(lambda: len(board.columns[FILTERED].said) > 0)
    rows = board.rows + BETWEEN
    watch.until(lambda: board.rows >= rows)
    begin = _flood(where)
    end = begin + FLOOD_SECONDS
    board.notes.append((begin, f"for {FLOOD_SECONDS} seconds {FLOOD_TUPLES:,} TS tuples flood the stream"))
    board.notes.append((end, "the flood is over"))
    watch.until(lambda: board.second >= end + AFTER)
    return Lived(board.began, end, board.second)


@dataclass(frozen=True, slots=True)
class Watch:
    """Looks at a gate and lets the board grow."""

    gate: Gate
    board: Board
    status: Status
    interrupts: Interrupts

    def until(self, enough: Callable[[], bool]) -> None:
        """Go on until it is enough; EngineError if the source has failed, or nothing comes any more."""
        second, patience = self.board.second, time.monotonic() + LONGEST
        while not enough():
            self.interrupts.check()
            self.board.catch_up()
            known = self.gate.status()
            failure = next((stream.failure for stream in known.streams if stream.failure), None)
            if failure or time.monotonic() > patience:
                raise EngineError(failure or f"nothing was answered for {LONGEST:.0f} s: this machine is too busy")
            if self.board.second > second:
                second, patience = self.board.second, time.monotonic() + LONGEST
            self.status.update(known.line())
            time.sleep(POLL)


class Interrupts:
    """Ctrl-C, noted and obeyed where it does no harm.

    Spark's launcher leaves a JVM behind when it is interrupted, and Spark's own handler calls the JVM in the middle of
    another call.
    """

    def __init__(self) -> None:
        self.noted = False

    def note(self, *_: object) -> None:
        """Handle the signal."""
        self.noted = True

    def check(self) -> None:
        """Obey."""
        if self.noted:
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Note until the end of a block, whatever Spark installs meanwhile; then obey."""
        before = signal.signal(signal.SIGINT, self.note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
        self.check()


@contextmanager
def _gate(spark: Any, seed: int, work: Path) -> Iterator[Gate]:
    """A gate with one stream: made-up vitals, and whatever falls into a directory."""
    made_up = generator(spark, "vitals", rate=RATE, levels=dict.fromkeys(LEVELS, 1.0), seed=seed)
    (work / "flood").mkdir()
    declared = {column.name: str(column.type) for column in made_up.schema}
    fallen = directory(spark, work / "flood", declared, format="parquet", time=made_up.time)
    with Gate(spark, " < ".join(LEVELS), work / "gate", keep=None) as gate:
        gate.stream("Vitals", made_up.frame.unionByName(fallen.frame), time=made_up.time)
        yield gate


def _ask(gate: Gate, name: str) -> Column:
    level, text = ASKED[name]
    return Column(gate.login("demo", level).query(text, name))


def _flood(where: Path) -> int:
    """Let TS tuples fall into the stream: a second from now, evenly over some seconds; in which second they begin."""
    begin = int(time.time()) + 2
    moments = [
        datetime.fromtimestamp(begin + FLOOD_SECONDS * number / FLOOD_TUPLES, UTC) for number in range(FLOOD_TUPLES)
    ]
    fixed = {"level": "TS", "sid": FLOODING, "wt": 100.0, "bp": 120.0, "pr": 80.0}
    columns = {name: [value] * FLOOD_TUPLES for name, value in fixed.items()}
    table = pa.table({"ts": pa.array(moments, pa.timestamp("us", "UTC")), **columns})
    table = table.set_column(2, "sid", table.column("sid").cast(pa.int32()))
    pq.write_table(table, where / ".flood")
    (where / ".flood").rename(where / "flood.parquet")
    return begin


# ------------------------------------------------------------------------------ the reference's word


def _judged(gate: Path, lived: Lived) -> tuple[Answers, Answers, Verdict]:
    """What the queries would have answered without the flood, what they did answer, and whether that is right."""
    about_gate, within = read_about(gate), Span(-1, lived.ended * SECOND)
    case, log = read_live(gate, about_gate)
    quiet = replace(log, entries=[entry for entry in log.entries if not _floods(entry.payload)])
    calm: dict[str, list[str]] = {name: [] for name in ASKED}
    for line in replay_lines(case, quiet):
        if line.instant in within:
            calm[_name(line.text)].append(line.text)
    flooded: dict[str, list[str]] = {name: [] for name in ASKED}
    for level in dict.fromkeys(level for level, _ in ASKED.values()):
        for (_, name), lines in live_lines(gate, Level(level), case.lattice, within).items():
            flooded[name] += lines
    return calm, flooded, verify(gate, about_gate)


def _floods(entry: Entry) -> bool:
    return isinstance(entry, Arrived) and entry.values[0] == FLOODING


def _name(line: str) -> str:
    name: str = json.loads(line)["query"]
    return name


def _told(console: Console, lived: Lived, calm: Answers, flooded: Answers, verdict: Verdict) -> list[str]:
    """Print what came of it; which claims are wrong."""
    console.print("Same text, two answers: each sums the last 100 tuples [i]visible at its level[/i].\n")
    console.print(
        "The flood was real. Without it: the log of the same seconds less its tuples, asked of the reference."
    )
    console.print(comparison(calm, flooded, float(lived.flooded), f"t = {lived.flooded - lived.began} s"))
    tell_the_point(console)
    is_right = verdict.lines > 0 and not verdict.differing
    if is_right:
        told = f"{verdict.lines:,} lines of {verdict.queries} queries, equal to the reference's over the log"
        console.print(f"\n[bold]verify[/bold]: {told}")
    console.print('\nNext: README.md, "In your own Spark application"; docs/live.md.')
    wrong = wrong_claims(calm, flooded)
    return wrong if is_right else [*wrong, "the gate's answers are those of the reference over its log"]
