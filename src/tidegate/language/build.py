"""One method per rule of the grammar of queries: from lark's tree to our nodes.

Refusals that the grammar already knows (outer joins, UNION without ALL, times without a unit …) are raised here,
so that later stages see only what has a meaning.

Reads: text, errors, plan (windows), language (syntax).  Read by: build_statements.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from lark import Token, Transformer_NonRecursive, v_args
from lark.tree import Meta

from tidegate.errors import QueryError
from tidegate.language import syntax as sx
from tidegate.plan.windows import DAY, UNITS, Range, Rows, Unbounded, Window
from tidegate.text import Span
from tidegate.values import LONGEST_NUMBER, WIDE

LONGEST_DURATION = 36_500 * DAY
MOST_ROWS = 1_000_000_000
MOST_DIGITS = 18
MOST_PARTS = 8

Children = list[Any]


def span_of(meta: Meta) -> Span:
    """Where the words of a rule stand."""
    return Span(meta.start_pos, meta.end_pos) if not meta.empty else Span(0, 0)


def unquote(token: str) -> str:
    """The text between the quotes; a doubled quote stands for one."""
    quote = token[0]
    return token[1:-1].replace(quote * 2, quote)


def whole(digits: str, otherwise: int) -> int:
    """A whole number, or something else where it has more digits than any number here may have."""
    return int(digits) if len(digits) <= MOST_DIGITS else otherwise


def _refuse(problem: str, hint: str) -> Callable[[Build, Meta, Children], Any]:
    def rule(self: Build, meta: Meta, children: Children) -> Any:
        raise QueryError("NOT_SUPPORTED", problem, span_of(meta), hint)

    return rule


@v_args(meta=True)
class Build(Transformer_NonRecursive[Token, Any]):
    """Builds the syntax tree of queries bottom-up, without recursion."""

    # ---------------------------------------------------------------- words

    def start(self, meta: Meta, children: Children) -> Any:
        return children[0]

    def name(self, meta: Meta, children: Children) -> str:
        token = str(children[0])
        return unquote(token) if token[0] == "`" else token

    def label(self, meta: Meta, children: Children) -> str:
        token = children[0]
        return unquote(token) if isinstance(token, Token) else str(token)

    def number(self, meta: Meta, children: Children) -> str:
        if len(children[0]) > LONGEST_NUMBER:
            raise QueryError("BAD_LITERAL", f"a number of more than {LONGEST_NUMBER} characters", span_of(meta))
        return str(children[0])

    def dotted(self, meta: Meta, children: Children) -> sx.Name:
        first = children[0]
        parts = first.parts if isinstance(first, sx.Name) else (first,)
        if len(parts) > MOST_PARTS:
            raise QueryError("SYNTAX_ERROR", "a name of too many parts", span_of(meta))
        return sx.Name((*parts, *children[1:]), span=span_of(meta))

    def duration(self, meta: Meta, children: Children) -> int:
        text = str(children[0])
        match = re.fullmatch(r"([\d.]+)\s*([A-Za-z]+)", text)
        if not match or match[2].lower() not in UNITS:
            hint = f"write for example {text} SECONDS; units go from MICROSECONDS to DAYS"
            raise QueryError("UNIT_REQUIRED", "a time needs a unit", span_of(meta), hint)
        if len(text) > LONGEST_NUMBER:
            raise QueryError("BAD_WINDOW", "a time of more than 36,500 days", span_of(meta))
        microseconds = WIDE.multiply(Decimal(match[1]), Decimal(UNITS[match[2].lower()]))
        if microseconds != int(microseconds):
            raise QueryError("BAD_WINDOW", "a time has steps of 1 microsecond", span_of(meta))
        if microseconds > LONGEST_DURATION:
            raise QueryError("BAD_WINDOW", "a time of more than 36,500 days", span_of(meta))
        return int(microseconds)

    def type(self, meta: Meta, children: Children) -> str:
        name, precision, scale = children
        if precision is None:
            return str(name).lower()
        return f"{str(name).lower()}({whole(precision, 0)},{whole(scale, 0)})"

    # ---------------------------------------------------------------- queries

    def query_statement(self, meta: Meta, children: Children) -> sx.Query:
        query: sx.Query = children[0]
        return query

    def query(self, meta: Meta, children: Children) -> sx.Query:
        parts, kinds = children[::2], children[1::2]
        if any(kind is None or str(kind).upper() != "ALL" for kind in kinds):
            raise QueryError("NOT_SUPPORTED", "UNION without ALL is not part of the language", span_of(meta),
                             "write UNION ALL, and SELECT DISTINCT around it where duplicates must go")  # fmt: skip
        if len(parts) == 1:
            query: sx.Query = parts[0]
            return query
        return sx.Union(tuple(parts), span=span_of(meta))

    def emitted(self, meta: Meta, children: Children) -> sx.Emitted:
        return sx.Emitted(str(children[0]).upper(), children[1], span=span_of(meta))

    def select(self, meta: Meta, children: Children) -> sx.Select:
        emit, distinct, (items, item_above), before, sources, where, group, having, above, tags = children
        group_items, every = group or ((), None)
        return sx.Select(
            items, sources, emit and str(emit).upper(), distinct is not None, before, where, group_items, every,
            having, above or item_above, tags is not None, span=span_of(meta),
        )  # fmt: skip

    def before(self, meta: Meta, children: Children) -> Any:
        return children[0]

    where = having = above = within = format = fed_by = before

    def group(self, meta: Meta, children: Children) -> tuple[tuple[sx.GroupItem, ...], Window | None]:
        return tuple(children[:-1]), children[-1]

    def group_item(self, meta: Meta, children: Children) -> sx.GroupItem:
        return sx.GroupItem(children[0], children[1], span=span_of(meta))

    def every(self, meta: Meta, children: Children) -> Window:
        return self.range(meta, children)

    def items(self, meta: Meta, children: Children) -> tuple[tuple[sx.Item | sx.Star, ...], str | None]:
        above = next((above for _, above in children if above is not None), None)
        return tuple(item for item, _ in children), above

    def item(self, meta: Meta, children: Children) -> tuple[sx.Item, None]:
        alias = children[1] if len(children) > 1 else None
        return sx.Item(children[0], alias, span=span_of(meta)), None

    def item_above(self, meta: Meta, children: Children) -> tuple[sx.Item, str]:
        return sx.Item(children[0], span=span_of(meta)), children[1]

    def item_star(self, meta: Meta, children: Children) -> tuple[sx.Star, None]:
        parts = children[0].parts if isinstance(children[0], sx.Name) else ()
        if len(parts) > 1:
            raise QueryError("SYNTAX_ERROR", "a star has one name before it", span_of(meta), "write V.* or *")
        return sx.Star(parts[0] if parts else None, span=span_of(meta)), None

    def sources(self, meta: Meta, children: Children) -> tuple[sx.Source, ...]:
        return tuple(children)

    def source(self, meta: Meta, children: Children) -> sx.Source:
        window = next((child for child in children[1:] if isinstance(child, sx.WindowClause)), None)
        alias = next((child for child in children[1:] if isinstance(child, str)), None)
        return sx.Source(children[0], window, alias, span=span_of(meta))

    def join_on(self, meta: Meta, children: Children) -> sx.Source:
        source, condition = children
        return sx.Source(source.table, source.window, source.alias, condition, span=source.span)

    def join_cross(self, meta: Meta, children: Children) -> sx.Source:
        source: sx.Source = children[0]
        return source

    join_outer = _refuse("OUTER and NATURAL JOIN are not part of the language",
                         "write an inner join: FROM a [window], b [window] WHERE a.x = b.x")  # fmt: skip

    def table_query(self, meta: Meta, children: Children) -> sx.Query:
        query: sx.Query = children[0]
        return query

    def alias(self, meta: Meta, children: Children) -> str:
        return str(children[0])

    def object(self, meta: Meta, children: Children) -> sx.Object:
        return sx.Object(children[0], children[1], span=span_of(meta))

    # ---------------------------------------------------------------- windows

    def window(self, meta: Meta, children: Children) -> sx.WindowClause:
        return sx.WindowClause(children[0], children[1] if len(children) > 1 else None, span=span_of(meta))

    def window_condition(self, meta: Meta, children: Children) -> sx.Expression:
        condition: sx.Expression = children[0]
        return condition

    def rows(self, meta: Meta, children: Children) -> Rows:
        partition = next((child for child in children if isinstance(child, tuple)), ())
        within = next((child for child in children if isinstance(child, int)), None)
        counts = [whole(child, 0) for child in children if isinstance(child, Token)]
        if any(not 1 <= count <= MOST_ROWS for count in counts):
            raise QueryError(
                "BAD_WINDOW",
                f"a row window has 1 to {MOST_ROWS:,} rows and slides by 1 to {MOST_ROWS:,}",
                span_of(meta),
            )
        return Rows(counts[0], counts[1] if len(counts) > 1 else None, partition, within)

    rows_within_slide = rows

    def partition(self, meta: Meta, children: Children) -> tuple[str, ...]:
        return tuple(children)

    def range(self, meta: Meta, children: Children) -> Range:
        slide = children[1] if len(children) > 1 else None
        if slide == 0:
            raise QueryError("BAD_WINDOW", "a window cannot slide by 0", span_of(meta))
        if slide is not None and children[0] == 0:
            raise QueryError("BAD_WINDOW", "a sliding window of 0 holds nothing", span_of(meta))
        return Range(children[0], slide)

    def now(self, meta: Meta, children: Children) -> Range:
        return Range(0)

    def unbounded(self, meta: Meta, children: Children) -> Unbounded:
        return Unbounded()

    # ---------------------------------------------------------------- expressions

    def disjunction(self, meta: Meta, children: Children) -> sx.Or:
        flat = [part for child in children for part in (child.operands if isinstance(child, sx.Or) else (child,))]
        return sx.Or(tuple(flat), span=span_of(meta))

    def conjunction(self, meta: Meta, children: Children) -> sx.And:
        flat = [part for child in children for part in (child.operands if isinstance(child, sx.And) else (child,))]
        return sx.And(tuple(flat), span=span_of(meta))

    def negation(self, meta: Meta, children: Children) -> sx.Not:
        return sx.Not(children[0], span=span_of(meta))

    def comparison(self, meta: Meta, children: Children) -> sx.Comparison:
        left, operator, right = children
        return sx.Comparison("<>" if operator == "!=" else str(operator), left, right, span=span_of(meta))

    def compare_sign(self, meta: Meta, children: Children) -> sx.Comparison:
        left, operator, sign = children
        right = sx.Sign(str(sign), span=Span(sign.start_pos, sign.end_pos))
        return sx.Comparison("<>" if operator == "!=" else str(operator), left, right, span=span_of(meta))

    def between(self, meta: Meta, children: Children) -> sx.Between:
        operand, negated, low, high = children
        return sx.Between(operand, low, high, negated is not None, span=span_of(meta))

    def in_list(self, meta: Meta, children: Children) -> sx.In:
        return sx.In(children[0], tuple(children[2:]), children[1] is not None, span=span_of(meta))

    in_query = _refuse("IN over a sub-query is not part of the language",
                       "join with the sub-query: FROM s [window], (SELECT DISTINCT …) t WHERE s.x = t.x")  # fmt: skip
    exists = _refuse("EXISTS is not part of the language",
                     "compare a count: (SELECT COUNT(*) FROM …) > 0")  # fmt: skip

    def like(self, meta: Meta, children: Children) -> sx.Like:
        operand, negated, pattern, escape = children
        return sx.Like(operand, pattern, escape and unquote(escape), negated is not None, span=span_of(meta))

    def is_null(self, meta: Meta, children: Children) -> sx.IsNull:
        return sx.IsNull(children[0], children[1] is not None, span=span_of(meta))

    def binary(self, meta: Meta, children: Children) -> sx.Binary:
        left, operator, right = children
        return sx.Binary(str(operator), left, right, span=span_of(meta))

    def unary(self, meta: Meta, children: Children) -> sx.Unary:
        return sx.Unary(str(children[0]), children[1], span=span_of(meta))

    def number_literal(self, meta: Meta, children: Children) -> sx.Number:
        return sx.Number(children[0], span=span_of(meta))

    def string_literal(self, meta: Meta, children: Children) -> sx.String:
        return sx.String(unquote(children[0]), span=span_of(meta))

    def boolean_literal(self, meta: Meta, children: Children) -> sx.Boolean:
        return sx.Boolean(str(children[0]).upper() == "TRUE", span=span_of(meta))

    def null_literal(self, meta: Meta, children: Children) -> sx.Null:
        return sx.Null(span=span_of(meta))

    def typed_literal(self, meta: Meta, children: Children) -> sx.Typed:
        return sx.Typed(str(children[0]).lower(), unquote(children[1]), span=span_of(meta))

    def interval(self, meta: Meta, children: Children) -> sx.Interval:
        return sx.Interval(children[0], span=span_of(meta))

    def column(self, meta: Meta, children: Children) -> sx.Name:
        name: sx.Name = children[0]
        return name

    def function(self, meta: Meta, children: Children) -> tuple[str, str | None]:
        return children[0], children[1]

    def call(self, meta: Meta, children: Children) -> sx.Call:
        (name, level), *rest = children
        distinct = bool(rest) and rest[0] is not None
        return sx.Call(name, tuple(rest[1:]), level, distinct, span=span_of(meta))

    def call_star(self, meta: Meta, children: Children) -> sx.Call:
        name, level = children[0]
        return sx.Call(name, (), level, star=True, span=span_of(meta))

    def case(self, meta: Meta, children: Children) -> sx.Case:
        operand, *branches, otherwise = children
        return sx.Case(operand, tuple(branches), otherwise, span=span_of(meta))

    def when(self, meta: Meta, children: Children) -> tuple[sx.Expression, sx.Expression]:
        return children[0], children[1]

    def cast(self, meta: Meta, children: Children) -> sx.Cast:
        return sx.Cast(children[1], children[2], str(children[0]).upper() == "TRY_CAST", span=span_of(meta))

    def subquery(self, meta: Meta, children: Children) -> sx.Subquery:
        return sx.Subquery(children[0], span=span_of(meta))

    def group_of(self, meta: Meta, children: Children) -> sx.Expression:
        inner: sx.Expression = children[0]
        return replace(inner, grouped=True) if isinstance(inner, sx.And) else inner
