"""A script as a user writes it: it opens a gate and reads the results of a query for ever.

Run as: python -m tests.faults.reader GATE WORK
"""

from __future__ import annotations

import sys
from pathlib import Path

from tidegate.engine.session import spark_session
from tidegate.sources.generator import generator
from tidegate.system.gate import Gate

BODY = "return a + 1.0"


def main(gate_directory: Path, work: Path) -> None:
    """Say ``row`` for every batch."""
    work.mkdir()
    with spark_session(work) as spark, Gate(spark, "U < S", gate_directory, tick=0.2) as gate:
        gate.stream("Vitals", generator(spark, "vitals", rate=50, levels={"U": 1, "S": 1}), delay=0.2)
        session = gate.login("ana", "S")
        session.execute(f"CREATE FUNCTION more(a double) RETURNS double AS '{BODY}'")
        for _ in session.query("SELECT sid, more(bp) FROM Vitals [ROWS 10]").results():
            sys.stdout.write("row\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
