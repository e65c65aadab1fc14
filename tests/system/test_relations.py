"""Relations of a gate: bad rows get one clear error, and what is stored stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tidegate.engine.live import read_relation
from tidegate.errors import EngineError, TidegateError
from tidegate.security.declare import declare
from tidegate.system.binding import bind_relation

LATTICE = declare("U < C < S")
SCHEMA = {"sid": "int", "unit": "string"}
ROW = {"level": "C", "sid": 1, "unit": "alpha"}


def bind(directory: Path, rows: Any, name: str = "Units", schema: dict[str, str] = SCHEMA, again: bool = False) -> None:
    """As ``gate.relation`` does, for the first time or again."""
    bind_relation(name, rows, schema, "level", LATTICE, directory, is_known=again)


def test_rows_are_stored_with_their_labels(tmp_path: Path) -> None:
    bind(tmp_path, [ROW, {"level": "U", "sid": 2, "unit": None}])
    stored = [{"sid": 1, "unit": "alpha", "level": "C"}, {"sid": 2, "unit": None, "level": "U"}]
    assert read_relation(tmp_path, "Units").to_pylist() == stored


def test_the_same_rows_again_are_nothing_new(tmp_path: Path) -> None:
    """A script that is started again says everything again."""
    bind(tmp_path, [ROW])
    bind(tmp_path, pa.Table.from_pylist([ROW]), again=True)
    with pytest.raises(EngineError, match="is stored already, with other rows"):
        bind(tmp_path, [ROW, ROW], again=True)
    assert read_relation(tmp_path, "Units").num_rows == 1


def test_what_was_stored_and_never_declared_is_stored_anew(tmp_path: Path) -> None:
    """A crash between the two leaves a file that nobody reads."""
    bind(tmp_path, [ROW])
    bind(tmp_path, [ROW, ROW])
    assert read_relation(tmp_path, "Units").num_rows == 2


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([{"sid": 1, "unit": "a"}], 'row 1: "level" is missing'),
        ([ROW, {"level": "U", "sid": 1}], 'row 2: "unit" is missing'),
        ([{**ROW, "level": "X"}], '"X"'),
        ([{**ROW, "sid": "one"}], 'a value of "sid" does not fit int'),
        ([{**ROW, "sid": 2**40}], 'a value of "sid" does not fit int'),
        ([{**ROW, "sid": 1.5}], 'a value of "sid" does not fit int'),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_stored(tmp_path: Path, rows: list[Any], problem: str) -> None:
    """Q-11: problem and place, and never the value."""
    with pytest.raises(TidegateError) as error:
        bind(tmp_path, rows)
    assert problem in str(error.value)
    assert "one" not in str(error.value)
    assert not (tmp_path / "relations").exists()


@pytest.mark.parametrize("name", ["QUARANTINE", "quarantine", "level", " "])
def test_names_of_the_system_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(EngineError):
        bind(tmp_path, [ROW], name)


def test_a_type_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match='unknown type "text"'):
        bind(tmp_path, [ROW], schema={"sid": "text"})
