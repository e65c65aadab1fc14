"""Matrices that several tests use: the paper's, and random ones."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from tests.docs.pages import ROOT
from tidegate.sharing.matrix import Matrix, members, read_matrix, read_selectivities

FIGURE_3 = read_matrix("111110\n110000\n110000\n011000\n000011\n000011")
NETWORK = read_matrix((ROOT / "examples/network.matrix").read_text())
NETWORK_SELECTIVITIES = read_selectivities((ROOT / "examples/network.selectivity").read_text(), NETWORK.predicates)
SHARED = 14
"""The first predicates of the network are in several queries each, the others in one."""


def matrices(predicates: int, queries: int) -> st.SearchStrategy[Matrix]:
    """Any matrix of at most so many predicates and queries, also with empty and equal rows and columns."""
    return st.integers(1, predicates).flatmap(
        lambda height: st.lists(st.integers(0, (1 << height) - 1), max_size=queries).map(
            lambda columns: Matrix(height, tuple(columns))
        )
    )


def like_the_paper(chance: random.Random, shared: int, single: int, queries: int) -> Matrix:
    """Sparse, as in Figure 6: some predicates in a twentieth to a half of the queries, the others in one each."""
    columns = [0] * queries
    for predicate in range(shared):
        width = max(2, round(queries * chance.choice([0.05, 0.1, 0.2, 0.3, 0.5])))
        for query in chance.sample(range(queries), width):
            columns[query] |= 1 << predicate
    for predicate in range(shared, shared + single):
        columns[chance.randrange(queries)] |= 1 << predicate
    return Matrix(shared + single, tuple(columns))


def sets(masks: tuple[int, ...]) -> list[list[int]]:
    """Composites as the paper writes them, predicates counted from 1."""
    return [[predicate + 1 for predicate in members(mask)] for mask in masks]
