"""The names of result columns (CASES.md).

A column has its last part, spelled as declared; an unnamed expression its canonical text; where two collide, the
text as written. ``AS level`` is refused: nobody names a column like the system's (M-5).

Reads: errors, plan, language.  Read by: bind_select.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from tidegate.catalog import FUNCTION, TABLES
from tidegate.errors import QueryError
from tidegate.language import syntax as sx
from tidegate.language.bind_expression import Context
from tidegate.language.printer import print_expression
from tidegate.language.scope import Scope
from tidegate.language.sources import bind_sources
from tidegate.plan.expressions import Expression
from tidegate.plan.functions import AGGREGATES, FUNCTIONS
from tidegate.plan.schema import same_name
from tidegate.text import Span


@dataclass(frozen=True, slots=True)
class Named:
    """A bound column with the name it wants and the text to fall back on; ``fixed`` if written with AS."""

    bound: Expression
    name: str
    written: str
    fixed: bool
    span: Span

    @classmethod
    def of(cls, item: sx.Item, bound: Expression, scope: Scope, context: Context, aliases: list[str]) -> Named:
        """The names of one entry of the SELECT list; ``aliases`` are those of GROUP BY."""
        if item.alias is not None:
            if same_name(item.alias, "level"):
                raise QueryError("LEVEL_NOT_ASSIGNABLE", "nothing can be named level", item.span, "choose another name")
            return cls(bound, item.alias, item.alias, True, item.span)
        canonical = canonical_text(item.expression, scope, context)
        if isinstance(item.expression, sx.Name):
            spelled = ".".join(item.expression.parts)
            last = _spelling(item.expression, scope).parts[-1]
            if len(item.expression.parts) == 1:
                last = next((alias for alias in aliases if same_name(alias, last)), last)
            return cls(bound, last, spelled, False, item.span)
        return cls(bound, canonical, canonical, False, item.span)


def name_columns(columns: list[Named]) -> tuple[str, ...]:
    """Distinct names for all columns, or an error that asks for an alias."""
    wanted = Counter(column.name.casefold() for column in columns)
    names = [
        column.written if wanted[column.name.casefold()] > 1 and not column.fixed else column.name for column in columns
    ]
    for number, name in enumerate(names):
        if any(same_name(name, other) for other in names[:number]):
            raise QueryError("DUPLICATE_COLUMN", f'two columns are named "{name}"', columns[number].span,
                             "give one another name with AS")  # fmt: skip
    return tuple(names)


def canonical_text(node: sx.Expression, scope: Scope, context: Context) -> str:
    """Keywords and built-in functions in upper case, names as declared, one space."""
    return print_expression(_rewrite(node, lambda part: _declared(part, scope, context)))


def _declared(part: sx.Node, scope: Scope, context: Context) -> sx.Node:
    match part:
        case sx.Name():
            return _spelling(part, scope)
        case sx.Call():
            return replace(part, name=_function_name(part, context))
        case sx.Object():
            found = context.catalog.find(TABLES, part.name, context.asker, part.level, part.span)
            return replace(part, name=found.name)
        case sx.Subquery(query):
            return replace(part, query=_declared_query(query, context))
        case _:
            return part


def _declared_query(query: sx.Query, context: Context) -> sx.Query:
    """A sub-query with its own names as declared: they are looked up in its own FROM."""
    match query:
        case sx.Select():
            _, scope = bind_sources(query, context)
            inside = {
                entry.name: _rewrite_value(getattr(query, entry.name), lambda part: _declared(part, scope, context))
                for entry in fields(query)
            }
            return replace(query, **inside)  # type: ignore[arg-type]
        case sx.Union(parts):
            return replace(query, parts=tuple(_declared_query(part, context) for part in parts))
        case sx.Emitted(_, inner):
            return replace(query, query=_declared_query(inner, context))
        case _:
            return query


def _spelling(name: sx.Name, scope: Scope) -> sx.Name:
    if len(name.parts) == 1 and same_name(name.parts[0], "level"):
        return replace(name, parts=("level",))
    matches = scope.matches(name)
    if len(matches) != 1:
        return name
    part, index = matches[0]
    column = part.schema[index].name
    return replace(name, parts=(column,) if len(name.parts) == 1 else (part.alias or name.parts[0], column))


def _function_name(call: sx.Call, context: Context) -> str:
    if call.name.upper() in FUNCTIONS or call.name.upper() in AGGREGATES:
        return call.name.upper()
    return context.catalog.find((FUNCTION,), call.name, context.asker, call.level, call.span).name


Rewritable = TypeVar("Rewritable", bound=sx.Node)


def _rewrite(node: Rewritable, change: Callable[[sx.Node], sx.Node]) -> Rewritable:
    if isinstance(node, sx.Select | sx.Union | sx.Emitted | sx.SelectTags):
        return node
    inside: dict[str, Any] = {entry.name: _rewrite_value(getattr(node, entry.name), change) for entry in fields(node)}
    return change(replace(node, **inside))  # type: ignore[return-value]


def _rewrite_value(value: object, change: Callable[[sx.Node], sx.Node]) -> object:
    if isinstance(value, sx.Node):
        return _rewrite(value, change)
    if isinstance(value, tuple):
        return tuple(_rewrite_value(entry, change) for entry in value)
    return value
