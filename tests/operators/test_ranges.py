"""A table of doubling widths answers every range like a loop over its rows."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import examples
from tidegate.operators.ranges import folded


@pytest.mark.parametrize("combine", [np.minimum, np.maximum, np.bitwise_or], ids=lambda rule: rule.__name__)
def test_every_range_is_answered(combine: np.ufunc, seed: int) -> None:
    chance = np.random.default_rng(seed)
    for _ in range(examples(100, 5_000)):
        values = chance.integers(0, 2**62, int(chance.choice([1, 2, 3, 17, 64, 65])))
        asked = int(chance.integers(0, 30))
        low = chance.integers(0, len(values), asked)
        high = np.minimum(low + chance.integers(0, len(values) + 1, asked), len(values))
        before = values.copy()
        found = folded(combine, values, low, high, -1)
        assert found.tolist() == [combine.reduce(values[a:b]) if a < b else -1 for a, b in zip(low, high, strict=True)]
        assert (values == before).all()


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 100])
def test_ranges_of_one_length(length: int) -> None:
    values = np.random.default_rng(length).permutation(300)
    low = np.arange(300 - length + 1)
    assert folded(np.minimum, values, low, low + length, 0).tolist() == [values[n : n + length].min() for n in low]


def test_no_range_and_no_values() -> None:
    nothing = np.zeros(0, np.int64)
    assert folded(np.minimum, nothing, nothing, nothing, 0).tolist() == []
    assert folded(np.minimum, nothing, np.zeros(2, np.int64), np.zeros(2, np.int64), 7).tolist() == [7, 7]
