"""Exact sums in one or two words of 64 bits: the quick form of exact sums, for columns whose values lie close together.

A column is scaled by a power of two until every value is a whole number. If these are small enough that the sum over
no segment leaves 63 bits, prefix sums of words are exact: they may go around, but differences of them do not mind. One
word is rounded by the conversion to double, which rounds once, to nearest even. Two words are two doubles that are
exact, and IEEE 754 rounds their sum once. Every value is checked to be the number that its words stand for; where one
is not, the caller takes limbs (exact).

Reads: operators (timeline, vector).  Read by: aggregate.
"""

from __future__ import annotations

import math

import numpy as np

from tidegate.operators.timeline import Sweep
from tidegate.operators.vector import Array, Mask, Numbers

WORD = 62  # bits of a sum, without its sign
DOUBLE = 52  # bits of a sum that a double holds exactly, with one to spare for a carry
USUAL = 0.99  # the part of a column that sets its measure
FARTHEST = 900  # scaling within these powers of two meets neither infinity nor a subnormal result


def sums(values: Array, spans: Sweep, longest: int) -> Array | None:
    """The exact sum of finite doubles in every segment, rounded once; None if two words do not hold it.

    No segment has more than ``longest`` rows.
    """
    room = longest.bit_length()  # a sum is less than 2^room times the greatest value
    bound = math.frexp(float(np.abs(values).max(initial=0.0)))[1] + room
    below = min(DOUBLE, WORD - room)  # bits of the lower word
    if room > WORD - DOUBLE // 2 or bound - WORD > FARTHEST or bound - DOUBLE - below < -FARTHEST:
        return None
    whole = (values * 2.0 ** (WORD - bound)).astype(np.int64)
    if (whole * 2.0 ** (bound - WORD) == values).all():
        return spans.running(whole) * 2.0 ** (bound - WORD)
    return _by_two_words(values, spans, bound - DOUBLE, below)


def _by_two_words(values: Array, spans: Sweep, unit: int, below: int) -> Array | None:
    """Each value is so many times 2^unit, cut towards zero, and the rest so many times 2^(unit - below)."""
    scaled = values * 2.0**-unit
    upper = np.trunc(scaled)
    lower = ((scaled - upper) * 2.0**below).astype(np.int64)
    if not (upper * 2.0**unit + lower * 2.0 ** (unit - below) == values).all():
        return None
    low = spans.running(lower)
    high = spans.running(upper.astype(np.int64)) + (low >> below)
    return (high * 2.0**below + (low & ((1 << below) - 1))) * 2.0 ** (unit - below)


def odd_ones(values: Array, longest: int) -> Mask:
    """Rows that two words do not hold beside the others: far greater than nearly all, or far smaller."""
    exponent = np.frexp(values)[1]
    room, used = longest.bit_length(), np.flatnonzero(values)
    most = int(len(used) * USUAL)
    top = int(np.partition(exponent[used], most)[most]) if len(used) else 0
    least = top + room - DOUBLE - min(DOUBLE, WORD - room) + 53  # a double has 53 bits
    result: Mask = (values != 0) & ((exponent > top) | (exponent < least))
    return result


def integers(values: Numbers, spans: Sweep, longest: int) -> Numbers | None:
    """The exact sum of integers in every segment; None if some sum might leave 64 bits."""
    greatest = max(int(values.max(initial=0)), -int(values.min(initial=0)))
    return spans.running(values) if greatest * longest < 2**63 else None
