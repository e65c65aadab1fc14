"""Files to read, and a reader driven as Spark drives it, but at once and in this process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.streaming.datasource import ReadAllAvailable

from tidegate.sources.columns import Columns, columns_of
from tidegate.sources.directory import FileReader, decode

SCHEMA = {"sid": "int", "bp": "double"}
COLUMNS = columns_of(SCHEMA, "time", "level")
Rows = list[dict[str, Any]]


def table(first: int = 0, count: int = 3) -> pa.Table:
    """Good rows, in another order of columns, with one that is not declared."""
    numbers = range(first, first + count)
    return pa.table(
        {
            "bp": pa.array([float(number) for number in numbers]),
            "note": pa.array(["x" for _ in numbers]),
            "level": pa.array(["U" for _ in numbers]),
            "time": pa.array([1_000_000 * number for number in numbers], pa.timestamp("us", "UTC")),
            "sid": pa.array(list(numbers), pa.int32()),
        }
    )


def write_parquet(path: Path, rows: pa.Table) -> None:
    """A Parquet file."""
    pq.write_table(rows, path)


def write_arrow(path: Path, rows: pa.Table) -> None:
    """An Arrow file."""
    with pa.ipc.new_file(str(path), rows.schema) as writer:
        writer.write_table(rows)


def write_csv(path: Path, rows: pa.Table) -> None:
    """A CSV file with a header, times in seconds."""
    lines = [",".join(rows.schema.names), *(",".join(map(_plain, row.values())) for row in rows.to_pylist())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_json(path: Path, rows: pa.Table) -> None:
    """JSON lines, times in seconds."""
    rows = rows.set_column(rows.schema.get_field_index("time"), "time", pa.array(rows["sid"].to_pylist()))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()), encoding="utf-8")


def _plain(value: Any) -> str:
    return str(value.timestamp()) if hasattr(value, "timestamp") else str(value)


WRITERS: dict[str, Callable[[Path, pa.Table], None]] = {
    "parquet": write_parquet,
    "arrow": write_arrow,
    "csv": write_csv,
    "json": write_json,
}


def put(folder: Path, name: str, rows: pa.Table, age: int) -> None:
    """A file that is ``age`` seconds younger than 2020."""
    form = name.rpartition(".")[2]
    WRITERS[form](folder / name, rows)
    os.utime(folder / name, (1_577_836_800 + age,) * 2)


class Stream:
    """A reader with its checkpoint: micro-batches of rows, and starting again."""

    def __init__(self, folder: Path, form: str, columns: Columns = COLUMNS, most: int = 100) -> None:
        kept = [[column.name, str(column.type), column.instant, column.attribute] for column in columns]
        self.options = {"path": str(folder), "format": form, "named": True, "most": most, "columns": kept, "tasks": 2}
        self.columns, self.form = columns, form
        self.restart()
        self.committed: dict[str, Any] = self.reader.initialOffset()
        self.logged: dict[str, Any] = self.committed

    def restart(self) -> None:
        """A new process, the same checkpoint."""
        self.reader = FileReader(self.options)

    def batch(self) -> Rows:
        """Plan, read and commit one micro-batch; what was planned and not committed comes first, as in Spark."""
        if self.logged == self.committed:
            latest = self.reader.latestOffset(self.committed, ReadAllAvailable())
            self.logged = json.loads(json.dumps(latest))
        rows = [row for part in self.reader.partitions(self.committed, self.logged) for row in self._decoded(part)]
        self.committed = self.logged
        return rows

    def _decoded(self, part: Any) -> Rows:
        found = decode(self.reader.read(part), form=self.form, columns=self.columns)
        return [row for batch in found for row in batch.to_pylist()]

    def sids(self) -> list[int]:
        """The attribute that numbers the rows, of one micro-batch."""
        return [row["sid"] for row in self.batch()]


def refusal(action: Callable[[], object]) -> str:
    """The message of the SourceError that an action raises."""
    import pytest

    from tidegate.errors import SourceError

    with pytest.raises(SourceError) as caught:
        action()
    return str(caught.value)


def written(folder: Path, name: str, text: str | bytes) -> Path:
    """A file of this text."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def declared(schema: Mapping[str, str], time: str | None = None, level: str | None = None) -> Columns:
    """Columns without a time and a level, unless said."""
    return columns_of(schema, time, level)
