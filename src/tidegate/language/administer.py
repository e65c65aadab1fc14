"""Statements that are checked now and run later: sources, sinks, tags, permissions.

Each is checked as far as its meaning goes, so that a text which passes today runs unchanged when its machinery is
there; then the error says "not available yet", or that only the administrator may do it (Q-14).

Reads: errors, catalog, security, language.  Read by: execute.
"""

from __future__ import annotations

from tidegate.catalog import TABLES, Catalog, Table
from tidegate.errors import QueryError
from tidegate.language import literals
from tidegate.language import statements as st
from tidegate.language import syntax as sx
from tidegate.language.bind_expression import Context, ExpressionBinder
from tidegate.language.binder import bind_query, not_yet
from tidegate.language.scope import Part, Scope
from tidegate.plan.schema import Field, same_name, with_hidden
from tidegate.plan.types import STRING, parse_type, type_names
from tidegate.security.subject import Subject

TAG_COLUMNS = ("tag", "tag_sign", "tag_type", "tag_mode", "object", "tagger")


def check_administration(statement: st.Statement, catalog: Catalog, subject: Subject) -> QueryError:
    """The error that such a statement ends in today; an error of its own comes first."""
    match statement:
        case st.CreateSource() | st.CreateSink() | st.CreateRelation():
            return _binding(statement, catalog, subject)
        case st.AttachTag():
            return _attach(statement, catalog, subject)
        case st.Permit():
            _field_of(sx.Name((statement.stream, statement.field_name), span=statement.span), catalog, subject)
            return not_yet("permissions", statement.span)
        case _:
            return QueryError("NO_TRANSACTION", "this statement has no meaning here", statement.span)


def _binding(statement: st.CreateSource | st.CreateSink | st.CreateRelation, catalog: Catalog, subject: Subject) -> QueryError:
    low, high = (literals.level(text, statement.span, catalog.lattice).text for text in statement.levels)
    lattice = catalog.lattice
    if not lattice.dominates(lattice.level(high), lattice.level(low)):
        raise QueryError("UNKNOWN_LEVEL", f'"{low}" to "{high}" is not a range of levels', statement.span,
                         "the second level must dominate the first")  # fmt: skip
    if isinstance(statement, st.CreateSink):
        catalog.find((*TABLES, "query"), statement.origin.name, subject.level, statement.origin.level, statement.origin.span)
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


def _field_of(name: sx.Name, catalog: Catalog, subject: Subject) -> Table:
    """The stream of ``stream[.attribute[.value]]``, its attribute checked."""
    found = catalog.find(TABLES, name.parts[0], subject.level, None, name.span)
    assert isinstance(found, Table)
    if len(name.parts) > 1 and name.parts[1] != "*":
        scope = Scope((Part(found.name, with_hidden(found.fields, instants=True), 0),))
        scope.resolve(sx.Name(name.parts[1:2], span=name.span))
    if len(name.parts) > 2 and (len(name.parts) > 3 or not same_name(name.parts[2], "value")):
        raise QueryError("UNKNOWN_COLUMN", "an object is a stream, an attribute, or an attribute's value", name.span,
                         "write stream, stream.attribute or stream.attribute.value")  # fmt: skip
    return found


def _attach(statement: st.AttachTag, catalog: Catalog, subject: Subject) -> QueryError:
    table = _field_of(statement.target, catalog, subject)
    where = statement.where
    if isinstance(where, sx.Subquery):
        bind_query(where.query, catalog, subject.level)
    elif where is not None:
        context = Context(catalog, subject.level, lambda inner: bind_query(inner, catalog, subject.level))
        columns = (*with_hidden(table.fields, instants=True), *(Field(name, STRING) for name in TAG_COLUMNS))
        ExpressionBinder(context, Scope((Part(table.name, columns, 0),))).condition(where, "WHERE")
    return not_yet("tags", statement.span)
