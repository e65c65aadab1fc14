"""Scripts as users write them: one opens a gate and reads the results of a query, and says ``row`` for every batch.

Run as: python -m tests.faults.reader HOW GATE WORK
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from tidegate.engine.session import spark_session
from tidegate.errors import EngineError
from tidegate.sources.generator import generator
from tidegate.system.gate import Gate

BODY = "return a + 1.0"


def say(text: str) -> None:
    """Tell the parent."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def batches(gate: Gate) -> Iterator[pa.RecordBatch]:
    """What a query gives; it calls a function, which runs in a process of its own."""
    gate.stream("Vitals", generator(gate.spark, "vitals", rate=50, levels={"U": 1, "S": 1}), delay=0.2)
    session = gate.login("ana", "S")
    if not session.queries():
        session.execute(f"CREATE FUNCTION more(a double) RETURNS double AS '{BODY}'")
        session.query("SELECT sid, more(bp) FROM Vitals [ROWS 10]", "q")
    return session.find("q").results()


def read_for_ever(directory: Path, work: Path) -> None:
    """Until something ends it."""
    with spark_session(work) as spark, Gate(spark, "U < S", directory, tick=0.2) as gate:
        for _ in batches(gate):
            say("row")


def read_again(directory: Path, work: Path) -> None:
    """When Spark is gone, start it anew and go on."""
    try:
        read_for_ever(directory, work)
    except EngineError as error:
        say(f"lost: {error}")
    with spark_session(work) as spark, Gate(spark, "U < S", directory, tick=0.2) as gate:
        next(batches(gate))
        say("found")


def forget(directory: Path, work: Path) -> None:
    """Stop Spark below a gate that nobody stops; its directory was to be a temporary one."""
    with spark_session(work) as spark:
        gate = Gate(spark, "U < S", tick=0.2)
        directory.write_text(str(gate.directory))
        next(batches(gate))
        say("row")


HOW = {one.__name__: one for one in (read_for_ever, read_again, forget)}

if __name__ == "__main__":
    Path(sys.argv[3]).mkdir()
    HOW[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
