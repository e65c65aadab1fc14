"""A live gate answers what its own log means, whatever is said, whenever it ticks, however often it crashes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import examples
from tests.engine.living import Living
from tests.laws.reference.cases import CaseWriter
from tests.laws.reference.running import chances, show
from tidegate.case import read_case
from tidegate.engine.verify import verify

PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_live_equals_replay(seed: int, part: int, tmp_path: Path) -> None:
    """Q-1, Q-10, Q-13: queries added and dropped at random, late and bad tuples, derived streams, torn journals."""
    compared, count = 0, examples(100, 5_000) // PARTS
    for number, (name, chance) in enumerate(chances(seed, f"live, part {part}", count)):
        raw = CaseWriter(chance).case()
        case = read_case(json.dumps(raw))
        living = Living(tmp_path / str(number), case, chance, tuple(case.lattice.levels()))
        living.drive()
        verdict = verify(living.directory, {"levels": case.levels})
        living.processors.close()
        living.shepherd.close()
        assert verdict.differing == {}, show(name, raw)
        compared += verdict.lines
    assert compared > 10 * count, "cases that answer little show little"
