"""M-14, M-19, M-20: the paper's eight queries, and its Table 6 to the cell."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner

from tests.docs.pages import ROOT
from tidegate.cli.main import cli

NAMES = [f"Q{number}" for number in range(1, 9)]
JOINED = ["select(bp)", "select(lon)", "join"]
TABLE_6: dict[tuple[str, str], tuple[str, list[str]]] = {
    **{(name, name): ("complete", []) for name in NAMES},
    ("Q2", "Q7"): ("loose", ["select(LEVEL)"]),
    ("Q4", "Q5"): ("strict", JOINED),
    ("Q5", "Q4"): ("strict", JOINED),
    ("Q4", "Q6"): ("loose", ["select(bp)"]),
    ("Q4", "Q7"): ("loose", ["select(bp)"]),
    ("Q5", "Q6"): ("loose", ["select(bp)"]),
    ("Q5", "Q7"): ("loose", ["select(bp)"]),
    ("Q6", "Q4"): ("loose", ["select(bp)"]),
    ("Q6", "Q5"): ("loose", ["select(bp)"]),
    ("Q6", "Q7"): ("loose", ["select(bp)"]),
}
"""Executing, incoming; all other cells are "-"."""

IMPLIED = {("Q3", incoming) for incoming in ("Q4", "Q5", "Q6", "Q7")}


def shared(*options: str) -> dict[tuple[str, str], tuple[str, list[str]]]:
    """Every cell that `tidegate share` prints."""
    result = CliRunner().invoke(cli, ["share", str(ROOT / "examples" / "table_1.json"), *options])
    assert (result.exit_code, result.stderr) == (0, "")
    matrix: dict[str, dict[str, Any]] = json.loads(result.stdout)["matrix"]
    return {(row, column): (cell["class"], cell["nodes"]) for row in matrix for column, cell in matrix[row].items()}


def test_the_paper_s_table_6_cell_by_cell() -> None:
    expected = {(row, column): TABLE_6.get((row, column), ("none", [])) for row in NAMES for column in NAMES}
    assert len(expected) == 64
    assert shared("--paper") == expected


def test_beyond_the_paper_only_implied_cells_differ() -> None:
    """M-21: bp > 120 implies bp > 50, so what Q3 keeps serves everyone who wants bp > 120."""
    paper, whole = shared("--paper"), shared()
    assert {cell for cell in whole if whole[cell] != paper[cell]} == IMPLIED
    assert all(whole[cell] == ("implied", ["select(bp)"]) for cell in IMPLIED)
