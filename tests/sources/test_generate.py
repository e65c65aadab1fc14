"""Made-up tuples: the same row for the same number, and the shares, rates and orders that were asked for."""

from __future__ import annotations

import time
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sources.files import refusal
from tidegate.sources.generate import KINDS, Recipe, batch
from tidegate.sources.generator import GeneratorReader, Piece

LEVELS = {"U": 3.0, "S": 1.0}
START = 1_700_000_000_000_000


def recipe(kind: str = "vitals", **options: float) -> Recipe:
    """A recipe of 1,000 rows a second."""
    return Recipe(kind, LEVELS, 1000.0, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
@given(cuts=st.lists(st.integers(0, 500), min_size=1, max_size=5), seed=st.integers(0, 2**40))
def test_a_row_depends_on_its_number_and_not_on_the_cuts(kind: str, cuts: list[int], seed: int) -> None:
    """Q-10."""
    asked = recipe(kind, seed=seed, skew=1.1, disorder=2.0)
    edges = sorted({0, 500, *cuts})
    pieces = [batch(asked, START, first, last - first) for first, last in pairwise(edges)]
    assert pa.Table.from_batches(pieces).combine_chunks() == pa.Table.from_batches([batch(asked, START, 0, 500)])


@pytest.mark.parametrize("kind", KINDS)
def test_seeds_give_other_rows(kind: str) -> None:
    rows = [batch(recipe(kind, seed=seed), START, 0, 100).drop_columns(["ts", "level"]) for seed in (1, 2)]
    assert rows[0] != rows[1]


def test_levels_come_in_their_shares() -> None:
    found = Counter(batch(recipe(), START, 0, 100_000)["level"].to_pylist())
    assert abs(found["U"] - 75_000) < 1_000


def test_without_skew_keys_are_even_and_with_skew_they_follow_zipf() -> None:
    even = np.bincount(batch(recipe(), START, 0, 200_000)["sid"].to_numpy())
    skewed = np.bincount(batch(recipe(skew=1.0), START, 0, 200_000)["sid"].to_numpy())
    assert even.max() < 2 * even.min()
    assert abs(skewed[0] / skewed[9] - 10) < 2


def test_time_advances_evenly_at_the_speed_that_was_asked_for() -> None:
    instants = batch(recipe(speed=60.0), START, 0, 1_001)["ts"].view(pa.int64()).to_numpy()
    assert (instants[0], instants[1000] - instants[0]) == (START, 60_000_000)
    assert set(np.diff(instants)) == {60_000}


def test_disorder_moves_tuples_back_by_no_more_than_asked() -> None:
    ordered = batch(recipe(), START, 0, 5_000)["ts"].view(pa.int64()).to_numpy()
    shuffled = batch(recipe(disorder=2.0), START, 0, 5_000)["ts"].view(pa.int64()).to_numpy()
    back = ordered - shuffled
    assert back.min() >= 0
    assert 1_900_000 < back.max() <= 2_000_000


def test_values_look_like_what_they_stand_for() -> None:
    packets, ships = batch(recipe("packets"), START, 0, 5_000), batch(recipe("ships"), START, 0, 5_000)
    assert 0 < packets["qr"].null_count < 5_000
    assert set(packets["proto"].to_pylist()) == {1, 6, 17}
    assert np.abs(ships["lat"].to_numpy()).max() <= 90
    assert 0 <= ships["cog"].to_numpy().min() <= ships["cog"].to_numpy().max() < 360


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("vital", {}, 'there is no kind "vital" of made-up tuples; did you mean "vitals"?'),
        ("vitals", {"rate": 0.0}, "the rate of made-up tuples must be above 0"),
        ("vitals", {"skew": -1.0}, "the skew of made-up tuples must be 0 or more"),
        ("vitals", {"levels": {}}, "made-up tuples need levels with weights"),
    ],
)
def test_what_cannot_be_made_is_refused(kind: str, options: dict[str, object], message: str) -> None:
    assert message in refusal(lambda: Recipe(**{"kind": kind, "levels": LEVELS, "rate": 1.0, **options}))  # type: ignore[arg-type]


# ------------------------------------------------------------------------------ the reader


def ago(seconds: float, most: int = 500_000) -> tuple[GeneratorReader, dict[str, int]]:
    """A reader whose stream began a while ago, and its first offset."""
    return GeneratorReader(recipe(), None, most, 2), {
        "next": 0,
        "began": round((time.time() - seconds) * 1e6),
        "start": 0,
    }


def test_rows_fall_due_by_the_wall_clock_and_a_micro_batch_is_bounded() -> None:
    reader, start = ago(100.0)
    assert 100_000 <= reader.latestOffset(start, None)["next"] < 110_000  # type: ignore[arg-type]
    reader, start = ago(100.0, most=7_000)
    end = reader.latestOffset(start, None)  # type: ignore[arg-type]
    assert (end["next"], reader.latestOffset(end, None)["next"]) == (7_000, 14_000)  # type: ignore[arg-type]


def test_a_clock_that_is_set_back_takes_no_row_back() -> None:
    reader, start = ago(-1000.0)
    assert reader.latestOffset({**start, "next": 50}, None)["next"] == 50  # type: ignore[arg-type]


def test_pieces_cover_each_row_once_in_order() -> None:
    reader, start = ago(0.0)
    pieces = [piece for piece in reader.partitions(start, {**start, "next": 100_001}) if isinstance(piece, Piece)]
    assert [(piece.first, piece.count) for piece in pieces] == [(0, 50_000), (50_000, 50_001)]
    assert reader.partitions(start, start) == []


def test_a_restart_makes_the_same_rows() -> None:
    """Q-10: the offset carries the instant of row 0."""
    first, start = ago(0.0)
    second = GeneratorReader(recipe(), None, 500_000, 1)
    end = {**start, "next": 40_000}
    made = [
        pa.Table.from_batches([made for part in reader.partitions(start, end) for made in reader.read(part)])
        for reader in (first, second)
    ]
    assert made[0].combine_chunks() == made[1].combine_chunks()
