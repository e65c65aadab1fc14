"""Release: a result goes by the level of its stream (Q-6, M-4)."""

from __future__ import annotations

from itertools import product

import pytest

from tidegate.gates.release import may_see
from tidegate.security.declare import declare
from tidegate.security.lattice import Lattice, Level

DIAMOND = declare("lo < hi1, lo < hi2, hi1 < top, hi2 < top")
NATO = declare({"ranks": "U < S", "compartments": ["N", "C"]})


@pytest.mark.parametrize("lattice", [declare("blp4"), DIAMOND, NATO, declare("U")])
def test_a_reader_sees_the_streams_of_the_levels_it_dominates(lattice: Lattice) -> None:
    """M-4, Q-6: for every pair of levels, incomparable ones included."""
    for reader, stream in product(lattice.levels(), repeat=2):
        assert may_see(reader, stream, lattice) == (lattice.glb(reader, stream) == stream)


@pytest.mark.parametrize(("reader", "stream"), [("X", "lo"), ("lo", "X"), ("X", "X"), ("", "lo"), ("top", "")])
def test_an_unknown_level_sees_nothing_and_is_seen_by_nobody(reader: str, stream: str) -> None:
    assert not may_see(Level(reader), Level(stream), DIAMOND)
