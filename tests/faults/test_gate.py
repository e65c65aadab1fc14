"""Faults of a whole gate, through Spark: each is a clear error, and nothing is lost or doubled."""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.faults.disk import fill, free
from tests.faults.processes import below, kill
from tests.faults.world import BEFORE, SCHEMA, write_input
from tests.live.running import LONGEST, catch_up, checked, wait_until
from tidegate.engine.level import DROPPED
from tidegate.engine.livelog import read_live
from tidegate.engine.session import process_of
from tidegate.errors import QueryError, TidegateError
from tidegate.log import Arrived
from tidegate.sources.directory import directory
from tidegate.system.clock import Clock
from tidegate.system.directory import read_about
from tidegate.system.gate import Gate
from tidegate.system.session import Query, Suspended

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUM = "SELECT sid, COUNT(*), SUM(bp) FROM Vitals [RANGE 4 SECONDS] GROUP BY sid"
TERMS: dict[str, Any] = {"delay": 0.5, "skew": 1e6}


def opened(spark: SparkSession, place: Path, **options: Any) -> Gate:
    """A gate whose clock runs through the input in a few seconds."""
    return Gate(spark, "U < C < S", place, tick=0.1, clock=Clock(BEFORE, 10.0), keep=None, **options)


def refusal(action: Callable[[], object]) -> str:
    """What an error of ours says."""
    with pytest.raises(TidegateError) as caught:
        action()
    return str(caught.value)


def arrived(place: Path) -> Counter[tuple[object, ...]]:
    """Every tuple in the log, without its time: a slow machine may have restamped it."""
    _, log = read_live(place, read_about(place))
    found = (one.payload for one in log.entries)
    return Counter((one.stream, str(one.level), *one.values) for one in found if isinstance(one, Arrived))


def expected(stream: str, tuples: list[tuple[int, str, int, float]]) -> Counter[tuple[object, ...]]:
    """The input, likewise."""
    return Counter((stream, level, sid, bp) for _, level, sid, bp in tuples)


def total(gate: Gate) -> int:
    """How many tuples the gate has released."""
    status = gate.status()
    return sum(one.tuples for one in status.levels) - status.waiting


def rows_of(query: Query) -> int:
    """How many rows a query has given."""
    return sum(batch.num_rows for batch in query.results(follow=False))


# ------------------------------------------------------------------------------ what is refused


def test_what_cannot_be_is_refused_and_leaves_no_trace(spark: SparkSession, tmp_path: Path) -> None:
    """M-3, Q-12, Q-14."""
    write_input(tmp_path / "in")
    source = directory(spark, tmp_path / "in", SCHEMA)
    place = tmp_path / "gate"
    with opened(spark, place, users={"ana": "C"}) as gate:
        with pytest.raises(QueryError) as refused:
            gate.login("ana", "S")
        assert refused.value.code == "LOGIN_REFUSED"
        assert '"X" is not a level' in refusal(lambda: gate.login("ana", "X"))
        batch = spark.createDataFrame([(1, "U")], "sid int, level string")
        assert "the frame is not a streaming one; make it with" in refusal(lambda: gate.stream("Vitals", batch))
        streaming = spark.readStream.format("rate").load().selectExpr("'now' time", "'U' level", "value")
        assert "times has type string" in refusal(lambda: gate.stream("Vitals", streaming, time="time"))
        assert "is not a range of levels" in refusal(lambda: gate.stream("Vitals", source, levels=("S", "U")))
        assert 'no stream "Vitals" has a source' in refusal(lambda: gate.restart("Vitals"))
        assert f"in use by process {os.getpid()} on " in refusal(lambda: opened(spark, place))
        gate.stream("Vitals", source, **TERMS)
        assert 'stream "vitals" has a source already' in refusal(lambda: gate.stream("vitals", source, **TERMS))
        query = gate.login("ana", "U").query(SUM)
    gate.stop()
    assert refusal(lambda: gate.login("ana", "U")) == refusal(lambda: gate.stream("V", source)) == "the gate is closed"
    assert refusal(query.drop) == refusal(lambda: gate.restart("Vitals")) == "the gate is closed"
    assert list(query.results()) == list(query.results(follow=False))
    assert gate.status().line()


def test_a_directory_is_opened_and_bound_as_before(spark: SparkSession, tmp_path: Path) -> None:
    """And who was refused does not hold it."""
    write_input(tmp_path / "in")
    place = tmp_path / "gate"
    with opened(spark, place) as gate:
        gate.stream("Vitals", directory(spark, tmp_path / "in", SCHEMA), **TERMS)
    assert "was made with shards 2, not 3" in refusal(lambda: opened(spark, place, shards=3))
    assert 'was made with levels "U < C < S", not "U < S"' in refusal(lambda: Gate(spark, "U < S", place))
    narrow = directory(spark, tmp_path / "in", {"sid": "int"})
    with opened(spark, place) as gate:
        assert '"Vitals" is declared already, with other columns' in refusal(
            lambda: gate.stream("Vitals", narrow, **TERMS)
        )
        source = directory(spark, tmp_path / "in", SCHEMA)
        for other in ({"delay": 0.7}, {"skew": 1.0}, {"late": "quarantine"}, {"levels": ("U", "C")}):
            said = refusal(lambda: gate.stream("Vitals", source, **{**TERMS, **other}))  # noqa: B023
            assert said.startswith('"Vitals" is bound already, on other terms')
        gate.stream("Vitals", source, **TERMS)
        assert gate.shepherd.delay == 500_000
    with opened(spark, place) as gate:
        assert gate.shepherd.delay == 500_000, "the clock waits for a stream whose source is not bound again yet"


def test_a_gate_without_a_directory_leaves_none(spark: SparkSession, tmp_path: Path) -> None:
    gate = Gate(spark, "U < S", tick=0.1)
    assert gate.directory.exists()
    gate.stop()
    gate.stop()
    assert not gate.directory.exists()


# ------------------------------------------------------------------------------ what dies


def test_a_stream_that_dies_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    """Q-10, Q-11: its error is in the status, the other stream goes on meanwhile, and no tuple is lost or doubled."""
    tuples = {name: write_input(tmp_path / name) for name in ("Vitals", "Other")}
    source = directory(spark, tmp_path / "Vitals", SCHEMA, most_files=4)
    good, bad = tmp_path / "Vitals" / "007.jsonl", tmp_path / "Vitals" / "007.txt"
    good.rename(bad)
    with opened(spark, tmp_path / "gate") as gate:
        gate.stream("Vitals", source, **TERMS)
        gate.stream("Other", directory(spark, tmp_path / "Other", SCHEMA, most_files=4), **TERMS)
        query = gate.login("ana", "S").query(SUM)
        wait_until("it has died", lambda: gate.bindings["Vitals"].failure is not None)
        wait_until("the other has come", lambda: gate.status().streams[1].segments == 5)
        assert gate.bindings["Other"].failure is None
        assert f"{bad}: the name of this file does not say json; rename it" in gate.status().line()
        bad.rename(good)
        gate.restart("vitals")
        wait_until("all are there", lambda: total(gate) == 800)
        assert gate.status().streams[0].failure is None
        catch_up(gate)
        assert rows_of(query) > 0
    assert checked(tmp_path / "gate").lines > 0
    assert arrived(tmp_path / "gate") == sum((expected(*one) for one in tuples.items()), Counter())


def test_every_python_process_below_spark_may_die_and_every_job(spark: SparkSession, tmp_path: Path) -> None:
    """Q-10: workers, their daemons and the readers of sources are killed, all at once; or all jobs are cancelled."""
    tuples = write_input(tmp_path / "in")
    with opened(spark, tmp_path / "gate") as gate:
        gate.stream("Vitals", directory(spark, tmp_path / "in", SCHEMA, most_files=1), **TERMS)
        query = gate.login("ana", "S").query(SUM)
        for count in (40, 140, 240):
            wait_until("some have come", lambda: total(gate) >= count or gate.failure is not None)  # noqa: B023
            spark.sparkContext.cancelAllJobs()
            for process in below(process_of(spark)) if count != 140 else ():
                kill(process)
        wait_until("all are there", lambda: total(gate) == 400 or gate.failure is not None)
        catch_up(gate)
        assert gate.bindings["Vitals"].failure is None
        assert rows_of(query) > 0
    assert checked(tmp_path / "gate").lines > 0
    assert arrived(tmp_path / "gate") == expected("Vitals", tuples)


def test_a_source_that_waits_for_room_does_not_keep_the_gate_from_closing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Q-16: and what it held is taken the next time."""
    tuples, asked = write_input(tmp_path / "in"), threading.Event()

    def no_room() -> int:
        asked.set()
        return 1 << 60

    with opened(spark, tmp_path / "gate") as gate:
        monkeypatch.setattr(gate, "_waiting_bytes", no_room)
        gate.stream("Vitals", directory(spark, tmp_path / "in", SCHEMA), **TERMS)
        assert asked.wait(LONGEST)
        gate.restart("Vitals")
        assert total(gate) == 0
    with opened(spark, tmp_path / "gate") as gate:
        gate.stream("Vitals", directory(spark, tmp_path / "in", SCHEMA), **TERMS)
        wait_until("all are there", lambda: sum(arrived(tmp_path / "gate").values()) == 400)
    assert arrived(tmp_path / "gate") == expected("Vitals", tuples)


def test_an_epoch_that_is_missing_ends_its_level_with_its_number(spark: SparkSession, tmp_path: Path) -> None:
    """DESIGN 4: whoever reads there hears of it, and nobody else. With the epoch back, all say what they said."""
    write_input(tmp_path / "in")
    place = tmp_path / "gate"
    level = place / "levels" / "S"
    with opened(spark, place) as gate:
        gate.stream("Vitals", directory(spark, tmp_path / "in", SCHEMA), **TERMS)
        assert next(gate.login("ana", "S").query(SUM, "q").results()).num_rows > 0
    before = {path: path.read_bytes() for path in (level / "results").rglob("*.arrow")}
    shutil.rmtree(level / "checkpoint")
    (level / "epochs" / "0").rename(tmp_path / "aside")
    with opened(spark, place) as gate:
        wait_until("it has ended", lambda: bool(gate.ended) or gate.failure is not None)
        said = refusal(lambda: list(gate.login("ana", "S").find("q").results()))
        assert said.startswith("the processor of level S ended again and again: ")
        assert said.endswith("; open the gate again with the same directory")
        assert f"epoch 0 is missing in {level}/epochs, and later ones are there" in said
        assert [one.failure for one in gate.status().levels] == [None, None, said]
        assert gate.is_open
    (tmp_path / "aside").rename(level / "epochs" / "0")
    with opened(spark, place) as gate:
        query = gate.login("ana", "S").find("q")
        gate.stream("Vitals", directory(spark, tmp_path / "in", SCHEMA), **TERMS)
        wait_until("it goes on", lambda: query.metrics().rows > 0 or gate.failure is not None)
        catch_up(gate)
    assert checked(place).lines > 0
    assert before == {path: path.read_bytes() for path in before}
    (level / DROPPED).touch()
    with opened(spark, place) as gate:
        wait_until("it has ended", lambda: bool(gate.ended))
        assert "what it had not answered was dropped by age" in refusal(lambda: gate.login("ana", "S"))
        assert gate.login("ana", "U").query(SUM) is not None, "other levels hear nothing of it"


def test_a_query_that_is_suspended_says_so_behind_its_last_row(spark: SparkSession, tmp_path: Path) -> None:
    """Q-9: also after the gate was opened again; another query goes on."""
    tuples = write_input(tmp_path / "in")
    text = "SELECT sid, 1 / (sid - 5) FROM Vitals [NOW]"
    fine = next(place for place, (_, _, sid, _) in enumerate(tuples) if sid == 5)
    with opened(spark, tmp_path / "gate") as gate:
        gate.stream("Vitals", directory(spark, tmp_path / "in", SCHEMA), **TERMS)
        session = gate.login("ana", "S")
        queries = [session.query(text, "divides"), session.query(SUM, "goes_on")]
        rows = list[Any]()
        with pytest.raises(Suspended, match='query "divides" is suspended: DIVISION_BY_ZERO'):
            queries[0].each(lambda batch: rows.extend(batch.to_pylist()))
        assert len(rows) <= fine
        wait_until("all are there", lambda: total(gate) == 400)
        catch_up(gate)
        assert rows_of(queries[1]) > 0
    with opened(spark, tmp_path / "gate") as gate:
        again = gate.login("ana", "S").find("divides")
        with pytest.raises(Suspended, match="DIVISION_BY_ZERO"):
            list(again.results(follow=False))
    checked(tmp_path / "gate")


def test_a_full_disk_ends_the_gate_and_nothing_is_lost(spark: SparkSession, small_disk: Path, tmp_path: Path) -> None:
    """Q-10: the journals, epochs, results and Spark's own checkpoint lie there."""
    tuples = write_input(tmp_path / "in")
    place = small_disk / "gate"
    with opened(spark, place) as gate:
        gate.stream("Vitals", directory(spark, tmp_path / "in", SCHEMA, most_files=2), **TERMS)
        query = gate.login("ana", "S").query(SUM)
        assert next(query.results()).num_rows > 0
        fill(small_disk)
        wait_until("it has ended", lambda: gate.failure is not None or bool(gate.ended))
        assert "o space " in refusal(lambda: list(query.results()))
    free(small_disk)
    with opened(spark, place) as gate:
        gate.stream("Vitals", directory(spark, tmp_path / "in", SCHEMA, most_files=2), **TERMS)
        wait_until("all are there", lambda: sum(arrived(place).values()) == 400 or gate.failure is not None)
        catch_up(gate)
    assert checked(place).lines > 0
    assert arrived(place) == expected("Vitals", tuples)
