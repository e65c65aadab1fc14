"""Sinks of a running gate: what goes out is what a reader gets, over restarts, and nobody waits for it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.sinks.answers import PATIENCE, wait_until
from tidegate.errors import EngineError
from tidegate.sinks.callback import CallbackSink
from tidegate.sinks.parquet import ParquetSink
from tidegate.system.gate import Gate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidegate.system.session import Query

QUERY = "SELECT MAX(n) AS newest, COUNT(*) AS c FROM Vitals [ROWS 20]"


def opened(spark: SparkSession, directory: Path) -> Gate:
    """A gate over a few tuples a second, for the first time or again."""
    gate = Gate(spark, levels="U < C < S", directory=directory, keep=None, shards=1)
    numbers = spark.readStream.format("rate").option("rowsPerSecond", 30).load()
    frame = numbers.selectExpr("timestamp ts", "value n", "element_at(array('U', 'C', 'S'), int(value % 3 + 1)) level")
    gate.stream("Vitals", frame, time="ts", delay=0.0)
    return gate


def answered(query: Query) -> list[pa.RecordBatch]:
    """All that it has given so far."""
    return list(query.results(follow=False))


def rows(batches: list[pa.RecordBatch]) -> pa.Table:
    """Rows without what is said beside them."""
    return pa.Table.from_batches([batch.replace_schema_metadata(None) for batch in batches])


def test_restarts_lose_nothing_and_double_nothing_and_a_sink_that_hangs_holds_nothing_back(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Q-6, Q-10, Q-14, Q-16."""
    hanging, going_on, out = threading.Event(), threading.Event(), tmp_path / "out"

    def hang(epoch: int, batch: pa.RecordBatch) -> None:
        hanging.set()
        going_on.wait(PATIENCE)

    with opened(spark, tmp_path / "gate") as gate:
        query = gate.login("ana", "C").query(QUERY, "counts")
        with pytest.raises(EngineError, match='query "counts" is at level "C", and the sink may have levels from "S"'):
            gate.sink(query, ParquetSink(out), levels=("S", "S"))
        with pytest.raises(EngineError, match='from "U" to "U" only: results go by the level of their query'):
            gate.sink(query, ParquetSink(out), levels=("U", "U"))
        assert not out.exists()
        files = gate.sink(query, ParquetSink(out), levels=("U", "C"), name="files")
        with pytest.raises(EngineError, match='sink "files" is bound already'):
            gate.sink(query, ParquetSink(out), name="files")
        gate.sink(query, CallbackSink(hang), name="slow")
        assert hanging.wait(PATIENCE)
        before = gate.runtimes[query.level].results.done
        wait_until(lambda: gate.runtimes[query.level].results.done > before + 3 and files.position > before + 3)
        slow = {one.name: one for one in gate.status().sinks}["slow"]
        assert (slow.epoch < before, slow.rows, slow.behind > 3) == (True, 0, True)
        going_on.set()
    with opened(spark, tmp_path / "gate") as gate:
        query = gate.login("ana", "C").find("counts")
        reached = len(answered(query))
        files = gate.sink(query, ParquetSink(out), name="files")
        assert files.gap == 0
        wait_until(lambda: len(answered(query)) > reached)
        query.drop()
        wait_until(lambda: not files.is_alive)  # everything that it will ever give is out
        given = answered(query)
    assert rows(given) == rows(pq.read_table(out).to_batches())
    assert len(given) == len(list(out.iterdir()))
    assert {pq.read_schema(file).metadata[b"level"] for file in out.iterdir()} == {b"C"}
    assert spark.read.parquet(str(out)).count() == rows(given).num_rows
