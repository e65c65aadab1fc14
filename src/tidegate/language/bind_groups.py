"""GROUP BY and aggregates: which expressions of SELECT and HAVING are keys, which are aggregates.

Reads: errors, plan, language.  Read by: bind_select.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tidegate.errors import QueryError
from tidegate.language import syntax as sx
from tidegate.language.bind_expression import ROW, Context, ExpressionBinder
from tidegate.language.build import whole
from tidegate.language.parser import children
from tidegate.language.scope import Scope
from tidegate.plan import expressions as ex
from tidegate.plan.describe import describe
from tidegate.plan.functions import AGGREGATES, aggregate_type
from tidegate.plan.schema import same_name
from tidegate.plan.types import BIGINT, DOUBLE, NULL


def has_aggregate(node: sx.Node) -> bool:
    """Whether an aggregate stands in an expression, sub-queries not entered."""
    if isinstance(node, sx.Call) and node.name.upper() in AGGREGATES:
        return True
    return not isinstance(node, sx.Subquery) and any(has_aggregate(child) for child in children(node))


def has_subquery(node: sx.Node) -> bool:
    """Whether a sub-query stands in an expression."""
    return isinstance(node, sx.Subquery) or any(has_subquery(child) for child in children(node))


def pane_seconds(group: tuple[sx.GroupItem, ...], scope: Scope) -> int | None:
    """C of ``GROUP BY time/c``, where ``time`` is the system's and nothing else is grouped by time."""
    found = [seconds for item in group if (seconds := _over_time(item.expression, scope)) is not None]
    if len(found) > 1:
        raise QueryError("BAD_PANES", "a query has one time/c", group[0].span)
    return found[0] if found else None


def _over_time(node: sx.Expression, scope: Scope) -> int | None:
    match node:
        case sx.Binary("/", sx.Name(parts) as name, sx.Number(text)) if same_name(parts[-1], "time"):
            matches = scope.matches(name)
            if len(matches) != 1 or not matches[0][0].schema[matches[0][1]].hidden:
                return None
            if not text.isdecimal() or not 1 <= whole(text, 0) <= 10**9:
                raise QueryError(
                    "BAD_PANES", "panes are whole seconds, at least 1", node.span, "write for example time/60"
                )
            return int(text)
        case _:
            return None


@dataclass(frozen=True)
class Grouping:
    """The keys of a query, and the aggregates found while its SELECT list is bound."""

    context: Context
    scope: Scope
    items: tuple[sx.GroupItem, ...]
    keys: tuple[ex.Expression, ...]
    inner: ExpressionBinder
    calls: list[ex.Aggregate] = field(default_factory=list)

    @classmethod
    def bind(cls, items: tuple[sx.GroupItem, ...], context: Context, scope: Scope, level_is: str) -> Grouping:
        """Bind the keys over the rows that are grouped."""
        inner = ExpressionBinder(context, scope, level_is)
        for item in items:
            _check_key(item)
        return cls(context, scope, items, tuple(inner.bind(item.expression) for item in items), inner)

    def binder(self) -> ExpressionBinder:
        """The binder of SELECT and HAVING, where a row is a group."""
        return ExpressionBinder(self.context, self.scope, ROW, special=self._special)

    def _special(self, node: sx.Expression) -> ex.Expression | None:
        if isinstance(node, sx.Name) and len(node.parts) == 1:
            if (alias := self._by_alias(node)) is not None:
                return alias
            if same_name(node.parts[0], "level"):
                return None
        if isinstance(node, sx.Call) and node.name.upper() in AGGREGATES:
            return self._aggregate(node)
        if (key := self._by_key(node)) is not None:
            return key
        if isinstance(node, sx.Name) and self.inner.scope.matches(node):
            raise self._not_grouped(node)
        return None

    def _by_alias(self, node: sx.Name) -> ex.Expression | None:
        named = (n for n, item in enumerate(self.items) if item.alias and same_name(item.alias, node.parts[0]))
        return next((self._key_column(n, node) for n in named), None)

    def _by_key(self, node: sx.Expression) -> ex.Expression | None:
        """A sub-expression that is one of the keys."""
        if not self.keys or has_aggregate(node) or isinstance(node, sx.Number | sx.String | sx.Null | sx.Boolean):
            return None
        if has_subquery(node) and not any(has_subquery(item.expression) for item in self.items):
            return None  # no key has one, and binding it again would double the work at every level of nesting
        try:
            bound = self.inner.bind(node)
        except QueryError:
            return None
        return self._key_column(self.keys.index(bound), node) if bound in self.keys else None

    def _key_column(self, number: int, node: sx.Expression) -> ex.Expression:
        key = self.keys[number]
        return ex.Column(number, describe(key), type=key.type, span=node.span)

    def _not_grouped(self, node: sx.Name) -> QueryError:
        name = ".".join(node.parts)
        return QueryError("NOT_GROUPED", f'column "{name}" is neither grouped nor aggregated', node.span,
                          f"add it to GROUP BY, or aggregate it, for example MAX({name})")  # fmt: skip

    def _aggregate(self, node: sx.Call) -> ex.Expression:
        call = self._call(node)
        if call not in self.calls:
            self.calls.append(call)
        number = self.calls.index(call)
        return ex.Column(len(self.keys) + number, f"{call.name}(…)", type=call.type, span=node.span)

    def _call(self, node: sx.Call) -> ex.Aggregate:
        name = node.name.upper()
        if node.star:
            if name != "COUNT":
                raise QueryError("WRONG_ARGUMENTS", f"{name} needs an expression, not *", node.span)
            return ex.Aggregate("COUNT", None, BIGINT, span=node.span)
        if len(node.arguments) != 1:
            raise QueryError("WRONG_ARGUMENTS", f"{name} takes one argument", node.span)
        if node.distinct and name != "COUNT":
            raise QueryError("NOT_SUPPORTED", f"{name} over DISTINCT values is not part of the language", node.span,
                             "only COUNT(DISTINCT x) is")  # fmt: skip
        argument = ExpressionBinder(self.context, self.scope, ROW).bind(node.arguments[0])
        return self._typed(name, node, argument)

    def _typed(self, name: str, node: sx.Call, argument: ex.Expression) -> ex.Aggregate:
        if name in ("MIN", "MAX") and argument.type.name == "level":
            raise QueryError("LEVEL_AGGREGATE", "levels have no minimum or maximum", node.span, "write LUB(level)")
        kind = aggregate_type(name, argument.type)
        if kind is None:
            raise QueryError("WRONG_ARGUMENTS", f"{name} does not take a {argument.type}", node.span)
        return ex.Aggregate(name, argument, DOUBLE if kind == NULL else kind, node.distinct, span=node.span)


def _check_key(item: sx.GroupItem) -> None:
    if item.alias is not None and same_name(item.alias, "level"):
        raise QueryError("LEVEL_NOT_ASSIGNABLE", "nothing can be named level", item.span)
    if isinstance(item.expression, sx.Number):
        raise QueryError(
            "NOT_SUPPORTED", "GROUP BY a number is not part of the language", item.span, "repeat the expression"
        )
    if has_aggregate(item.expression):
        raise QueryError("AGGREGATE_NOT_ALLOWED", "an aggregate cannot be a group key", item.span)
