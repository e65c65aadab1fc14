"""Q-8: MIN and MAX over ranges of rows are those of the bag; NaN is greatest, -0.0 is 0.0, NULL does not count."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from tests.conftest import examples
from tests.operators.changelogs import in_order
from tidegate.operators.extremes import by_enter, extremes
from tidegate.operators.vector import from_values, to_values
from tidegate.plan.expressions import Aggregate, Literal
from tidegate.plan.types import BIGINT, BOOLEAN, DOUBLE, STRING, Type
from tidegate.scalars.aggregates import aggregate
from tidegate.security.declare import declare

COLUMNS: dict[str, tuple[Type, list[object]]] = {
    "doubles": (DOUBLE, [1.5, -2.0, 1e300, 5e-324, -5e-324, 3.0, 4.0]),
    "special doubles": (DOUBLE, [math.nan, math.inf, -math.inf, 0.0, -0.0, None, 1e300]),
    "nothing but NaN and NULL": (DOUBLE, [math.nan, None]),
    "nothing but the least and NULL": (DOUBLE, [-math.inf, None]),
    "integers": (BIGINT, [2**63 - 1, -(2**63), 0, -1, None]),
    "nothing but the ends and NULL": (BIGINT, [2**63 - 1, None]),
    "booleans": (BOOLEAN, [True, False, None]),
    "strings": (STRING, ["a", "B", "", "ä", None]),
}


def shown(value: object) -> object:
    return struct.pack(">d", value) if isinstance(value, float) else value


@pytest.mark.parametrize("mixed", [False, True], ids=["as they came", "mixed"])
@pytest.mark.parametrize("name", COLUMNS)
def test_extremes_are_those_of_the_bag(name: str, mixed: bool, seed: int) -> None:
    chance = np.random.default_rng(seed)
    kind, choices = COLUMNS[name]
    for _ in range(examples(30, 2_000)):
        lives = in_order(chance, int(chance.choice([1, 2, 30])), int(chance.choice([1, 3])))
        values = [choices[n] for n in chance.integers(0, len(choices), len(lives.groups))]
        order = chance.permutation(len(values)) if mixed else np.arange(len(values))
        values = [values[n] for n in order]
        ranges = by_enter(lives.groups[order], lives.enter[order], lives.leave[order])
        assert ranges is not None
        for extreme in ("MIN", "MAX"):
            call = Aggregate(extreme, Literal(None, type=kind), kind)
            found = to_values(extremes(extreme, from_values(values, kind), ranges))
            expected = [aggregate(call, [values[n] for n in rows], declare("blp4")) for rows in ranges.members()]
            assert list(map(shown, found)) == list(map(shown, expected))


def test_rows_that_overtake_one_another_are_no_ranges() -> None:
    assert by_enter(np.array([0, 0]), np.array([1, 2]), np.array([9, 5])) is None
