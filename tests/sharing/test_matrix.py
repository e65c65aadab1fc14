"""The matrix of predicates and queries, from text and from queries (P-1, P-2, P-4)."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.sharing.matrices import matrices
from tidegate.errors import CaseError
from tidegate.sharing.matrix import Matrix, matrix_of, members, read_matrix, read_selectivities


@given(matrices(predicates=6, queries=6))
def test_rows_and_columns_say_the_same(matrix: Matrix) -> None:
    ones = {(p, q) for q, column in enumerate(matrix.columns) for p in members(column)}
    assert ones == {(p, q) for p, row in enumerate(matrix.rows) for q in members(row)}
    assert len(ones) == matrix.ones


@given(matrices(predicates=6, queries=6).filter(lambda matrix: bool(matrix.columns)))
def test_a_matrix_written_as_text_is_read_back(matrix: Matrix) -> None:
    width = len(matrix.columns)
    text = "\n".join("".join("01"[row >> query & 1] for query in range(width)) for row in matrix.rows)
    assert read_matrix(text) == read_matrix(text.replace("0", " 0\t")) == read_matrix(f"\n{text}\r\n\n") == matrix


def test_equal_predicates_are_one_row_and_dear_ones_stay_in_their_queries() -> None:
    """P-1, P-2."""
    queries = [["udp"], ["udp", "dest=53", "qr=0"], [], ["udp", "regex", "udp", "src=53"]]
    matrix, predicates = matrix_of(queries, cheap=lambda predicate: predicate != "regex")
    assert predicates == ("udp", "dest=53", "qr=0", "src=53")
    assert matrix == Matrix(4, (0b0001, 0b0111, 0, 0b1001))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the matrix is empty"),
        (" \n\n", "the matrix is empty"),
        ("10\n1", "line 2 has 1 of 0 and 1, but line 1 has 2"),
        ("10\n\n11", "line 2 has 0 of 0 and 1, but line 1 has 2"),
        ("10\n12", 'line 2: "2" is neither 0 nor 1'),
        ("1,0", 'line 1: "," is neither 0 nor 1'),
        ("١", 'line 1: "١" is neither 0 nor 1'),
    ],
)
def test_a_malformed_matrix_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(CaseError, match=f"^{message}"):
        read_matrix(text)


def test_selectivities_are_words_or_a_list() -> None:
    assert read_selectivities("0.5 1\n1e-2\n", 3) == read_selectivities(" [0.5, 1, 0.01]", 3) == (0.5, 1, 0.01)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "selectivities: 0 given for 2 predicates"),
        ("0.5", "selectivities: 1 given for 2 predicates"),
        ("0.5 0.5 0.5", "selectivities: 3 given for 2 predicates"),
        ("0.5 1.5", "selectivity 2 is 1.5; it is a share, from 0 to 1"),
        ("-0.5 1", "selectivity 1 is -0.5; it is a share, from 0 to 1"),
        ("0.5 many", 'selectivity 2 is not a number: "many"'),
        ("nan 0.5", 'selectivity 1 is not a number: "nan"'),
        ("[0.5, true]", 'selectivity 2 is not a number: "True"'),
        ("[0.5, [1]]", 'selectivity 2 is not a number: "'),
        ("[0.5, 1", "selectivities: begins like a JSON list, but is none"),
        ("[" * 100_000, "selectivities: begins like a JSON list, but is none"),
        ("[1e400, 1]", 'selectivity 1 is not a number: "inf"'),
    ],
)
def test_malformed_selectivities_are_refused_with_their_place(text: str, message: str) -> None:
    with pytest.raises(CaseError) as caught:
        read_selectivities(text, 2)
    assert str(caught.value).startswith(message)
