"""Q-10: kernels give the reference's bytes on generated cases, however they are cut."""

from __future__ import annotations

import json

from tests.conftest import examples
from tests.laws.reference.cases import CaseWriter
from tests.laws.reference.running import chances, show
from tests.operators.kernel_replay import kernel_lines
from tidegate.case import read_case
from tidegate.reference.replay import replay


def test_generated_cases_give_the_same_lines(seed: int) -> None:
    """Many queries, streams, statements and errors at once; epochs of 1 to 40 instants."""
    for name, chance in chances(seed, "kernels", examples(150, 20_000)):
        raw = CaseWriter(chance).case()
        case = read_case(json.dumps(raw))
        cut = chance.choice([1, 2, 3, 7, 40])
        assert kernel_lines(case, cut) == list(replay(case)), f"epochs of {cut} instants\n{show(name, raw)}"
