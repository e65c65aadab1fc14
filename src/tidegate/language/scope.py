"""Which columns a name can mean at one place of a query.

Reads: errors, text, plan.  Read by: language.
"""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.errors import QueryError
from tidegate.language import syntax as sx
from tidegate.plan.expressions import Column
from tidegate.plan.schema import Field, Schema, same_name
from tidegate.text import did_you_mean, listed


@dataclass(frozen=True, slots=True)
class Part:
    """One entry of FROM: its name in this query, its columns and where they start in the row."""

    alias: str | None
    schema: Schema
    offset: int


@dataclass(frozen=True, slots=True)
class Scope:
    """The entries of FROM that names can refer to, in order."""

    parts: tuple[Part, ...]

    @property
    def is_join(self) -> bool:
        """Whether rows come from more than one entry."""
        return len(self.parts) > 1

    def resolve(self, name: sx.Name) -> Column:
        """The one column that a name means; unknown and ambiguous names are errors with a hint."""
        matches = self.matches(name)
        if len(matches) == 1:
            part, index = matches[0]
            field = part.schema[index]
            shown = f"{part.alias}.{field.name}" if self.is_join and part.alias else field.name
            return Column(part.offset + index, shown, type=field.type, span=name.span)
        if matches:
            owners = [f"{part.alias}.{part.schema[index].name}" for part, index in matches if part.alias]
            raise QueryError("AMBIGUOUS_COLUMN", f'column "{name.parts[-1]}" is ambiguous', name.span,
                             f"write {' or '.join(owners)}" if owners else "")  # fmt: skip
        raise self._unknown(name)

    def matches(self, name: sx.Name) -> list[tuple[Part, int]]:
        """Every column that a name could mean."""
        if len(name.parts) > 2:
            return []
        parts = self.parts if len(name.parts) == 1 else self._named(name.parts[0])
        return [
            (part, index)
            for part in parts
            for index, field in enumerate(part.schema)
            if same_name(field.name, name.parts[-1])
        ]

    def _named(self, alias: str) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if part.alias is not None and same_name(part.alias, alias))

    def star(self, qualifier: str | None, star: sx.Star) -> list[tuple[Part, int, Field]]:
        """The declared columns of one entry or of all, in order."""
        parts = self.parts if qualifier is None else self._named(qualifier)
        if not parts:
            known = [part.alias for part in self.parts if part.alias]
            raise QueryError("UNKNOWN_STREAM", f'"{qualifier}" is not in FROM', star.span,
                             did_you_mean(qualifier or "", known))  # fmt: skip
        return [(part, n, field) for part in parts for n, field in enumerate(part.schema) if not field.hidden]

    def _unknown(self, name: sx.Name) -> QueryError:
        text = ".".join(name.parts)
        if len(name.parts) == 2 and not self._named(name.parts[0]):
            known = [part.alias for part in self.parts if part.alias]
            hint = did_you_mean(name.parts[0], known) or (f"FROM has {listed(known)}" if known else "")
            return QueryError(
                "UNKNOWN_COLUMN", f'column "{text}" does not exist: "{name.parts[0]}" is not in FROM', name.span, hint
            )
        parts = self.parts if len(name.parts) != 2 else self._named(name.parts[0])
        columns = [field.name for part in parts for field in part.schema]
        hint = did_you_mean(name.parts[-1], columns) or f"columns: {listed(columns)}"
        return QueryError("UNKNOWN_COLUMN", f'column "{text}" does not exist', name.span, hint)
