"""How many tuples per second pass through Spark, and where do the CPU seconds go?

Experiments 1 to 3 of paper 000: 9 identical selections, 9 identical averages, 5 identical joins, all at TS over four
levels in equal parts, with sharing and without. Epochs of 100,000 tuples lie ready, and a micro-batch takes up to ten
of them; `local[2]`, two shards, one session that has been warmed up. Then the cost per tuple from 2 to 20 million
tuples for one query of each experiment, and the cost of a micro-batch that has nothing to do. CPU seconds are those of
the whole process tree.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from process_tree import cpu_seconds, megabytes
from rich.console import Console
from rich.table import Table

from tidegate.engine.epochs import Epoch, Said, World, write_epoch
from tidegate.engine.pipeline import Told, start
from tidegate.engine.processor import STATISTICS
from tidegate.engine.session import spark_session
from tidegate.operators.arrow import arrow_type
from tidegate.plan.schema import Field, Schema
from tidegate.plan.types import DOUBLE, INT
from tidegate.security.lattice import Level

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EPOCH, EPOCHS_PER_BATCH, RUNS = 100_000, 10, 3
LEVELS = 'LEVEL = "TS" OR LEVEL = "S" OR LEVEL = "C" OR LEVEL = "U"'
SELECT = f"SELECT sid, weight FROM Vitals [ROWS 100 {LEVELS}] WHERE weight > 100 AND weight < 200"
AVERAGE = f"SELECT AVG(weight) FROM Vitals [ROWS 100 {LEVELS}] WHERE weight > 100 AND weight < 200 GROUP BY level"
JOIN = (
    f"SELECT Vitals.sid, weight, location, Vitals.level, Positions.level FROM Positions [ROWS 100 {LEVELS}], "
    f"Vitals [ROWS 50 {LEVELS}] WHERE Vitals.sid = Positions.sid AND weight > 100"
)
EXPERIMENTS = {
    "1: 9 x select": ((SELECT,) * 9, ("Vitals",)),
    "2: 9 x average": ((AVERAGE,) * 9, ("Vitals",)),
    "3: 5 x join": ((JOIN,) * 5, ("Vitals", "Positions")),
}
STREAMS: dict[str, Schema] = {
    "Vitals": (Field("sid", INT), Field("weight", DOUBLE)),
    "Positions": (Field("sid", INT), Field("location", DOUBLE)),
}


# ------------------------------------------------------------------------------ epochs


def write_stream(
    directory: Path, queries: Sequence[str], streams: tuple[str, ...], tuples: int, off: Iterable[str] = ()
) -> None:
    """Epochs with the same tuples every time."""
    chance = np.random.default_rng(1)
    said = tuple(Said(n, 0, -1, Level("TS"), text, None, f"q{n}") for n, text in enumerate(queries))
    world = World("U < C < S < TS", Level("TS"), STREAMS, {}, off=frozenset(off))
    for number in range(tuples // EPOCH):
        first = number * EPOCH
        batches = {name: _tuples(chance, name, first + n, EPOCH // len(streams), len(streams))
                   for n, name in enumerate(streams)}  # fmt: skip
        epoch = Epoch(number, first - 1, first + EPOCH - 1, said, batches, world) if number == 0 else Epoch(
            number, first - 1, first + EPOCH - 1, (), batches)  # fmt: skip
        place = directory / "epochs" / str(number)
        place.mkdir(parents=True)
        write_epoch(epoch, place / "main.arrow")


def _tuples(chance: np.random.Generator, name: str, first: int, count: int, step: int) -> pa.RecordBatch:
    instants = np.arange(count, dtype=np.int64) * step + first
    labels = pa.DictionaryArray.from_arrays(
        pa.array(chance.integers(0, 4, count, dtype=np.int32)), pa.array(["U", "C", "S", "TS"])
    )
    values = [pa.array(chance.integers(0, 500, count)), pa.array(chance.uniform(50, 250, count))]
    names = [column.name for column in STREAMS[name]]
    assert [value.type for value in values] == [arrow_type(column.type) for column in STREAMS[name]]
    arrays = [*values, labels, pa.array(instants), pa.array(np.zeros(count, np.int64))]
    return pa.RecordBatch.from_arrays(arrays, names=[*names, "level", "instant", "arrival"])


# ------------------------------------------------------------------------------ measuring


@dataclass(frozen=True)
class Measured:
    """One run: seconds on the clock, CPU seconds by program, the largest Python worker, rows that came out."""

    seconds: float
    cpu: dict[str, float]
    peak_megabytes: float
    rows: int


def run(spark: SparkSession, directory: Path, most: int = EPOCHS_PER_BATCH) -> Measured:
    """All epochs of a directory, from an empty checkpoint; results are counted and thrown away."""
    rows = 0

    def take(told: list[Told]) -> None:
        nonlocal rows
        for result in (one.result for one in told if one.result.kind != STATISTICS):
            assert result.kind == "+", result
            data = result.body if result.path is None else pa.memory_map(result.path).read_buffer()
            rows += pa.ipc.open_stream(data).read_next_batch().num_rows
        for path in {one.result.path for one in told if one.result.path is not None}:
            os.remove(path)  # queries that share a result name the same file

    place = Path(tempfile.mkdtemp(dir=directory))  # of its own: Spark may still tidy up the checkpoint before
    (place / "epochs").symlink_to(directory / "epochs")
    before, begin = cpu_seconds(), time.perf_counter()
    query = start(spark, place, 2, most, take)
    try:
        query.processAllAvailable()
        seconds = time.perf_counter() - begin
        peak = megabytes("VmHWM")["Python workers"]
    finally:
        query.stop()
    after = cpu_seconds()
    return Measured(seconds, {name: after[name] - before.get(name, 0.0) for name in after}, peak, rows)


# ------------------------------------------------------------------------------ questions


def experiments(spark: SparkSession, work: Path, tuples: int, table: Table) -> None:
    """Tuples per second and CPU seconds per million tuples, by component."""
    for off, (name, (queries, streams)) in product(((), ("sharing",)), EXPERIMENTS.items()):
        directory = work / f"experiment {name[0]}"
        write_stream(directory, queries, streams, tuples, off)
        runs = [run(spark, directory) for _ in range(RUNS + 1)][1:]  # the first warms up
        middle = sorted(runs, key=lambda one: one.seconds)[RUNS // 2]
        _tell(table, f"{name}, {'nothing shared' if off else 'shared'}", tuples, middle)
        shutil.rmtree(directory)


def flatness(spark: SparkSession, work: Path, table: Table, sizes: tuple[int, int]) -> None:
    """The same queries over ten times as many tuples: CPU seconds per tuple must not grow."""
    spent: list[float] = []
    for tuples in sizes:
        directory = work / f"flat {tuples}"
        write_stream(directory, (SELECT, AVERAGE, JOIN), ("Vitals", "Positions"), tuples)
        runs = [run(spark, directory) for _ in range(RUNS)]
        middle = sorted(runs, key=lambda one: sum(one.cpu.values()))[RUNS // 2]
        spent.append(sum(middle.cpu.values()) / tuples)
        _tell(table, f"flat: 1 of each, {tuples:,}", tuples, middle)
        shutil.rmtree(directory)
    print(json.dumps({"bench": "spark", "question": "flat", "cpu_ratio": round(spent[1] / spent[0], 3)}))


def micro_batches(spark: SparkSession, work: Path) -> None:
    """An epoch with nothing in it, alone in its micro-batch."""
    directory, count = work / "empty", 30
    write_stream(directory, (AVERAGE,), ("Vitals",), EPOCH)
    for number in range(1, count):
        place = directory / "epochs" / str(number)
        place.mkdir()
        write_epoch(Epoch(number, number * EPOCH - 1, (number + 1) * EPOCH - 1), place / "main.arrow")
    run(spark, directory, 1)
    runs = [run(spark, directory, 1) for _ in range(RUNS)]
    seconds = statistics.median(one.seconds for one in runs) / count
    cpu = {name: round(statistics.median(one.cpu[name] for one in runs) / count, 3) for name in runs[0].cpu}
    print(json.dumps({"bench": "spark", "question": "empty micro-batch", "seconds": round(seconds, 3), "cpu": cpu}))


def _tell(table: Table, name: str, tuples: int, middle: Measured) -> None:
    million = {part: round(seconds * 1e6 / tuples, 2) for part, seconds in middle.cpu.items()}
    rate = tuples / middle.seconds
    line = {"bench": "spark", "experiment": name, "tuples": tuples, "tuples_per_s": round(rate), "rows": middle.rows,
            "cpu_s_per_million": million, "worker_peak_mb": round(middle.peak_megabytes)}  # fmt: skip
    print(json.dumps(line), flush=True)
    parts = [str(million[part]) for part in ("driver", "JVM", "Python workers")]
    table.add_row(name, f"{rate:,.0f}", *parts, f"{middle.peak_megabytes:,.0f}", f"{middle.rows:,}")


def main() -> None:
    """One JSON line per question, then a table; with an argument so many tuples instead of 2,000,000."""
    tuples = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    table = Table("experiment", "tuples/s", "driver", "JVM", "Python workers", "worker peak, MB", "rows out",
                  title="through Spark, local[2]: CPU seconds per million tuples")  # fmt: skip
    work = Path(tempfile.mkdtemp(prefix="tidegate-bench-"))
    try:
        with spark_session(work) as spark:
            experiments(spark, work, tuples, table)
            flatness(spark, work, table, (tuples, 10 * tuples))
            micro_batches(spark, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    Console().print(table)


if __name__ == "__main__":
    main()
