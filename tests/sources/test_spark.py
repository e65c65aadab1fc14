"""Sources through Spark: what the other tests claim of the parts holds for the whole."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.sources.files import SCHEMA, put, refusal, table, written
from tidegate.engine.broken import Broken
from tidegate.sources.directory import directory
from tidegate.sources.failure import explain_failure
from tidegate.sources.generator import generator
from tidegate.sources.source import Source, from_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Batches = dict[int, list[Any]]


def run(source: Source, checkpoint: Path, into: Batches, until: Callable[[], bool] | None = None) -> str:
    """Run a stream to the end of what there is, or until something holds; how it failed, if it did."""

    def keep(frame: DataFrame, number: int) -> None:
        into[number] = frame.collect()  # a repeated micro-batch overwrites itself

    writer = source.frame.writeStream.foreachBatch(keep).option("checkpointLocation", str(checkpoint))
    query = (writer if until else writer.trigger(availableNow=True)).start()
    try:
        if until is None:
            query.awaitTermination()
        end = time.monotonic() + 60
        while until and query.isActive and not until() and time.monotonic() < end:
            time.sleep(0.05)
    except Exception as error:  # noqa: BLE001 - the failure is what is looked at
        return str(explain_failure(error, "s"))
    finally:
        query.stop()
    failure = query.exception()
    return str(explain_failure(failure, "s")) if failure else ""


def rows(batches: Batches, name: str) -> list[Any]:
    """A column of all micro-batches in order."""
    return [row[name] for number in sorted(batches) for row in batches[number]]


def test_a_bad_file_stops_the_stream_with_its_name_and_a_repaired_one_is_taken_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Q-10, Q-11."""
    folder, found = tmp_path / "in", Batches()
    folder.mkdir()
    for number in range(3):
        put(folder, f"{number}.parquet", table(3 * number), number)
    source = directory(spark, folder, SCHEMA, most_files=2)
    assert [str(field) for field in source.schema] == ["sid int", "bp double"]
    assert source.frame.dtypes == [("time", "timestamp"), ("level", "string"), ("sid", "int"), ("bp", "double")]
    bad = written(folder, "3.parquet", "this is text")
    said = run(source, tmp_path / "state", found)
    assert said.startswith(f'source "s": {bad}: this is not a whole, sound parquet file; repair it')
    assert rows(found, "sid") == [0, 1, 2, 3, 4, 5]
    put(folder, "3.parquet", table(9), 3)
    assert run(source, tmp_path / "state", found) == ""
    assert rows(found, "sid") == list(range(12))


def test_csv_records_that_do_not_decode_keep_their_text(spark: SparkSession, tmp_path: Path) -> None:
    """Q-11."""
    folder, found = tmp_path / "in", Batches()
    folder.mkdir()
    written(folder, "a.csv", "bp,sid,level,time\n1.5,1,U,2024-01-31T12:00:00Z\nx,2,U,0\n2.5,3,S,1\n")
    source = directory(spark, folder, SCHEMA)
    assert run(source, tmp_path / "state", found) == ""
    broken = Broken('attribute "bp": does not fit double', "x,2,U,0", str(folder / "a.csv"), 3).to_text()
    assert sorted((row.sid or 0, row[source.corrupt]) for row in found[0]) == [(0, broken), (1, None), (3, None)]


def test_a_directory_that_vanishes_stops_the_stream_with_its_name(spark: SparkSession, tmp_path: Path) -> None:
    folder, found = tmp_path / "in", Batches()
    folder.mkdir()
    put(folder, "a.arrow", table(), 0)
    source = directory(spark, folder, SCHEMA)

    def gone() -> bool:
        if found and folder.exists():
            (folder / "a.arrow").unlink()
            folder.rmdir()
        return False

    assert f"{folder}: the directory does not exist" in run(source, tmp_path / "state", found, gone)
    assert rows(found, "sid") == [0, 1, 2]


def test_a_directory_that_is_not_there_is_refused_at_once(spark: SparkSession, tmp_path: Path) -> None:
    said = refusal(lambda: directory(spark, tmp_path / "no", SCHEMA, format="csv"))
    assert said.startswith(f"{tmp_path}/no: the directory does not exist")


def test_a_format_that_is_not_there_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    assert 'there is no format "xml"' in refusal(lambda: directory(spark, tmp_path, SCHEMA, format="xml"))


def test_a_generator_goes_on_after_a_restart_with_the_next_row(spark: SparkSession, tmp_path: Path) -> None:
    """Q-10."""
    found = Batches()
    source = generator(spark, "vitals", rate=2_000, levels={"U": 1, "S": 1}, seed=7, most=3_000)
    assert source.frame.columns == ["ts", "level", "sid", "wt", "bp", "pr"]
    for least in (1, 4_000):
        assert run(source, tmp_path / "state", found, lambda: len(rows(found, "ts")) >= least) == ""  # noqa: B023
    assert max(len(batch) for batch in found.values()) <= 3_000
    micros = [round(instant.timestamp() * 1e6) for instant in rows(found, "ts")]
    assert [after - before for before, after in pairwise(micros)] == [500] * (len(micros) - 1)


# ------------------------------------------------------------------------------ any frame


def rated(spark: SparkSession, *columns: str) -> DataFrame:
    """A streaming frame that is not started."""
    return spark.readStream.format("rate").load().selectExpr(*columns)


def test_a_frame_declares_every_column_but_time_and_label(spark: SparkSession) -> None:
    columns = (
        "timestamp at",
        "'U' Label",
        "value v",
        "cast(1 as tinyint) b",
        "cast(1 as float) f",
        "1.50 d",
        "x'00' x",
    )
    source = from_frame(rated(spark, *columns), time="AT", level="label")
    assert [str(field) for field in source.schema] == ["v bigint", "b int", "f double", "d decimal(3,2)", "x binary"]
    assert (source.time, source.level, source.corrupt) == ("at", "Label", None)
    assert dict(source.frame.dtypes)["b"] == "int"
    kept = from_frame(rated(spark, *columns), time="at", level="Label", keep_time=True)
    assert str(kept.schema[0]) == "at timestamp"


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (["array(value) a"], {}, 'column "a" has type array<bigint>, which no attribute can have; cast it'),
        (["value"], {"time": "vlue"}, 'there is no column "vlue" to be the time; did you mean "value"?'),
        (["value"], {"level": "x"}, 'there is no column "x" to be the level; there are "value"'),
        (["'now' t"], {"time": "t"}, "the column of the times has type string"),
        (["value l"], {"level": "l"}, "the column of the labels has type bigint, not string"),
        (["value level"], {}, 'column "level" cannot be an attribute; pass level="level"'),
        (["value a", "value A"], {}, "two columns have the same name"),
    ],
)
def test_a_frame_that_is_no_source_is_refused(
    spark: SparkSession, columns: list[str], options: dict[str, str], message: str
) -> None:
    assert message in refusal(lambda: from_frame(rated(spark, *columns), **options))  # type: ignore[arg-type]


def test_a_frame_that_does_not_stream_is_refused(spark: SparkSession) -> None:
    assert "the frame is not a streaming one" in refusal(lambda: from_frame(spark.range(1)))
