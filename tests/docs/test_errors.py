"""docs/errors.md: the table is errors.CODES, and each example comes to its code."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest

from tests.docs.pages import code, page, table
from tests.docs.world import world
from tidegate.case import read_case
from tidegate.errors import CODES
from tidegate.language.parser import DEEPEST_TREE, LONGEST_TEXT
from tidegate.reference.replay import replay

PAGE = page("docs/errors.md")
ROWS = {code(row[0])[0]: row for row in table(PAGE, "code")}
WRITTEN_OUT = {  # what is too long for a table
    "TEXT_TOO_LONG": "SELECT sid FROM Vitals" + " " * LONGEST_TEXT,
    "TOO_DEEP": "SELECT sid FROM Vitals WHERE " + "NOT " * DEEPEST_TREE + "TRUE",
}
SPOKEN = re.compile(r"@(\S+?)(?: (\S+?))?: (.*)", re.DOTALL)


def test_the_table_is_the_list_of_codes() -> None:
    assert {name: row[1].replace("`", "") for name, row in ROWS.items()} == {
        name: meaning.replace("`", "") for name, meaning in CODES.items()
    }
    assert list(ROWS) == list(CODES)


@pytest.mark.parametrize("name", CODES)
def test_an_example_comes_to_its_code(name: str) -> None:
    examples = [WRITTEN_OUT[name]] if name in WRITTEN_OUT else code(html.unescape(ROWS[name][2]))
    assert examples
    assert name in codes_of([*prepared(), *examples])


def prepared() -> list[str]:
    """What the page says is there already."""
    return [line for line in PAGE.text.partition("```text\n")[2].partition("```")[0].split("\n") if line]


def codes_of(spoken: list[str]) -> list[str]:
    """The codes of all errors: statements in order, then one tuple of each stream."""
    case = world()
    case["users"] = {"ana": "S"}
    case["input"] = [_statement(text, number) for number, text in enumerate(spoken, 1)]
    case["input"] += [_tuple(n, fields) for n, fields in enumerate((VITAL, VITAL), len(spoken) + 1)]
    lines = [json.loads(line) for line in replay(read_case(json.dumps(case)))]
    return [line["error"]["code"] for line in lines if "error" in line]


VITAL: dict[str, object] = {"sid": 0, "wt": 80.0, "bp": 120.0}


def _tuple(time: int, row: dict[str, object]) -> dict[str, Any]:
    return {"stream": "Vitals", "time": time, "level": "U", "row": row}


def _statement(text: str, number: int) -> dict[str, Any]:
    """A statement at S unless it says otherwise; a bare query is given a name, except where that is the point."""
    match = SPOKEN.fullmatch(text)
    at, user, said = (match[1], match[2], match[3]) if match else ("S", None, text)
    if match is None and said.startswith("SELECT"):
        said = f"CREATE QUERY example{number} AS {said}"
    entry: dict[str, Any] = {"time": number, "at": at, "statement": said}
    return {**entry, "user": user} if user else entry
