"""M-17, M-21, Q-10: a plan in normal form, decomposed over what runs, gives the same lines."""

from __future__ import annotations

import json

import pytest

from tests.conftest import examples
from tests.laws.reference.cases import CaseWriter
from tests.laws.reference.running import chances, run, show
from tests.laws.sharing.similar import replay_decomposed, similar_case
from tidegate.case import read_case


@pytest.mark.parametrize("implied", [True, False], ids=["implied", "equal only"])
def test_decomposed_plans_of_similar_queries_give_the_same_lines(seed: int, implied: bool) -> None:
    reused = 0
    for name, chance in chances(seed, f"similar {implied}", examples(80, 3_000)):
        raw = similar_case(chance)
        lines, changed = replay_decomposed(read_case(json.dumps(raw)), implied)
        assert lines == run(raw), show(name, raw)
        reused += sum(map(bool, changed))
    assert reused > examples(20, 1_000)


def test_decomposed_plans_of_any_queries_give_the_same_lines(seed: int) -> None:
    for name, chance in chances(seed, "decomposed", examples(60, 3_000)):
        raw = CaseWriter(chance).case()
        lines, _ = replay_decomposed(read_case(json.dumps(raw)))
        assert lines == run(raw), show(name, raw)
