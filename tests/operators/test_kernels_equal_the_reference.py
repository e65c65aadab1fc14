"""Q-10: kernels give the reference's bytes on every text case, however the input is cut into epochs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.text_case import load
from tests.operators.kernel_replay import kernel_lines
from tidegate.reference.replay import replay

CASES = [
    path
    for path in sorted((Path(__file__).parents[1] / "cases").rglob("*.case"))
    if "---- malformed" not in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_cut_gives_the_same_lines(path: Path) -> None:
    case = load(path).case()
    expected = list(replay(case))
    for cut in (1, 2, 7, 1000):
        assert kernel_lines(case, cut) == expected, f"epochs of {cut} instants"
