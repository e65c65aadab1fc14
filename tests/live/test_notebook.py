"""Gates as a notebook uses them: in any thread, one after the other, several in one session."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.live.running import catch_up, checked, wait_until
from tidegate.errors import EngineError
from tidegate.sources.generator import generator
from tidegate.system.gate import Gate
from tidegate.system.session import Query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXT = "SELECT COUNT(*), MAX(wt) FROM Vitals [ROWS 20]"


def open_gate(spark: SparkSession, directory: Path, levels: tuple[str, str]) -> Gate:
    """A gate of two levels with a stream of the same name each time."""
    low, high = levels
    gate = Gate(spark, f"{low} < {high}", directory, tick=0.25, keep=None)
    gate.stream("Vitals", generator(spark, "vitals", rate=30, levels={low: 0.5, high: 0.5}, seed=3), delay=1.0)
    return gate


def rows_of(query: Query) -> int:
    """How many rows it has given."""
    return sum(batch.num_rows for batch in query.results(follow=False))


def answered(gate: Gate, query: Query, more: int = 0) -> int:
    """Wait until a query has given more rows than so many; how many it has given."""
    wait_until("it has answered", lambda: rows_of(query) > more or gate.failure is not None)
    catch_up(gate)
    return rows_of(query)


def test_two_gates_in_two_threads_of_one_session(spark: SparkSession, tmp_path: Path) -> None:
    """Q-10: each answers what its own log means; both stop at the same moment, and what Spark logs is heard again."""
    together = threading.Barrier(2, timeout=120)

    def use(name: str, levels: tuple[str, str]) -> int:
        with open_gate(spark, tmp_path / name, levels) as gate:
            query = gate.login("ana", levels[1]).query(TEXT, "both")
            rows = answered(gate, query)
            together.wait()
        return rows

    settings = {row.key: row.value for row in spark.sql("SET").collect()}
    with ThreadPoolExecutor(2) as pool:
        uses = [pool.submit(use, "one", ("U", "S")), pool.submit(use, "two", ("open", "closed"))]
        rows = [one.result() for one in uses]
    assert all(checked(tmp_path / name).lines >= rows[place] > 0 for place, name in enumerate(("one", "two")))
    assert {row.key: row.value for row in spark.sql("SET").collect()} == settings
    assert spark.streams.active == []
    logger = logging.getLogger("py4j.clientserver")
    assert (logger.disabled, logger.filters) == (False, [])


def test_a_gate_after_a_gate_goes_on_in_the_same_session(spark: SparkSession, tmp_path: Path) -> None:
    """While it is open nobody may have its directory, also not the same process; afterwards the next one goes on."""
    with open_gate(spark, tmp_path / "gate", ("U", "S")) as first:
        before = answered(first, first.login("ana", "S").query(TEXT, "stays"))
        with pytest.raises(EngineError, match="is in use by process"):
            Gate(spark, "U < S", tmp_path / "gate")
    with pytest.raises(EngineError, match="closed"):
        first.login("ana", "S")
    with open_gate(spark, tmp_path / "gate", ("U", "S")) as second:
        after = answered(second, second.login("ana", "S").find("stays"), before)
    assert after > before
    assert checked(tmp_path / "gate").lines >= after
