"""What do 50 network-monitoring queries cost: in tidegate with and without its prefilter, and as 50 Spark queries?

Packet headers repeated to 10,000,000 rows, 10,000 a second of stream time; the queries are those of packets.py. Two
loads: wide, where every row is wanted, and narrow, where at most a tenth is. CPU seconds are of the whole process tree,
each engine in a process of its own, warmed up with a fiftieth of the rows; order A B C B A A B, medians of 3 but for C,
the Spark queries, of which one run takes minutes (`--spark-rounds`). Tidegate reads epochs that lie ready, Spark the
same rows as Parquet. Before the race, all answers to a small input are compared: they must be the same rows.
`--packets FILE` takes headers from a CSV file with the columns of packets.py; without it they are made up.
"""

from __future__ import annotations

import argparse
import json
import os
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
from packets import COLUMNS, NARROW, PER_SECOND, SECONDS, WIDE, Watch, headers, repeated, watches
from pyarrow import parquet
from rich.console import Console
from rich.table import Table

from tidegate.engine.epochs import Epoch, Said, World, write_epoch
from tidegate.plan.schema import Field
from tidegate.plan.types import INT, STRING
from tidegate.security.lattice import Level

EPOCH, EPOCHS_PER_BATCH, ROUNDS = 100_000, 10, 3
CHECKED, CHECKED_STEP = 20_000, 20_000
SCHEMA = tuple(Field(name, STRING if name in ("src", "dst") else INT) for name in COLUMNS)
ON, OFF, SPARK = "tidegate", "tidegate, prefilter off", "50 spark queries"


# ------------------------------------------------------------------------------ input


def write(directory: Path, base: pa.Table, rows: int, step: int, size: int = EPOCH) -> None:
    """Packets as epochs without statements, and as Parquet; an empty epoch at the end completes the last minute."""
    place = directory / "Packets"
    place.mkdir(parents=True)
    (directory / "epochs").mkdir()
    count = -(-rows // size)
    for number in range(count):
        part = repeated(base, number * size, min(size, rows - number * size), step)
        times = part["instant"].cast(pa.timestamp("us", "UTC"))
        parquet.write_table(part.drop_columns("instant").append_column("ts", times), place / f"{number:06}.parquet")
        last, now = number * size * step - 1, (number + 1) * size * step - 1
        write_epoch(Epoch(number, last, now, (), {"Packets": _arrived(part)}), directory / "epochs" / str(number))
    now = count * size * step - 1
    end = (now // (SECONDS * 1_000_000) + 1) * SECONDS * 1_000_000
    write_epoch(Epoch(count, now, end), directory / "epochs" / str(count))


def _arrived(part: pa.Table) -> pa.RecordBatch:
    nothing = np.zeros(len(part), np.int32)
    level = pa.DictionaryArray.from_arrays(pa.array(nothing), pa.array(["U"]))
    columns = [part[name].combine_chunks() for name in COLUMNS]
    instants, arrival = part["instant"].combine_chunks(), pa.array(nothing.astype(np.int64))
    return pa.RecordBatch.from_arrays([*columns, level, instants, arrival], [*COLUMNS, "level", "instant", "arrival"])


def ask_tidegate(directory: Path, load: str, off: list[str]) -> Request:
    """Epochs that begin with the queries of a load: an empty one, then those that lie there."""
    place = directory / " ".join([load, *off])
    texts = (watch.cql() for watch in watches(load))
    said = tuple(Said(n, -2, -1, Level("TS"), text, None, f"q{n}") for n, text in enumerate(texts))
    world = World("U < C < S < TS", Level("TS"), {"Packets": SCHEMA}, {}, off=frozenset(off))
    written = sorted((directory / "epochs").iterdir(), key=lambda path: int(path.name))
    for number, path in enumerate([None, *written]):
        (place / "epochs" / str(number)).mkdir(parents=True)
        main = place / "epochs" / str(number) / "main.arrow"
        if path is None:
            write_epoch(Epoch(0, -3, -1, said, {}, world), main)
        else:
            os.link(path, main)
    return {"directory": str(place), "most": EPOCHS_PER_BATCH}


def ask_spark(directory: Path, load: str) -> Request:
    """The same for plain Spark."""
    asked = [{**asdict(watch), "where": watch.where} for watch in watches(load)]
    return {"directory": str(directory), "seconds": SECONDS, "watches": asked}


# ------------------------------------------------------------------------------ do they say the same?


def check(work: Path, base: pa.Table, engines: dict[str, Contestant], load: str) -> str:
    """Every row of every query over a small input: what differs, or that nothing does."""
    directory, asked = work / f"check {load}", watches(load)
    write(directory, base, CHECKED, CHECKED_STEP, CHECKED // 5)
    ours = engines[ON].ask({**ask_tidegate(directory, load, []), "keep": len(asked)})
    theirs = engines[SPARK].ask({**ask_spark(directory, load), "keep": len(asked)})
    for reply in (ours, theirs):
        if "cannot" in reply:
            return f"cannot: {reply['cannot']}"
    rows = [(_rows(ours, n, watch), _rows(theirs, n, watch)) for n, watch in enumerate(asked)]
    different = [n for n, (our, their) in enumerate(rows) if our != their]
    return f"different: queries {different}" if different else f"equal: {sum(len(our) for our, _ in rows):,} rows"


def _rows(reply: dict[str, dict[str, list[list[object]]]], number: int, watch: Watch) -> list[str]:
    width = len(watch.keys) + 3
    return sorted(json.dumps(row[:width]) for row in reply["kept"][str(number)])


# ------------------------------------------------------------------------------ the race


def asks(directory: Path, engines: dict[str, Contestant], load: str) -> dict[str, Callable[[], Measured]]:
    """Who takes part in a load."""
    found: dict[str, Callable[[], Measured]] = {
        name: partial(measure, engines[ON], ask_tidegate(directory, load, off))
        for name, off in ((ON, []), (OFF, ["prefilter"]))
    }
    if SPARK in engines:
        found[SPARK] = partial(measure, engines[SPARK], ask_spark(directory, load))
    return found


def tell(table: Table, load: str, rows: int, runs: dict[str, list[Measured]]) -> None:
    """One JSON line and one line of the table per contestant; CPU compared with tidegate as it is."""
    found = {name: median(some) for name, some in runs.items()}
    for name, one in found.items():
        line: dict[str, object] = {"bench": "prefilter", "load": load, "rows": rows, "engine": name}
        if one.cannot:
            print(json.dumps({**line, "cannot": one.cannot}), flush=True)
            table.add_row(load, name, "cannot", one.cannot[:60])
            continue
        cpu, times = one.cpu_seconds, one.cpu_seconds / (found[ON].cpu_seconds or 1.0)
        parts = {part: round(seconds, 2) for part, seconds in one.cpu.items()}
        line |= {"runs": len(runs[name]), "cpu_s": round(cpu, 2), "cpu": parts, "cpu_of_tidegate": round(times, 2),
                 "seconds": round(one.seconds, 2), "peak_mb": round(one.megabytes), "rows_out": one.rows}  # fmt: skip
        print(json.dumps(line), flush=True)
        table.add_row(load, name, f"{cpu:.1f}", f"{times:.2f}", f"{rows / one.seconds:,.0f}", f"{one.megabytes:,.0f}")


def compete(work: Path, base: pa.Table, engines: dict[str, Contestant], options: argparse.Namespace) -> Table:
    """The check, a warm-up and the race, for each load."""
    table = Table("load", "engine", "CPU s", "of tidegate's", "rows/s", "peak, MB",
                  title=f"50 queries, {options.rows:,} packets, two cores, median of {options.rounds}")  # fmt: skip
    step = 1_000_000 // PER_SECOND
    warm, whole = work / "warm", work / "whole"
    write(warm, base, max(1_000, options.rows // 50), step)
    write(whole, base, options.rows, step)
    for load in (WIDE, NARROW):
        if SPARK in engines:
            said = check(work, base, engines, load)
            print(json.dumps({"bench": "prefilter", "load": load, "answers": said}), flush=True)
        race(asks(warm, engines, load), 1)
        runs = race(asks(whole, engines, load), options.rounds, {SPARK: options.spark_rounds})
        tell(table, load, options.rows, runs)
    return table


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--packets", type=Path, default=None)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--spark-rounds", type=int, default=1, help="a run of the 50 Spark queries takes minutes")
    parser.add_argument("--without", action="append", default=[], choices=["spark"])
    return parser.parse_args()


def main() -> None:
    """One JSON line per load and engine, then a table."""
    options = _options()
    base = headers(options.packets)
    programs = {ON: "through_tidegate.py", SPARK: "through_packets.py"}
    if "spark" in options.without:
        del programs[SPARK]
    with tempfile.TemporaryDirectory(prefix="tidegate-bench-") as name, ExitStack() as stack:
        work = Path(name)
        engines = {
            engine: stack.enter_context(contestant(engine, Path(sys.executable), program, work))
            for engine, program in programs.items()
        }
        table = compete(work, base, engines, options)
    Console().print(table)


if __name__ == "__main__":
    main()
