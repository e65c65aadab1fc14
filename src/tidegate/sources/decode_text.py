"""CSV and JSON lines as record batches: a record is a line, and a line that does not decode keeps its text (Q-11).

Whole blocks of lines are decoded at once. Only where that fails is the block halved until the bad lines stand alone.
An empty CSV field is NULL, a quoted one ("") is the empty string.

Reads: errors, values, sources (columns, parse).  Read by: decode.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.json as arrow_json

from tidegate.errors import SourceError
from tidegate.plan.types import STRING
from tidegate.sources.columns import CORRUPT, SECONDS, Column, Columns, instants, places
from tidegate.sources.parse import parsed
from tidegate.values import Unfit, read

BLOCK = 4 << 20  # bytes that are decoded at once
LONGEST_LINE = 64 << 20
SMALL = 64  # lines that are not worth halving further

Lines = list[bytes]


# ------------------------------------------------------------------------------ lines


def _blocks(path: str) -> Iterator[Lines]:
    """The lines of a file, a bounded number of bytes at a time; compressed files are known by their names."""
    rest = b""
    with pa.input_stream(path, compression="detect") as stream:
        while chunk := stream.read(BLOCK):
            if len(rest) + len(chunk) > LONGEST_LINE:
                raise SourceError(f"a line is longer than {LONGEST_LINE >> 20} MB", path)
            whole, newline, rest = (rest + chunk).rpartition(b"\n")
            if newline:
                yield whole.split(b"\n")
    if rest:
        yield [rest]


def _records(lines: Lines) -> tuple[Lines, Lines]:
    """Lines that may be records, and those that cannot: not UTF-8. Blank ones are neither."""
    lines = [line for line in lines if line and not line.isspace()]
    if _is_text(b"\n".join(lines)):
        return lines, []
    return [line for line in lines if _is_text(line)], [line for line in lines if not _is_text(line)]


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _head(path: str, form: str) -> bytes:
    """The first line with something in it, without a byte order mark; empty if there is none."""
    for lines in _blocks(path):
        if b"\0" in lines[0]:
            raise SourceError(f"this is not a {form} file but a binary one", path)
        for line in lines:
            if line.strip(b"\xef\xbb\xbf\r "):
                return line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r")
    return b""


def _batch(arrays: list[pa.Array], columns: Columns) -> pa.RecordBatch:
    nothing = pa.nulls(len(arrays[0]), pa.string())
    return pa.RecordBatch.from_arrays([*arrays, nothing], names=[*(column.name for column in columns), CORRUPT])


def _unreadable(lines: Lines, columns: Columns) -> pa.RecordBatch:
    texts = pa.array([line.rstrip(b"\r").decode(errors="backslashreplace") for line in lines], pa.string())
    arrays = [pa.nulls(len(lines), column.arrow) for column in columns]
    return pa.RecordBatch.from_arrays([*arrays, texts], names=[*(column.name for column in columns), CORRUPT])


# ------------------------------------------------------------------------------ CSV


def check_csv(path: str, columns: Columns) -> list[str]:
    """The names in the header; refuses a file without one, or one that lacks a column."""
    head = _head(path, "csv")
    if not head or not _is_text(head):
        raise SourceError("this is not a csv file: it has no header", path, "write to another name, then rename")
    names = next(csv.reader([head.decode()]))
    places(columns, names, path)
    return names


def read_csv(path: str, columns: Columns) -> Iterator[pa.RecordBatch]:
    """Columns by the names in the header; lines with too few, too many or unfit fields as text."""
    names = check_csv(path, columns)
    wanted = [str(place) for place in places(columns, names, path)]
    first = True
    for lines in _blocks(path):
        records, bad = _records(lines)
        if first and records:
            records, first = records[1:], False
        pieces, more = _decode_csv(records, len(names), wanted, columns) if records else ([], [])
        yield from pieces
        if bad or more:
            yield _unreadable([*bad, *more], columns)


def _decode_csv(lines: Lines, fields: int, wanted: list[str], columns: Columns) -> tuple[list[pa.RecordBatch], Lines]:
    """The lines that decode, as batches, and the others."""
    try:
        batch, bad = _decode_fields(lines, fields, wanted, columns)
        return [batch], bad
    except pa.ArrowInvalid:
        if len(lines) == 1:
            return [], lines
    middle = len(lines) // 2
    first, bad = _decode_csv(lines[:middle], fields, wanted, columns)
    second, more = _decode_csv(lines[middle:], fields, wanted, columns)
    return first + second, bad + more


def _decode_fields(lines: Lines, fields: int, wanted: list[str], columns: Columns) -> tuple[pa.RecordBatch, Lines]:
    """All lines at once; raises ArrowInvalid where a line is not a record."""
    table, bad = _split_fields(lines, fields, wanted)
    results = [parsed(column, table[name].combine_chunks()) for column, name in zip(columns, wanted, strict=True)]
    unfit = np.logical_or.reduce([flags for _, flags in results])
    arrays = [array for array, _ in results]
    wrong = [lines[place] for place in sorted(bad)]
    if unfit.any():
        kept = [line for place, line in enumerate(lines) if place not in bad] if bad else lines
        wrong += [kept[place] for place in np.flatnonzero(unfit)]
        arrays = [array.filter(pa.array(~unfit)) for array in arrays]
    return _batch(arrays, columns), wrong


def _split_fields(lines: Lines, fields: int, wanted: list[str]) -> tuple[pa.Table, set[int]]:
    """The wanted fields as text, and the places of lines with another number of fields."""
    bad: set[int] = set()

    def put_aside(row: Any) -> str:
        bad.add(row.number - 1)
        return "skip"

    names = [str(place) for place in range(fields)]
    table = arrow_csv.read_csv(
        pa.BufferReader(b"\n".join(lines) + b"\n"),
        read_options=arrow_csv.ReadOptions(use_threads=False, column_names=names, block_size=2 * LONGEST_LINE),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=False, invalid_row_handler=put_aside),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=list(dict.fromkeys(wanted)),
            column_types=dict.fromkeys(wanted, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    if len(table) != len(lines) - len(bad) or any(_has_newline(column) for column in table.columns):
        raise pa.ArrowInvalid("quotes without an end took in the next line, or a carriage return made two of one")
    return table, bad


def _has_newline(texts: pa.ChunkedArray) -> bool:
    found: bool | None = pc.any(pc.match_substring(texts, "\n")).as_py()
    return bool(found)


# ------------------------------------------------------------------------------ JSON


def check_json(path: str, columns: Columns) -> None:
    """Refuse a file that is one JSON array instead of a line for each record, or no text at all."""
    if _head(path, "json").lstrip().startswith(b"["):
        raise SourceError("this is a JSON array", path, "write one object per line")


def read_json(path: str, columns: Columns) -> Iterator[pa.RecordBatch]:
    """Objects by the names of their members; lines that are none, lack an attribute or have an unfit one as text."""
    check_json(path, columns)
    written = _seconds_are_numbers(_head(path, "json"), columns)
    for lines in _blocks(path):
        records, bad = _records([line.removeprefix(b"\xef\xbb\xbf") for line in lines])
        pieces, more = _decode_json(records, columns, written) if records else ([], [])
        yield from pieces
        if bad or more:
            yield _unreadable([*bad, *more], columns)


def _seconds_are_numbers(head: bytes, columns: Columns) -> bool:
    """Whether the file writes instants as numbers, judged by its first line; the other way is slower, not wrong."""
    try:
        first = json.loads(head)
        return not any(isinstance(first.get(column.name), str) for column in columns if column.instant)
    except (ValueError, AttributeError, RecursionError):
        return True


def _decode_json(lines: Lines, columns: Columns, numbers: bool) -> tuple[list[pa.RecordBatch], Lines]:
    try:
        return [_decode_objects(lines, columns, numbers)], []
    except (pa.ArrowInvalid, UnicodeDecodeError):
        if len(lines) <= SMALL:
            return _decode_one_by_one(lines, columns)
    middle = len(lines) // 2
    first, bad = _decode_json(lines[:middle], columns, numbers)
    second, more = _decode_json(lines[middle:], columns, numbers)
    return first + second, bad + more


def _decode_objects(lines: Lines, columns: Columns, numbers: bool) -> pa.RecordBatch:
    """All lines at once; raises ArrowInvalid where one needs a closer look."""
    table = arrow_json.read_json(
        pa.BufferReader(b"\n".join(lines) + b"\n"),
        read_options=arrow_json.ReadOptions(use_threads=False, block_size=2 * LONGEST_LINE),
        parse_options=arrow_json.ParseOptions(
            explicit_schema=pa.schema([(column.name, _written(column, numbers)) for column in columns]),
            unexpected_field_behavior="ignore",
        ),
    )
    if len(table) != len(lines):
        raise pa.ArrowInvalid("a line with two objects")
    _check_nulls(lines, table, [column.name for column in columns if column.attribute])
    return _batch([_finished(column, table[column.name].combine_chunks()) for column in columns], columns)


def _check_nulls(lines: Lines, table: pa.Table, attributes: list[str]) -> None:
    """Arrow gives NULL for a member that is not there, too: look at the lines where there is one."""
    nulls = [np.asarray(table[name].is_null()) for name in attributes if table[name].null_count]
    for place in np.flatnonzero(np.logical_or.reduce(nulls)) if nulls else ():
        members = json.loads(lines[place])
        if any(name not in members for name in attributes):
            raise pa.ArrowInvalid("an attribute is missing")


def _written(column: Column, numbers: bool) -> pa.DataType:
    """The type in which JSON has a column: times, dates and bytes are texts."""
    if column.instant:
        return SECONDS if numbers else pa.string()
    return pa.string() if column.type.name in IN_TEXT else column.arrow


def _finished(column: Column, array: pa.Array) -> pa.Array:
    if array.type == column.arrow:
        if column.type.name == "double" and not pc.all(pc.is_finite(array)).as_py():
            raise pa.ArrowInvalid("NaN is not JSON, but Arrow takes it")
        return array
    if column.instant and pa.types.is_decimal(array.type):
        return instants(array)
    result, unfit = parsed(column, array)
    if unfit.any():
        raise pa.ArrowInvalid("a text that does not fit")
    return result


def _decode_one_by_one(lines: Lines, columns: Columns) -> tuple[list[pa.RecordBatch], Lines]:
    """The slow way, which decides: whatever the quick way takes, this takes with the same value."""
    rows, bad = list[list[Any]](), Lines()
    for line in lines:
        try:
            rows.append(_row(line, columns))
        except (Unfit, ValueError, RecursionError):
            bad.append(line)
    if not rows:
        return [], bad
    arrays = [_array(column, [row[place] for row in rows]) for place, column in enumerate(columns)]
    return [_batch(arrays, columns)], bad


def _row(line: bytes, columns: Columns) -> list[Any]:
    members = json.loads(
        line, parse_float=Decimal, parse_int=_whole, parse_constant=lambda _: _UNFIT, object_pairs_hook=_members
    )
    if not isinstance(members, dict):
        raise Unfit("not an object")
    return [_value(members, column) for column in columns]


def _value(members: dict[str, object], column: Column) -> Any:
    if column.name not in members and column.attribute:
        raise Unfit(f'attribute "{column.name}" is missing')
    value = members.get(column.name)
    if column.instant and isinstance(value, int | Decimal) and not isinstance(value, bool):
        value = str(value)
    if value is None or column.type.name not in IN_TEXT:
        return read(value, column.type)
    array, unfit = parsed(column, pa.array([read(value, STRING)], pa.string()))
    if unfit.any():
        raise Unfit(f"not a {column.type}")
    return array[0]


def _array(column: Column, values: list[Any]) -> pa.Array:
    nothing = pa.scalar(None, column.arrow)
    return pa.array([nothing if value is None else value for value in values], column.arrow)


IN_TEXT = ("timestamp", "date", "binary")
"""What JSON has no form for: written as text, as in CSV."""


class _MinusZero(int):
    """A whole number that is another double than 0."""

    def __float__(self) -> float:
        return -0.0


def _whole(digits: str) -> int:
    return _MinusZero() if digits == "-0" else int(digits)


_UNFIT = object()
"""A value that fits no type: it matters only in a column that is declared."""


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = Counter(name for name, _ in pairs)
        members |= {name: _UNFIT for name, count in names.items() if count > 1}
    return members
