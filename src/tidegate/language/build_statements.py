"""The rules of statements: definitions, running them, TAG-QL and permissions.

Reads: errors, language (build, statements, syntax).  Read by: parser.
"""

from __future__ import annotations

from typing import Any

from lark import Token, v_args
from lark.tree import Meta

from tidegate.errors import QueryError
from tidegate.language import statements as st
from tidegate.language import syntax as sx
from tidegate.language.build import Build, Children, span_of, unquote

SIGNS = ("+", "-")


@v_args(meta=True)
class BuildStatements(Build):
    """Everything of :class:`Build`, and the statements around queries."""

    def create_query(self, meta: Meta, children: Children) -> st.CreateQuery:
        return st.CreateQuery(children[0], children[1], span=span_of(meta))

    def create_stream(self, meta: Meta, children: Children) -> st.CreateStream:
        return st.CreateStream(children[0], children[1], span=span_of(meta))

    def create_bare_stream(self, meta: Meta, children: Children) -> Any:
        hint = "write CREATE STREAM x AS SELECT …; external streams are the administrator's CREATE SOURCE"
        raise QueryError("ADMINISTRATOR_ONLY", "a user's stream is derived from others", span_of(meta), hint)

    def create_function(self, meta: Meta, children: Children) -> st.CreateFunction:
        name, parameters, returns, body = children
        return st.CreateFunction(name, parameters or (), returns, unquote(body), span=span_of(meta))

    def create_source(self, meta: Meta, children: Children) -> st.CreateSource:
        name, fields, address, form, levels, fed_by, *options = children
        given: dict[str, Any] = {}
        for key, value in options:
            if key in given:
                raise QueryError("SYNTAX_ERROR", f"{key.upper()} is given twice", span_of(meta))
            given[key] = value
        return st.CreateSource(name, fields, unquote(address), levels, form, fed_by, **given, span=span_of(meta))

    def create_sink(self, meta: Meta, children: Children) -> st.CreateSink:
        name, origin, address, form, levels = children
        return st.CreateSink(name, origin, unquote(address), levels, form, span=span_of(meta))

    def create_relation(self, meta: Meta, children: Children) -> st.CreateRelation:
        name, fields, address, form, levels = children
        return st.CreateRelation(name, fields, levels, address and unquote(address), form, span=span_of(meta))

    def columns(self, meta: Meta, children: Children) -> Any:
        return children[0]

    def fields(self, meta: Meta, children: Children) -> tuple[st.Field, ...]:
        return tuple(children)

    def field(self, meta: Meta, children: Children) -> st.Field:
        return st.Field(children[0], children[1], span=span_of(meta))

    def levels(self, meta: Meta, children: Children) -> tuple[str, str]:
        return children[0], children[1]

    def delay(self, meta: Meta, children: Children) -> tuple[str, int]:
        return "delay", children[0]

    def skew(self, meta: Meta, children: Children) -> tuple[str, int]:
        return "skew", children[0]

    def late(self, meta: Meta, children: Children) -> tuple[str, str]:
        return "late", str(children[0]).upper()

    def shed(self, meta: Meta, children: Children) -> tuple[str, bool]:
        return "shed", True

    def drop(self, meta: Meta, children: Children) -> st.Drop:
        return st.Drop(str(children[0]).upper(), children[1], span=span_of(meta))

    def show(self, meta: Meta, children: Children) -> st.Show:
        return st.Show(str(children[0]).upper(), span=span_of(meta))

    def start_stop(self, meta: Meta, children: Children) -> st.StartStop:
        return st.StartStop(str(children[0]).upper() == "START", children[1], span=span_of(meta))

    def transaction(self, meta: Meta, children: Children) -> st.Transaction:
        return st.Transaction(str(children[0]).upper(), span=span_of(meta))

    def explain(self, meta: Meta, children: Children) -> st.Explain:
        kind, target = children
        return st.Explain(kind and str(kind).upper(), target, span=span_of(meta))

    def permit(self, meta: Meta, children: Children) -> st.Permit:
        action, operator, target, any_field, site = children
        parts = (*target.parts, "*") if any_field else target.parts
        if len(parts) != 2:
            raise QueryError("SYNTAX_ERROR", "a permission names a stream and one field", target.span,
                             "write stream.field, or stream.* for every field")  # fmt: skip
        withdraw = str(action).upper() == "WITHDRAW"
        return st.Permit(withdraw, str(operator), parts[0], parts[1], site, span=span_of(meta))

    def select_tags(self, meta: Meta, children: Children) -> sx.SelectTags:
        kind, sources, where, tags = children
        objects = str(kind).upper().startswith("TAGGED")
        return sx.SelectTags(objects, sources, where, tags is not None, span=span_of(meta))

    def attach(self, meta: Meta, children: Children) -> st.AttachTag:
        content, continuously, target, where, *options = children
        given: dict[str, Any] = {}
        for key, value in (option for option in options if option is not None):
            if key in given:
                raise QueryError("SYNTAX_ERROR", f"TAG_{key.upper()} is given twice", span_of(meta))
            given[key] = value
        return st.AttachTag(unquote(content), target, continuously is not None, where, **given, span=span_of(meta))

    def tag_sign(self, meta: Meta, children: Children) -> tuple[str, str]:
        token: Token = children[0]
        sign = str(token) if str(token) in SIGNS else unquote(token)
        if sign not in SIGNS:
            raise QueryError("BAD_LITERAL", "TAG_SIGN is + or -", span_of(meta))
        return "sign", sign

    def tag_lifespan(self, meta: Meta, children: Children) -> tuple[str, int]:
        return "lifespan", children[0]

    def tag_instant(self, meta: Meta, children: Children) -> tuple[str, int]:
        return "lifespan", 0

    def tag_mode(self, meta: Meta, children: Children) -> tuple[str, str]:
        return "mode", str(children[0]).upper()
