"""Whatever is done to a case, reading and replaying it gives lines or one message, and nothing else."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from typing import Any

import pytest

from tests.casefile.malformed import VALID
from tests.conftest import examples
from tidegate.case import read_case
from tidegate.errors import CaseError
from tidegate.reference.replay import replay

MOST_LINES = 2_000
BITS = ("", "", "{", "}", "[", "]", '"', ",", ":", "0", "9", "-", "e", ".", "null", "\\", "\x00", "(", "é")
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, 0.5, 1e300, 1e-7, "", " ", "U", "S", "X", "level", "time", "int",
    "NaN", "Infinity", "a\nb", "\x00", "\ud800", "é", "x" * 3_000, "2024-01-31", "SELECT", "'", '"', "`",
    "decimal(3,1)", [], {}, [[]], [1, "a"], {"a": 1}, {"level": "U"}, {"ranks": "U < S", "compartments": ["N"]},
)  # fmt: skip

RICH: dict[str, Any] = {
    "levels": {"ranks": "U < S", "compartments": ["N", "C"]},
    "streams": {"V": {"a": "int", "d": "decimal(5,2)", "t": "timestamp", "s": "string"}, "W": {"a": "bigint"}},
    "relations": {"R": {"schema": {"a": "int", "day": "date"}, "rows": [{"level": "U", "a": 1, "day": "2024-01-31"}]}},
    "queries": [
        {"name": "sum", "at": "S:N", "text": "SELECT a, SUM(d) x FROM V [RANGE 2 SECONDS SLIDE 1 SECOND] GROUP BY a"},
        {"name": "join", "at": "S", "text": "SELECT v.a, R.day FROM V [ROWS 2] v, R WHERE v.a = R.a AND v.level <= S"},
        {"name": "pane", "at": "U", "text": "SELECT t2, COUNT(*) AS n FROM W GROUP BY time/2 AS t2"},
        {"name": "both", "at": "S", "text": "SELECT a FROM V [NOW] UNION ALL SELECT CAST(a AS int) FROM W [NOW]"},
        {"name": "scalar", "at": "S", "text": "SELECT a, (SELECT MAX(a) FROM W [ROWS 1]) AS m FROM V [RANGE 1 SECOND]"},
    ],
    "options": {"late": "quarantine"},
    "input": [
        {"stream": "V", "time": 1.0, "level": "U", "row": {"a": 1, "d": "1.50", "t": "2024-01-31T00:00:00Z", "s": "x"}},
        {"stream": "W", "time": 1.5, "level": "S:N", "row": {"a": 2}},
        {"time": 2.0},
        {"time": 2.5, "at": "S", "statement": "CREATE STREAM d AS SELECT a FROM V WHERE a > 0"},
        {"time": 2.6, "at": "S", "statement": "CREATE QUERY r AS SELECT DISTINCT a FROM d [ROWS 3]"},
        {"stream": "V", "time": 3.0, "level": "S", "row": {"a": 1, "d": 2.5, "t": "2024-01-31", "s": "y"}},
        {"stream": "V", "time": 0.5, "level": "S:C", "row": {"a": 3, "d": 2, "t": "2024-01-31", "s": None}},
        {"time": 4.0, "at": "S", "statement": "DROP QUERY r"},
    ],
}  # fmt: skip
SEEDS = (VALID, RICH)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key
        yield from places(inner)


def mutate_value(case: dict[str, Any], chance: random.Random) -> str:
    """Replace, delete, repeat, rename or exchange a few parts of a JSON value."""
    case = copy.deepcopy(case)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if found := list(places(case)):
            _change(*chance.choice(found), chance.choice(found), chance)
    return json.dumps(case)


def _change(container: Any, key: Any, other: tuple[Any, Any], chance: random.Random) -> None:
    match chance.randrange(6):
        case 0 | 1:
            container[key] = chance.choice(ODD_VALUES)
        case 2:
            del container[key]
        case 3 if isinstance(container, list):
            container.insert(key, copy.deepcopy(container[key]))
        case 3:
            container[chance.choice(("level", "time", "QUARANTINE", "a b", "\n"))] = container.pop(key)
        case 4:
            container[key] = copy.deepcopy(other[0].get(other[1]) if isinstance(other[0], dict) else None)
        case _ if isinstance(container[key], str):
            container[key] = mutate_text(container[key], chance)


def mutate_text(text: str, chance: random.Random) -> str:
    """Delete, insert, repeat or cut characters of a text."""
    for _ in range(chance.choice((1, 1, 2, 5))):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice((0, 1, 1, 3, 20)))
        inserted = chance.choice(BITS)
        text = text[:start] + chance.choice((inserted, text[start:end] * 2, inserted * 2)) + text[end:]
    return text


def outcome(text: str) -> None:
    """Replay a text: every line is JSON, or there is one CaseError of one line."""
    try:
        lines = list(islice(replay(read_case(text)), MOST_LINES))
    except CaseError as error:
        lines, message = [], str(error)
    else:
        message = "none"
    assert len(message.splitlines()) == 1, f"a message of several lines: {message}"
    for line in lines:
        assert {"query", "time"} <= json.loads(line, parse_float=Decimal).keys()


@pytest.mark.parametrize("kind", ["value", "text"])
def test_a_mutated_case_gives_lines_or_one_message(kind: str, seed: int) -> None:
    """Q-12, CASES.md: exit status 0 or 2, never a traceback."""
    for number in range(examples(1_000, 50_000)):
        chance = random.Random(f"{seed} {kind} {number}")
        case = chance.choice(SEEDS)
        text = mutate_value(case, chance) if kind == "value" else mutate_text(json.dumps(case), chance)
        try:
            outcome(text)
        except Exception as error:
            raise AssertionError(f"seed {seed}, number {number}: {type(error).__name__}: {error}\n{text}") from error
