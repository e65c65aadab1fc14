"""Admission: a tuple enters with its label checked, or goes to quarantine with the reason (Q-11).

Fail closed: whatever is not exactly what its stream declares stays out. Reasons name attributes and types, and never a
value. The name of an undeclared attribute is the sender's own word, cut and escaped: reasons are read where the
quarantine stream is, at the lattice's top.

Reads: text, security, plan (schema), values.  Read by: shepherd, system.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from tidegate.plan.schema import Schema
from tidegate.security.lattice import Lattice, Level
from tidegate.text import one_line
from tidegate.values import LAST_TIMESTAMP, WIDE, Unfit, read_row

STEP = Decimal("0.000001")
END_OF_TIME = Decimal(LAST_TIMESTAMP + 1).scaleb(-6)  # the first second of the year 10000
LONGEST_NAME = 60  # of an undeclared attribute, in a reason
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
    instant = _instant(entry.get("time"))
    if isinstance(instant, Refused):
        return instant
    values = _values(entry.get("row"), schema)
    return values if isinstance(values, Refused) else Admitted(level, instant, values)


def read_instant(time: object) -> int | None:
    """Seconds since 1970 as microseconds; None for what no clock can show or is finer than a microsecond."""
    instant = _instant(time)
    return None if isinstance(instant, Refused) else instant


def _instant(time: object) -> int | Refused:
    if time is None:
        return Refused("no time")
    if isinstance(time, bool) or not isinstance(time, int | Decimal) or not Decimal(time).is_finite():
        return Refused("time is not a number")
    exact = Decimal(time)
    if not 0 <= exact < END_OF_TIME:
        return Refused("time before 1970 or after the year 9999")
    rounded = exact.quantize(STEP, context=WIDE)
    return int(rounded.scaleb(6)) if rounded == exact else Refused("time finer than a microsecond")


def _values(row: object, schema: Schema) -> tuple[object, ...] | Refused:
    if not isinstance(row, Mapping):
        return Refused("no row")
    if undeclared := [name for name in row if name not in {column.name for column in schema}]:
        more = f" and {len(undeclared) - 1} more" if len(undeclared) > 1 else ""
        return Refused(f'undeclared attribute "{one_line(str(undeclared[0]))[:LONGEST_NAME]}"{more}')
    try:
        return read_row(row, schema)
    except Unfit as problem:
        return Refused(str(problem))
