"""Admission: a tuple enters with its label checked, or goes to quarantine with the reason (Q-11).

Fail closed: whatever is not exactly what its stream declares stays out. Reasons name attributes and types, which are
public, and never a value; the quarantine stream is at the lattice's top.

Reads: security, plan (schema), values.  Read by: shepherd, system.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from tidegate.plan.schema import Schema
from tidegate.security.lattice import Lattice, Level
from tidegate.values import LAST_TIMESTAMP, WIDE, Unfit, read_row

STEP = Decimal("0.000001")
MOST_DIGITS = 20  # before the point: far more than any clock shows
QUARANTINE = "QUARANTINE"


@dataclass(frozen=True, slots=True)
class Admitted:
    """A tuple as the stream declares it, with its level and the instant it claims."""

    level: Level
    instant: int
    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a tuple stays out."""

    reason: str


def admit(entry: Mapping[str, object], schema: Schema, lattice: Lattice) -> Admitted | Refused:
    """One decision for one tuple: its label, its instant, its values, in this order."""
    level = lattice.find(entry.get("level"))
    if level is None:
        return Refused("no level" if entry.get("level") is None else "unknown level")
    instant = read_instant(entry.get("time"))
    if instant is None:
        return Refused("impossible instant")
    values = _values(entry.get("row"), schema)
    return values if isinstance(values, Refused) else Admitted(level, instant, values)


def read_instant(time: object) -> int | None:
    """Seconds since 1970 as microseconds; None for what no clock can show or is finer than a microsecond."""
    if isinstance(time, bool) or not isinstance(time, int | Decimal):
        return None
    exact = Decimal(time)
    if not exact.is_finite() or exact.adjusted() > MOST_DIGITS or exact != exact.quantize(STEP, context=WIDE):
        return None
    microseconds = int(exact.scaleb(6, context=WIDE))
    return microseconds if 0 <= microseconds <= LAST_TIMESTAMP else None


def _values(row: object, schema: Schema) -> tuple[object, ...] | Refused:
    if not isinstance(row, Mapping):
        return Refused("no row")
    if undeclared := [name for name in row if name not in {column.name for column in schema}]:
        return Refused(f"{len(undeclared)} undeclared attributes" if len(undeclared) > 1 else "an undeclared attribute")
    try:
        return read_row(row, schema)
    except Unfit as problem:
        return Refused(str(problem))
