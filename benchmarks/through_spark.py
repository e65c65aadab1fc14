"""A contestant: paper 000's experiments in plain Spark structured streaming, one streaming query per continuous query.

Spark has no row windows. A selection over one is a selection: that is all JVM. For the others the best that we know is
one key for the whole stream, since `[ROWS n]` counts all tuples, `applyInPandasWithState`, and inside it whole columns
with pandas and NumPy; the last rows are the state. Only numbers cross to Python: levels as numbers of their names.

The same in meaning: the windows, and rows only where something changed. Not the same: levels of result rows are not
computed, sums are not exact, rows that leave and enter in one step do not cancel out, and a tuple that comes a
micro-batch late is in the wrong place.

Reads: contest, plain_spark, experiments.  Read by: bench_against.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from contest import Answer, Request, serve
from experiments import AVERAGE, JOIN, LABELS, SELECT
from plain_spark import keep_all, plain_session, run_all, stream_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS, VITALS_ROWS = 100, 50
CODE = f"CAST(array_position(array{LABELS}, level) AS int) AS code"
Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Columns = dict[str, Any]


def query(spark: SparkSession, directory: str, asked: Columns) -> DataFrame:
    """A continuous query of an experiment."""
    vitals = stream_of(spark, directory, "Vitals")
    if asked["kind"] == SELECT:
        return vitals.where(asked["where"]).select(*asked["shows"])
    if asked["kind"] == JOIN:
        return _joined(vitals, stream_of(spark, directory, "Positions"), asked)
    rows = vitals.selectExpr("ts", f"IF({asked['where']}, weight, double('NaN')) AS value", CODE, "0 AS one")
    if asked["kind"] == AVERAGE:
        return _stateful(rows, averages, "average double, code int, ts timestamp")
    calls = [call.removesuffix("(weight)").lower() for call in asked["shows"]]
    columns = ", ".join(f"{call} double" for call in calls)
    return _stateful(rows, partial(summaries, calls=calls), f"{columns}, ts timestamp")


def _joined(vitals: DataFrame, positions: DataFrame, asked: Columns) -> DataFrame:
    """Both streams as one with a side; the columns that the query shows."""
    kept = f"{asked['where']} AS kept"
    one = vitals.selectExpr("ts", "true AS vital", "sid", "weight AS value", CODE, kept, "0 AS one")
    other = positions.selectExpr("ts", "false AS vital", "sid", "location AS value", CODE, "true AS kept", "0 AS one")
    schema = "sid int, weight double, location double, vcode int, pcode int, ts timestamp"
    found = _stateful(one.unionAll(other), pairs, schema)
    names = {"Vitals.sid": "sid", "Vitals.level": "vcode", "Positions.level": "pcode"}
    return found.select(*(names.get(name, name) for name in asked["shows"]))


def _stateful(rows: DataFrame, step: Callable[[pd.DataFrame, int], tuple[pd.DataFrame, Any]], schema: str) -> DataFrame:
    """Micro-batch by micro-batch, in order of time; a step takes rows kept and new ones, and says which to keep."""

    def advance(_: Any, chunks: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
        new = pd.concat(chunks).sort_values("ts", ignore_index=True)
        kept = pickle.loads(state.get[0]) if state.exists else new[:0]
        found, keep = step(pd.concat([kept, new], ignore_index=True), len(kept))
        state.update((pickle.dumps(keep),))
        yield found

    return rows.groupBy("one").applyInPandasWithState(advance, schema, "kept binary", "append", "NoTimeout")


# ------------------------------------------------------------------------------ over whole columns


def averages(rows: pd.DataFrame, old: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The average of each level where it changed: rows before ``old`` were told of before."""
    parts = []
    for code in range(1, len(LABELS) + 1):
        mean = rows["value"].where(rows["code"] == code).rolling(ROWS, min_periods=1).mean().to_numpy()
        changed = _changed([mean], old) & ~np.isnan(mean)
        parts.append(pd.DataFrame({"average": mean[changed], "code": code, "ts": rows["ts"][changed]}))
    return pd.concat(parts), rows[-ROWS:]


def summaries(rows: pd.DataFrame, old: int, calls: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Aggregates where one of them changed."""
    window = rows["value"].rolling(ROWS, min_periods=1)
    found = [getattr(window, {"avg": "mean"}.get(call, call))().to_numpy() for call in calls]
    changed = _changed(found, old)
    columns = {call: column[changed] for call, column in zip(calls, found, strict=True)}
    return pd.DataFrame({**columns, "ts": rows["ts"][changed]}), rows[-ROWS:]


def _changed(columns: list[Floats], old: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    changed = np.zeros(len(columns[0]), bool)
    for column in columns:
        same = (column[1:] == column[:-1]) | (np.isnan(column[1:]) & np.isnan(column[:-1]))
        changed[1:] |= ~same
    changed[0] = True
    changed[:old] = False
    return changed


def pairs(rows: pd.DataFrame, old: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """New pairs of equal sid: each new row with what lies in the other side's window at that moment."""
    vital = rows["vital"].to_numpy()
    fresh = np.arange(len(rows)) >= old
    wanted = rows["kept"].to_numpy()
    keys = rows["sid"].to_numpy().astype(np.int64) << 32
    older, younger = _within(keys, ~vital, vital & fresh & wanted, ROWS)
    older_vital, younger_position = _within(keys, vital, ~vital & fresh, VITALS_ROWS)
    good = wanted[older_vital]
    v = np.concatenate([younger, older_vital[good]])
    p = np.concatenate([older, younger_position[good]])
    value, code, time = rows["value"].to_numpy(), rows["code"].to_numpy(), rows["ts"].to_numpy()
    found = {"sid": rows["sid"].to_numpy()[v], "weight": value[v], "location": value[p],
             "vcode": code[v], "pcode": code[p], "ts": np.maximum(time[v], time[p])}  # fmt: skip
    keep = np.union1d(np.flatnonzero(vital)[-VITALS_ROWS:], np.flatnonzero(~vital)[-ROWS:])
    return pd.DataFrame(found), rows.iloc[keep]


def _within(keys: Any, held: Any, asking: Any, size: int) -> tuple[Any, Any]:
    """For each asking row the held rows of its key among the last so many: rows held, rows asking."""
    count = np.cumsum(held)
    places = np.flatnonzero(held)
    places = places[np.argsort(keys[places] + count[places], kind="stable")]
    ordered = keys[places] + count[places]
    ask = np.flatnonzero(asking)
    low = np.searchsorted(ordered, keys[ask] + np.maximum(count[ask] - size, 0), side="right")
    high = np.searchsorted(ordered, keys[ask] + count[ask], side="right")
    many = high - low
    offsets = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    return places[np.repeat(low, many) + offsets], np.repeat(ask, many)


def answer(spark: SparkSession, work: Path, request: Request) -> Answer:
    """Run an experiment, or keep what its queries say."""
    queries = [partial(query, spark, request["directory"], asked) for asked in request["asked"]]
    return keep_all(queries) if request.get("keep") else run_all(work, queries)


def main() -> None:
    """One session for all questions."""
    work = Path(sys.argv[1], "spark")
    work.mkdir()
    with plain_session(work) as spark:
        serve(lambda request: answer(spark, work, request))


if __name__ == "__main__":
    main()
