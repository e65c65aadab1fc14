"""Statements that are checked now and run later: sources, sinks, tags, permissions.

Each is checked as far as its meaning goes, so that a text which passes today runs unchanged when its machinery is
there; then the error says "not available yet", or that only the administrator may do it (Q-14).

Reads: errors, catalog, security, language.  Read by: execute.
"""

from __future__ import annotations

from tidegate.catalog import QUERY, TABLES, Catalog
from tidegate.errors import QueryError
from tidegate.language import literals
from tidegate.language import statements as st
from tidegate.language import syntax as sx
from tidegate.language.bind_expression import Context
from tidegate.language.binder import bind_query
from tidegate.language.later import check_attach, not_yet, tagged_stream
from tidegate.plan.schema import same_name
from tidegate.plan.types import parse_type, type_names
from tidegate.security.subject import Subject


def check_administration(statement: st.Statement, catalog: Catalog, subject: Subject) -> QueryError:
    """The error that such a statement ends in today; an error of its own comes first."""
    match statement:
        case st.CreateSource() | st.CreateSink() | st.CreateRelation():
            return _binding(statement, catalog, subject)
        case st.AttachTag():
            return check_attach(statement, _context(catalog, subject))
        case st.Permit():
            target = sx.Name((statement.stream, statement.field_name), span=statement.span)
            tagged_stream(target, _context(catalog, subject))
            return not_yet("permissions", statement.span)
        case _:
            return QueryError("NO_TRANSACTION", "this statement has no meaning here", statement.span)


def _binding(
    statement: st.CreateSource | st.CreateSink | st.CreateRelation, catalog: Catalog, subject: Subject
) -> QueryError:
    low, high = (literals.level(text, statement.span, catalog.lattice).text for text in statement.levels)
    lattice = catalog.lattice
    if not lattice.dominates(lattice.level(high), lattice.level(low)):
        raise QueryError("UNKNOWN_LEVEL", f'"{low}" to "{high}" is not a range of levels', statement.span,
                         "the second level must dominate the first")  # fmt: skip
    if isinstance(statement, st.CreateSink):
        catalog.find(
            (*TABLES, QUERY), statement.origin.name, subject.level, statement.origin.level, statement.origin.span
        )
    else:
        _check_fields(statement.fields)
    if not subject.administrator:
        return QueryError("ADMINISTRATOR_ONLY", "sources, sinks and relations are the administrator's", statement.span)
    return not_yet("external sources and sinks", statement.span)


def _check_fields(fields: tuple[st.Field, ...]) -> None:
    for number, field in enumerate(fields):
        if same_name(field.name, "level"):
            raise QueryError("LEVEL_NOT_ASSIGNABLE", "every stream has a level already", field.span)
        if parse_type(field.type_name) is None:
            raise QueryError("UNKNOWN_TYPE", f'"{field.type_name}" is not a type', field.span, f"types: {type_names()}")
        if any(same_name(field.name, other.name) for other in fields[:number]):
            raise QueryError("DUPLICATE_COLUMN", f'two columns are named "{field.name}"', field.span)


def _context(catalog: Catalog, subject: Subject) -> Context:
    return Context(catalog, subject.level, lambda inner: bind_query(inner, catalog, subject.level))
