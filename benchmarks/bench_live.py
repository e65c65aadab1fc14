"""How long from a tuple's instant to its result, and does a gate that runs for a day level off?

Latency: generated vitals at 20,000 and 100,000 tuples/s, one level, ticks of half a second, `local[2]`. A selection
gives one row per tuple that it keeps, and a row's time is its tuple's instant, so latency is the moment at which a
reader has the row less that instant. Beside it: from the tick that completed the instant, and CPU by component.

A day: stream time runs 144 times as fast as the clock, 20,000 tuples/s of the wall clock, 20 queries with windows of
rows and of time; memory, files and bytes of the gate's directory as they go. Ten minutes, or as many as are asked for:
`bench_live.py day 10`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from process_tree import PARTS, cpu_seconds, megabytes
from rich.console import Console
from rich.table import Table

from tidegate.engine.session import spark_session
from tidegate.sources.generator import generator
from tidegate.system.clock import Clock
from tidegate.system.gate import Gate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEVELS = "U < C < S < TS"
MIX = {"U": 0.25, "C": 0.25, "S": 0.25, "TS": 0.25}
TICK, DELAY = 0.5, 0.3
RUNS, SECONDS = 3, 12.0
WATCHED = "SELECT sid, bp FROM Vitals [NOW] WHERE sid = 7"
BESIDE = (
    "SELECT AVG(bp), MAX(pr) FROM Vitals [ROWS 100]",
    "SELECT sid, COUNT(*) FROM Vitals [RANGE 5 SECONDS SLIDE 1 SECOND] GROUP BY sid",
    "SELECT MIN(wt) FROM Vitals [RANGE 1 SECOND]",
)


# ------------------------------------------------------------------------------ latency


def latencies(spark: SparkSession, rate: int) -> dict[str, object]:
    """One run: percentiles of seconds from instant to result and from tick to result, late tuples, CPU per second."""
    with Gate(spark, LEVELS, tick=TICK) as gate:
        gate.stream("Vitals", generator(spark, "vitals", rate=rate, levels=MIX), delay=DELAY)
        session = gate.login("bench", "TS")
        query = session.query(WATCHED)
        for text in BESIDE:
            session.query(text)
        rows, began = _listen(gate, query, warm=8.0)
        before, begin = cpu_seconds(), time.monotonic()
        began.set()
        time.sleep(SECONDS)
        spent, seconds = cpu_seconds(), time.monotonic() - begin
        late = sum(one.late for one in gate.status().levels) / max(1, sum(one.tuples for one in gate.status().levels))
        found = np.array(rows)
        cpu = {part: round((spent[part] - before[part]) / seconds, 2) for part in PARTS}
    return {"rate": rate, **_percentiles(found, 0, "seconds"), **_percentiles(found, 1, "from_tick"),
            "late": round(late, 4), "rows": len(found), "cpu_per_second": cpu}  # fmt: skip


def _listen(gate: Gate, query: object, warm: float) -> tuple[list[tuple[float, float]], threading.Event]:
    """Reads results in a thread; latencies count from the moment at which the event is set."""
    rows: list[tuple[float, float]] = []
    began = threading.Event()

    def listen() -> None:
        for batch in query.results():  # type: ignore[attr-defined]
            now = time.time()
            if began.is_set():
                ticked = _ticked(gate, int(batch.schema.metadata[b"epoch"]))
                times = batch.column("row_time").cast("int64").to_numpy() / 1e6
                rows.extend((now - instant, now - ticked) for instant in times.tolist())

    threading.Thread(target=listen, daemon=True).start()
    time.sleep(warm)
    return rows, began


def _ticked(gate: Gate, epoch: int) -> float:
    path = gate.directory / "levels" / "TS" / "epochs" / str(epoch)
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def _percentiles(found: np.ndarray[tuple[int, int], np.dtype[np.float64]], column: int, name: str) -> dict[str, float]:
    if len(found) == 0:
        return {}
    return {f"{name}_p{share}": round(float(np.percentile(found[:, column], share)), 3) for share in (50, 99)}


def latency(spark: SparkSession) -> None:
    """Both rates, in the order A B B A A B; medians."""
    heads = ("tuples/s", "p50, s", "p99, s", "p50 from tick", "p99 from tick", "late")
    table = Table(*heads, *(f"CPU {part}" for part in PARTS),
                  title=f"from a tuple's instant to its result; ticks of {TICK} s, delay {DELAY} s")  # fmt: skip
    order = (20_000, 100_000, 100_000, 20_000, 20_000, 100_000)
    runs = [latencies(spark, rate) for rate in order]
    for one in runs:
        print(json.dumps({"bench": "live", "question": "latency", **one}), flush=True)
    for rate in (20_000, 100_000):
        same = sorted((one for one in runs if one["rate"] == rate), key=lambda one: str(one.get("seconds_p50")))
        middle = same[len(same) // 2]
        cpu = middle["cpu_per_second"]
        assert isinstance(cpu, dict)
        numbers = [
            str(middle.get(key)) for key in ("seconds_p50", "seconds_p99", "from_tick_p50", "from_tick_p99", "late")
        ]
        table.add_row(f"{rate:,}", *numbers, *(str(cpu[part]) for part in PARTS))
    Console(width=140).print(table)


# ------------------------------------------------------------------------------ a day

DAY_QUERIES = tuple(
    text
    for n in range(1, 6)
    for text in (
        f"SELECT AVG(bp), COUNT(*) FROM Vitals [ROWS {100 * n}]",
        f"SELECT sid, MAX(pr) FROM Vitals [PARTITIONED BY sid ROWS {n}] GROUP BY sid HAVING sid < {n}",
        f"SELECT COUNT(*), AVG(wt) FROM Vitals [RANGE {n} MINUTES SLIDE {n} MINUTES]",
        f"SELECT sid, COUNT(*) FROM Vitals [RANGE {10 * n} SECONDS] WHERE bp > 150 AND sid = {n} GROUP BY sid",
    )
)


def day(spark: SparkSession, minutes: float) -> None:
    """Memory, files and bytes every so often; the second half must not be above the first by more than noise."""
    begin, speed = datetime(2024, 1, 1, tzinfo=UTC), 24 * 60 / 10
    clock = Clock(begin - timedelta(minutes=10), speed=speed)
    samples: list[dict[str, float]] = []
    with Gate(spark, LEVELS, tick=TICK, clock=clock, keep=30.0) as gate:
        source = generator(spark, "vitals", rate=20_000, levels=MIX, speed=speed, start=begin)
        gate.stream("Vitals", source, delay=timedelta(minutes=5), skew=timedelta(hours=6))
        sessions = [gate.login("bench", level) for level in ("C", "TS")]
        for n, text in enumerate(DAY_QUERIES):
            sessions[n % 2].query(text)
        end = time.monotonic() + minutes * 60
        while time.monotonic() < end:
            time.sleep(max(1.0, minutes * 60 / 40))
            samples.append(_sample(gate))
            print(json.dumps({"bench": "live", "question": "day", **samples[-1]}), flush=True)
        assert gate.failure is None
    console = Console(width=120)
    for name in samples[0]:
        console.print(f"{name:>22} {_sparkline([one[name] for one in samples])} {samples[-1][name]:,.0f}")


def _sample(gate: Gate) -> dict[str, float]:
    status = gate.status()
    files = list(_files(gate.directory))
    held = {f"MB {part}": round(value, 1) for part, value in megabytes().items()}
    checkpoints = [size for path, size in files if "/checkpoint/" in path]
    behind = max((one.behind for one in status.levels), default=0)
    return {"tuples": sum(one.tuples for one in status.levels), "behind": behind, **held, "files": len(files),
            "MB": round(sum(size for _, size in files) / 2**20, 1), "checkpoint files": len(checkpoints),
            "checkpoint MB": round(sum(checkpoints) / 2**20, 2)}  # fmt: skip


def _files(directory: Path) -> Iterator[tuple[str, int]]:
    for place, _, names in os.walk(directory):
        for name in names:
            try:
                yield f"{place}/{name}", os.stat(f"{place}/{name}").st_size
            except FileNotFoundError:
                continue


def _sparkline(values: list[float]) -> str:
    low, high = min(values), max(values)
    return "".join("▁▂▃▄▅▆▇█"[int((value - low) / ((high - low) or 1) * 7)] for value in values)


def main() -> None:
    """Latency, then a day; or one of them: ``latency``, ``day MINUTES``."""
    asked = sys.argv[1:] or ["latency", "day"]
    with tempfile.TemporaryDirectory(prefix="tidegate-bench-") as work, spark_session(Path(work)) as spark:
        if "latency" in asked:
            latency(spark)
        if "day" in asked:
            numbers = [float(word) for word in asked if word.replace(".", "").isdigit()]
            day(spark, numbers[0] if numbers else 10.0)


if __name__ == "__main__":
    main()
