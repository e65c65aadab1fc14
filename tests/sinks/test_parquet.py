"""Parquet files: one for each query and epoch, whole, with the label of the query (N-9)."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.sinks.answers import FOLLOWED, LATTICE, answer, given, outlet, run_out
from tidegate.engine.results import Results, about
from tidegate.security.lattice import Level
from tidegate.sinks.parquet import ParquetSink
from tidegate.sinks.sink import Followed


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """Three epochs, two with rows."""
    found = Results(tmp_path / "results", LATTICE)
    for epoch in (0, 2):
        answer(found, epoch, 3)
    return found


def test_a_file_has_the_rows_of_an_epoch_and_the_label_of_the_query(results: Results, tmp_path: Path) -> None:
    """N-9: a label is not lost on export; it is the query's (Q-6), beside those of the rows."""
    run_out(outlet(results, ParquetSink(tmp_path / "out"), tmp_path / "s.json"))
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == ["C.q%20.1-000000000000.parquet", "C.q%20.1-000000000002.parquet"]
    for file, batch in zip(files, given(results), strict=True):
        found = pq.ParquetFile(file)
        assert found.read() == pa.Table.from_batches([batch])
        assert found.metadata.metadata[b"level"] == b"C"
        assert found.metadata.metadata[b"query"] == b"q 1"
        assert str(found.schema_arrow.field("row_time").type) == "timestamp[us, tz=UTC]"
        assert found.schema_arrow.field("row_level").type == pa.string()
    assert pq.read_table(tmp_path / "out").column("row_level").to_pylist() == ["U", "C", "U"] * 2


def test_the_name_of_a_file_is_that_of_its_query(results: Results, tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path / "out")
    batch = given(results)[0]
    sink.open(Followed("night_shift", Level("C"), FOLLOWED.serial, LATTICE), -1)
    sink.write(7, batch.replace_schema_metadata({**about(batch), "query": "night_shift"}))
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["C.night_shift-000000000007.parquet"]


def test_the_same_epoch_again_overwrites_itself(results: Results, tmp_path: Path) -> None:
    for name in ("s.json", "t.json"):  # the second one knows of nothing that is out
        run_out(outlet(results, ParquetSink(tmp_path / "out"), tmp_path / name))
    assert pq.read_table(tmp_path / "out").num_rows == 6


def test_what_a_crash_left_unfinished_goes_and_other_queries_stay(results: Results, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / ".C.q%20.1-000000000007.parquet.1.2").write_bytes(b"PAR1")
    (out / ".C.other-000000000007.parquet.1.2").write_bytes(b"PAR1")
    run_out(outlet(results, ParquetSink(out), tmp_path / "s.json"))
    assert [file.name for file in out.iterdir() if file.name.startswith(".")] == [".C.other-000000000007.parquet.1.2"]


def test_queries_of_one_name_at_two_levels_share_no_file(results: Results, tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path / "out")
    for level in ("C", "S"):
        followed = Followed(FOLLOWED.query, Level(level), FOLLOWED.serial, LATTICE)
        sink.open(followed, -1)
        (batch, _) = given(results)
        sink.write(0, batch.replace_schema_metadata({**about(batch), "level": level}))
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_two_columns_of_one_name_are_refused(results: Results, tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path / "out")
    sink.open(FOLLOWED, -1)
    (batch, _) = given(results)
    with pytest.raises(ValueError, match='two columns are called "row_level"'):
        sink.write(0, batch.rename_columns(["row_level", "t", "row_level", "row_time"]))
    assert list((tmp_path / "out").iterdir()) == []


def test_a_full_disk_leaves_nothing_behind(results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: pa.Table, where: Path) -> None:
        where.write_bytes(b"PAR1")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    sink = ParquetSink(tmp_path / "out")
    sink.open(FOLLOWED, -1)
    with pytest.raises(OSError, match="No space left"):
        sink.write(0, given(results)[0])
    assert list((tmp_path / "out").iterdir()) == []
