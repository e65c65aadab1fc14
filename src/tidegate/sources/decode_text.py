"""CSV and JSON lines as record batches: a record is a line, and a line that does not decode keeps its text (Q-11).

Whole blocks of lines are decoded at once. Only where that fails is the block halved until the bad lines stand alone.
An empty CSV field is NULL, a quoted one ("") is the empty string.

Reads: errors, values, engine (broken), sources (columns, parse).  Read by: decode.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.json as arrow_json

from tidegate.engine.broken import Broken
from tidegate.errors import SourceError
from tidegate.plan.types import STRING
from tidegate.sources.columns import CORRUPT, SECONDS, Column, Columns, instants, places
from tidegate.sources.parse import parsed
from tidegate.values import Unfit, read

BLOCK = 4 << 20  # bytes that are decoded at once
LONGEST_LINE = 64 << 20
SMALL = 64  # lines that are not worth halving further
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Lines = list[bytes]


@dataclass(frozen=True, slots=True)
class Bad:
    """A line that does not decode: its place among those that were given, and why, without a value of it."""

    place: int
    problem: str


Found = tuple[list[pa.RecordBatch], list[Bad]]
Decode = Callable[[Lines, int], Found]
"""Decodes lines of which the first one has a place."""


# ------------------------------------------------------------------------------ lines


def _blocks(path: str) -> Iterator[Lines]:
    """The lines of a file, a bounded number of bytes at a time; compressed files are known by their names."""
    rest, mark = b"", BYTE_ORDER_MARK
    with pa.input_stream(path, compression="detect") as stream:
        while chunk := stream.read(BLOCK):
            if len(rest) + len(chunk) > LONGEST_LINE:
                raise SourceError(f"a line is longer than {LONGEST_LINE >> 20} MB", path)
            whole, newline, rest = (rest + chunk).rpartition(b"\n")
            if newline:
                yield whole.removeprefix(mark).split(b"\n")
                mark = b""
    if rest:
        yield [rest.removeprefix(mark)]


def _records(lines: Lines) -> tuple[Sequence[int], list[Bad]]:
    """The places of lines that may be records, and those that cannot: not UTF-8. Blank ones are neither."""
    places: Sequence[int] = range(len(lines))
    if not all(line and not line.isspace() for line in lines):
        places = [place for place in places if lines[place] and not lines[place].isspace()]
    if _is_text(b"\n".join(lines)):
        return places, []
    return [place for place in places if _is_text(lines[place])], [
        Bad(place, "not UTF-8") for place in places if not _is_text(lines[place])
    ]


def _decoded(path: str, columns: Columns, decode: Decode, skipped: int) -> Iterator[pa.RecordBatch]:
    """The records of a file, block by block, and what is no record, behind some lines that are neither."""
    before = 1
    for lines in _blocks(path):
        places, bad = _records(lines)
        places, skipped = places[skipped:], skipped - min(skipped, len(places))
        records = lines if len(places) == len(lines) else [lines[place] for place in places]
        batches, more = decode(records, 0) if records else ([], [])
        yield from batches
        bad += [Bad(places[one.place], one.problem) for one in more]
        if bad:
            yield _unreadable(sorted(bad, key=lambda one: one.place), lines, before, path, columns)
        before += len(lines)


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
            if line.strip():
                return line.rstrip(b"\r")
    return b""


def _batch(arrays: list[pa.Array], columns: Columns) -> pa.RecordBatch:
    nothing = pa.nulls(len(arrays[0]), pa.string())
    return pa.RecordBatch.from_arrays([*arrays, nothing], names=[*(column.name for column in columns), CORRUPT])


def _unreadable(bad: list[Bad], lines: Lines, before: int, path: str, columns: Columns) -> pa.RecordBatch:
    records = [lines[one.place].rstrip(b"\r").decode(errors="backslashreplace") for one in bad]
    found = [Broken(one.problem, text, path, before + one.place) for one, text in zip(bad, records, strict=True)]
    arrays = [pa.nulls(len(bad), column.arrow) for column in columns]
    texts = pa.array([one.to_text() for one in found], pa.string())
    return pa.RecordBatch.from_arrays([*arrays, texts], names=[*(column.name for column in columns), CORRUPT])


def _named(column: Column, problem: str) -> str:
    return f'{"attribute" if column.attribute else "column"} "{column.name}": {problem}'


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
    decode = partial(_decode_csv, fields=len(names), wanted=wanted, columns=columns)
    return _decoded(path, columns, decode, skipped=1)


def _decode_csv(lines: Lines, first: int, fields: int, wanted: list[str], columns: Columns) -> Found:
    """The lines that decode, as batches, and the others; the first one has this place."""
    try:
        batch, bad = _decode_fields(lines, fields, wanted, columns)
        return [batch], [Bad(first + place, problem) for place, problem in bad.items()]
    except pa.ArrowInvalid:
        if len(lines) == 1:
            return [], [Bad(first, "not a CSV record: a quote without an end, or a carriage return inside")]
    middle = len(lines) // 2
    begin, bad_ones = _decode_csv(lines[:middle], first, fields, wanted, columns)
    end, more = _decode_csv(lines[middle:], first + middle, fields, wanted, columns)
    return begin + end, bad_ones + more


def _decode_fields(
    lines: Lines, fields: int, wanted: list[str], columns: Columns
) -> tuple[pa.RecordBatch, dict[int, str]]:
    """All lines at once, and by their places those that do not fit; raises ArrowInvalid where a line is no record."""
    table, bad = _split_fields(lines, fields, wanted)
    results = [parsed(column, table[name].combine_chunks()) for column, name in zip(columns, wanted, strict=True)]
    unfit = np.logical_or.reduce([flags for _, flags in results])
    arrays = [array for array, _ in results]
    if unfit.any():
        kept = [place for place in range(len(lines)) if place not in bad]
        for column, (_, flags) in zip(columns, results, strict=True):
            for place in np.flatnonzero(flags).tolist():
                bad.setdefault(kept[place], _named(column, _not(column)))
        arrays = [array.filter(pa.array(~unfit)) for array in arrays]
    return _batch(arrays, columns), bad


def _not(column: Column) -> str:
    return "not a time" if column.instant else f"does not fit {column.type}"


def _split_fields(lines: Lines, fields: int, wanted: list[str]) -> tuple[pa.Table, dict[int, str]]:
    """The wanted fields as text, and the places of lines with another number of fields."""
    bad: dict[int, str] = {}

    def put_aside(row: Any) -> str:
        bad[row.number - 1] = f"{row.actual_columns} fields, not {row.expected_columns}"
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
    return _decoded(path, columns, partial(_decode_unmarked, columns=columns, numbers=written), skipped=0)


def _seconds_are_numbers(head: bytes, columns: Columns) -> bool:
    """Whether the file writes instants as numbers, judged by its first line; the other way is slower, not wrong."""
    try:
        first = json.loads(head)
        return not any(isinstance(first.get(column.name), str) for column in columns if column.instant)
    except (ValueError, AttributeError, RecursionError):
        return True


def _decode_unmarked(lines: Lines, first: int, columns: Columns, numbers: bool) -> Found:
    """Files that were put together have byte order marks in their middle."""
    return _decode_json([line.removeprefix(BYTE_ORDER_MARK) for line in lines], first, columns, numbers)


def _decode_json(lines: Lines, first: int, columns: Columns, numbers: bool) -> Found:
    try:
        return [_decode_objects(lines, columns, numbers)], []
    except (pa.ArrowInvalid, UnicodeDecodeError):
        if len(lines) <= SMALL:
            return _decode_one_by_one(lines, first, columns)
    middle = len(lines) // 2
    begin, bad = _decode_json(lines[:middle], first, columns, numbers)
    end, more = _decode_json(lines[middle:], first + middle, columns, numbers)
    return begin + end, bad + more


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


def _decode_one_by_one(lines: Lines, first: int, columns: Columns) -> Found:
    """The slow way, which decides: whatever the quick way takes, this takes with the same value."""
    rows, bad = list[list[Any]](), list[Bad]()
    for place, line in enumerate(lines, first):
        try:
            rows.append(_row(line, columns))
        except Unfit as problem:
            bad.append(Bad(place, str(problem)))
        except (ValueError, RecursionError):
            bad.append(Bad(place, "not JSON"))
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
    try:
        return _read(members.get(column.name), column)
    except Unfit as problem:
        raise Unfit(_named(column, str(problem))) from None


def _read(value: object, column: Column) -> Any:
    if column.instant and isinstance(value, int | Decimal) and not isinstance(value, bool):
        value = str(value)
    if value is None or column.type.name not in IN_TEXT:
        return read(value, column.type)
    array, unfit = parsed(column, pa.array([read(value, STRING)], pa.string()))
    if unfit.any():
        raise Unfit(_not(column))
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
