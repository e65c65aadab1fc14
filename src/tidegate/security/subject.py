"""Users, their principals, and who asks (M-3).

A clearance is not a level to work at: a session logs in as one principal, and everything it
does has that principal's level.

Reads: lattice, flow.  Read by: catalog, gates, system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tidegate.errors import Refusal
from tidegate.security.flow import may_read
from tidegate.security.lattice import Lattice, Level


@dataclass(frozen=True, slots=True)
class User:
    """A person with the highest level they may work at."""

    name: str
    clearance: Level


@dataclass(frozen=True, slots=True)
class Principal:
    """A user at one level, written ``JaneDoe.H``."""

    user: str
    level: Level

    def __str__(self) -> str:
        return f"{self.user}.{self.level}"


@dataclass(frozen=True, slots=True)
class Subject:
    """Who asks: the name if there is one, the level of the session, whether as administrator."""

    name: str | None
    level: Level
    administrator: bool = False


def principals(user: User, lattice: Lattice) -> Iterator[Principal]:
    """One principal for each level that the clearance dominates, bottom-up."""
    return (Principal(user.name, level) for level in lattice.dominated_by(user.clearance))


def login(users: Mapping[str, Level], name: str, level: str, lattice: Lattice) -> Principal:
    """The principal of a user at a level that their clearance dominates.

    The refusal reads the same for an unknown user and for one whose clearance is too low or
    incomparable (Q-12). A text that names no level raises UnknownLevel, whoever asks.
    """
    wanted = lattice.level(level)
    cleared = may_read(lattice, users.get(name, lattice.bottom), wanted)  # the same work for unknown users
    if name not in users or not cleared:
        raise Refusal("LOGIN_REFUSED", f'this user may not log in at level "{wanted}"')
    return Principal(name, wanted)
