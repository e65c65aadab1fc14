"""Statements: what each does to the catalog, and what the rest of the system must do about it.

Nothing is changed here: a statement gives a new catalog and an effect. A set of statements is tried by executing it,
and dropped by forgetting the result (Q-13). Objects are changed at the asker's own level only (M-4).

Reads: errors, catalog, plan, security, functions, sharing, language.  Read by: reference, system.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tidegate.catalog import (
    FUNCTION,
    QUERY,
    RELATION,
    STREAM,
    TABLES,
    Catalog,
    Entry,
    RegisteredQuery,
    Table,
    UserDefined,
)
from tidegate.errors import QueryError
from tidegate.functions.definition import FunctionDefinition, check_body
from tidegate.language import statements as st
from tidegate.language import syntax as sx
from tidegate.language.administer import check_administration
from tidegate.language.bind_call import FREQUENT
from tidegate.language.binder import bind_query
from tidegate.language.later import not_yet
from tidegate.language.parser import children
from tidegate.language.sources import check_level_column, relation_of
from tidegate.plan.explain import draw
from tidegate.plan.functions import AGGREGATES, FUNCTIONS
from tidegate.plan.schema import same_name
from tidegate.plan.types import parse_type, type_names
from tidegate.security.flow import may_write
from tidegate.security.subject import Subject
from tidegate.sharing.explain_prefilter import explain_prefilter
from tidegate.sharing.merge import Query
from tidegate.sharing.report import UNNAMED, explain_sharing
from tidegate.text import Span


@dataclass(frozen=True, slots=True)
class Outcome:
    """The catalog after a statement; what began and what ended; what there is to show."""

    catalog: Catalog
    begun: Entry | None = None
    ended: Entry | None = None
    shown: tuple[str, ...] | None = None


def execute(statement: st.Statement, catalog: Catalog, subject: Subject, serial: int) -> Outcome:
    """Carry out one statement for a subject, or raise one QueryError. ``serial`` must be new."""
    match statement:
        case st.CreateQuery(name, query):
            plan = bind_query(query, catalog, subject.level)
            return _created(catalog, RegisteredQuery(QUERY, subject.level, name, serial, plan), statement)
        case st.CreateStream(name, query):
            return _create_stream(statement, name, query, catalog, subject, serial)
        case st.CreateFunction():
            return _created(catalog, _function(statement, subject, serial), statement)
        case st.Drop(kind, target):
            return _drop(kind, target, catalog, subject)
        case st.StartStop(start, target):
            return _start_stop(start, target, catalog, subject, serial)
        case st.Show(kind):
            return Outcome(catalog, shown=show(kind, catalog, subject))
        case st.Explain():
            return Outcome(catalog, shown=explain(statement, catalog, subject))
        case sx.Select() | sx.Union() | sx.Emitted() | sx.SelectTags():
            bind_query(statement, catalog, subject.level)
            raise QueryError(
                "NAME_REQUIRED", "a continuous query needs a name", statement.span, "write CREATE QUERY q AS SELECT …"
            )
        case _:
            raise check_administration(statement, catalog, subject)


def _created(catalog: Catalog, entry: Entry, statement: sx.Node) -> Outcome:
    if same_name(entry.name, "level"):
        raise QueryError("LEVEL_NOT_ASSIGNABLE", '"level" is a name of the system', statement.span)
    return Outcome(catalog.add(entry, statement.span), begun=entry)


def _create_stream(statement: st.CreateStream, name: str, query: sx.Query, catalog: Catalog, subject: Subject,
                   serial: int) -> Outcome:  # fmt: skip
    if (
        _reads_itself(query, name)
        and catalog.own(TABLES, name, subject.level) is None
        and not _exists(catalog, name, subject)
    ):
        raise QueryError(
            "CYCLE", f'stream "{name}" would read itself', statement.span, "read the stream that it derives from"
        )
    plan = bind_query(query, catalog, subject.level)
    check_level_column(plan.root, statement)
    plan = relation_of(plan)
    return _created(catalog, Table(STREAM, subject.level, name, serial, plan.columns, plan), statement)


def _exists(catalog: Catalog, name: str, subject: Subject) -> bool:
    return any(same_name(entry.name, name) for entry in catalog.visible(TABLES, subject.level))


def _reads_itself(node: sx.Node, name: str) -> bool:
    if isinstance(node, sx.Source) and isinstance(node.table, sx.Object) and same_name(node.table.name, name):
        return True
    return any(_reads_itself(child, name) for child in children(node))


def _function(statement: st.CreateFunction, subject: Subject, serial: int) -> UserDefined:
    if statement.name.upper() in (*FUNCTIONS, *AGGREGATES, FREQUENT):
        raise QueryError("NAME_EXISTS", f"{statement.name.upper()} is built in", statement.span, "choose another name")
    for field in statement.parameters:
        _check_type(field.type_name, field)
        if same_name(field.name, "level"):
            raise QueryError("LEVEL_NOT_ASSIGNABLE", "nothing can be named level", field.span)
    _check_type(statement.returns, statement)
    names = [field.name.casefold() for field in statement.parameters]
    if len(set(names)) < len(names):
        raise QueryError("DUPLICATE_COLUMN", "two parameters have the same name", statement.span)
    parameters = tuple((field.name, field.type_name) for field in statement.parameters)
    _check_body(statement, parameters)
    return UserDefined(FUNCTION, subject.level, statement.name, serial, parameters, statement.returns, statement.body)


def _check_body(statement: st.CreateFunction, parameters: tuple[tuple[str, str], ...]) -> None:
    definition = FunctionDefinition(statement.name, parameters, statement.returns, statement.body)
    if problem := check_body(definition):
        text = f"the body is not Python: {problem.problem} (line {problem.line} of the body)"
        hint = "write statements with return, one expression, or a def of the same name"
        raise QueryError("SYNTAX_ERROR", text, statement.span, hint)


def _check_type(text: str, place: sx.Node) -> None:
    if same_name(text, "level"):
        raise QueryError(
            "LEVEL_NOT_ASSIGNABLE", "a function cannot take or give a level", place.span, "pass CAST(level AS string)"
        )
    if parse_type(text) is None:
        raise QueryError("UNKNOWN_TYPE", f'"{text}" is not a type', place.span, f"types: {type_names()}")


# ------------------------------------------------------------------------------ running and ending

_KINDS = {"QUERY": (QUERY,), "STREAM": (STREAM,), "FUNCTION": (FUNCTION,), "RELATION": (RELATION,)}


def _own(kinds: tuple[str, ...], target: sx.Object, catalog: Catalog, subject: Subject) -> Entry:
    """An object that the subject may change: one of its own level (M-4)."""
    if target.level is None:
        own = catalog.own(kinds, target.name, subject.level)
        if own is not None:
            return own
    found = catalog.find(kinds, target.name, subject.level, target.level, target.span)
    if may_write(catalog.lattice, subject.level, found.level):
        return found
    raise _of_another_level(found, target.span, "change it")


def _of_another_level(found: Entry, place: Span, purpose: str) -> QueryError:
    problem = f'{found.kind} "{found.name}" belongs to level {found.level}'
    return QueryError("OTHER_LEVEL", problem, place, f"log in at {found.level} to {purpose}")


def _drop(kind: str, target: sx.Object, catalog: Catalog, subject: Subject) -> Outcome:
    if kind in ("SOURCE", "SINK", "RELATION"):
        raise administrator_only(f"DROP {kind}", target)
    entry = _own(_KINDS[kind], target, catalog, subject)
    if isinstance(entry, Table) and entry.plan is None:
        raise administrator_only("dropping an external stream", target)
    return Outcome(catalog.remove(entry), ended=entry)


def administrator_only(what: str, place: sx.Node) -> QueryError:
    """The one text for what users may not do."""
    return QueryError("ADMINISTRATOR_ONLY", f"{what} is the administrator's", place.span)


def _start_stop(start: bool, target: sx.Object, catalog: Catalog, subject: Subject, serial: int) -> Outcome:
    entry = _own((QUERY, STREAM), target, catalog, subject)
    if not isinstance(entry, RegisteredQuery | Table) or entry.plan is None:
        raise administrator_only("starting and stopping an external stream", target)
    if entry.running == start:
        code = "ALREADY_RUNNING" if start else "NOT_RUNNING"
        raise QueryError(code, f'{entry.kind} "{entry.name}" is {"already" if start else "not"} running', target.span)
    changed = replace(entry, running=start)
    return Outcome(catalog.replace(changed), begun=changed if start else None, ended=None if start else changed)


# ------------------------------------------------------------------------------ looking

_SHOWN = {"QUERIES": (QUERY,), "STREAMS": (STREAM,), "FUNCTIONS": (FUNCTION,), "RELATIONS": (RELATION,)}


def show(kind: str, catalog: Catalog, subject: Subject) -> tuple[str, ...]:
    """One line for each thing that the subject may see; levels are public."""
    if kind == "LEVELS":
        levels = catalog.lattice.levels()
        return tuple(level for level, _ in zip(levels, range(1000), strict=False))
    if kind not in _SHOWN:
        raise administrator_only(f"SHOW {kind}", sx.Null())
    return tuple(f"{entry.name}@{entry.level}" for entry in catalog.visible(_SHOWN[kind], subject.level))


def _query_or_stream(target: sx.Object, catalog: Catalog, subject: Subject) -> Entry:
    """A name means a query first, then a stream; one of each may have it."""
    named = [
        entry.kind for entry in catalog.visible((QUERY, STREAM), subject.level) if same_name(entry.name, target.name)
    ]
    kind = QUERY if QUERY in named or STREAM not in named else STREAM
    return catalog.find((kind,), target.name, subject.level, target.level, target.span)


def _running(catalog: Catalog, subject: Subject) -> list[Query]:
    """The queries that run at the subject's own level, in the order of registration (M-15, X-2)."""
    return [query for kind, query in _reading(catalog, subject) if kind == QUERY]


def _reading(catalog: Catalog, subject: Subject) -> list[tuple[str, Query]]:
    """All that reads tuples at the subject's level: its queries, and the derived streams that are seen there (Q-14)."""
    seen = catalog.visible((QUERY, STREAM), subject.level)
    running = [entry for entry in seen if isinstance(entry, RegisteredQuery | Table) and entry.running]
    running.sort(key=lambda entry: entry.serial)
    return [
        (entry.kind, Query(_title(entry), entry.level, entry.plan))
        for entry in running
        if entry.plan and (entry.kind == STREAM or entry.level == subject.level)
    ]


def _title(entry: Entry) -> str:
    """A query and a stream may have the same name."""
    return entry.name if entry.kind == QUERY else f"{entry.kind} {entry.name}"


def explain(statement: st.Explain, catalog: Catalog, subject: Subject) -> tuple[str, ...]:
    """The plan of a query, drawn, or what it shares, or its prefilter; of a registered one by its name."""
    target = statement.target
    if isinstance(target, sx.Object):
        found = _query_or_stream(target, catalog, subject)
        plan = found.plan if isinstance(found, RegisteredQuery | Table) else None
        if plan is None:
            raise QueryError("UNKNOWN_QUERY", f'"{target.name}" has no plan: it comes from outside', target.span)
        name = _title(found)
    else:
        found, name, plan = None, UNNAMED, bind_query(target, catalog, subject.level)
    if statement.kind is None:
        return tuple(draw(plan).split("\n"))
    if statement.kind not in _PURPOSES:
        raise not_yet(f"EXPLAIN {statement.kind}", statement.span)
    if found is not None and not may_write(catalog.lattice, subject.level, found.level):
        raise _of_another_level(found, target.span, _PURPOSES[statement.kind])
    asked = Query(name, subject.level, plan)
    if statement.kind == "SHARING":
        return explain_sharing(asked, _running(catalog, subject), catalog.lattice)
    return explain_prefilter(asked, [query for _, query in _reading(catalog, subject)])


_PURPOSES = {"SHARING": "see what it shares", "PREFILTER": "see its prefilter"}
