"""The Python on the pages runs as it is printed: five lines in README.md, all of docs/live.md."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from tests.docs.pages import Block, blocks, code, page, table
from tidegate.cli.main import cli
from tidegate.gates.segments import REASONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

README, LIVE = page("README.md"), page("docs/live.md")
ENOUGH = 3
"""Batches after which the reader of README presses Ctrl-C."""


def run(block: Block, names: dict[str, Any]) -> None:
    """Run a block; a failure names the line of the page."""
    text = "\n" * block.line + block.text
    exec(compile(text, str(block.page.path), "exec"), names)


def test_the_lines_of_the_readme_run_as_printed(spark: SparkSession) -> None:
    setup, opening, closing = blocks("python", README)
    shown: list[Any] = []

    def show(value: Any) -> None:
        shown.append(value)
        if len(shown) == ENOUGH:
            raise KeyboardInterrupt

    names: dict[str, Any] = {"print": show}  # with the third batch Ctrl-C; then the plan
    run(setup, names)
    assert names["spark"].sparkContext is spark.sparkContext
    try:
        with pytest.raises(KeyboardInterrupt):
            run(opening, names)
        run(closing, names)
    finally:
        names["gate"].stop()
    *frames, plan = shown
    assert {(*frame.columns,) for frame in frames} == {("sid", "AVG(wt)", "row_level", "row_time")}
    assert set().union(*(frame["row_level"] for frame in frames)) <= {"U", "C", "S"}
    assert "window RANGE 10 SECONDS SLIDE 1 SECOND" in plan
    assert spark.streams.active == []


def test_the_page_about_gates_runs_from_top_to_bottom(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"spark": spark}
    try:
        for block in blocks("python", LIVE):
            run(block, names)
    finally:
        for gate in (names.get("gate"), names.get("past")):
            if gate is not None:
                gate.stop()
    printed = capsys.readouterr().out
    for words in ("'reason': 'late'", "peaks@S", "'row_level', 'row_time'", "DIVISION_BY_ZERO", "Metrics(", "'north'"):
        assert words in printed
    assert list(Path("peaks").glob("*.parquet"))
    assert {one.name for one in Path("ward").iterdir()} == parts_of_the_directory()
    verified = CliRunner().invoke(cli, ["verify", "ward"])
    assert (verified.exit_code, "different" in verified.output) == (0, False), verified.output
    assert spark.streams.active == []


def parts_of_the_directory() -> set[str]:
    """What the page says that a gate's directory has."""
    lines = blocks("text", LIVE)[0].text.splitlines()[1:]
    return {line.split()[0].partition("/")[0] for line in lines}


def test_the_reasons_on_the_page_are_those_of_the_gate() -> None:
    """Q-11."""
    shown = [reason for row in table(LIVE, "reason") for reason in code(row[0])]
    assert shown == list(REASONS[1:])
