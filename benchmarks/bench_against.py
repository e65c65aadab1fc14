"""How fast is tidegate beside plain Spark and Flink SQL on paper 000's experiments: tuples/s, CPU seconds, memory?

Complete 1 to 4 and partial 1 and 2 over 2,000,000 tuples, a quarter per level, all asked at TS. Each engine runs in a
process of its own, warmed up with a tenth of the tuples, on two cores: tidegate over epochs that lie ready, plain Spark
over the same tuples as Parquet, Flink over them as CSV. Seconds are from asking to the last answer, so what it costs to
start the queries is in them; that cost alone, with hardly a tuple, is `start_s`, and without it the tuples flow at
`flowing_tuples_per_s`, which is the figure for queries that run for long. Order A B C D D C B A A B C D, medians of 3.

What is and is not the same in meaning stands in through_spark.py and through_flink.py, and as `cannot_say` in lines.
Before the race, the engines answer a small input, and the answers are compared.

Flink is installed into `.venv-flink` the first time (850 MB); `--without flink` goes without. `--off sharing` is passed
on to tidegate, as a contestant of its own beside the one with everything on.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from contest import Contestant, Measured, Request, contestant, measure, median, race
from experiments import AVERAGE, BOTH, EXPERIMENTS, LABELS, SUMMARY, VALUES, Experiment, cannot_say
from flink_home import flink_python
from pyarrow import csv, parquet
from rich.console import Console
from rich.table import Table

from tidegate.engine.epochs import Epoch, Said, World, write_epoch
from tidegate.plan.schema import Field, Schema
from tidegate.plan.types import DOUBLE, INT
from tidegate.security.lattice import Level

SMALL, CHECKED, EPOCHS_PER_BATCH, ROUNDS = 1_000, 2_000, 10, 3
STREAMS: dict[str, Schema] = {name: (Field("sid", INT), Field(VALUES[name], DOUBLE)) for name in BOTH}


# ------------------------------------------------------------------------------ the same tuples for all


def tuples(name: str, first: int, count: int, step: int) -> pa.Table:
    """Tuples ``first`` and so on of a stream, one per ``step`` milliseconds; always the same ones."""
    chance = np.random.default_rng([BOTH.index(name), first])
    level = pa.array(chance.integers(0, len(LABELS), count, dtype=np.int32))
    labels = pa.DictionaryArray.from_arrays(level, pa.array(LABELS))
    values = [pa.array(chance.integers(0, 500, count)), pa.array(chance.uniform(50, 250, count))]
    instants = pa.array((first + BOTH.index(name) + np.arange(count, dtype=np.int64) * step) * 1_000)
    return pa.table([*values, labels, instants], ["sid", VALUES[name], "level", "instant"])


def write(directory: Path, streams: tuple[str, ...], total: int) -> list[dict[str, pa.Table]]:
    """The tuples of an experiment's streams as Parquet and CSV, a file per epoch; and as they are."""
    size = max(len(streams), min(100_000, total // 20))
    epochs = []
    for number in range(total // size):
        parts = {name: tuples(name, number * size, size // len(streams), len(streams)) for name in streams}
        for name, part in parts.items():
            _write_parquet(part, directory / name / f"{number:06}.parquet")
        epochs.append(parts)
    for name in streams:
        whole = pa.concat_tables([parts[name] for parts in epochs])
        milliseconds = pa.array(whole["instant"].to_numpy() // 1_000)
        whole = whole.set_column(2, "level", whole["level"].cast(pa.string())).set_column(3, "ms", milliseconds)
        csv.write_csv(whole, directory / f"{name}.csv", csv.WriteOptions(include_header=False, quoting_style="none"))
    return epochs


def _write_parquet(part: pa.Table, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    times = part["instant"].cast(pa.timestamp("us", "UTC"))
    small = part.set_column(0, "sid", part["sid"].cast(pa.int32())).set_column(3, "ts", times)
    parquet.write_table(small, path)


def write_epochs(directory: Path, experiment: Experiment, epochs: list[dict[str, pa.Table]], off: list[str]) -> None:
    """What a level's processor reads: the statements at the beginning, then the tuples."""
    asked = (one.cql() for one in experiment.asked)
    said = tuple(Said(n, -1, -1, Level("TS"), text, None, f"q{n}") for n, text in enumerate(asked))
    world = World("U < C < S < TS", Level("TS"), STREAMS, {}, off=frozenset(off))
    last = -1
    for number, parts in enumerate(epochs):
        now = max(part["instant"][-1].as_py() for part in parts.values())
        arrived = {name: _arrived(part) for name, part in parts.items()}
        first = number == 0
        place = directory / "epochs" / str(number)
        place.mkdir(parents=True)
        epoch = Epoch(number, last, now, said if first else (), arrived, world if first else None)
        write_epoch(epoch, place / "main.arrow")
        last = now


def _arrived(part: pa.Table) -> pa.RecordBatch:
    columns = [part[name].combine_chunks() for name in part.column_names]
    return pa.RecordBatch.from_arrays(
        [*columns, pa.array(np.zeros(len(part), np.int64))], [*part.column_names, "arrival"]
    )


# ------------------------------------------------------------------------------ who is asked what


def requests(work: Path, experiment: Experiment, total: int, off: list[str]) -> dict[str, Request]:
    """Write an experiment's input, and say how each contestant is asked."""
    directory = work / f"{experiment.name.partition(':')[0]} {total}"
    epochs = write(directory, experiment.streams, total)
    write_epochs(directory / "on", experiment, epochs, [])
    flink = {
        "directory": str(directory),
        "streams": {name: VALUES[name] for name in experiment.streams},
        "queries": [one.flink() for one in experiment.asked],
        "columns": [one.flink_columns() for one in experiment.asked],
    }
    found: dict[str, Request] = {"tidegate": {"directory": str(directory / "on"), "most": EPOCHS_PER_BATCH}}
    if off:
        write_epochs(directory / "off", experiment, epochs, off)
        found["tidegate, off"] = {"directory": str(directory / "off"), "most": EPOCHS_PER_BATCH}
    found["spark"] = {"directory": str(directory), "asked": [asdict(one) for one in experiment.asked]}
    return {**found, "flink inserts": {**flink, "as": "inserts"}, "flink set": {**flink, "as": "set"}}


def asks(engines: dict[str, Contestant], asked: dict[str, Request]) -> dict[str, Callable[[], Measured]]:
    """What can be asked of the engines that are there."""
    found = {name: (engines.get(name.split(",")[0].split()[0]), request) for name, request in asked.items()}
    return {name: partial(measure, who, request) for name, (who, request) in found.items() if who is not None}


# ------------------------------------------------------------------------------ do they say the same?


def check(work: Path, engines: dict[str, Contestant]) -> dict[str, str]:
    """The values that queries of each kind give over a small input, compared with tidegate's: sets, to nine digits."""
    ends = [asked for experiment in EXPERIMENTS for asked in (experiment.asked[0], experiment.asked[-1])]
    experiment = Experiment("check", tuple(dict.fromkeys(ends)), BOTH)
    asked, count = requests(work / "check", experiment, CHECKED, []), len(experiment.asked)
    ours = engines["tidegate"].ask({**asked["tidegate"], "keep": count})["kept"]
    found = {}
    if "spark" in engines:
        found["spark"] = engines["spark"].ask({**asked["spark"], "keep": count})
    if "flink" in engines:
        sinks = work / "check" / "flink"
        reply = engines["flink"].ask({**asked["flink set"], "sinks": str(sinks)})
        found["flink"] = reply if "cannot" in reply else {"kept": _from_files(sinks, experiment)}
    return {name: _compare(experiment, ours, reply) for name, reply in found.items()}


def _compare(experiment: Experiment, ours: dict[str, list[list[object]]], reply: dict[str, object]) -> str:
    if "cannot" in reply:
        return f"cannot: {reply['cannot']}"
    kept = reply["kept"]
    assert isinstance(kept, dict)
    for number, asked in enumerate(experiment.asked):
        width = len(asked.shows)
        wanted = {_rounded(row[:width]) for row in ours[str(number)]}
        got = {_rounded(row[:width]) for row in kept[str(number)]}
        if wanted != got:
            return f"different: query {number}: {len(wanted)} and {len(got)} rows, {len(wanted & got)} of them the same"
    return "equal"


def _rounded(row: list[object]) -> tuple[object, ...]:
    known = [None if value != value else value for value in row]
    return tuple(float(f"{value:.9g}") if isinstance(value, float) else _code(value) for value in known)


def _code(value: object) -> object:
    return LABELS.index(value) + 1 if isinstance(value, str) and value in LABELS else value


def _from_files(sinks: Path, experiment: Experiment) -> dict[str, list[list[object]]]:
    found = {}
    for number, asked in enumerate(experiment.asked):
        lines = [line for path in (sinks / str(number)).rglob("part-*") for line in path.read_text().splitlines()]
        rows: list[list[object]] = [[_value(text) for text in line.split(",")] for line in lines]
        spread = asked.kind == AVERAGE  # four columns stand for four groups
        found[str(number)] = [[value] for row in rows for value in row if value is not None] if spread else rows
        if asked.kind == SUMMARY:
            found[str(number)] = [row or [None] for row in rows]
    return found


def _value(text: str) -> object:
    if text in LABELS:
        return text
    number = float(text) if text else None
    return int(text) if text.isdigit() else number


# ------------------------------------------------------------------------------ the race


def tell(table: Table, asked: Experiment, total: int, name: str, start: Measured, middle: Measured) -> None:
    """One JSON line, one line of the table; what an engine cannot say, and says instead, is in the line."""
    experiment, cannot = asked.name, cannot_say(name, asked)
    line: dict[str, object] = {"bench": "against", "experiment": experiment, "tuples": total, "engine": name}
    line |= {"cannot_say": cannot} if cannot else {}
    if middle.cannot or start.cannot:
        print(json.dumps({**line, "cannot": middle.cannot or start.cannot}), flush=True)
        table.add_row(experiment, name, "cannot", (middle.cannot or start.cannot or "")[:60])
        return
    rate, cpu = total / middle.seconds, middle.cpu_seconds
    flow = middle.seconds - start.seconds
    flowing = round(total / flow) if flow > 0.2 * middle.seconds else None  # less than that is noise
    parts = {part: round(seconds, 2) for part, seconds in middle.cpu.items()}
    line |= {"tuples_per_s": round(rate), "flowing_tuples_per_s": flowing, "seconds": round(middle.seconds, 2),
             "start_s": round(start.seconds, 2), "cpu_s": round(cpu, 2), "cpu": parts,
             "peak_mb": round(middle.megabytes), "rows": middle.rows}  # fmt: skip
    print(json.dumps(line), flush=True)
    numbers = (f"{middle.seconds:.1f}", f"{start.seconds:.1f}", f"{cpu:.1f}", f"{middle.megabytes:,.0f}")
    table.add_row(experiment, name, f"{rate:,.0f}", f"{flowing:,}" if flowing else "", *numbers)


def compete(work: Path, engines: dict[str, Contestant], options: argparse.Namespace, table: Table) -> None:
    """The check; then every experiment: a warm-up, the cost of a start, the race."""
    answers = {} if options.unchecked else check(work, engines)
    for engine, said in answers.items():
        print(json.dumps({"bench": "against", "engine": engine, "answers": said}), flush=True)
    for experiment in EXPERIMENTS:
        if options.only and experiment.name.partition(":")[0] not in options.only:
            continue
        sizes = (options.tuples // 10, SMALL, options.tuples)
        warm, start, whole = (requests(work, experiment, total, options.off) for total in sizes)
        race(asks(engines, warm), 1)
        starts = race(asks(engines, start), 1)
        for name, runs in race(asks(engines, whole), options.rounds).items():
            tell(table, experiment, options.tuples, name, starts[name][0], median(runs))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--tuples", type=int, default=2_000_000)
    names = [experiment.name.partition(":")[0] for experiment in EXPERIMENTS]
    parser.add_argument("--only", action="append", choices=names, help="an experiment; may be said more than once")
    parser.add_argument("--unchecked", action="store_true", help="do not compare answers first")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how many runs of each")
    parser.add_argument("--off", action="append", default=[], help="a part of tidegate to switch off")
    parser.add_argument("--without", action="append", default=[], choices=["flink", "spark"])
    return parser.parse_args()


def main() -> None:
    """One JSON line per check, experiment and engine, then a table."""
    options = _options()
    table = Table("experiment", "engine", "tuples/s", "flowing", "s", "start, s", "CPU s", "peak, MB",
                  title=f"{options.tuples:,} tuples, two cores, median of {options.rounds}")  # fmt: skip
    python = Path(sys.executable)
    with tempfile.TemporaryDirectory(prefix="tidegate-bench-") as name, ExitStack() as stack:
        work = Path(name)
        programs = {"tidegate": python, "spark": python}
        flink = None if "flink" in options.without else flink_python()
        programs |= {"flink": flink} if flink is not None else {}
        engines = {
            engine: stack.enter_context(contestant(engine, path, f"through_{engine}.py", work))
            for engine, path in programs.items()
            if engine not in options.without
        }
        compete(work, engines, options, table)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
