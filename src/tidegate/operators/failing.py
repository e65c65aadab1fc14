"""Errors that matter: which of them suspends a query, and when (Q-9).

A row whose error matters suspends the query at the instant at which it enters. Whatever it would do from then on is
told to no one, so it leaves the relation at once: nothing above ever meets a value that is an error by mistake.

Reads: operators (vector).  Read by: query, processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tidegate.operators.vector import Failures, Numbers, Vector
from tidegate.text import Span


@dataclass(frozen=True, slots=True)
class Failed:
    """The failure that suspends the query, and the instant at which it does (Q-9)."""

    instant: int
    code: str
    problem: str
    span: Span


@dataclass(slots=True)
class Failing:
    """The errors that matter in the epoch after ``last``: of each stage of a step those that come first."""

    last: int
    stage: int = 0
    found: list[tuple[int, int, frozenset[int]]] = field(default_factory=list)

    def note(self, vectors: Sequence[Vector], instants: Numbers) -> Numbers | None:
        """Remember the errors of a stage, each at the instant of its row; the rows without any, None for all."""
        self.stage += 1
        failures = [v.failure for v in vectors if v.failure is not None and v.failure.any()]
        if not failures:
            return None
        bad = np.logical_or.reduce([failure > 0 for failure in failures])
        first = int(instants[bad].min())
        numbers = np.concatenate([failure[instants == first] for failure in failures])
        self.found.append((max(first, self.last + 1), self.stage, frozenset(numbers[numbers > 0].tolist())))
        return np.flatnonzero(~bad)

    def first(self, inside: Sequence[Failed], failures: Failures) -> Failed | None:
        """The error that suspends the query: the earliest instant, then what is inside, the stage, the text's order."""
        soonest = min(inside, key=lambda failed: failed.instant, default=None)
        if not self.found:
            return soonest
        instant, _, numbers = min(self.found, key=lambda noted: noted[:2])
        if soonest and soonest.instant <= instant:
            return soonest
        return Failed(instant, *failures.first_in_text(numbers))
