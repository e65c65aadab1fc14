"""Release: a result goes by the level of its stream (Q-6, M-4)."""

from __future__ import annotations

from itertools import product

import pytest

from tidegate.gates.release import may_export, may_see
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


@pytest.mark.parametrize("lattice", [declare("blp4"), DIAMOND, NATO, declare("U")])
def test_a_sink_gets_the_streams_between_its_levels(lattice: Lattice) -> None:
    """Q-6, Q-14: for every range and level; between incomparable levels there is nothing."""
    for low, high, level in product(lattice.levels(), repeat=3):
        between = lattice.lub(low, level) == level and lattice.glb(high, level) == level
        assert may_export(low, high, level, lattice) == between


@pytest.mark.parametrize(("low", "high", "level"), [("X", "top", "lo"), ("lo", "X", "lo"), ("lo", "top", "X")])
def test_nothing_is_exported_on_the_word_of_an_unknown_level(low: str, high: str, level: str) -> None:
    assert not may_export(Level(low), Level(high), Level(level), DIAMOND)
