"""The two rules of flow (M-4): read what your level dominates, write at your level only.

A decision about a text that names no level is a refusal, never an error that a caller might
skip and never a permission.

Reads: lattice.  Read by: subject, gates, catalog.
"""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.security.lattice import Lattice, Level, UnknownLevel


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a flow is allowed, and why; true in a condition exactly if it is."""

    allowed: bool
    reason: str

    def __bool__(self) -> bool:
        return self.allowed


def decide_read(lattice: Lattice, subject: Level, target: Level) -> Decision:
    """Simple security: the subject's level must dominate the level of what it reads."""
    try:
        if lattice.dominates(subject, target):
            return Decision(True, f'"{subject}" dominates "{target}"')
        return Decision(False, f'no read up: "{subject}" does not dominate "{target}"')
    except UnknownLevel as error:
        return Decision(False, error.problem)


def decide_write(lattice: Lattice, subject: Level, target: Level) -> Decision:
    """Restricted star property: the levels must be equal, so neither write down nor write up."""
    try:
        if lattice.level(subject) == lattice.level(target):
            return Decision(True, f'"{subject}" is the level of the object')
        upward, downward = lattice.dominates(target, subject), lattice.dominates(subject, target)
        direction = "up" if upward else "down" if downward else "across"
        return Decision(False, f'no write {direction}: the object is at "{target}", not at "{subject}"')
    except UnknownLevel as error:
        return Decision(False, error.problem)


def may_read(lattice: Lattice, subject: Level, target: Level) -> bool:
    """Whether a subject at one level may read an object at another; false for unknown levels."""
    return decide_read(lattice, subject, target).allowed


def may_write(lattice: Lattice, subject: Level, target: Level) -> bool:
    """Whether a subject at one level may write an object at another; false for unknown levels."""
    return decide_write(lattice, subject, target).allowed
