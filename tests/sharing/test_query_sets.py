"""Q-10: sets of queries with much in common give the reference's bytes, with each optimisation switched off in turn."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Tally, examples
from tests.engine.memory_store import PutAway
from tests.engine.processing import processed
from tests.laws.reference.running import chances, show
from tests.sharing.query_sets import query_set
from tidegate.case import read_case
from tidegate.engine.processor import LevelProcessor
from tidegate.reference.replay import replay
from tidegate.sharing.switches import SWITCHES

PARTS = 6
SETS = examples(300, 5_000) // PARTS
SIZES = (1, 2, 3, 5, 7, 11, 40, 1000)
TURNS = ((), *((switch,) for switch in SWITCHES), tuple(SWITCHES))


@pytest.mark.parametrize("part", range(PARTS))
def test_sets_of_queries_give_the_same_lines(seed: int, part: int, tally: Tally) -> None:
    """300 sets in all, 5,000 in a soak: everything on, then one switch off, then the next set and the next switch."""
    for number, (name, chance) in enumerate(chances(seed, f"query sets, part {part}", SETS)):
        raw = query_set(chance)
        case = read_case(json.dumps(raw))
        expected = list(replay(case))
        for off in ((), TURNS[(number + part) % len(TURNS)]):
            size, shards, put_away = chance.choice(SIZES), chance.choice((1, 1, 2)), chance.random() < 0.3
            keep = PutAway() if put_away else lambda one: one
            lines = processed(case, size, shards=shards, trusted=chance.random() < 0.2, keep=keep, off=off)
            tally.count(lines == expected)
            assert lines == expected, f"{off=}, {size=}, {shards=}, {put_away=}\n{show(name, raw)}"


def test_the_sets_have_something_to_share(seed: int) -> None:
    """The test above would show nothing if the queries had nothing in common."""
    reused, dropped = 0, 0
    for _, chance in chances(seed, "reuse", 10):
        found = sharing_of(json.dumps(query_set(chance)))
        reused, dropped = reused + found[0], dropped + found[1]
    assert reused > 100
    assert dropped > 10


def sharing_of(text: str) -> tuple[int, int]:
    """How often something was there already, and how many tuples were left where they are."""
    reused, dropped = 0, 0

    def look(processor: LevelProcessor) -> LevelProcessor:
        nonlocal reused, dropped
        reused += sum(ground.reused for ground in processor.kernels.grounds.values())
        dropped += sum(one.tuples - one.taken for one in processor.passed.values())
        return processor

    processed(read_case(text), 11, keep=look)
    return reused, dropped
