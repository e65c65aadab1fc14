"""Declarations of levels: every accepted form, and a golden text for every refusal."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import CaseError
from tidegate.security.compartments import Compartments
from tidegate.security.declare import declare
from tidegate.security.lattice import Lattice, Level
from tidegate.security.order import Order
from tidegate.security.presets import PRESETS


@pytest.mark.parametrize(
    ("declaration", "levels"),
    [
        ("U < C < S < TS", ["U", "C", "S", "TS"]),
        ("U<C", ["U", "C"]),
        ("\n U <\tC \r\n", ["U", "C"]),
        ("U", ["U"]),
        ("lo < hi1, lo < hi2, hi1 < top, hi2 < top", ["lo", "hi1", "hi2", "top"]),
        ("lo < hi2 < top, lo < hi1 < top", ["lo", "hi2", "hi1", "top"]),
        ("U < C, U < C, U", ["U", "C"]),
        ("top secret < eyes-only/A+.1_2", ["top secret", "eyes-only/A+.1_2"]),
        ("été < 机密", ["été", "机密"]),
        ('"U < C"', ["U", "C"]),
        ({"ranks": "U < S", "compartments": ["N"]}, ["U", "U:N", "S", "S:N"]),
        ({"compartments": (), "ranks": "blp4"}, ["U", "C", "S", "TS"]),
        (' {"ranks": "U", "compartments": ["N"]} ', ["U", "U:N"]),
        ("blp4", ["U", "C", "S", "TS"]),
        (" tlp2 ", ["CLEAR", "GREEN", "AMBER", "AMBER+STRICT", "RED"]),
        ("hl7", ["U", "L", "M", "N", "R", "V"]),
    ],
)
def test_what_is_declared_is_what_is_meant(declaration: object, levels: list[str]) -> None:
    assert list(declare(declaration).levels()) == levels


def test_nothing_assumes_a_chain() -> None:
    """M-1: incomparable pairs."""
    lattice = declare("lo < hi1, lo < hi2, hi1 < top, hi2 < top")
    hi1, hi2 = lattice.level("hi1"), lattice.level("hi2")
    assert lattice.incomparable(hi1, hi2)
    assert (lattice.lub(hi1, hi2), lattice.glb(hi1, hi2)) == ("top", "lo")


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_preset_is_its_order_and_says_what_it_is(name: str) -> None:
    assert declare(name) == declare(PRESETS[name].order)
    assert PRESETS[name].meaning


SHAPES = 'the levels must be a text or an object with "ranks" and "compartments"'
RANKS = '"ranks" must be a text such as "U < S < TS"'
COMPARTMENTS = '"compartments" must be a list of texts such as ["NATO", "CRYPTO"]'
KEYS = 'the keys are "ranks", "compartments"'
REFUSALS: list[tuple[object, str]] = [
    # not an order
    ("A < A", "the levels form a cycle: A < A"),
    ("A < B < A", "the levels form a cycle: A < B < A"),
    ("U < A < B < C < TS, C < A", "the levels form a cycle: A < B < C < A"),
    ("A < C, B < C", 'no level lies below all others: nothing is below "A", nor below "B"'),
    ("A, B", 'no level lies below all others: nothing is below "A", nor below "B"'),
    ("U < A, U < B", '"A" and "B" have no upper bound: declare a level above both'),
    (
        "U < a, U < b, a < x, a < y, b < x, b < y, x < T, y < T",
        '"a" and "b" have no least upper bound: above both are "x", "y", none below the others',
    ),
    # names
    ("", 'the name of a level is empty in ""'),
    (" ", 'the name of a level is empty in ""'),
    ("U < ", 'the name of a level is empty in "U <"'),
    ("U < S,", 'the name of a level is empty in "U < S,"'),
    ("U << S", 'the name of a level is empty in "U << S"'),
    ("TS > S", '"TS > S" cannot name a level: the character > is reserved'),
    ("U <= S", '"= S" cannot name a level: the character = is reserved'),
    ("U < S:N", '"S:N" cannot name a level: the character : is reserved'),
    ("U < S(1)", '"S(1)" cannot name a level: the character ( is reserved'),
    ("U < !S", '"!S" cannot name a level: the character ! is reserved'),
    ("U < S@C", '"S@C" cannot name a level: the character @ is reserved'),
    ("U < S\tX", '"S\\tX" cannot name a level: it has outer spaces or unprintable characters'),
    ("U < S\u202eX", '"S\\u202eX" cannot name a level: it has outer spaces or unprintable characters'),
    ("U < \xa0S", '"\\u00a0S" cannot name a level: it has outer spaces or unprintable characters'),
    ('["U", "S"]', '"["U"" cannot name a level: the character [ is reserved'),
    ("blp5", '"blp5" is neither an order nor a preset; did you mean "blp4"?'),
    ("HL7", '"HL7" is neither an order nor a preset; did you mean "hl7"?'),
    # shapes
    (None, SHAPES),
    (4, SHAPES),
    (True, SHAPES),
    (["U", "S"], SHAPES),
    (b"U < S", SHAPES),
    ("{", 'the levels are not JSON: "{"'),
    ('"U', 'the levels are not JSON: ""U"'),
    ('{"a":' * 9999, 'the levels are not JSON: "' + ('{"a":' * 12) + '…"'),
    ({}, f'the key "ranks" is missing; {KEYS}'),
    ({"ranks": "U"}, f'the key "compartments" is missing; {KEYS}'),
    ({"compartments": ["N"]}, f'the key "ranks" is missing; {KEYS}'),
    ({"ranks": "U", "compartment": ["N"]}, f'"compartment" is not a key of the levels; {KEYS}'),
    ({"ranks": "U", "compartments": [], 3: 4}, f"a value that is not a text is not a key of the levels; {KEYS}"),
    ('{"ranks": "U", "ranks": "S", "compartments": []}', 'the key "ranks" stands twice'),
    ({"ranks": ["U", "S"], "compartments": []}, RANKS),
    ({"ranks": {"ranks": "U", "compartments": []}, "compartments": []}, RANKS),
    ({"ranks": None, "compartments": []}, RANKS),
    ({"ranks": "U", "compartments": "NATO"}, COMPARTMENTS),
    ({"ranks": "U", "compartments": {"N": 1}}, COMPARTMENTS),
    ({"ranks": "U", "compartments": ["N", 1]}, COMPARTMENTS),
    ({"ranks": "U", "compartments": None}, COMPARTMENTS),
    # ranks and compartments together
    ({"ranks": "U < S < U", "compartments": []}, "the levels form a cycle: U < S < U"),
    ({"ranks": '{"a": 1}', "compartments": []}, '"{"a": 1}" cannot name a level: the character { is reserved'),
    ({"ranks": "U < S", "compartments": ["S"]}, '"S" names both a rank and a compartment'),
    ({"ranks": "U < S", "compartments": ["A", "A"]}, 'the compartment "A" is listed twice'),
    ({"ranks": "U < S", "compartments": [""]}, "the name of a compartment is empty"),
    ({"ranks": "U < S", "compartments": ["A:B"]}, '"A:B" cannot name a compartment: the character : is reserved'),
]


@pytest.mark.parametrize(("declaration", "message"), REFUSALS, ids=[f"{i}" for i in range(len(REFUSALS))])
def test_a_refusal_is_one_message_that_names_what_offends(declaration: object, message: str) -> None:
    with pytest.raises(CaseError) as caught:
        declare(declaration)
    assert str(caught.value) == message
    assert "\n" not in message


@given(st.one_of(st.text(), st.text(alphabet='AB<,: {}"'), st.recursive(st.none() | st.text(), st.lists)))
def test_any_text_is_a_lattice_or_refused(declaration: object) -> None:
    outcome = lattice_or_refusal(declaration)
    if isinstance(outcome, str):
        assert outcome.isprintable()
    else:
        assert all(outcome.dominates(level, outcome.bottom) for level in outcome.levels())


def lattice_or_refusal(declaration: object) -> Lattice | str:
    try:
        return declare(declaration)
    except CaseError as error:
        return str(error)


NAMES = st.text(st.sampled_from("ABCab+-._/1 "), min_size=1, max_size=6).filter(lambda name: name == name.strip())


@given(st.lists(NAMES, min_size=2, max_size=8, unique=True), st.lists(NAMES, max_size=8, unique=True))
def test_a_chain_is_an_order_and_survives_json(ranks: list[str], compartments: list[str]) -> None:
    chain = " < ".join(ranks)
    order = declare(chain)
    assert isinstance(order, Order)
    assert list(order.levels()) == ranks
    assert all(order.dominates(Level(b), Level(a)) for a, b in pairwise(ranks))
    declaration = {"ranks": chain, "compartments": [name for name in compartments if name not in ranks]}
    wide = declare(declaration)
    assert isinstance(wide, Compartments)
    assert wide == declare(json.dumps(declaration))
    assert list(wide.compartments) == declaration["compartments"]
