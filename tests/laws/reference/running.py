"""Running generated cases, and showing the one that breaks a law."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.laws.reference.cases import Raw
from tidegate.case import read_case
from tidegate.reference.replay import replay
from tidegate.security.declare import declare
from tidegate.security.lattice import Lattice, Level

Line = dict[str, Any]


def run(raw: Raw, reader: str | None = None) -> list[str]:
    """The lines of a case, for everybody or for a reader."""
    case = read_case(json.dumps(raw))
    return list(replay(case, None if reader is None else Level(reader)))


def calm(raw: Raw) -> Raw:
    """A case without statements: these name queries, so no query would stand alone."""
    return {**raw, "input": [entry for entry in raw["input"] if "statement" not in entry]}


def parsed(lines: list[str]) -> list[Line]:
    """Lines as values."""
    return [json.loads(line) for line in lines]


def by_query(lines: list[str]) -> dict[str | None, list[str]]:
    """Every query's own lines, in order."""
    found: dict[str | None, list[str]] = {}
    for line in lines:
        found.setdefault(json.loads(line)["query"], []).append(line)
    return found


def chances(seed: int, law: str, count: int) -> Iterator[tuple[str, random.Random]]:
    """A name and a source of chance for each example of a law."""
    for number in range(count):
        name = f"seed {seed}, {law} {number}"
        yield name, random.Random(name)


def lattice_of(raw: Raw) -> Lattice:
    """The lattice of a case."""
    return declare(raw["levels"])


def show(name: str, *cases: Raw) -> str:
    """What to print when a law is broken: how to find the example again, and the cases as JSON."""
    return "\n".join([name, *map(json.dumps, cases)])


def bag(lines: list[Line]) -> Counter[str]:
    """Rows with their levels as a bag in which -0.0 = 0.0 (Q-8)."""
    return Counter(json.dumps([row_class(line["row"]), line["level"]]) for line in lines)


def row_class(row: dict[str, Any]) -> list[Any]:
    """The values of a row; NaN prints as one text already."""
    return [value + 0.0 if isinstance(value, float) and not math.isnan(value) else value for value in row.values()]
