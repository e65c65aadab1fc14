"""Q-10: processors give the reference's bytes on every text case, whatever the cuts, shards and architecture."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.text_case import load, runnable
from tests.engine.memory_store import PutAway
from tests.engine.processing import processed
from tidegate.reference.replay import replay

CASES = runnable()


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_cut_gives_the_same_lines(path: Path) -> None:
    case = load(path).case()
    expected = list(replay(case))
    for size in (1, 2, 7, 1000):
        assert processed(case, size) == expected, f"epochs of {size} tuples"
    assert processed(case, 1, shards=3) == expected, "three shards"
    assert processed(case, 1, shards=2, keep=PutAway()) == expected, "put away after each epoch"
    if "function" not in path.parts[-2]:  # the trusted architecture has none
        assert processed(case, 2, trusted=True) == expected, "one processor for all levels"
