"""Schemas: the named, typed columns of a stream, a relation or a result.

Every stream has two hidden columns behind its declared ones, ``level`` and ``time``; relations have ``level`` only.
They can be named, but ``*`` leaves them out (CASES.md). Names compare without regard to case (Q-7).

Reads: plan (types).  Read by: plan, catalog, language, reference, operators.
"""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.plan.types import BIGINT, LEVEL, Type


@dataclass(frozen=True, slots=True)
class Field:
    """A column; hidden ones are set by the system."""

    name: str
    type: Type
    hidden: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.type}"


Schema = tuple[Field, ...]


def same_name(one: str, other: str) -> bool:
    """Names are case-insensitive."""
    return one.casefold() == other.casefold()


def has(schema: Schema, name: str) -> bool:
    """Whether a column of this name is declared."""
    return any(same_name(entry.name, name) for entry in schema)


def with_hidden(schema: Schema, *, instants: bool) -> Schema:
    """Declared columns, then the system's; a declared ``time`` hides the system's."""
    time = (Field("time", BIGINT, hidden=True),) if instants and not has(schema, "time") else ()
    return (*schema, Field("level", LEVEL, hidden=True), *time)


def declared(schema: Schema) -> Schema:
    """What ``*`` stands for."""
    return tuple(entry for entry in schema if not entry.hidden)
