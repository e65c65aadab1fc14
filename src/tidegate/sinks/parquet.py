"""A directory of Parquet files, one for each query and epoch that gave rows.

The name says query and epoch, so the same epoch again overwrites itself, and a file is there whole or not at all. Each
carries the label of the query that it came from: rows that leave the gate do not lose it (N-9).

Reads: engine, sinks.  Read by: system.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tidegate.engine.herd import path_name
from tidegate.engine.results import about
from tidegate.sinks.sink import Followed, write_safely
from tidegate.text import listed


class ParquetSink:
    """Columns of the query, then ``row_level`` and ``row_time``; ``level``, ``query`` and ``epoch`` in the metadata.

    Several queries may share a directory. What reads all files of a directory as one table wants one query in it.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)

    def open(self, followed: Followed, after: int) -> int:
        """Make the directory; remove what a crash left unfinished."""
        self.directory.mkdir(parents=True, exist_ok=True)
        for unfinished in self.directory.glob(f".{_prefix(followed.level, followed.query)}*"):
            unfinished.unlink(missing_ok=True)
        return after

    def write(self, epoch: int, batch: pa.RecordBatch) -> None:
        """One file, on the disk when this returns."""
        repeated = [name for name in dict.fromkeys(batch.schema.names) if batch.schema.names.count(name) > 1]
        if repeated:
            raise ValueError(f"two columns are called {listed(repeated)}; name the query's own differently with AS")
        known = about(batch)
        path = self.directory / f"{_prefix(known['level'], known['query'])}{epoch:012d}.parquet"
        write_safely(path, lambda file: pq.write_table(pa.Table.from_batches([batch]), file))

    def close(self) -> None:
        """Nothing is open."""


def _prefix(level: str, query: str) -> str:
    return f"{path_name(level)}.{path_name(query)}-"
