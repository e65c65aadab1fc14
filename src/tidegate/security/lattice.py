"""Levels and the lattices they live in: dominance, least upper and greatest lower bounds (M-1).

A level is its canonical text. Levels are only partly ordered, so there is no ``<`` between
them: ``not a < b`` would read as ``a >= b`` and be wrong. Ask the lattice, which knows both.
Every question about a text that is no level raises: nothing is decided about the unknown.

Reads: errors, text.  Read by: everything that decides or shows a flow.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from types import MappingProxyType
from typing import NewType

from tidegate.errors import CaseError

Level = NewType("Level", str)

SPACES = " \t\r\n"
RESERVED = "<>=!,:()[]{}\"'`;@\\"
LONGEST_TEXT_SHOWN = 60


class UnknownLevel(CaseError):
    """A text that names no level of the lattice, and what may have been meant.

    Level names are public configuration (Q-6), so the hint may draw on all of them.
    """

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(f"{problem}; {hint}" if hint else problem)
        self.problem, self.hint = problem, hint


class Lattice(ABC):
    """A partial order with one bottom, in which every two levels have a least upper bound.

    Implementations are frozen, hashable and picklable, and refuse to exist if this does not hold.
    """

    @property
    @abstractmethod
    def bottom(self) -> Level:
        """The level below all others."""

    @property
    @abstractmethod
    def top(self) -> Level:
        """The level above all others."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many levels there are; known without listing them."""

    @abstractmethod
    def levels(self) -> Iterator[Level]:
        """All levels, lazily, each after those it dominates; ties in the order of declaration."""

    @abstractmethod
    def find(self, text: object) -> Level | None:
        """The level that a text names (exact case, outer spaces ignored), or None; never raises."""

    @abstractmethod
    def dominates(self, high: Level, low: Level) -> bool:
        """Whether ``high`` is above or equal to ``low``; false for incomparable levels."""

    @abstractmethod
    def lub(self, a: Level, b: Level) -> Level:
        """The least level that dominates both."""

    @abstractmethod
    def glb(self, a: Level, b: Level) -> Level:
        """The greatest level that both dominate."""

    @abstractmethod
    def dominated_by(self, level: Level) -> Iterator[Level]:
        """The levels that ``level`` dominates, itself last, in the order of ``levels()``."""

    @abstractmethod
    def unknown(self, text: object) -> UnknownLevel:
        """The error for a text that is no level: what is wrong with it, and a hint."""

    def level(self, text: object) -> Level:
        """The level that a text names, in canonical form; raises UnknownLevel."""
        found = self.find(text)
        if found is None:
            raise self.unknown(text)
        return found

    def knows(self, text: object) -> bool:
        """Whether a text names a level."""
        return self.find(text) is not None

    def strictly_dominates(self, high: Level, low: Level) -> bool:
        """Whether ``high`` is above ``low`` and not equal to it."""
        return self.dominates(high, low) and not self.dominates(low, high)

    def incomparable(self, a: Level, b: Level) -> bool:
        """Whether neither dominates the other."""
        return not self.dominates(a, b) and not self.dominates(b, a)

    def lub_of(self, levels: Iterable[Level]) -> Level:
        """The least level that dominates all; the bottom if there are none (Q-6)."""
        return reduce(self.lub, dict.fromkeys(levels), self.bottom)  # labels repeat: decide once per distinct one


# How levels compare in queries: by dominance, and an incomparable pair is in no order.
COMPARISONS: Mapping[str, Callable[[Lattice, Level, Level], bool]] = MappingProxyType(
    {
        "<=": lambda lattice, a, b: lattice.dominates(b, a),
        "<": lambda lattice, a, b: lattice.strictly_dominates(b, a),
        ">=": lambda lattice, a, b: lattice.dominates(a, b),
        ">": lambda lattice, a, b: lattice.strictly_dominates(a, b),
        "=": lambda lattice, a, b: lattice.level(a) == lattice.level(b),
        "<>": lambda lattice, a, b: lattice.level(a) != lattice.level(b),
    }
)


def shown(text: object) -> str:
    """A foreign text for a message: quoted, printable, on one line and short."""
    if not isinstance(text, str):
        return "a value that is not a text"
    short = text if len(text) <= LONGEST_TEXT_SHOWN else text[:LONGEST_TEXT_SHOWN] + "…"
    return f'"{short}"' if short.isprintable() else json.dumps(short)


def check_name(name: str, kind: str) -> str:
    """The name, if it can stand in labels, orders and queries without being misread; else CaseError."""
    if not name.strip(SPACES):
        raise CaseError(f"the name of a {kind} is empty")
    if name != name.strip(SPACES) or not name.isprintable():
        raise CaseError(f"{shown(name)} cannot name a {kind}: it has outer spaces or unprintable characters")
    for character in name:
        if character in RESERVED:
            raise CaseError(f"{shown(name)} cannot name a {kind}: the character {character} is reserved")
    return name
