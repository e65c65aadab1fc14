"""Levels by the column: equal to the lattice tuple by tuple, and closed to what is no level."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import CaseError
from tidegate.operators.levels import compare, dominated, encode, lub_columns
from tidegate.security.declare import declare
from tidegate.security.lattice import COMPARISONS, Lattice, Level, UnknownLevel

DIAMOND = declare("lo < hi1, lo < hi2, hi1 < top, hi2 < top")
NATO = declare({"ranks": "U < S < TS", "compartments": ["N", "C", "D"]})
MANY = declare({"ranks": "U < S", "compartments": [f"c{i}" for i in range(20)]})
LATTICES = {lattice: list(lattice.levels()) for lattice in (declare("U"), declare("blp4"), DIAMOND, NATO)}


def chunked(labels: list[Level]) -> pa.ChunkedArray:
    half = len(labels) // 2
    return pa.chunked_array([labels[:half], [], labels[half:]], pa.string())


def dictionary_chunks(labels: list[Level]) -> pa.ChunkedArray:
    """Chunks whose dictionaries differ."""
    half = len(labels) // 2
    return pa.chunked_array(
        [pa.array(part, pa.string()).dictionary_encode() for part in (labels[:half], labels[half:])]
    )


def sliced(labels: list[Level]) -> pa.Array:
    return pa.array(["not a level", *labels, None], pa.string())[1:-1]


def sliced_dictionary(labels: list[Level]) -> pa.Array:
    """A filtered column whose dictionary still holds a text that no tuple has."""
    return pa.array(["not a level", *labels], pa.string()).dictionary_encode()[1:]


Shape = Callable[[list[Level]], pa.Array]
Drawn = tuple[Lattice, list[Level], list[Level]]
SHAPES: list[Shape] = [
    lambda labels: pa.array(labels, pa.string()),
    lambda labels: pa.array(labels, pa.large_string()),
    lambda labels: pa.array(labels, pa.string_view()),
    lambda labels: pa.array(labels, pa.dictionary(pa.int8(), pa.string())),
    lambda labels: pa.array(labels, pa.dictionary(pa.uint32(), pa.large_string())),
    chunked,
    dictionary_chunks,
    sliced,
    sliced_dictionary,
]


@st.composite
def columns(draw: st.DrawFn) -> Drawn:
    lattice = draw(st.sampled_from(list(LATTICES)))
    pairs = draw(st.lists(st.tuples(*[st.sampled_from(LATTICES[lattice])] * 2), max_size=60))
    return lattice, [a for a, _ in pairs], [b for _, b in pairs]


@given(columns(), st.sampled_from(SHAPES), st.sampled_from(SHAPES))
def test_columns_agree_with_the_lattice_tuple_by_tuple(drawn: Drawn, left: Shape, right: Shape) -> None:
    """Q-4, Q-6, in every Arrow shape of a column."""
    lattice, a, b = drawn
    for operator, decide in COMPARISONS.items():
        expected = [decide(lattice, x, y) for x, y in zip(a, b, strict=True)]
        assert compare(left(a), right(b), operator, lattice).to_pylist() == expected
    assert lub_columns(left(a), right(b), lattice).to_pylist() == list(map(lattice.lub, a, b))


@given(columns(), st.sampled_from(SHAPES), st.data())
def test_a_column_and_one_level_agree_with_the_lattice(drawn: Drawn, shape: Shape, data: st.DataObject) -> None:
    lattice, labels, _ = drawn
    level = data.draw(st.sampled_from(LATTICES[lattice]))
    column = shape(labels)
    assert dominated(column, level, lattice).to_pylist() == [lattice.dominates(level, one) for one in labels]
    for operator, decide in COMPARISONS.items():
        assert compare(column, level, operator, lattice).to_pylist() == [decide(lattice, x, level) for x in labels]
        assert compare(level, column, operator, lattice).to_pylist() == [decide(lattice, level, x) for x in labels]
    assert lub_columns(column, level, lattice).to_pylist() == [lattice.lub(x, level) for x in labels]


def test_answers_have_plain_types_also_when_empty() -> None:
    for column in (pa.array([], pa.string()), pa.chunked_array([], pa.string()), pa.array([], pa.null())):
        assert dominated(column, Level("top"), DIAMOND).equals(pa.array([], pa.bool_()))
        assert lub_columns(column, column, DIAMOND).equals(pa.array([], pa.string()))


def test_two_levels_give_one_answer() -> None:
    assert compare("lo", "top", "<", DIAMOND).to_pylist() == [True]


def test_labels_are_compared_as_levels_and_not_as_texts() -> None:
    left, right = pa.array(["S:C,N", "U"]), pa.array(["S: N, C", " U "])
    assert compare(left, right, "=", NATO).to_pylist() == [True, True]
    assert compare(left, right, "<>", NATO).to_pylist() == [False, False]
    assert lub_columns(left, "U", NATO).to_pylist() == ["S:N,C", "U"]


def test_many_distinct_labels_are_decided_by_the_pairs_that_occur() -> None:
    numbers = np.random.default_rng(7).integers(0, 2**20, size=(2, 300))
    left, right = ([label(int(number)) for number in side] for side in numbers)
    expected = [MANY.dominates(b, a) for a, b in zip(left, right, strict=True)]
    assert compare(pa.array(left), pa.array(right), "<=", MANY).to_pylist() == expected
    assert lub_columns(pa.array(left), pa.array(right), MANY).to_pylist() == list(map(MANY.lub, left, right))


def label(number: int) -> Level:
    names = [f"c{i}" for i in range(20) if number >> i & 1]
    return MANY.level(f"S:{','.join(names)}" if names else "S")


def test_the_lattice_is_asked_once_per_distinct_label() -> None:
    encoded = encode(pa.array(["lo", "top", "lo"] * 1000), DIAMOND)
    assert encoded.levels == ["lo", "top"]
    assert encoded.numbers.tolist() == [0, 1, 0] * 1000


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array(["lo", None]), "a tuple has no level"),
        (pa.chunked_array([["lo"], [None]]), "a tuple has no level"),
        (pa.nulls(2), "a tuple has no level"),
        (pa.array(["lo", None]).dictionary_encode(), "a tuple has no level"),
        (pa.array(["lo", "LO"]), "the label of a tuple is not one of the levels"),
        (pa.array([""]), "the label of a tuple is not one of the levels"),
        (pa.array([1, 2]), "the label of a tuple is not one of the levels"),
        (pa.DictionaryArray.from_arrays([0, 1], ["lo", None]), "the label of a tuple is not one of the levels"),
        (pa.array(["lo", "hi1", "secret value"]), "the label of a tuple is not one of the levels"),
    ],
)
def test_a_tuple_without_a_level_is_never_decided_about(column: pa.Array, message: str) -> None:
    """Q-11 fails closed; Q-9: the message does not contain the value."""
    answers: list[Callable[[], pa.Array]] = [
        lambda: dominated(column, Level("top"), DIAMOND),
        lambda: compare("top", column, ">=", DIAMOND),
        lambda: compare(column, column, "<>", DIAMOND),
        lambda: lub_columns(column, "top", DIAMOND),
    ]
    for answer in answers:
        with pytest.raises(CaseError) as caught:
            answer()
        assert str(caught.value) == message


def test_a_single_level_must_exist() -> None:
    """Q-4: a literal that names no level is an error, even over no tuples."""
    with pytest.raises(UnknownLevel):
        dominated(pa.array([], pa.string()), Level("X"), DIAMOND)


def test_columns_of_different_length_are_not_paired() -> None:
    for left, right in [(["lo"], ["lo", "top"]), (["lo", "top"], ["lo"]), ([], ["lo"])]:
        with pytest.raises(ValueError, match="cannot be paired"):
            compare(pa.array(left, pa.string()), pa.array(right, pa.string()), "=", DIAMOND)
