"""Frequent items and tags: understood and checked now, run later.

Each text is checked as far as its meaning goes, so that what passes today runs unchanged when its operators are there.

Reads: errors, catalog, plan, language.  Read by: binder, administer.
"""

from __future__ import annotations

from tidegate.catalog import TABLES, Table
from tidegate.errors import QueryError
from tidegate.language import statements as st
from tidegate.language import syntax as sx
from tidegate.language.bind_call import FREQUENT
from tidegate.language.bind_expression import Context, ExpressionBinder
from tidegate.language.build import whole
from tidegate.language.scope import Part, Scope
from tidegate.language.sources import BoundSource, bind_sources
from tidegate.plan.schema import Field, Schema, same_name, with_hidden
from tidegate.plan.types import STRING
from tidegate.plan.windows import Range, Rows, Window
from tidegate.text import Span

TAG_COLUMNS: Schema = tuple(Field(name, STRING) for name in ("TAG", "TAG_SIGN", "TAG_TYPE", "TAG_MODE", "TAGGER"))


def not_yet(what: str, span: Span) -> QueryError:
    """A statement that is understood and correct, but that nothing runs so far."""
    return QueryError("NOT_AVAILABLE_YET", f"{what} cannot be run yet", span, "the text is correct")


# ------------------------------------------------------------------------------ frequent items


def is_frequent(select: sx.Select) -> bool:
    """Whether a SELECT asks for frequent items."""
    return any(_frequent_call(item) for item in select.items)


def _frequent_call(item: sx.Item | sx.Star) -> sx.Call | None:
    call = item.expression if isinstance(item, sx.Item) else None
    return call if isinstance(call, sx.Call) and same_name(call.name, FREQUENT) else None


def check_frequent(select: sx.Select, context: Context) -> QueryError:
    """FREQUENT(attribute, k) over one sliding window, a whole number of slides wide (F-1, F-7)."""
    sources, scope = bind_sources(select, context)
    call = next(found for item in select.items if (found := _frequent_call(item)))
    if len(select.items) > 1 or len(sources) > 1 or select.group or select.having or select.distinct:
        raise QueryError("WRONG_ARGUMENTS", "FREQUENT stands alone, over one stream", call.span)
    size = call.arguments[1] if len(call.arguments) == 2 else None
    if not isinstance(size, sx.Number) or not size.text.isdecimal() or whole(size.text, 0) < 1:
        raise QueryError("WRONG_ARGUMENTS", "FREQUENT takes an attribute and how many items to keep", call.span,
                         "write for example FREQUENT(src, 10)")  # fmt: skip
    binder = ExpressionBinder(context, scope)
    binder.bind(call.arguments[0])
    for condition in (select.before, select.where):
        if condition is not None:
            binder.condition(condition, "WHERE")
    _check_window(sources[0])
    if select.above is not None and not 0 < float(select.above) < 1:
        raise QueryError(
            "BAD_LITERAL", "ABOVE takes a share between 0 and 1", select.span, "write for example ABOVE 0.01"
        )
    return not_yet("frequent items", select.span)


def _check_window(source: BoundSource) -> None:
    width, slide = _width_and_slide(source.window)
    if slide is None:
        raise QueryError("WINDOW_REQUIRED", "FREQUENT needs a sliding window", source.source.span,
                         "write for example [ROWS 100000 SLIDE 500] or [RANGE 1 HOUR SLIDE 1 MINUTE]")  # fmt: skip
    if width % slide:
        raise QueryError("BAD_WINDOW", "the window of FREQUENT is a whole number of slides", source.source.span)


def _width_and_slide(window: Window | None) -> tuple[int, int | None]:
    match window:
        case Rows(count, slide, ()):
            return count, slide
        case Range(width, slide):
            return width, slide
        case _:
            return 0, None


# ------------------------------------------------------------------------------ tags


def check_select_tags(query: sx.SelectTags, context: Context) -> QueryError:
    """SELECT TAGS and SELECT TAGGED OBJECTS: conditions over the stream and over its tags (T-3)."""
    _, scope = bind_sources(sx.Select((), query.sources, span=query.span), context)
    if query.where is not None:
        _check_tag_condition(query.where, scope, context)
    return not_yet("tags", query.span)


def check_attach(statement: st.AttachTag, context: Context) -> QueryError:
    """ATTACH TAG: the object exists, the condition or sub-query has a meaning (T-3)."""
    table = tagged_stream(statement.target, context)
    if isinstance(statement.where, sx.Subquery):
        context.bind_query(statement.where.query)
    elif statement.where is not None:
        scope = Scope((Part(table.name, with_hidden(table.fields, instants=True), 0),))
        _check_tag_condition(statement.where, scope, context)
    return not_yet("tags", statement.span)


def tagged_stream(name: sx.Name, context: Context) -> Table:
    """The stream of ``stream[.attribute[.value]]``, its attribute checked; ``*`` is any attribute."""
    found = context.catalog.find(TABLES, name.parts[0], context.asker, None, name.span)
    assert isinstance(found, Table)
    if len(name.parts) > 1 and name.parts[1] != "*":
        scope = Scope((Part(found.name, with_hidden(found.fields, instants=True), 0),))
        scope.resolve(sx.Name(name.parts[1:2], span=name.span))
    if len(name.parts) > 2 and (len(name.parts) > 3 or not same_name(name.parts[2], "value")):
        raise QueryError("UNKNOWN_COLUMN", "an object is a stream, an attribute, or an attribute's value", name.span,
                         "write stream, stream.attribute or stream.attribute.value")  # fmt: skip
    return found


def _check_tag_condition(condition: sx.Expression, scope: Scope, context: Context) -> None:
    """Conditions may name TAG, TAG_SIGN …, and ``OBJECT = stream.attribute``."""
    for part in condition.operands if isinstance(condition, sx.And) else (condition,):
        match part:
            case sx.Comparison("=", sx.Name((word,)), sx.Name() as target) if same_name(word, "OBJECT"):
                tagged_stream(target, context)
            case sx.Comparison(_, sx.Name((word,)), sx.Sign()) if same_name(word, "TAG_SIGN"):
                pass
            case _:
                offset = sum(len(entry.schema) for entry in scope.parts)
                tags = Scope((*scope.parts, Part(None, TAG_COLUMNS, offset)))
                ExpressionBinder(context, tags).condition(part, "WHERE")
