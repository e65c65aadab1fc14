"""A live gate through Spark: it answers what its log means, while queries come and go."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.live.running import catch_up, checked, wait_until
from tidegate.engine.journal import TickJournal, read_lines
from tidegate.sources.directory import directory
from tidegate.sources.generator import generator
from tidegate.system.clock import Clock
from tidegate.system.gate import Gate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEVELS = "U < C < S < TS"
DATA = Path(__file__).parents[1] / "data"
DAY = datetime(2022, 1, 3, tzinfo=UTC)
MIX = {"U": 0.4, "C": 0.3, "S": 0.2, "TS": 0.1}


def labelled(name: str, columns: dict[str, str], target: Path, pieces: int, seed: int) -> int:
    """An extract with labels and times, in several files; how many rows it has."""
    chance = Random(seed)
    rows = list(csv.DictReader((DATA / f"{name}.csv").read_text().splitlines()))
    target.mkdir()
    for piece in range(pieces):
        with (target / f"{piece:03}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["time", "level", *columns])
            for row in rows[len(rows) * piece // pieces : len(rows) * (piece + 1) // pieces]:
                instant = DAY + timedelta(seconds=float(row["ts"]))
                label = chance.choices(list(MIX), list(MIX.values()))[0]
                writer.writerow([instant.isoformat(), label, *(row[column] for column in columns)])
    return len(rows)


SHIPS = {"vessel": "bigint", "vessel_type": "int", "lat": "double", "lon": "double", "sog_kn": "double"}
AGENTS = {"track": "int", "x_m": "double", "y_m": "double", "activity": "string"}
ASKED = (
    ("C", "SELECT vessel, COUNT(*), AVG(sog_kn) FROM Ships [RANGE 1 HOUR SLIDE 30 MINUTES] GROUP BY vessel"),
    ("S", "SELECT MAX(sog_kn), MIN(lat) FROM Ships [ROWS 50]"),
    ("S", "SELECT DISTINCT vessel_type FROM Ships [RANGE 10 MINUTES]"),
    ("C", "SELECT activity, COUNT(*), LUB(level) FROM Agents [PARTITIONED BY activity ROWS 20]"),
    ("TS", "SELECT S.vessel, A.track FROM Ships [ROWS 5] S, Agents [ROWS 5] A WHERE S.vessel_type = A.track"),
)


def test_real_data_live_equals_replay(spark: SparkSession, tmp_path: Path) -> None:
    """Q-10, Q-13: ship positions of a day and tracks of agents; queries added and dropped while it runs."""
    total = labelled("ships", SHIPS, tmp_path / "ships", 4, seed=1)
    total += labelled("agents", AGENTS, tmp_path / "agents", 3, seed=2)
    clock = Clock(DAY - timedelta(hours=1))
    with Gate(spark, LEVELS, tmp_path / "gate", clock=clock, tick=0.25, keep=None) as gate:
        skew = timedelta(days=3)
        gate.stream("Ships", directory(spark, tmp_path / "ships", SHIPS), delay=0, skew=skew)
        gate.stream("Agents", directory(spark, tmp_path / "agents", AGENTS), delay=0, skew=skew)
        queries = [gate.login("ana", level).query(text) for level, text in ASKED]
        wait_until("all tuples are there", lambda: arrived(gate) == total)
        clock.run_at(7200)
        wait_until("the day has begun", lambda: clock.now() > DAY.timestamp() * 1e6)
        gate.login("bo", "S").execute("CREATE STREAM Fast AS SELECT vessel, sog_kn FROM Ships [NOW] WHERE sog_kn > 8")
        late = gate.login("bo", "TS").query("SELECT COUNT(*), MAX(sog_kn) FROM Fast [ROWS 10]")
        wait_until("noon", lambda: clock.now() > (DAY.timestamp() + 43_200) * 1e6)
        queries[1].drop()
        wait_until("midnight", lambda: clock.now() > (DAY.timestamp() + 86_400) * 1e6)
        wait_until("all are released", lambda: gate.status().waiting == 0)
        catch_up(gate)
        rows = [sum(batch.num_rows for batch in query.results(follow=False)) for query in (*queries, late)]
        assert all(rows), rows
        assert gate.status().quarantined == 0
    verdict = checked(tmp_path / "gate")
    assert verdict.lines >= sum(rows)


def arrived(gate: Gate) -> int:
    """Tuples that were admitted."""
    return sum(one.tuples for one in gate.status().levels)


@pytest.fixture
def busy(spark: SparkSession, tmp_path: Path) -> Iterator[Gate]:
    """A gate with a generated stream."""
    with Gate(spark, LEVELS, tmp_path / "gate", tick=0.25, keep=None) as gate:
        gate.stream("Vitals", generator(spark, "vitals", rate=60, levels=MIX, seed=5), delay=1.5)
        yield gate


def test_a_hundred_queries_come_and_go(busy: Gate) -> None:
    """100 added and 100 dropped while data flows: the others do not notice, and each answers within two ticks."""
    session = busy.login("ana", "S")
    staying = session.query("SELECT COUNT(*), SUM(wt) FROM Vitals [ROWS 30]")
    wait_until("the first answer", lambda: any(True for _ in staying.results(follow=False)))
    added = []
    for number in range(100):
        added.append(session.query(f"SELECT MAX(bp) FROM Vitals [ROWS {number + 1}]", f"guest{number}"))
        if number % 10 == 9:
            time.sleep(0.3)
    wait_until("all have answered", lambda: all(any(True for _ in one.results(follow=False)) for one in added[::7]))
    firsts = [next(one.results(follow=False), None) for one in added]
    for one in added:
        one.drop()
    assert [one.name for one in session.queries()] == ["q1"]
    catch_up(busy)
    directory = busy.directory
    registered = epochs_of_guests(directory, "S")
    busy.stop()
    found = [(one.name, first) for one, first in zip(added, firsts, strict=True) if first is not None]
    lags = [int(first.schema.metadata[b"epoch"]) - registered[name] for name, first in found]
    assert len(lags) > 90
    assert max(lags) <= 2
    verdict = checked(directory)
    assert verdict.queries == 101


def epochs_of_guests(directory: Path, level: str) -> dict[str, int]:
    """The epoch in which each query was registered."""
    lines = list(read_lines(directory / "statements.jsonl"))
    found: dict[str, int] = {}
    for tick in TickJournal(directory / "log").read():
        for line in lines[: tick.said]:
            if line["kind"] == "statement" and line["name"] and line["name"] not in found:
                found[line["name"]] = tick.epochs[level]  # type: ignore[index]
    return found
