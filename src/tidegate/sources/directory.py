"""A directory of files as a stream: Parquet, Arrow, CSV and JSON lines, each file taken once.

Files are checked before a micro-batch is planned with them, so a bad one stops the stream and leaves nothing half done:
when it is repaired or moved away, the stream starts again where it was. Names of files pass through Spark, and the task
that decodes a file opens it (decision 7): Spark's own readers fill a missing Parquet column with NULL and take CSV
columns by position.

Reads: errors, sources.  Read by: system.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import astuple
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from tidegate.engine.quiet import register_once
from tidegate.errors import SourceError
from tidegate.plan.schema import Field
from tidegate.plan.types import parse_type
from tidegate.sources.columns import CORRUPT, Column, Columns, columns_of
from tidegate.sources.decode import FORMATS, TEXT, check_file, read_file
from tidegate.sources.listing import MOST_FILES, File, Taken, first_of, look, new_files, packed, shares, unpacked
from tidegate.sources.source import Source
from tidegate.text import listed

NAME = "tidegate_files"
ENDINGS = {
    "parquet": "parquet",
    "arrow": "arrow",
    "csv": "csv",
    "csv.gz": "csv",
    "json": "json",
    "jsonl": "json",
    "json.gz": "json",
    "jsonl.gz": "json",
}
_REFERENCE = pa.schema({"path": pa.string(), "modified": pa.int64(), "size": pa.int64()})

Offset = dict[str, Any]


def directory(
    spark: SparkSession,
    path: str | os.PathLike[str],
    schema: Mapping[str, str],
    *,
    format: str | None = None,  # noqa: A002 - the word of the users, and of Spark
    time: str | None = "time",
    level: str | None = "level",
    most_files: int | None = None,
) -> Source:
    """The files of a directory, and those that come; a micro-batch has at most ``most_files`` and about 256 MB of them.

    Without a format the names of the files say it, and a file that is named otherwise is refused when it comes.
    """
    where = os.path.abspath(os.fspath(path))
    columns = columns_of(schema, time, level)
    form, named = format or _format_of(where, look(where)), format is None
    if form not in FORMATS:
        raise SourceError(f'there is no format "{form}"', hint=f"there are {listed(FORMATS)}")
    if most_files is not None and most_files < 1:
        raise SourceError("a micro-batch needs at least one file", where, "leave out most_files, or raise it")
    look(where)
    kept = [[column.name, str(column.type), column.instant, column.attribute] for column in columns]
    options = {"path": where, "format": form, "named": named, "most": most_files or MOST_FILES, "columns": kept}
    options["tasks"] = spark.sparkContext.defaultParallelism
    register_once(spark, FileSource)
    files = spark.readStream.format(NAME).option("options", json.dumps(options)).load()
    corrupt = CORRUPT if form in TEXT else None
    frame = files.mapInArrow(partial(decode, form=form, columns=columns), _spark_schema(columns, corrupt))
    attributes = tuple(Field(column.name, column.type) for column in columns if column.attribute)
    return Source(frame, attributes, time, level, corrupt)


def _spark_schema(columns: Columns, corrupt: str | None) -> str:
    names = [(column.name, str(column.type)) for column in columns] + ([(corrupt, "string")] if corrupt else [])
    return ", ".join("`{}` {}".format(name.replace("`", "``"), kind) for name, kind in names)


def _format_of(where: str, files: list[File]) -> str:
    """The one format that all names say."""
    if not files:
        raise SourceError("the directory is empty, so its format is not known", where, 'say it: format="csv"')
    found = {_ending(file.name) for file in files}
    if None in found or len(found) > 1:
        odd = next((file.name for file in files if _ending(file.name) is None), None)
        problem = f'the name "{odd}" says no format' if odd else f"there are files of {listed(sorted(map(str, found)))}"
        raise SourceError(problem, where, "say the format, or give each format a directory of its own")
    return str(found.pop())


def _ending(name: str) -> str | None:
    matching = (form for ending, form in ENDINGS.items() if name.lower().endswith(f".{ending}"))
    return next(matching, None)


# ------------------------------------------------------------------------------ in the tasks


def decode(batches: Iterator[pa.RecordBatch], *, form: str, columns: Columns) -> Iterator[pa.RecordBatch]:
    """The tuples of the files that are named; refuses a file that is not the one that was seen."""
    for batch in batches:
        for path, modified, size in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            _check_same(path, modified, size)
            yield from read_file(path, form, columns)
            _check_same(path, modified, size)


def _check_same(path: str, modified: int, size: int) -> None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise SourceError("the file is gone", path, "put it back, or start the stream again without it") from None
    if (status.st_mtime_ns, status.st_size) != (modified, size):
        hint = "write to a name with a leading dot, rename when it is whole, and start the stream again"
        raise SourceError("the file changed while it was taken", path, hint)


# ------------------------------------------------------------------------------ in the driver


class FileSource(DataSource):
    """``spark.readStream.format("tidegate_files")``; its one option is JSON that ``directory`` writes."""

    @classmethod
    def name(cls) -> str:
        """How Spark knows it."""
        return NAME

    def schema(self) -> str:
        """References to files."""
        return "path string, modified bigint, size bigint"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Listing and checking, away from the tasks."""
        return FileReader(json.loads(self.options["options"]))


class Share(InputPartition):
    """The files that one task takes, in order."""


class FileReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Says which files are due. The offset names those of its micro-batch, and counts the others as taken."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.path, self.format, self.named = str(options["path"]), str(options["format"]), bool(options["named"])
        self.most, self.tasks = int(options["most"]), int(options["tasks"])
        kept = options["columns"]
        self.columns = tuple(Column(name, parse_type(kind) or _never(kind), *rest) for name, kind, *rest in kept)
        self.planned: dict[int, list[File]] = {}  # micro-batches of this process: the files as they were read
        self.only: set[str] | None = None  # with a trigger that ends: the files that there were

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's name
        """Nothing is taken."""
        return {"number": 0, "taken": "", "batch": []}

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802 - Spark's name
        """The next files, all of them sound; the same offset where there is nothing new."""
        taken = unpacked(start["taken"])
        taken |= {file.key: file.state for file in self.planned.get(start["number"]) or _files(start)}
        files = look(self.path)
        new = first_of([file for file in new_files(self.path, files, taken) if self._is_due(file)], self.most)
        for file in new:
            self._check(file)
        return self._offset(start["number"] + 1, taken, files, new) if new else start

    def _is_due(self, file: File) -> bool:
        return self.only is None or file.name in self.only

    def _check(self, file: File) -> None:
        path = os.path.join(self.path, file.name)
        if self.named and _ending(file.name) != self.format:
            raise SourceError(f"the name of this file does not say {self.format}", path, "rename it or move it away")
        check_file(path, self.format, self.columns)

    def _offset(self, number: int, taken: Taken, files: list[File], new: list[File]) -> Offset:
        present = {file.key for file in files}
        kept = {key: state for key, state in taken.items() if key in present}
        self.planned = {number: new}
        return {"number": number, "taken": packed(kept), "batch": [list(astuple(file)) for file in new]}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """What is there now is all there is."""
        self.only = {file.name for file in look(self.path)}

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        """The files of a micro-batch; one that is repeated after a stop takes them as they are now, if they are."""
        if start == end:
            return []
        if end["number"] not in self.planned:
            names = {file.name for file in _files(end)}
            self.planned = {end["number"]: [file for file in look(self.path) if file.name in names]}
        return [Share(share) for share in shares(self.planned[end["number"]], self.tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """References for the task."""
        files: list[File] = partition.value
        columns = [[os.path.join(self.path, file.name) for file in files], [file.modified for file in files]]
        yield pa.RecordBatch.from_arrays([*columns, [file.size for file in files]], schema=_REFERENCE)


def _files(offset: Offset) -> list[File]:
    return [File(*entry) for entry in offset["batch"]]


def _never(kind: str) -> Any:
    raise AssertionError(kind)
