"""Directories of files, as Spark drives their reader: each file once, in order, and never silence."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest

from tests.sources.files import COLUMNS, WRITERS, Stream, declared, put, refusal, table, written
from tidegate.sources.directory import _format_of
from tidegate.sources.listing import look

FORMS = tuple(WRITERS)
COLUMNAR = ("parquet", "arrow")


@pytest.mark.parametrize("form", FORMS)
def test_every_format_gives_the_same_rows_whatever_the_order_of_its_columns(tmp_path: Path, form: str) -> None:
    put(tmp_path, f"a.{form}", table(), 0)
    rows = [{name: row[name] for name in ("time", "level", "sid", "bp")} for row in Stream(tmp_path, form).batch()]
    assert rows == table().select(["time", "level", "sid", "bp"]).to_pylist()


def test_files_come_in_the_order_of_date_then_name_so_many_at_a_time(tmp_path: Path) -> None:
    for name, age in (("b", 1), ("a", 2), ("d", 0), ("c", 1)):
        put(tmp_path, f"{name}.arrow", table(ord(name), 1), age)
    stream = Stream(tmp_path, "arrow", most=3)
    assert [stream.sids(), stream.sids(), stream.sids()] == [[ord("d"), ord("b"), ord("c")], [ord("a")], []]


def test_a_file_that_comes_late_with_an_old_date_is_taken_also_after_a_stop(tmp_path: Path) -> None:
    put(tmp_path, "a.arrow", table(1, 1), 1000)
    stream = Stream(tmp_path, "arrow")
    assert stream.sids() == [1]
    put(tmp_path, "b.arrow", table(2, 1), 500)
    stream.restart()
    put(tmp_path, "c.arrow", table(3, 1), 0)
    assert [stream.sids(), stream.sids()] == [[3, 2], []]


def test_an_offset_is_bounded_by_what_is_in_the_directory(tmp_path: Path) -> None:
    stream = Stream(tmp_path, "arrow")
    for number in range(50):
        put(tmp_path, f"{number}.arrow", table(number, 1), number)
        assert stream.sids() == [number]
        (tmp_path / f"{number}.arrow").unlink()
    assert len(str(stream.committed)) < 200


def test_hidden_files_and_folders_are_not_taken(tmp_path: Path) -> None:
    for name in (".a.arrow", "_SUCCESS"):
        written(tmp_path, name, "half a file")
    (tmp_path / "below.arrow").mkdir()
    assert Stream(tmp_path, "arrow").sids() == []


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_changes_after_it_was_taken_is_an_error_that_names_it(tmp_path: Path, form: str) -> None:
    put(tmp_path, f"a.{form}", table(), 0)
    stream = Stream(tmp_path, form)
    stream.batch()
    put(tmp_path, f"a.{form}", table(5), 60)
    stream.restart()
    said = refusal(stream.batch)
    assert f"a.{form}: the file changed after it was taken" in said
    (tmp_path / f"a.{form}").rename(tmp_path / f"b.{form}")
    assert stream.sids() == [5, 6, 7]


def test_a_directory_that_vanishes_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    stream = Stream(tmp_path / "in", "arrow")
    assert stream.batch() == []
    (tmp_path / "in").rmdir()
    assert refusal(stream.batch).startswith(f"{tmp_path}/in: the directory does not exist")


# ------------------------------------------------------------------------------ bad files


def without(rows: pa.Table, name: str) -> pa.Table:
    """A column less."""
    return rows.drop_columns([name])


def renamed(rows: pa.Table, name: str, other: str) -> pa.Table:
    """A column by another name."""
    return rows.rename_columns([other if known == name else known for known in rows.schema.names])


def retyped(rows: pa.Table, name: str, kind: pa.DataType) -> pa.Table:
    """A column of another type."""
    place = rows.schema.get_field_index(name)
    return rows.set_column(place, name, rows[name].cast(kind))


BAD = {
    'column "bp" is missing': without(table(9), "bp"),
    'column "sid" is missing; did you mean "sidd"?': renamed(table(9), "sid", "sidd"),
    'column "sid" has type int64, declared is int': retyped(table(9), "sid", pa.int64()),
    'column "bp" has type string, declared is double': retyped(table(9), "bp", pa.string()),
    'column "time" has type string, declared is timestamp or number': retyped(table(9), "time", pa.string()),
    'column "level" is missing': without(table(9), "level"),
}


@pytest.mark.parametrize("form", COLUMNAR)
@pytest.mark.parametrize("message", BAD)
def test_a_column_that_is_missing_renamed_or_of_another_type_is_an_error_that_names_file_and_column(
    tmp_path: Path, form: str, message: str
) -> None:
    put(tmp_path, f"a.{form}", BAD[message], 0)
    assert refusal(Stream(tmp_path, form).batch).startswith(f"{tmp_path}/a.{form}: {message}")


@pytest.mark.parametrize("form", COLUMNAR)
@pytest.mark.parametrize("repair", ["replaced", "removed"])
def test_after_a_bad_file_is_repaired_or_removed_nothing_is_lost_and_nothing_doubled(
    tmp_path: Path, form: str, repair: str
) -> None:
    """Q-10: in the end, the same as if the file had been good, or never there."""
    put(tmp_path, f"a.{form}", table(0, 2), 0)
    stream = Stream(tmp_path, form)
    assert stream.sids() == [0, 1]
    bad = written(tmp_path, f"b.{form}", "this is text")
    put(tmp_path, f"c.{form}", table(4, 2), 2**31)
    assert str(bad) in refusal(stream.batch)
    stream.restart()
    assert str(bad) in refusal(stream.batch)
    bad.unlink()
    if repair == "replaced":
        put(tmp_path, f"b.{form}", table(2, 2), 1)
    stream.restart()
    assert [stream.sids(), stream.sids()] == [[2, 3, 4, 5] if repair == "replaced" else [4, 5], []]


@pytest.mark.parametrize("repair", ["replaced", "removed"])
def test_a_file_that_is_damaged_inside_can_be_repaired_or_removed_after_it_was_planned(
    tmp_path: Path, repair: str
) -> None:
    put(tmp_path, "a.parquet", table(0, 2), 0)
    put(tmp_path, "b.parquet", table(2, 500), 1)
    whole = (tmp_path / "b.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(whole[:4] + b"\0" * 2000 + whole[2004:])
    stream = Stream(tmp_path, "parquet")
    assert "b.parquet: this is not a whole, sound parquet file" in refusal(stream.batch)
    (tmp_path / "b.parquet").unlink()
    if repair == "replaced":
        put(tmp_path, "b.parquet", table(2, 2), 60)
    stream.restart()
    assert [stream.sids(), stream.sids()] == [[0, 1, 2, 3] if repair == "replaced" else [0, 1], []]


def test_a_file_that_vanishes_between_plan_and_read_is_an_error_that_names_it(tmp_path: Path) -> None:
    put(tmp_path, "a.arrow", table(), 0)
    stream = Stream(tmp_path, "arrow")
    planned = stream.reader.latestOffset(stream.committed, None)  # type: ignore[arg-type]
    parts = stream.reader.partitions(stream.committed, planned)
    (tmp_path / "a.arrow").unlink()
    assert "a.arrow: the file is gone" in refusal(lambda: stream._decoded(parts[0]))


def test_a_file_of_another_name_is_an_error_when_the_names_said_the_format(tmp_path: Path) -> None:
    put(tmp_path, "a.arrow", table(), 0)
    written(tmp_path, "b.txt", "notes")
    assert "b.txt: the name of this file does not say arrow" in refusal(Stream(tmp_path, "arrow").batch)


def test_names_say_the_format_unless_there_is_none_or_more_than_one(tmp_path: Path) -> None:
    def found() -> str:
        return _format_of(str(tmp_path), look(str(tmp_path)))

    assert "the directory is empty" in refusal(found)
    for name in ("a.csv", "b.CSV.gz"):
        written(tmp_path, name, "")
    assert found() == "csv"
    written(tmp_path, "c.parquet", "")
    assert 'there are files of "csv", "parquet"' in refusal(found)
    written(tmp_path, "notes.txt", "")
    assert 'the name "notes.txt" says no format' in refusal(found)


# ------------------------------------------------------------------------------ types


@pytest.mark.parametrize(
    ("declaration", "array"),
    [
        ("int", pa.array([1, None], pa.int16())),
        ("bigint", pa.array([1, None], pa.uint32())),
        ("double", pa.array([1.5, None], pa.float32())),
        ("string", pa.array(["x", None]).dictionary_encode()),
        ("string", pa.array(["x", None], pa.large_string())),
        ("timestamp", pa.array([1_000, None], pa.timestamp("ms"))),
        ("decimal(9,3)", pa.array([1, None], pa.decimal128(5, 1))),
        ("date", pa.array([86_400_000, None], pa.date64())),
        ("binary", pa.array([b"x", None], pa.large_binary())),
    ],
)
def test_a_narrower_type_is_widened(tmp_path: Path, declaration: str, array: pa.Array) -> None:
    put(tmp_path, "a.arrow", pa.table({"a": array}), 0)
    columns = declared({"a": declaration})
    found = [row["a"] for row in Stream(tmp_path, "arrow", columns).batch()]
    assert (found[0] is not None, found[1]) == (True, None)


@pytest.mark.parametrize(
    "seconds",
    [pa.array([90], pa.int64()), pa.array([90.0], pa.float64()), pa.array([90], pa.decimal128(5, 0))],
    ids=lambda array: str(array.type),
)
def test_instants_may_be_seconds(tmp_path: Path, seconds: pa.Array) -> None:
    put(tmp_path, "a.arrow", pa.table({"time": seconds, "level": ["U"], "sid": pa.array([1], pa.int32())}), 0)
    rows = Stream(tmp_path, "arrow", declared({"sid": "int"}, "time", "level")).batch()
    assert [row["time"].timestamp() for row in rows] == [90.0]


def test_a_value_finer_than_its_type_is_an_error_and_is_not_rounded(tmp_path: Path) -> None:
    put(tmp_path, "a.arrow", pa.table({"a": pa.array([1], pa.timestamp("ns"))}), 0)
    columns = declared({"a": "timestamp"})
    assert 'column "a" holds a value that timestamp cannot hold' in refusal(Stream(tmp_path, "arrow", columns).batch)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"a": "integer"}, 'attribute "a" has unknown type "integer"'),
        ({"Level": "string"}, 'attribute "Level" cannot be declared'),
        ({"a": "int", "A": "int"}, 'attribute "A" is declared twice'),
        ({"time": "string"}, 'the column of the times "time" cannot have type string'),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(schema: dict[str, str], message: str) -> None:
    assert message in refusal(lambda: declared(schema, "time", "level"))


def test_what_is_not_a_directory_is_an_error_that_names_it(tmp_path: Path) -> None:
    file = written(tmp_path, "a", "")
    assert refusal(lambda: look(str(file))).startswith(f"{file}: this is not a directory")


def test_columns_stand_in_the_order_of_their_declaration(tmp_path: Path) -> None:
    put(tmp_path, "a.parquet", table(), 0)
    assert list(Stream(tmp_path, "parquet").batch()[0]) == [column.name for column in COLUMNS]
    assert os.path.exists(tmp_path / "a.parquet")
