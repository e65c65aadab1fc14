"""An error is a value (Q-9), and what it means that two values are the same (Q-8).

Reads: text.  Read by: scalars, operators, reference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tidegate.text import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Failure:
    """Q-9: an error is a value. It says what went wrong and where in the text, never with which data."""

    code: str
    problem: str
    span: Span = NOWHERE


def same(value: object) -> object:
    """Q-8: in keys, DISTINCT and differences NaN = NaN, -0.0 = 0.0, NULL = NULL."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value


def representative(value: object) -> object:
    """The one value that stands for all that are the same: 0.0 for -0.0."""
    return value + 0.0 if isinstance(value, float) and value == 0 else value
