"""Q-8: after any number of tuples the average of a window is that of the numbers in it, to the bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.operators.kernels import LATTICE, Running
from tidegate.operators.batch import Batch, arrived
from tidegate.operators.vector import Array, Vector
from tidegate.plan import nodes
from tidegate.plan.types import BIGINT, DOUBLE, INT, LEVEL

EPOCH, WINDOW = 100_000, 100


def numbers(chance: np.random.Generator, epoch: int) -> Array:
    """Numbers close together; numbers of many sizes; and now and then some that no window should remember."""
    if epoch % 3 == 0:
        return chance.uniform(50, 250, EPOCH)
    values = np.ldexp(chance.uniform(-1, 1, EPOCH), chance.integers(-20, 20, EPOCH))
    if epoch % 10 == 1:
        values[chance.integers(0, EPOCH - 2 * WINDOW, 50)] = chance.choice([1e300, -1e300, 1e-300, 5e-324], 50)
    if epoch % 10 == 2:
        values[chance.integers(0, EPOCH - 2 * WINDOW, 5)] = chance.choice([math.inf, -math.inf, math.nan], 5)
    return values


def no_drift(tuples: int, seed: int, every: int) -> None:
    """Send so many tuples through a window, and look at the end of every so-many-th epoch."""
    chance, running = np.random.default_rng(seed), Running(f"SELECT AVG(x) FROM s [ROWS {WINDOW}]")
    (scan,) = set(nodes.scans(running.plan))
    zeros = np.zeros(EPOCH, np.int64)
    bottom = np.full(EPOCH, running.levels.number(LATTICE.bottom))
    for epoch in range(tuples // EPOCH):
        values, start = numbers(chance, epoch), epoch * EPOCH
        columns = (Vector(INT, zeros), Vector(DOUBLE, values), Vector(BIGINT, zeros), Vector(LEVEL, bottom))
        rows = Batch((*columns, Vector(BIGINT, zeros)), bottom)
        instants = np.arange(start, start + EPOCH)
        given = running.kernel.advance({scan: arrived(rows, instants)}, start - 1, start + EPOCH - 1)
        if epoch % every == 0:
            tail = [math.fsum(values[end - WINDOW : end]) / WINDOW for end in range(EPOCH - 20, EPOCH + 1)]
            assert given.rows.columns[0].data[-21:].tolist() == tail, f"epoch {epoch}"


def test_two_million_tuples_leave_no_drift(seed: int) -> None:
    """Q-8, in short."""
    no_drift(2_000_000, seed, every=1)


@pytest.mark.soak
def test_a_hundred_million_tuples_leave_no_drift(seed: int) -> None:
    """Q-8, at length."""
    no_drift(100_000_000, seed, every=10)
