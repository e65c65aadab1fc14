"""ISTREAM and DSTREAM are bag differences over (values, level) (Q-5, Q-8)."""

from __future__ import annotations

import math
import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tidegate.reference.relations import difference
from tidegate.reference.rows import Row
from tidegate.security.lattice import Level

VALUES = st.sampled_from([0.0, -0.0, math.nan, 1.0, None])
ROWS = st.builds(
    lambda value, text, level: Row((value, text), Level(level)), VALUES, st.sampled_from("ab"), st.sampled_from("US")
)
BAGS = st.lists(ROWS, max_size=8)
MANY = settings(max_examples=examples(200, 20_000))


def text(row: Row) -> str:
    """A row as it prints, so to say."""
    return repr(row)


def exact(rows: list[Row]) -> Counter[str]:
    """A bag to the bit; levels tell rows apart."""
    return Counter(map(repr, rows))


def alike(rows: list[Row]) -> Counter[object]:
    """A bag in which NaN = NaN, -0.0 = 0.0 and NULL = NULL."""
    return Counter(
        (
            "NaN" if isinstance(row.values[0], float) and math.isnan(row.values[0]) else row.values[0],
            row.values[1],
            row.level,
        )
        for row in rows
    )


@MANY
@given(BAGS, BAGS)
def test_it_is_the_difference_of_bags(new: list[Row], old: list[Row]) -> None:
    """Q-5: as many as are more; the level counts, the sign of zero and the kind of NaN do not (Q-8)."""
    gained = difference(new, old, text)
    assert alike(gained) == alike(new) - alike(old)
    assert exact(gained) <= exact(new)


@MANY
@given(BAGS, BAGS)
def test_what_is_gained_and_lost_leads_from_old_to_new(new: list[Row], old: list[Row]) -> None:
    gained, lost = difference(new, old, text), difference(old, new, text)
    assert alike(old) + alike(gained) == alike(new) + alike(lost)
    assert not alike(gained) & alike(lost)


@MANY
@given(BAGS, BAGS, st.integers(0, 1_000))
def test_which_zero_remains_does_not_depend_on_any_order(new: list[Row], old: list[Row], seed: int) -> None:
    """Q-10: to the bit, a function of the two bags."""
    chance = random.Random(seed)
    again = difference(chance.sample(new, len(new)), chance.sample(old, len(old)), text)
    assert exact(again) == exact(difference(new, old, text))


@MANY
@given(BAGS)
def test_nothing_is_new_in_the_same_bag(rows: list[Row]) -> None:
    assert difference(rows, list(reversed(rows)), text) == []
    assert exact(difference(rows, [], text)) == exact(rows)


def test_a_zero_that_is_there_to_the_bit_cancels_first() -> None:
    plus, minus = Row((0.0,), Level("U")), Row((-0.0,), Level("U"))
    assert exact(difference([plus, minus], [minus], text)) == exact([plus])
    assert exact(difference([plus, minus], [plus], text)) == exact([minus])
    assert difference([plus], [minus], text) == []


def test_true_is_not_the_text_true() -> None:
    assert difference([Row((True,), Level("U"))], [Row((False,), Level("U"))], text) == [Row((True,), Level("U"))]
