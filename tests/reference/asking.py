"""Asking the reference for the value of one expression over one tuple."""

from __future__ import annotations

import json
from typing import Any

from tidegate.case import read_case
from tidegate.reference.replay import replay

COLUMNS = {
    "a": "int",
    "b": "bigint",
    "x": "double",
    "y": "double",
    "s": "string",
    "p": "boolean",
    "t": "timestamp",
    "d": "date",
    "m": "decimal(10,2)",
    "w": "decimal(38,0)",
    "f": "decimal(38,20)",
    "z": "binary",
}
TUPLE: dict[str, Any] = {
    "a": 7,
    "b": -9,
    "x": 2.5,
    "y": -0.5,
    "s": "Ab c",
    "p": True,
    "t": "2024-02-29T13:14:15.678901Z",
    "d": "2024-02-29",
    "m": "12.50",
    "w": "1" * 38,
    "f": "1.5",
    "z": "AP8=",
}


def ask(select: str, *tuples: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines of ``SELECT …``, asked at U, over tuples of one instant that differ from TUPLE as given."""
    rows = [{**TUPLE, **changes} for changes in tuples or ({},)]
    case = {
        "levels": "U < S",
        "streams": {"V": COLUMNS},
        "queries": [{"name": "q", "at": "U", "text": select}],
        "input": [{"stream": "V", "time": 1, "level": "U", "row": row} for row in rows],
    }
    return [json.loads(line) for line in replay(read_case(json.dumps(case)))]


def value(expression: str, **changes: Any) -> Any:
    """The value of an expression as it prints, or ``! CODE``."""
    [line] = ask(f"SELECT {expression} AS v FROM V", changes)
    return f"! {line['error']['code']}" if "error" in line else line["row"]["v"]


def aggregate(expression: str, column: str, values: list[Any]) -> Any:
    """The value of an aggregate over a bag of values of one column, or ``! CODE``."""
    [line] = ask(f"SELECT {expression} AS v FROM V [UNBOUNDED]", *({column: entry} for entry in values))
    return f"! {line['error']['code']}" if "error" in line else line["row"]["v"]
