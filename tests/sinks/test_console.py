"""The console: a table in a terminal, lines in a pipe, and no foreign control codes in either."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pytest

from tests.sinks.answers import FOLLOWED, LATTICE, answer, given
from tidegate.engine.results import Results, about
from tidegate.security.declare import declare
from tidegate.security.lattice import Level
from tidegate.sinks.console import COLOURS, ConsoleSink, colour
from tidegate.sinks.sink import Followed


@pytest.fixture
def batches(tmp_path: Path) -> list[pa.RecordBatch]:
    """Two epochs of three rows."""
    results = Results(tmp_path / "results", LATTICE)
    for epoch in (1, 2):
        answer(results, epoch, 3)
    return given(results)


class Terminal(io.StringIO):
    """A file that says it is one."""

    def isatty(self) -> bool:
        """It lies."""
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal of 100 columns that can move and has colours."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm", "COLUMNS": "100", "LINES": "40"}.items():
        monkeypatch.setenv(name, value)
    return Terminal()


def test_a_pipe_gets_a_plain_line_for_each_row(batches: list[pa.RecordBatch]) -> None:
    file = io.StringIO()
    sink = ConsoleSink(2, file)
    sink.open(FOLLOWED, -1)
    for epoch, batch in enumerate(batches):
        sink.write(epoch, batch)
    sink.close()
    lines = file.getvalue().splitlines()
    assert lines[0] == "00:00:01.000 q 1@C U: n=100, t=text 100"
    assert len(lines) == 6
    assert "\x1b" not in file.getvalue()


def test_a_terminal_shows_the_newest_rows_of_several_queries_side_by_side(
    batches: list[pa.RecordBatch], terminal: Terminal
) -> None:
    sink = ConsoleSink(2, terminal)
    other = Followed("q2", Level("S"), 9, LATTICE)
    for followed in (FOLLOWED, other):
        sink.open(followed, -1)
    for epoch, batch in enumerate(batches):
        sink.write(epoch, batch)
        sink.write(epoch, batch.replace_schema_metadata({**about(batch), "query": "q2", "level": "S"}))
    sink.close()
    sink.close()
    picture = terminal.getvalue()[terminal.getvalue().rindex("q 1 at ") :]
    assert "q2 at" in picture.splitlines()[0]
    assert "6 rows" in picture.splitlines()[0]
    assert [picture.count(f"text {number}") for number in (200, 201, 202)] == [0, 2, 2]
    assert "\x1b[36mC" in picture or "\x1b[34mC" in picture


def test_a_terminal_that_cannot_move_gets_lines(
    batches: list[pa.RecordBatch], terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    sink = ConsoleSink(2, terminal)
    sink.open(FOLLOWED, -1)
    sink.write(0, batches[0])
    sink.close()
    assert terminal.getvalue().count("\n") == 3
    assert "\x1b" not in terminal.getvalue()


@pytest.mark.parametrize("moves", [True, False])
def test_what_rows_say_is_not_obeyed(batches: list[pa.RecordBatch], terminal: Terminal, moves: bool) -> None:
    evil = "\x1b]0;owned\x07[red]"
    column = pa.array([evil] * 3)
    arrays = [batches[0].column(0), column, *batches[0].columns[2:]]
    batch = pa.RecordBatch.from_arrays(arrays, names=["a\x1bb", *batches[0].schema.names[1:]])
    file = terminal if moves else io.StringIO()
    sink = ConsoleSink(3, file)
    sink.open(FOLLOWED, -1)
    sink.write(0, batch.replace_schema_metadata(batches[0].schema.metadata))
    sink.close()
    said = file.getvalue()
    assert "\x07" not in said
    assert "\x1b]" not in said
    assert "a\x1bb" not in said
    assert r"\x1b]0;owned\x07[red]" in said


def test_colours_go_from_the_bottom_to_the_top() -> None:
    for lattice in (LATTICE, declare("blp4"), declare("lo < hi1, lo < hi2, hi1 < top, hi2 < top")):
        levels = list(lattice.levels())
        found = [COLOURS.index(colour(level, lattice)) for level in levels]
        assert (found[0], found[-1]) == (0, len(COLOURS) - 1)
        assert found == sorted(found)
    large = declare({"ranks": "U < S", "compartments": [f"c{number}" for number in range(30)]})
    assert colour(Level("S:c1"), large) in COLOURS
