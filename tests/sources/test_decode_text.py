"""CSV and JSON lines: what does not decode keeps its text and becomes no NULL (Q-11)."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sources.files import COLUMNS, declared, refusal, written
from tidegate.engine.broken import broken_from
from tidegate.sources.columns import CORRUPT, Columns
from tidegate.sources.decode import check_file, read_file


def read(path: Path, columns: Columns = COLUMNS) -> list[dict[str, Any]]:
    """The rows of a text file."""
    form = "csv" if ".csv" in path.name else "json"
    return [row for batch in read_file(str(path), form, columns) for row in batch.to_pylist()]


def bad(rows: list[dict[str, Any]]) -> list[str]:
    """The texts that could not be decoded; such a row holds nothing else."""
    found = [row for row in rows if row[CORRUPT] is not None]
    assert all(value is None for row in found for name, value in row.items() if name != CORRUPT)
    return [broken_from(row[CORRUPT]).record for row in found]


def problems(path: Path, columns: Columns = COLUMNS) -> list[tuple[int | None, str]]:
    """The lines that could not be decoded, and why; all say of which file they are."""
    found = [broken_from(row[CORRUPT]) for row in read(path, columns) if row[CORRUPT] is not None]
    assert {one.file for one in found} <= {str(path)}
    return [(one.line, one.problem) for one in found]


def good(rows: list[dict[str, Any]], name: str = "sid") -> list[Any]:
    """A column of the rows that were decoded."""
    return [row[name] for row in rows if row[CORRUPT] is None]


@pytest.mark.parametrize(
    "line",
    [
        "1,U,7",  # too few
        "1,U,7,80.5,9",  # too many
        "1,U,seven,80.5",
        "1,U,7.0,80.5",
        "1,U,0x7,80.5",
        "1,U,99999999999,80.5",
        "1,U,7,eighty",
        "1,U,7,1e999",
        "yesterday,U,7,80.5",
        "2024-02-31T00:00:00Z,U,7,80.5",
        "1.0000001,U,7,80.5",
        '1,U,7,"80.5',  # no end to the quotes
        "junk",
    ],
)
def test_a_csv_line_that_does_not_fit_keeps_its_text_and_its_neighbours_are_read(tmp_path: Path, line: str) -> None:
    """Q-11."""
    text = f"time,level,sid,bp\n1,U,1,1.5\n{line}\n2,U,2,2.5\n"
    rows = read(written(tmp_path, "a.csv", text))
    assert (good(rows), bad(rows)) == ([1, 2], [line])


@pytest.mark.parametrize(
    "line",
    [
        '{"time":1,"level":"U","sid":7}',  # no attribute is missing silently
        '{"time":1,"level":"U","sid":"7","bp":1}',
        '{"time":1,"level":"U","sid":7.5,"bp":1}',
        '{"time":1,"level":"U","sid":99999999999,"bp":1}',
        '{"time":1,"level":"U","sid":7,"bp":true}',
        '{"time":"noon","level":"U","sid":7,"bp":1}',
        '{"time":1e12,"level":"U","sid":7,"bp":1}',
        '{"time":1.0000001,"level":"U","sid":7,"bp":1}',
        '{"time":1,"level":5,"sid":7,"bp":1}',
        '{"time":1,"level":"U","sid":7,"bp":NaN}',
        '{"time":1,"level":"U","sid":7,"sid":8,"bp":1}',
        '{"time":1,"level":"U","sid":7,"bp":1',
        '{"time":1,"level":"U","sid":7,"bp":1}{"time":1,"level":"U","sid":8,"bp":1}',
        "[1, 2]",
        "junk",
    ],
)
def test_a_json_line_that_does_not_fit_keeps_its_text_and_its_neighbours_are_read(tmp_path: Path, line: str) -> None:
    """Q-11."""
    lines = [f'{{"time":{n},"level":"U","sid":{n},"bp":1.5}}' for n in range(200)]
    rows = read(written(tmp_path, "a.json", "\n".join([*lines[:120], line, *lines[120:]])))
    assert (good(rows), bad(rows)) == (list(range(200)), [line])


NUMBER = 'attribute "sid": does not fit int'


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1,U,7", "3 fields, not 4"),
        ("1,U,seven,80.5", NUMBER),
        ("1,U,99999999999,eighty", NUMBER),
        ("1,U,7,eighty", 'attribute "bp": does not fit double'),
        ("yesterday,U,7,80.5", 'column "time": not a time'),
        ('1,U,7,"80.5', "not a CSV record: a quote without an end, or a carriage return inside"),
        ("1,\\xff,7,80.5", "not UTF-8"),
    ],
)
def test_a_bad_csv_line_is_told_by_its_number_and_its_attribute(tmp_path: Path, line: str, problem: str) -> None:
    """Q-11: the reason names the attribute and never a value."""
    lines = ["time,level,sid,bp", "", *["1,U,1,1.5"] * 300, line, "", "2,U,2,2.5", line]
    text = "\n".join(lines).encode().replace(b"\\xff", b"\xff")
    assert problems(written(tmp_path, "a.csv", text)) == [(303, problem), (306, problem)]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"time":1,"level":"U","sid":7}', 'attribute "bp" is missing'),
        ('{"time":1,"level":"U","sid":"secret","bp":1}', 'attribute "sid": not a whole number, as int needs'),
        ('{"time":"noon","level":"U","sid":7,"bp":1}', 'column "time": not a time'),
        ('{"time":1,"level":5,"sid":7,"bp":1}', 'column "level": not a string'),
        ("[1, 2]", "not an object"),
        ('{"time":1,', "not JSON"),
    ],
)
def test_a_bad_json_line_is_told_by_its_number_and_its_attribute(tmp_path: Path, line: str, problem: str) -> None:
    """Q-11: likewise; files that were put together have byte order marks inside."""
    fine = '{"time":1,"level":"U","sid":7,"bp":1}'
    lines = ["\ufeff" + fine, "", *[fine] * 300, line, "\ufeff" + fine, line]
    path = written(tmp_path, "a.json", "\n".join(lines))
    assert problems(path) == [(303, problem), (305, problem)]
    assert len(good(read(path))) == 302


def test_lines_are_counted_over_blocks(tmp_path: Path) -> None:
    """A file is decoded a few megabytes at a time."""
    rows = 300_000
    path = written(tmp_path, "a.csv", "sid\n" + "1234567\n" * rows + "x\n" + "1234567\n" * rows + "y\n")
    found = problems(path, declared({"sid": "int"}))
    assert found == [(rows + 2, NUMBER), (2 * rows + 3, NUMBER)]


@pytest.mark.parametrize(
    "members",
    [
        '"time":1,"bp":-0',
        '"time":1,"bp":1,"other":NaN',
        '"time":1,"bp":1,"other":1,"other":2',
        '"time":"90","bp":"NaN"',
        '"time":"2024-01-31T12","bp":1e300',
        '"time":"2024-01-31T12:00:00+02:00","bp":12345678901234567890123',
        '"time":-1.5,"bp":0.1',
        '"time":null,"bp":null',
    ],
)
def test_a_json_line_is_read_alike_whatever_stands_beside_it(tmp_path: Path, members: str) -> None:
    """Q-10: beside a bad line it is decoded the slow way."""
    line = f'{{"level":"U","sid":7,{members}}}\n'
    alone = read(written(tmp_path, "a.json", line))
    beside = read(written(tmp_path, "b.json", f"junk\n{line}"))
    assert repr(alone) == repr(beside[:1])
    assert (good(alone), bad(beside)) == ([7], ["junk"])


def test_a_line_that_is_not_unicode_is_shown_escaped(tmp_path: Path) -> None:
    csv = read(written(tmp_path, "a.csv", b"time,level,sid,bp\n1,\xff,1,1\n2,U,2,2\n"))
    jsons = read(written(tmp_path, "a.json", b'{"time":1,"level":"\xff","sid":1,"bp":1}\n'))
    assert (bad(csv), good(csv), bad(jsons)) == (
        ["1,\\xff,1,1"],
        [2],
        ['{"time":1,"level":"\\xff","sid":1,"bp":1}'],
    )


def test_csv_columns_match_by_name_and_not_by_place(tmp_path: Path) -> None:
    rows = read(written(tmp_path, "a.csv", "\ufeffbp,extra,SID,level,time\r\n1.5,?,7,U,60\r\n"))
    minute = dt.datetime(1970, 1, 1, 0, 1, tzinfo=dt.UTC)
    assert rows == [{"time": minute, "level": "U", "sid": 7, "bp": 1.5, CORRUPT: None}]


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("time,level,sid,bpp", 'column "bp" is missing; did you mean "bpp"?'),
        ("time;level;sid;bp", 'column "time" is missing'),
        ("time,level,sid,bp,bp", 'column "bp" is there twice'),
        ("", "it has no header"),
    ],
)
def test_a_csv_header_without_a_column_is_an_error_that_names_file_and_column(
    tmp_path: Path, head: str, message: str
) -> None:
    path = written(tmp_path, "a.csv", f"{head}\n")
    said = refusal(lambda: check_file(str(path), "csv", COLUMNS))
    assert str(path) in said
    assert message in said


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_text_file_that_is_binary_is_an_error_that_names_it(tmp_path: Path, form: str) -> None:
    path = written(tmp_path, f"a.{form}", b"PAR1\0\0\0\x15PAR1")
    assert str(path) in refusal(lambda: check_file(str(path), form, COLUMNS))


def test_a_json_array_is_an_error_with_a_hint(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", '[{"sid": 1}]')
    assert "one object per line" in refusal(lambda: check_file(str(path), "json", COLUMNS))


def test_a_packed_file_that_is_cut_short_is_an_error_that_names_it(tmp_path: Path) -> None:
    import gzip

    whole = gzip.compress(b"time,level,sid,bp\n" + b"1,U,1,1.5\n" * 1000)
    path = written(tmp_path, "a.csv.gz", whole[: len(whole) // 2])
    assert str(path) in refusal(lambda: read(path))


def test_an_empty_field_is_null_and_a_quoted_one_is_empty(tmp_path: Path) -> None:
    columns = declared({"a": "string", "b": "int"})
    rows = read(written(tmp_path, "a.csv", 'a,b\n,1\n"",2\n"x, ""y""",\n'), columns)
    assert [(row["a"], row["b"]) for row in rows] == [(None, 1), ("", 2), ('x, "y"', None)]


TYPES = {
    "i": "int",
    "l": "bigint",
    "d": "double",
    "b": "boolean",
    "s": "string",
    "t": "timestamp",
    "y": "date",
    "n": "decimal(5,2)",
    "x": "binary",
}
VALUES = {
    "i": -(2**31),
    "l": 2**63 - 1,
    "d": 0.1,
    "b": True,
    "s": "é",
    "t": dt.datetime(2024, 1, 31, 10, 0, 0, 5, tzinfo=dt.UTC),
    "y": dt.date(2024, 2, 29),
    "n": Decimal("-123.40"),
    "x": b"\0\xff",
}


def test_every_type_is_read_from_both(tmp_path: Path) -> None:
    columns = declared(TYPES)
    texts = [
        "-2147483648",
        "9223372036854775807",
        "0.1",
        "true",
        "é",
        "2024-01-31T12:00:00.000005+02:00",
        "2024-02-29",
        "-123.4",
        "AP8=",
    ]
    members = dict(zip(TYPES, (-(2**31), 2**63 - 1, 0.1, True, *texts[4:]), strict=True))
    csv = written(tmp_path, "a.csv", ",".join(TYPES) + "\n" + ",".join(texts) + "\n" + "," * 8 + "\n")
    jsons = written(tmp_path, "a.json", json.dumps(members) + "\n" + json.dumps(dict.fromkeys(TYPES)) + "\n")
    expected = [{**VALUES, CORRUPT: None}, {**dict.fromkeys(TYPES), CORRUPT: None}]
    assert (read(csv, columns), read(jsons, columns)) == (expected, expected)


@given(st.lists(st.sampled_from(["1,5", "x,5", "1", "1,2,3", '"', "", "2,6"]), max_size=40))
def test_every_csv_line_is_either_read_or_kept_as_text(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    """Q-11: none is lost, none is doubled."""
    path = written(tmp_path_factory.getbasetemp(), "all.csv", "a,b\n" + "\n".join(lines))
    rows = read(path, declared({"a": "int", "b": "int"}))
    fit = [line for line in lines if line in ("1,5", "2,6")]
    assert [f"{row['a']},{row['b']}" for row in rows if row[CORRUPT] is None] == fit
    assert sorted(bad(rows)) == sorted(line for line in lines if line and line not in fit)


@given(st.lists(st.text('a,"\r ', max_size=8), max_size=30))
def test_a_csv_line_never_takes_in_another_whatever_its_quotes(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    """Q-11: a record is a line."""
    path = written(tmp_path_factory.getbasetemp(), "quotes.csv", "a,b\n" + "\n".join(lines))
    rows = read(path, declared({"a": "string", "b": "string"}))
    assert len(rows) == len([line for line in lines if line.strip()])
    assert not [value for row in rows for value in (row["a"], row["b"]) if value and "\n" in value]


@given(st.lists(st.sampled_from(['{"a":1}', '{"a":null}', '{"b":1}', "{", '{"a":1}{"a":2}', "", "7"]), max_size=200))
def test_every_json_line_is_either_read_or_kept_as_text(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    """Q-11: none is lost, none is doubled."""
    path = written(tmp_path_factory.getbasetemp(), "all.json", "\n".join(lines))
    rows = read(path, declared({"a": "int"}))
    fit = {'{"a":1}': 1, '{"a":null}': None}
    assert good(rows, "a") == [fit[line] for line in lines if line in fit]
    assert sorted(bad(rows)) == sorted(line for line in lines if line and line not in fit)
