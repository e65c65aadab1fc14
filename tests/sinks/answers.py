"""Results of a level without a processor, and outlets over them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from tidegate.engine.processor import Result
from tidegate.engine.results import Results, for_reader
from tidegate.operators.arrow import encode
from tidegate.security.declare import declare
from tidegate.security.lattice import Level
from tidegate.sinks.sink import Followed, Outlet, Sink

LATTICE = declare("U < C < S")
SERIAL = 3
PATIENCE = 600.0
"""Seconds to wait for another thread; the bound is only there to fail."""
FOLLOWED = Followed("q 1", Level("C"), SERIAL, LATTICE)


def rows(values: Sequence[int], labels: Sequence[str], instant: int) -> bytes:
    """Rows as a processor gives them."""
    arrays = [pa.array(values, pa.int64()), pa.array([f"text {value}" for value in values]),
              pa.array(labels).dictionary_encode(), pa.array([instant] * len(values), pa.int64())]  # fmt: skip
    return encode(pa.RecordBatch.from_arrays(arrays, names=["n", "t", "level of the row", "instant"]))


def answer(results: Results, epoch: int, count: int = 1, serial: int = SERIAL) -> None:
    """Let a query give some rows in an epoch."""
    values = [100 * epoch + number for number in range(count)]
    body = rows(values, ["UC"[value % 2] for value in values], 1_000_000 * epoch)
    results.take([(epoch, Result(0, serial, FOLLOWED.level, "+", FOLLOWED.query, body))])


def pass_by(results: Results, epoch: int) -> None:
    """Let an epoch pass in which the followed query gives nothing."""
    answer(results, epoch, serial=SERIAL + 1)


def given(results: Results) -> list[pa.RecordBatch]:
    """Everything as a reader gets it."""
    return [for_reader(results.read(SERIAL, epoch), epoch, FOLLOWED.level) for epoch in results.epochs(SERIAL, -1)]


def outlet(results: Results | None, sink: Sink, path: Path, name: str = "s") -> Outlet:
    """An outlet that is impatient, as tests are."""
    return Outlet(name, FOLLOWED, sink, path, lambda: results, first_wait=0.001)


def run_out(one: Outlet) -> None:
    """Let an outlet put out all that is there, and end."""
    one.start()
    one.stop(time.monotonic() + PATIENCE)
    assert not one.is_alive


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for another thread."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.002)
