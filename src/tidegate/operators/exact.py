"""Exact sums over time: prefix sums of integers, which do not drift (Q-8).

A double is an integer times a power of two. All values of a batch are cut into limbs of 32 bits over the batch's
exponent range; limbs are added up in 64-bit integers, and only the total is rounded, once, to nearest even. So the
sum of what is in a window is a function of the bag, whatever has passed through it before.

Reads: operators (vector).  Read by: aggregate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tidegate.operators.vector import Array, Mask, Numbers

LIMB = 32
MASK = (1 << LIMB) - 1


@dataclass(frozen=True, slots=True)
class Limbs:
    """Integers in limbs, lowest first (one column each); the number is sum(limb · 2^(32·k)) · 2^exponent."""

    limbs: Numbers
    exponent: int


def limbs_of_doubles(values: Array) -> Limbs:
    """Finite doubles as limbs over their common exponent range."""
    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    power = exponent.astype(np.int64) - 53
    used = whole != 0
    lowest = int(power[used].min()) if used.any() else 0
    shift = np.where(used, power - lowest, 0)
    count = (int(shift.max(initial=0)) + 53 + LIMB - 1) // LIMB + 1
    return Limbs(_spread(whole, shift, count), lowest)


def _spread(whole: Numbers, shift: Numbers, count: int) -> Numbers:
    """Put 53-bit integers at their places: three limbs each, found by dividing the shift by 32."""
    sign, size = np.sign(whole), np.abs(whole)
    limbs = np.zeros((len(whole), count + 2), np.int64)
    first, inside = shift // LIMB, (shift % LIMB).astype(np.uint64)
    low, high = (size & MASK).astype(np.uint64) << inside, (size >> LIMB).astype(np.uint64) << inside
    rows = np.arange(len(whole))
    parts = (low & MASK, (low >> LIMB) + (high & MASK), high >> LIMB)
    for offset, part in enumerate(parts):
        limbs[rows, first + offset] += part.astype(np.int64) * sign
    return limbs[:, : count + 1]


def limbs_of_integers(values: Numbers) -> Limbs:
    """64-bit integers as two limbs: the sum of many does not overflow."""
    return Limbs(np.stack([values & MASK, values >> LIMB], axis=1), 0)


def rounded(totals: Limbs) -> Array:
    """Each total as the nearest double, ties to even; beyond the range an infinity."""
    negative, limbs = _magnitude(totals.limbs)
    result = np.zeros(len(limbs))
    usable, mantissa, power = _leading(limbs)
    with np.errstate(over="ignore"):
        result[usable] = np.ldexp(
            mantissa[usable].astype(np.float64), np.clip(power[usable] + totals.exponent, -3000, 3000).astype(np.int32)
        )
    exact = _beyond_normal(totals.exponent, limbs, power)
    for row in np.flatnonzero(exact):
        result[row] = _by_integers(limbs[row], totals.exponent)
    return np.where(negative & (result != 0), -result, result)


def _magnitude(limbs: Numbers) -> tuple[Mask, Numbers]:
    """Carry the limbs into 0 … 2^32-1 with the sign apart."""
    carried = _carried(limbs)
    negative = carried[:, -1] < 0
    if negative.any():
        carried[negative] = _carried(-limbs[negative])
    return negative, carried


def _carried(limbs: Numbers) -> Numbers:
    wide = np.hstack([limbs, np.zeros((len(limbs), 2), np.int64)])
    for k in range(wide.shape[1] - 1):
        carry = wide[:, k] >> LIMB
        wide[:, k] &= MASK
        wide[:, k + 1] += carry
    return wide


def _leading(limbs: Numbers) -> tuple[Mask, Numbers, Numbers]:
    """The 53 leading bits, rounded to nearest even, and the power of two that they stand at."""
    rows = np.arange(len(limbs))
    used = limbs != 0
    usable = used.any(axis=1)
    top = limbs.shape[1] - 1 - np.argmax(used[:, ::-1], axis=1)
    pick = [np.where(top - k >= 0, limbs[rows, np.maximum(top - k, 0)], 0).astype(np.uint64) for k in range(3)]
    rest = np.cumsum(used, axis=1)[rows, np.maximum(top - 3, 0)] > 0
    rest &= top >= 3
    bits = _bit_length(pick[0])
    window = (pick[0] << np.uint64(LIMB)) | pick[1]  # the two top limbs; the third fills up to 64 bits
    room = (np.uint64(64) - (bits + np.uint64(LIMB))).astype(np.uint64)
    filled = (window << room) | np.where(
        room > 0, pick[2] >> (np.uint64(LIMB) - np.minimum(room, np.uint64(LIMB))), np.uint64(0)
    )
    below = pick[2] & ((np.uint64(1) << (np.uint64(LIMB) - np.minimum(room, np.uint64(LIMB)))) - np.uint64(1))
    sticky = (below != 0) | rest
    mantissa = filled >> np.uint64(11)
    tail = filled & np.uint64(0x7FF)
    up = (tail > 0x400) | ((tail == 0x400) & (sticky | ((mantissa & np.uint64(1)) == 1)))
    power = (top - 1) * LIMB - room.astype(np.int64) + 11
    return usable, (mantissa + up.astype(np.uint64)).astype(np.int64), power


def _bit_length(values: Array) -> Array:
    """How many bits each of some 32-bit numbers needs."""
    return np.frexp(values.astype(np.float64))[1].astype(np.uint64)


def _beyond_normal(exponent: int, limbs: Numbers, power: Numbers) -> Mask:
    """Rows near the subnormal range, where rounding twice could go wrong: those are done by integers."""
    nonzero: Mask = (limbs != 0).any(axis=1)
    return nonzero & (power + exponent < -1022)


def _by_integers(limbs: Numbers, exponent: int) -> float:
    total = sum(int(limb) << (LIMB * k) for k, limb in enumerate(limbs))
    try:
        return math.ldexp(total, exponent) if exponent >= 0 else total / (1 << -exponent)
    except OverflowError:
        return math.inf
