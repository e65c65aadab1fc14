"""Does sharing pay? CPU seconds of the whole process tree for many queries, against one, and with sharing off.

Paper 000's experiments, complete 1 to 4 and partial 1 and 2, each over 2,000,000 tuples of four levels; order A B C C B
A, medians of 5. "One" is each query of a complete experiment once, and of a partial one the query that asks for most.
Then 1, 50 and 1,000 similar queries as a curve, over 200,000 tuples, and the plans alone: CPU seconds to register
queries one by one, and the last of 1,001. `local[2]`, two shards, one session that has been warmed up. `--tuples`,
`--runs` and `--only NAME` make it shorter.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench_spark import STREAMS, run, write_stream
from experiments import EXPERIMENTS, Experiment
from rich.console import Console
from rich.table import Table

from tidegate.engine.epochs import Epoch, Said, World
from tidegate.engine.processor import LevelProcessor
from tidegate.engine.session import spark_session
from tidegate.security.lattice import Level

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIMILAR = (1, 50, 1_000)


@dataclass(frozen=True)
class Question:
    """Some queries against many, over some streams."""

    few: Sequence[str]
    many: Sequence[str]
    streams: tuple[str, ...]


def question(experiment: Experiment) -> Question:
    """An experiment of the paper."""
    texts = [asked.cql() for asked in experiment.asked]
    few = list(dict.fromkeys(texts)) if experiment.name.startswith("complete") else texts[:1]
    return Question(few, texts, experiment.streams)


def similar(count: int) -> list[str]:
    """Selections and averages over one window, with thresholds of their own."""
    lists = ("sid, weight", "AVG(weight), COUNT(*)", "MAX(weight), MIN(weight)", "SUM(weight)")
    texts = [f"SELECT {lists[n % 4]} FROM Vitals [ROWS 100] WHERE weight > {100 + n // 4 % 100}" for n in range(count)]
    return [text if "(" not in text.partition("FROM")[0] else f"{text} GROUP BY level" for text in texts]


# ------------------------------------------------------------------------------ measuring


def spent(spark: SparkSession, directory: Path) -> float:
    """CPU seconds of the whole process tree for one run."""
    return sum(run(spark, directory).cpu.values())


def compare(spark: SparkSession, work: Path, name: str, asked: Question, tuples: int, runs: int, table: Table) -> None:
    """One query, many that share, many that do not; all warmed up, in the order A B C C B A."""
    sides = {"one": (asked.few, ()), "shared": (asked.many, ()), "unshared": (asked.many, ("sharing",))}
    for side, (queries, off) in sides.items():
        write_stream(work / side, queries, asked.streams, tuples, off)
        spent(spark, work / side)
    found: dict[str, list[float]] = {side: [] for side in sides}
    for turn in range(runs):
        for side in list(sides) if turn % 2 == 0 else reversed(sides):
            found[side].append(spent(spark, work / side))
    middle = {side: statistics.median(seconds) for side, seconds in found.items()}
    for side in sides:
        shutil.rmtree(work / side)
    ratio, gain = middle["shared"] / middle["one"], middle["unshared"] / middle["shared"]
    line = {"bench": "sharing", "experiment": name, "queries": len(asked.many), "tuples": tuples, "runs": runs,
            "cpu_s": {side: round(seconds, 2) for side, seconds in middle.items()},
            "of_one": round(ratio, 3), "unshared_of_shared": round(gain, 2)}  # fmt: skip
    print(json.dumps(line), flush=True)
    cells = [f"{middle[side]:.2f}" for side in sides]
    table.add_row(name, str(len(asked.many)), *cells, f"{ratio:.2f}", f"{gain:.2f}")


def registering(count: int, off: tuple[str, ...]) -> tuple[float, float]:
    """CPU seconds to register so many similar queries one by one, and milliseconds for one more."""
    processor = LevelProcessor(World("U < C < S < TS", Level("TS"), STREAMS, {}, off=frozenset(off)))
    texts, begin, last = similar(count + 1), time.process_time(), 0.0
    for number, text in enumerate(texts):
        before = time.process_time()
        said = Said(number, number + 1, 0, Level("TS"), text, None, f"q{number}")
        list(processor.advance(Epoch(number, number, number + 1, (said,))))
        last = time.process_time() - before
    return time.process_time() - begin, 1000 * last


def plans() -> None:
    """What planning costs, with sharing and without."""
    for count in SIMILAR[1:]:
        for off in ((), ("sharing",)):
            total, last = registering(count, off)
            line = {"bench": "sharing", "question": "registering", "queries": count, "off": off,
                    "cpu_s": round(total, 2), "ms_for_one_more": round(last, 1)}  # fmt: skip
            print(json.dumps(line), flush=True)


def main() -> None:
    """One JSON line per question, then tables."""
    asks = argparse.ArgumentParser(description=__doc__)
    asks.add_argument("--tuples", type=int, default=2_000_000)
    asks.add_argument("--runs", type=int, default=5)
    asks.add_argument("--only", default="")
    given = asks.parse_args()
    title = "CPU seconds of the process tree: one query, many that share, many that do not"
    table = Table(
        "experiment", "queries", "one", "shared", "unshared", "shared / one", "unshared / shared", title=title
    )
    work = Path(tempfile.mkdtemp(prefix="tidegate-bench-"))
    try:
        with spark_session(work) as spark:
            for experiment in EXPERIMENTS:
                if given.only in experiment.name:
                    compare(spark, work, experiment.name, question(experiment), given.tuples, given.runs, table)
            for count in SIMILAR if given.only in "similar" else ():
                asked = Question(similar(1), similar(count), ("Vitals",))
                compare(spark, work, "similar", asked, given.tuples // 10, min(3, given.runs), table)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if given.only in "registering":
        plans()
    Console().print(table)


if __name__ == "__main__":
    main()
