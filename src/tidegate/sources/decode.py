"""Files as record batches of the declared columns and no more: Parquet and Arrow here, text in its own file.

Whatever a file is wrong in, the error names the file. A batch is bounded, so the memory of a task is, too.

Reads: errors, sources (columns, decode_text).  Read by: directory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tidegate.errors import SourceError
from tidegate.sources.columns import Columns, check_types, converted, places
from tidegate.sources.decode_text import check_csv, check_json, read_csv, read_json

ROWS = 32_768  # of a record batch
TEXT = ("csv", "json")
"""The formats whose records can be unreadable one by one: they have a column for what could not be decoded."""


def check_file(path: str, form: str, columns: Columns) -> None:
    """Refuse a file that is not of its format, lacks a column or has another type; reads its beginning and end only."""
    try:
        _CHECKS[form](path, columns)
    except (pa.ArrowException, OSError, EOFError) as problem:
        raise _unreadable(path, form, problem) from None


def read_file(path: str, form: str, columns: Columns) -> Iterator[pa.RecordBatch]:
    """The declared columns of a file, and the text of its unreadable records; raises SourceError, naming the file."""
    try:
        yield from _READERS[form](path, columns)
    except (pa.ArrowException, OSError, EOFError) as problem:
        raise _unreadable(path, form, problem) from None


def _unreadable(path: str, form: str, problem: BaseException) -> SourceError:
    if isinstance(problem, FileNotFoundError):
        return SourceError("the file is gone", path, "put it back, or start the stream again without it")
    if isinstance(problem, PermissionError):
        return SourceError("the file may not be read", path, "change its permissions")
    hint = "repair it or move it away, then start the stream again"
    return SourceError(f"this is not a whole, sound {form} file", path, hint)


def _open_parquet(path: str, columns: Columns) -> Any:
    file = pq.ParquetFile(pa.OSFile(path))
    check_types(columns, file.schema_arrow, path)
    return file


def _open_arrow(path: str, columns: Columns) -> Any:
    reader = pa.ipc.open_file(pa.OSFile(path))  # not mapped: a file cut short meanwhile would kill the process
    check_types(columns, reader.schema, path)
    return reader


def _read_parquet(path: str, columns: Columns) -> Iterator[pa.RecordBatch]:
    file = _open_parquet(path, columns)
    names = file.schema_arrow.names
    wanted = [names[place] for place in places(columns, names, path)]
    for batch in file.iter_batches(ROWS, columns=wanted, use_threads=False):
        yield _converted(batch, columns, path)


def _read_arrow(path: str, columns: Columns) -> Iterator[pa.RecordBatch]:
    reader = _open_arrow(path, columns)
    for number in range(reader.num_record_batches):
        batch = reader.get_batch(number)
        chosen = pa.RecordBatch.from_arrays(
            [batch.column(place) for place in places(columns, batch.schema.names, path)],
            names=[column.name for column in columns],
        )
        chosen.validate(full=True)  # a damaged file must not become a damaged process
        for first in range(0, chosen.num_rows, ROWS):
            yield _converted(chosen.slice(first, ROWS), columns, path)


def _converted(batch: pa.RecordBatch, columns: Columns, path: str) -> pa.RecordBatch:
    """The columns in their order, whatever order the file has."""
    order = places(columns, batch.schema.names, path)
    arrays = [converted(column, batch.column(place), path) for column, place in zip(columns, order, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=[column.name for column in columns])


_CHECKS: dict[str, Callable[[str, Columns], object]] = {
    "parquet": _open_parquet,
    "arrow": _open_arrow,
    "csv": check_csv,
    "json": check_json,
}
_READERS: dict[str, Callable[[str, Columns], Iterator[pa.RecordBatch]]] = {
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "csv": read_csv,
    "json": read_json,
}
FORMATS = tuple(_READERS)
