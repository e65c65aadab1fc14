"""Release: who may see a result, and where it may be sent.

A result goes by the level of its *stream*, which is the query's, never by the level of a row: the row's level is
provenance, not permission (Q-6).

Reads: security.  Read by: reference, system.
"""

from __future__ import annotations

from tidegate.security.flow import may_read
from tidegate.security.lattice import Lattice, Level


def may_see(reader: Level, stream: Level, lattice: Lattice) -> bool:
    """Whether a session at one level may read a result stream of another."""
    return may_read(lattice, reader, stream)


def may_export(low: Level, high: Level, level: Level, lattice: Lattice) -> bool:
    """Whether a sink bound for the levels from one to another may be given a result stream of a level (Q-14)."""
    return may_read(lattice, high, level) and may_read(lattice, level, low)
