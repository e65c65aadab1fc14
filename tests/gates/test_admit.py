"""Admission: exactly what a stream declares comes in; everything else stays out, with a reason (Q-1, Q-11)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tidegate.gates.admit import Admitted, Refused, admit, read_instant
from tidegate.plan.schema import Field
from tidegate.plan.types import DOUBLE, INT, STRING
from tidegate.security.declare import declare
from tidegate.security.lattice import Level
from tidegate.values import LAST_TIMESTAMP

LATTICE = declare({"ranks": "U < S", "compartments": ["N", "C"]})
SCHEMA = (Field("sid", INT), Field("wt", DOUBLE), Field("name", STRING))
ROW: Mapping[str, object] = {"sid": 1, "wt": Decimal("80.5"), "name": "ana"}
ENTRY: Mapping[str, object] = {"stream": "V", "time": Decimal("1.5"), "level": "S:N", "row": ROW}


def reason(entry: Mapping[str, object]) -> str:
    """Why an entry stays out."""
    decision = admit(entry, SCHEMA, LATTICE)
    assert isinstance(decision, Refused), decision
    return decision.reason


def test_a_tuple_that_fits_comes_in_with_its_level_and_instant() -> None:
    """Q-1: a tuple is its attributes, its level and its instant, in microseconds."""
    assert admit(ENTRY, SCHEMA, LATTICE) == Admitted(Level("S:N"), 1_500_000, (1, 80.5, "ana"))


def test_values_stand_in_the_order_of_the_declaration() -> None:
    shuffled = {**ENTRY, "row": {name: ROW[name] for name in reversed(list(ROW))}}
    assert admit(shuffled, SCHEMA, LATTICE) == admit(ENTRY, SCHEMA, LATTICE)


def test_the_level_is_stored_in_its_canonical_text() -> None:
    """M-2: one level, one text, so that equal levels are equal later."""
    decision = admit({**ENTRY, "level": " S:N,C "}, SCHEMA, LATTICE)
    assert isinstance(decision, Admitted)
    assert decision.level == LATTICE.lub(Level("S:C"), Level("S:N"))


def test_null_is_a_value_and_absence_is_not() -> None:
    assert isinstance(admit({**ENTRY, "row": {**ROW, "wt": None}}, SCHEMA, LATTICE), Admitted)
    assert reason({**ENTRY, "row": {"sid": 1, "name": "ana"}}) == 'attribute "wt" is missing'


LABELS: list[tuple[object, str]] = [
    (None, "no level"),
    ("X", "unknown level"),
    ("s", "unknown level"),
    ("", "unknown level"),
    ("S:X", "unknown level"),
    (3, "unknown level"),
    (True, "unknown level"),
    (["S"], "unknown level"),
    ({"rank": "S"}, "unknown level"),
]


@pytest.mark.parametrize(("label", "expected"), LABELS)
def test_a_label_that_is_none_keeps_the_tuple_out(label: object, expected: str) -> None:
    """Q-11: no level and an unknown level are told apart."""
    assert reason({**ENTRY, "level": label}) == expected


def test_a_tuple_without_a_label_stays_out() -> None:
    assert reason({key: value for key, value in ENTRY.items() if key != "level"}) == "no level"


ROWS: list[tuple[object, str]] = [
    (None, "no row"),
    ([1, 80.5, "ana"], "no row"),
    ("sid", "no row"),
    ({}, 'attribute "sid" is missing'),
    ({**ROW, "pulse": 1}, 'undeclared attribute "pulse"'),
    ({**ROW, "pulse": 1, "bp": 2}, 'undeclared attribute "pulse" and 1 more'),
    ({**ROW, "pulse": 1, "bp": 2, "x": 3}, 'undeclared attribute "pulse" and 2 more'),
    ({**ROW, "level": "U"}, 'undeclared attribute "level"'),
    ({**ROW, "SID": 1}, 'undeclared attribute "SID"'),
    ({**ROW, "a\nb\x1b[2J": 1}, r'undeclared attribute "a\nb\x1b[2J"'),
    ({**ROW, "\ud800": 1}, r'undeclared attribute "\ud800"'),
    ({**ROW, "y" * 61: 1}, f'undeclared attribute "{"y" * 60}"'),
    ({**ROW, "sid": 2**31}, 'attribute "sid": outside the range of int'),
    ({**ROW, "sid": Decimal("1.0")}, 'attribute "sid": not a whole number, as int needs'),
    ({**ROW, "wt": "heavy"}, 'attribute "wt": not a number'),
    ({**ROW, "name": 3}, 'attribute "name": not a string'),
]


@pytest.mark.parametrize(("row", "expected"), ROWS)
def test_a_row_that_does_not_fit_keeps_the_tuple_out(row: object, expected: str) -> None:
    """Q-11: undeclared, missing, of another type or out of range."""
    assert reason({**ENTRY, "row": row}) == expected


def test_no_row_at_all_keeps_the_tuple_out() -> None:
    assert reason({key: value for key, value in ENTRY.items() if key != "row"}) == "no row"


@given(st.dictionaries(st.sampled_from(["sid", "wt", "name", "zzz"]), st.text("zqx", min_size=4)))
def test_a_reason_never_contains_a_value(row: dict[str, str]) -> None:
    """Q-9: reasons name attributes and types, which are public, and no data."""
    decision = admit({**ENTRY, "row": row}, SCHEMA, LATTICE)
    assert isinstance(decision, Refused)
    assert not any(value in decision.reason for value in row.values())


def test_the_label_is_decided_before_the_rest() -> None:
    """What is wrong with an unlabelled tuple is nobody's business but the label's absence."""
    assert reason({"time": "later", "row": 3}) == "no level"
    assert reason({"level": "U", "time": "later", "row": 3}) == "time is not a number"


# ------------------------------------------------------------------------------ instants


INSTANTS: list[tuple[object, int]] = [
    (0, 0),
    (1, 1_000_000),
    (Decimal("0.000001"), 1),
    (Decimal("1.0000010"), 1_000_001),
    (Decimal("1e3"), 1_000_000_000),
    (Decimal("-0.0"), 0),
    (Decimal("0e999999"), 0),
    (Decimal("1." + "0" * 2_000), 1_000_000),
    (Decimal("253402300799.999999"), LAST_TIMESTAMP),
]


@pytest.mark.parametrize(("time", "instant"), INSTANTS)
def test_seconds_become_microseconds_exactly(time: object, instant: int) -> None:
    """Q-1: instants have steps of 1 µs."""
    assert read_instant(time) == instant


NO_NUMBER = "time is not a number"
OUTSIDE = "time before 1970 or after the year 9999"
FINER = "time finer than a microsecond"
IMPOSSIBLE: list[tuple[object, str]] = [
    (None, "no time"),
    (True, NO_NUMBER),
    ("1.0", NO_NUMBER),
    (1.5, NO_NUMBER),  # a binary fraction is not what was written: case files are read as decimals
    ([1], NO_NUMBER),
    (Decimal("NaN"), NO_NUMBER),
    (Decimal("sNaN"), NO_NUMBER),
    (Decimal("Infinity"), NO_NUMBER),
    (-1, OUTSIDE),
    (Decimal("-0.000001"), OUTSIDE),
    (253_402_300_800, OUTSIDE),
    (Decimal("1e400"), OUTSIDE),
    (Decimal("1e999999"), OUTSIDE),
    (10**400, OUTSIDE),
    (Decimal("0.0000001"), FINER),
    (Decimal("1.0000005"), FINER),
    (Decimal("253402300799.9999999"), FINER),
    (Decimal("1e-400"), FINER),
    (Decimal("1." + "0" * 40 + "1"), FINER),
]


@pytest.mark.parametrize(("time", "expected"), IMPOSSIBLE, ids=lambda value: str(value)[:20])
def test_what_no_clock_shows_is_no_instant_and_keeps_the_tuple_out(time: object, expected: str) -> None:
    """Q-11: an impossible instant is refused with its reason, never rounded to a possible one."""
    assert read_instant(time) is None
    assert reason({**ENTRY, "time": time}) == expected


def test_a_tuple_without_a_time_stays_out() -> None:
    assert reason({key: value for key, value in ENTRY.items() if key != "time"}) == "no time"


@settings(max_examples=examples(200, 5_000))
@given(st.integers(-(10**20), 10**20), st.integers(0, 30))
def test_an_instant_is_the_number_or_nothing(digits: int, places: int) -> None:
    """Q-1: whatever the number of digits, no instant is a rounded one."""
    exact = Fraction(digits, 10**places) * 1_000_000
    possible = exact.denominator == 1 and 0 <= exact <= LAST_TIMESTAMP
    assert read_instant(Decimal(digits).scaleb(-places)) == (int(exact) if possible else None)
