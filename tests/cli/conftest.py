"""Case files for the commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CASE: dict[str, Any] = {
    "levels": "U < C < S",
    "streams": {"Vitals": {"sid": "int", "wt": "double"}},
    "queries": [
        {"name": "low", "at": "C", "text": "SELECT SUM(wt) AS w FROM Vitals [ROWS 2]"},
        {"name": "high", "at": "S", "text": "SELECT sid FROM Vitals WHERE wt > 1.0"},
    ],
    "input": [
        {"stream": "Vitals", "time": 1.0, "level": "U", "row": {"sid": 1, "wt": 80.0}},
        {"stream": "Vitals", "time": 2.0, "level": "S", "row": {"sid": 2, "wt": 90.5}},
    ],
}
LOW = '{"query": "low", "time": 1.0, "op": "+", "level": "U", "row": {"w": 80.0}}'
HIGH = (
    '{"query": "high", "time": 1.0, "op": "+", "level": "U", "row": {"sid": 1}}',
    '{"query": "high", "time": 2.0, "op": "+", "level": "S", "row": {"sid": 2}}',
)

WriteCase = Callable[..., str]


@pytest.fixture
def write_case(tmp_path: Path) -> WriteCase:
    """Write a case, changed as given, under a name; its path."""

    def write(name: str = "case.json", **changes: object) -> str:
        path = tmp_path / name
        path.write_text(json.dumps({**CASE, **changes}), encoding="utf-8")
        return str(path)

    return write
