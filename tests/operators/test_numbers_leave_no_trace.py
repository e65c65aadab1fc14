"""Q-8: numbers are functions of the bag. What has left a window leaves no trace, and no cut and no order shows."""

from __future__ import annotations

import math
import struct
from itertools import permutations

import pytest

from tests.operators.kernels import Given, Line, lines_of

MONSTERS = [1e300, math.inf, -math.inf, math.nan, -0.0, None, -1e300, 5e-324, 1.7976931348623157e308, 2.0**-1022]
ENDS = [2**63 - 1, -(2**63)]  # both at once: their sum is -1, and what stays when the first one leaves is no overflow
ORDINARY = [0.1, 0.2, 0.30000000000000004, -7.25, 1e16, 1.0, -1e16, 3.5, 0.1, 1e-9, 2.5, -0.3]
CUTS = [1, 3, 7, 1000]
WINDOWS = {
    "ROWS": "[ROWS 4]",
    "RANGE": "[RANGE 3 MICROSECONDS]",
    "ROWS that slide": "[ROWS 4 SLIDE 2]",
    "partitions": "[PARTITIONED BY g ROWS 2]",
}
CALLS = "SUM(x), AVG(x), MIN(x), MAX(x), COUNT(x), VARIANCE(x), SUM(n), AVG(n), MIN(n), MAX(n)"


def query(window: str, calls: str = CALLS, grouped: str = "") -> str:
    return f"SELECT RSTREAM {calls} FROM s {window}{grouped}"


def ordinary(start: int) -> list[Given]:
    """Everyday numbers of two groups and levels, one per microsecond."""
    levels = ("U", "S")
    return [
        Given(start + place, value, 1000 + place, place % 2, levels[place // 2 % 2])
        for place, value in enumerate(ORDINARY)
    ]


def monsters(times: int) -> list[Given]:
    """Two numbers per microsecond, and the ends of the integers in their midst."""
    doubles = [Given(place // 2, value, 1, place % 2, "TS") for place, value in enumerate(MONSTERS * times)]
    at = doubles[-1].instant + 1
    return [*doubles, *(Given(at, 1.0, end, group) for group in (0, 1) for end in ENDS)]


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("grouped", ["", " GROUP BY g"], ids=["one group", "groups"])
@pytest.mark.parametrize("window", WINDOWS)
def test_after_they_have_left_all_is_as_if_they_had_never_come(window: str, grouped: str, cut: int) -> None:
    """Equal to the bit, level included: 1e300, the infinities, NaN, -0.0, NULL and the ends of the integers (Q-8)."""
    first = monsters(2)[-1].instant + 1
    text = query(WINDOWS[window], grouped="" if window == "partitions" else grouped)
    clean = lines_of(text, ordinary(first), cut)
    haunted = lines_of(text, [*monsters(2), *ordinary(first)], cut)
    quiet = first + 5  # from here on every window has seen enough of the ordinary
    assert since(haunted, quiet) == since(clean, quiet) != []
    assert since(haunted, 0) != since(clean, 0)


def since(lines: list[Line], instant: int) -> list[Line]:
    return [line for line in lines if line[0] >= instant]


@pytest.mark.parametrize("grouped", ["", " GROUP BY g"], ids=["one group", "groups"])
@pytest.mark.parametrize("window", WINDOWS)
def test_every_cut_gives_the_same_bits(window: str, grouped: str) -> None:
    """Q-8 with Q-10: epochs of one instant, of a few, and all at once, while the monsters are there too."""
    text = query(WINDOWS[window], grouped="" if window == "partitions" else grouped)
    stream = [*monsters(1), *ordinary(monsters(1)[-1].instant + 1)]
    assert all(lines_of(text, stream, cut) == lines_of(text, stream, 1) for cut in CUTS)


BAGS: dict[str, list[float | None]] = {
    "cancelling": [1e300, 1.0, -1e300, 1e-300, 0.1],
    "of one size": [0.1, 0.2, 0.3, 0.7, -0.6],
    "with an infinity": [math.inf, 1e300, -0.0, None, 2.0],
    "with both": [math.inf, -math.inf, 1.0, 2.0, 3.0],
    "with NaN": [math.nan, 1.0, None, -1.0, 0.0],
    "of zeros": [-0.0, 0.0, None, -0.0, 0.0],
    "beyond the range and back": [1.7976931348623157e308, 1e292, 1e292, -1.7976931348623157e308, 1.0],
    "of the smallest": [5e-324, -5e-324, 5e-324, 2.0**-1022, -(2.0**-1074)],
}


@pytest.mark.parametrize("name", BAGS)
def test_every_order_of_the_rows_of_one_instant_gives_the_same_bits(name: str) -> None:
    """Q-8: a sum is the exact one rounded once, so the order in which tuples of one instant arrive does not show."""
    text = query("[RANGE 2 MICROSECONDS]", "SUM(x), AVG(x), MIN(x), MAX(x)")
    rest = [Given(0, 0.3), Given(2, 1e-5), Given(4, 5.0)]
    found = {
        tuple(lines_of(text, [rest[0], *(Given(1, value) for value in order), *rest[1:]], 2))
        for order in permutations(BAGS[name])
    }
    assert len(found) == 1


@pytest.mark.parametrize("name", ["cancelling", "of one size", "beyond the range and back", "of the smallest"])
def test_the_sum_is_that_of_fsum(name: str) -> None:
    """Q-8: Python's fsum is the same exact sum rounded once."""
    lines = lines_of(query("[ROWS 5]", "SUM(x), AVG(x)"), [Given(0, value) for value in BAGS[name]], 1)
    total = _fsum([value for value in BAGS[name] if value is not None])
    assert lines[0][1] == (struct.pack(">d", total), struct.pack(">d", total / 5))


def _fsum(values: list[float]) -> float:
    """The largest first, where they cancel: fsum gives up where a partial sum leaves the range."""
    ordered: list[float] = sorted(values, key=lambda value: abs(float(value)), reverse=True)
    return math.fsum(ordered)


def test_integers_are_exact_whatever_the_order() -> None:
    """Q-8: an integer sum is an error only if the exact total leaves bigint, not if some order would."""
    numbers = [2**63 - 1, 2**63 - 1, -(2**63), -(2**63), 5]
    text = query("[RANGE 0 MICROSECONDS]", "SUM(n), MIN(n), MAX(n)")
    for order in permutations(numbers):
        lines = lines_of(text, [Given(0, n=number) for number in order], 1)
        assert lines[0][1] == (3, -(2**63), 2**63 - 1)
