"""Small cases of queries that share, compared with the reference in every way that they can be run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from typing import Any

from tests.engine.memory_store import PutAway
from tests.engine.processing import processed
from tidegate.case import read_case
from tidegate.reference.replay import replay
from tidegate.sharing.switches import SWITCHES

Raw = dict[str, Any]

STREAMS = {
    "S": {"a": "int", "b": "int", "x": "double", "s": "string"},
    "T": {"a": "int", "b": "int"},
    "U": {"a": "int", "b": "int"},
}
TURNS: tuple[tuple[str, ...], ...] = ((), *((switch,) for switch in SWITCHES), tuple(SWITCHES))


def tuple_of(stream: str, time: float, level: str = "U", **row: object) -> Raw:
    """A tuple; columns that are not given are NULL."""
    return {"stream": stream, "time": time, "level": level, "row": {**dict.fromkeys(STREAMS[stream]), **row}}


def said(time: float, text: str, at: str = "U") -> Raw:
    """A statement."""
    return {"time": time, "at": at, "statement": text}


def listed(*texts: str, at: str = "U") -> list[Raw]:
    """Queries q1, q2 … that run from the beginning."""
    return [{"name": f"q{number}", "at": at, "text": text} for number, text in enumerate(texts, 1)]


def case_of(queries: Sequence[Raw], entries: Sequence[Raw], end: float = 30, **more: object) -> Raw:
    """A case over four levels that ends with a tick."""
    ticked = [*entries, {"time": end}]
    return {"levels": "U < C < S < TS", "streams": STREAMS, "queries": list(queries), "input": ticked, **more}


def same_in_every_way(raw: Raw, sizes: Sequence[int] = (1, 3, 1000)) -> list[str]:
    """Assert the reference's lines for cuts, shards, architectures, state put away and each switch; they are given."""
    case = read_case(json.dumps(raw))
    expected = list(replay(case))
    ways = [*product(sizes, (1,), (False,), (False,), TURNS)]
    ways += product(sizes[:1], (1, 2), (False, True), (True,), ((),))
    for size, shards, trusted, put_away, off in ways:
        keep = PutAway() if put_away else lambda one: one
        lines = processed(case, size, shards=shards, trusted=trusted, keep=keep, off=off)
        assert lines == expected, f"{size=}, {shards=}, {trusted=}, {put_away=}, {off=}"
    return expected


def errors_in(lines: Sequence[str]) -> list[Raw]:
    """The errors among lines."""
    found = [json.loads(line) for line in lines]
    return [line for line in found if "error" in line]
