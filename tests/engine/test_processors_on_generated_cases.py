"""Q-10: processors give the reference's bytes on generated cases, however they are cut, sharded and put away."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Tally, examples
from tests.engine.memory_store import PutAway
from tests.engine.processing import processed
from tests.laws.reference.cases import CaseWriter
from tests.laws.reference.running import chances, show
from tidegate.case import read_case
from tidegate.reference.replay import replay

PARTS, CUTS = 10, 5
EXAMPLES = examples(5_000, 100_000) // (PARTS * CUTS)
SIZES = (1, 2, 3, 5, 7, 11, 40, 1000)


@pytest.mark.parametrize("part", range(PARTS))
def test_generated_cases_give_the_same_lines(seed: int, part: int, tally: Tally) -> None:
    """Many queries, statements and errors at once: 5,000 of (queries, stream, cut) in all, 100,000 in a soak."""
    for name, chance in chances(seed, f"processors, part {part}", EXAMPLES):
        raw = CaseWriter(chance).case()
        case = read_case(json.dumps(raw))
        expected = list(replay(case))
        for size in chance.sample(SIZES, CUTS):
            shards, trusted, put_away = chance.choice((1, 1, 2, 3)), chance.random() < 0.2, chance.random() < 0.2
            keep = PutAway() if put_away else lambda one: one
            lines = processed(case, size, shards=shards, trusted=trusted, keep=keep)
            how = f"epochs of {size} tuples, {shards} shards, {trusted=}, {put_away=}"
            tally.count(lines == expected)
            assert lines == expected, f"{how}\n{show(name, raw)}"
