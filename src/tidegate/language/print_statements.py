"""Statements to text, in the canonical spelling of the printer.

Reads: plan (windows), language (syntax, statements, printer).  Read by: language, system, tests.
"""

from __future__ import annotations

from tidegate.language import statements as st
from tidegate.language import syntax as sx
from tidegate.language.printer import (
    print_expression,
    print_level,
    print_name,
    print_object,
    print_query,
    print_string,
    print_type,
)
from tidegate.plan.windows import duration_text


def print_statement(node: st.Statement) -> str:
    """Any statement on one line; parsing it again gives an equal tree."""
    match node:
        case sx.Select() | sx.Union() | sx.Emitted() | sx.SelectTags():
            return print_query(node)
        case st.CreateQuery(name, query):
            return f"CREATE QUERY {print_name(name)} AS {print_query(query)}"
        case st.CreateStream(name, query):
            return f"CREATE STREAM {print_name(name)} AS {print_query(query)}"
        case st.CreateFunction() | st.CreateSource() | st.CreateSink() | st.CreateRelation():
            return _definition(node)
        case st.AttachTag():
            return _attach(node)
        case _:
            return _command(node)


def _command(node: st.Drop | st.Show | st.StartStop | st.Transaction | st.Explain | st.Permit) -> str:
    match node:
        case st.Drop(kind, target):
            return f"DROP {kind} {print_object(target)}"
        case st.Show(kind):
            return f"SHOW {kind}"
        case st.StartStop(start, target):
            return f"{'START' if start else 'STOP'} {print_object(target)}"
        case st.Transaction(action):
            return action
        case st.Explain(kind, asked):
            text = print_object(asked) if isinstance(asked, sx.Object) else print_query(asked)
            return f"EXPLAIN {kind + ' ' if kind else ''}{text}"
        case st.Permit(withdraw, operator, stream, field_name, site):
            where = f"{print_name(stream)}.{_any(field_name)}"
            return f"{'WITHDRAW' if withdraw else 'PERMIT'} {_any(operator)} ON {where} AT {print_name(site)}"


def _any(name: str) -> str:
    return "*" if name == "*" else print_name(name)


def _definition(node: st.CreateFunction | st.CreateSource | st.CreateSink | st.CreateRelation) -> str:
    name = print_name(node.name)
    match node:
        case st.CreateFunction(_, parameters, returns, body):
            return f"CREATE FUNCTION {name}{_fields(parameters)} RETURNS {print_type(returns)} AS {print_string(body)}"
        case st.CreateSource():
            address = f" FROM {print_string(node.address)}{_format(node.format)}"
            return f"CREATE SOURCE {name} {_fields(node.fields)}{address}{_levels(node.levels)}{_options(node)}"
        case st.CreateSink(_, origin, address, levels, form):
            where = f"FROM {print_object(origin)} TO {print_string(address)}"
            return f"CREATE SINK {name} {where}{_format(form)}{_levels(levels)}"
        case st.CreateRelation():
            where = f" FROM {print_string(node.address)}" if node.address is not None else ""
            return f"CREATE RELATION {name} {_fields(node.fields)}{where}{_format(node.format)}{_levels(node.levels)}"


def _fields(fields: tuple[st.Field, ...]) -> str:
    return "(" + ", ".join(f"{print_name(entry.name)} {print_type(entry.type_name)}" for entry in fields) + ")"


def _format(form: str | None) -> str:
    return f" FORMAT {print_name(form)}" if form is not None else ""


def _levels(levels: tuple[str, str]) -> str:
    low, high = (print_level(level)[1:] for level in levels)
    return f" LEVELS {low} TO {high}"


def _options(node: st.CreateSource) -> str:
    parts = [
        f" FED BY {print_name(node.fed_by)}" if node.fed_by is not None else "",
        f" DELAY {duration_text(node.delay)}" if node.delay is not None else "",
        f" SKEW {duration_text(node.skew)}" if node.skew is not None else "",
        f" LATE {node.late}" if node.late is not None else "",
        " SHED" if node.shed else "",
    ]
    return "".join(parts)


def _attach(node: st.AttachTag) -> str:
    head = f"ATTACH TAG {print_string(node.content)}{' CONTINUOUSLY' if node.continuously else ''}"
    where = f" WHERE {print_expression(node.where)}" if node.where is not None else ""
    lifespan = None if node.lifespan is None else duration_text(node.lifespan) if node.lifespan else "INSTANT"
    options = {"SIGN": node.sign and f"'{node.sign}'", "LIFESPAN": lifespan, "MODE": node.mode}
    given = " AND ".join(f"TAG_{key} = {value}" for key, value in options.items() if value is not None)
    return f"{head} TO {print_expression(node.target)}{where}{' WITH ' + given if given else ''}"
