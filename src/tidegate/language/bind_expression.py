"""Expressions: from names and words to columns and types.

One binder serves one place of a query. The places differ in three things only: what a bare ``level`` means there
(Q-6), whether sub-queries may stand there (Q-4), and whether a whole expression has a meaning of its own there
(a group key or an aggregate).

Reads: errors, catalog, plan, security, language.  Read by: language.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tidegate.catalog import Catalog
from tidegate.errors import QueryError
from tidegate.language import literals
from tidegate.language import syntax as sx
from tidegate.language.bind_call import bind_call
from tidegate.language.coerce import boolean, comparable, mismatch, unify, widen
from tidegate.language.scope import Scope
from tidegate.plan import expressions as ex
from tidegate.plan.nodes import PANES, QueryPlan
from tidegate.plan.schema import same_name
from tidegate.plan.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTERVAL,
    LEVEL,
    NULL,
    STRING,
    TIMESTAMP,
    Type,
    arithmetic_type,
    parse_type,
    type_names,
)
from tidegate.security.lattice import Level
from tidegate.text import Span

TUPLE, ROW, UNCLEAR = "the tuple's", "the row's", "unclear"


@dataclass(frozen=True)
class Context:
    """What binding needs to know besides the text: what exists, who asks, how to bind a sub-query."""

    catalog: Catalog
    asker: Level
    bind_query: Callable[[sx.Query], QueryPlan]


@dataclass(frozen=True)
class ExpressionBinder:
    """Binds the expressions of one place."""

    context: Context
    scope: Scope
    level_is: str = TUPLE
    subqueries: bool = True
    special: Callable[[sx.Expression], ex.Expression | None] | None = None

    def condition(self, node: sx.Expression, what: str = "a condition") -> ex.Expression:
        """An expression that must be true or false."""
        return boolean(self.bind(node), what)

    def bind(self, node: sx.Expression) -> ex.Expression:
        """Any expression."""
        if self.special and (meant := self.special(node)) is not None:
            return meant
        match node:
            case sx.Name():
                return self._name(node)
            case sx.Unary() | sx.Binary():
                return self._arithmetic(node)
            case sx.Not() | sx.And() | sx.Or():
                return self._logic(node)
            case sx.Comparison(operator, left, right):
                return self._compare(operator, left, right, node.span)
            case sx.Between() | sx.In() | sx.Like() | sx.IsNull():
                return self._test(node)
            case sx.Case():
                return self._case(node)
            case sx.Cast():
                return self._cast(node)
            case sx.Call():
                return bind_call(self, node)
            case sx.Subquery(query):
                return self._subquery(query, node.span)
            case _:
                return _literal(node)

    # ---------------------------------------------------------------- names

    def _name(self, node: sx.Name) -> ex.Expression:
        if len(node.parts) == 1 and same_name(node.parts[0], "level"):
            return self._level(node)
        return self.scope.resolve(node)

    def _level(self, node: sx.Name) -> ex.Expression:
        if self.level_is == ROW:
            return ex.RowLevel(span=node.span)
        if self.level_is == UNCLEAR:
            aliases = [f"{part.alias}.level" for part in self.scope.parts if part.alias]
            raise QueryError("LEVEL_AMBIGUOUS", "each joined tuple has a level of its own", node.span,
                             f"write {' or '.join(aliases)}")  # fmt: skip
        return self.scope.resolve(node)

    # ---------------------------------------------------------------- logic

    def _logic(self, node: sx.Not | sx.And | sx.Or) -> ex.Expression:
        match node:
            case sx.Not(operand):
                return ex.Not(self.condition(operand, "NOT"), span=node.span)
            case sx.And(operands):
                return self._and(node, operands)
            case sx.Or(operands):
                return self._or(node, operands)

    def _and(self, node: sx.And, operands: tuple[sx.Expression, ...]) -> ex.Expression:
        for operand in operands:
            if self._is_bare(operand):
                raise _mixed(operand.span)
        return ex.And(tuple(self.condition(part, "AND") for part in operands), span=node.span)

    def _or(self, node: sx.Or, operands: tuple[sx.Expression, ...]) -> ex.Expression:
        """A bare literal right of OR takes the left side of the comparison before it (Q-4)."""
        chains: list[list[sx.Expression]] = []
        for operand in operands:
            if chains and self._is_bare(operand):
                if not isinstance(chains[-1][0], sx.Comparison) or any(_is_open_and(other) for other in operands):
                    raise _mixed(operand.span)
                chains[-1].append(operand)
            else:
                chains.append([operand])
        parts = [part for chain in chains for part in self._chain(chain)]
        return parts[0] if len(parts) == 1 else ex.Or(tuple(parts), span=node.span)

    def _chain(self, chain: list[sx.Expression]) -> list[ex.Expression]:
        """``a = 1 OR 2 OR 3``: the left side once, compared with each."""
        first, *more = chain
        if not more or not isinstance(first, sx.Comparison):
            return [self.condition(first, "OR")]
        span = first.span.to(more[-1].span)
        left, *values = self.operands((first.left, first.right, *more), span, "OR", comparing=True)
        if first.operator == "=":
            return [ex.In(left, tuple(values), span=span)]
        return [ex.Compare(first.operator, left, value, span=value.span) for value in values]

    def _is_bare(self, node: sx.Expression) -> bool:
        """Numbers, strings and level names alone are no conditions, so after OR they are a shorthand."""
        if isinstance(node, sx.Unary):
            return self._is_bare(node.operand)
        return isinstance(node, sx.Number | sx.String | sx.Typed | sx.Sign) or self._is_level_word(node)

    def _is_level_word(self, node: sx.Expression) -> bool:
        if not isinstance(node, sx.Name) or len(node.parts) != 1 or same_name(node.parts[0], "level"):
            return False
        return self.context.catalog.lattice.knows(node.parts[0]) and not self.scope.matches(node)

    # ---------------------------------------------------------------- comparisons

    def operands(
        self, nodes: tuple[sx.Expression, ...], span: Span, what: str, comparing: bool = False
    ) -> list[ex.Expression]:
        """Expressions of one type; beside a level, strings and bare words are levels.

        Exact numbers compare as they are: a common decimal of 38 digits might be too narrow for both.
        """
        bound = [
            None if isinstance(node, sx.String) or self._is_level_word(node) else self._maybe(node) for node in nodes
        ]
        if any(entry is not None and entry.type == LEVEL for entry in bound):
            return [self._as_level(node, entry, what) for node, entry in zip(nodes, bound, strict=True)]
        found = [entry or self.bind(node) for node, entry in zip(nodes, bound, strict=True)]
        return comparable(found, span, what) if comparing else unify(found, span, what)

    def _maybe(self, node: sx.Expression) -> ex.Expression | None:
        """None for a lone name that is no column: beside a level it is a misspelt level, else an error of its own."""
        lone = isinstance(node, sx.Name) and len(node.parts) == 1 and not same_name(node.parts[0], "level")
        if lone and self.special is None and isinstance(node, sx.Name) and not self.scope.matches(node):
            return None
        return self.bind(node)

    def _as_level(self, node: sx.Expression, bound: ex.Expression | None, what: str) -> ex.Expression:
        if bound is not None and bound.type == LEVEL:
            return bound
        if bound is not None and bound.type == NULL:
            return widen(bound, LEVEL)
        lattice = self.context.catalog.lattice
        if isinstance(node, sx.String):
            return literals.level(node.value, node.span, lattice)
        if isinstance(node, sx.Name) and len(node.parts) == 1 and (bound is None or lattice.knows(node.parts[0])):
            return literals.level(node.parts[0], node.span, lattice)
        raise mismatch(LEVEL, bound.type if bound else STRING, node.span, what)

    def _compare(self, operator: str, left: sx.Expression, right: sx.Expression, span: Span) -> ex.Expression:
        a, b = self.operands((left, right), span, f'"{operator}"', comparing=True)
        if a.type == INTERVAL:
            raise QueryError(
                "TYPE_MISMATCH", "intervals cannot be compared", span, "add them to a timestamp and compare that"
            )
        return ex.Compare(operator, a, b, span=span)

    def _test(self, node: sx.Between | sx.In | sx.Like | sx.IsNull) -> ex.Expression:
        bound = self._positive_test(node)
        return ex.Not(bound, span=node.span) if node.negated else bound

    def _positive_test(self, node: sx.Between | sx.In | sx.Like | sx.IsNull) -> ex.Expression:
        match node:
            case sx.Between(operand, low, high):
                value, bottom, top = self.operands((operand, low, high), node.span, "BETWEEN", True)
                return ex.Between(value, bottom, top, span=node.span)
            case sx.In(operand, options):
                value, *rest = self.operands((operand, *options), node.span, "IN", comparing=True)
                return ex.In(value, tuple(rest), span=node.span)
            case sx.Like(operand, pattern, escape):
                return self._like(node, self.bind(operand), self.bind(pattern), escape)
            case sx.IsNull(operand):
                return ex.IsNull(self.bind(operand), span=node.span)

    def _like(self, node: sx.Like, value: ex.Expression, pattern: ex.Expression, escape: str | None) -> ex.Expression:
        for entry in (value, pattern):
            if entry.type not in (STRING, NULL):
                raise QueryError("TYPE_MISMATCH", f"LIKE compares strings, not a {entry.type}", entry.span)
        if escape is not None and len(escape) != 1:
            raise QueryError("BAD_LITERAL", "ESCAPE takes one character", node.span)
        return ex.Like(widen(value, STRING), widen(pattern, STRING), escape, span=node.span)

    # ---------------------------------------------------------------- arithmetic and the rest

    def _arithmetic(self, node: sx.Unary | sx.Binary) -> ex.Expression:
        if isinstance(node, sx.Binary):
            return self._binary(node)
        if isinstance(node.operand, sx.Number):
            return literals.number(replace(node.operand, span=node.span), negative=node.operator == "-")
        operand = self.bind(node.operand)
        if not (operand.type.is_number or operand.type == NULL):
            raise QueryError("TYPE_MISMATCH", f'"{node.operator}" needs a number, not a {operand.type}', node.span)
        kind = arithmetic_type("-", operand.type, operand.type) if operand.type.is_integer else operand.type
        if node.operator == "+" or kind is None:
            return operand
        return ex.Negate(widen(operand, kind), type=kind, span=node.span)

    def _binary(self, node: sx.Binary) -> ex.Expression:
        left, right = self.bind(node.left), self.bind(node.right)
        if node.operator == "||":
            return self._concatenation(node, left, right)
        if INTERVAL in (left.type, right.type):
            return _moved_time(node, left, right)
        if left.type.is_number or right.type.is_number or left.type == right.type == NULL:
            if "decimal" in (left.type.name, right.type.name):
                left, right = (
                    unify([left, right], node.span, f'"{node.operator}"')
                    if NULL in (left.type, right.type)
                    else _exact(left, right)
                )
            kind = arithmetic_type(node.operator, *_not_null(left.type, right.type))
            if kind is not None:
                return _arithmetic(node, left, right, kind)
        raise mismatch(left.type, right.type, node.span, f'"{node.operator}"')

    def _concatenation(self, node: sx.Binary, left: ex.Expression, right: ex.Expression) -> ex.Expression:
        for entry in (left, right):
            if entry.type not in (STRING, NULL):
                raise QueryError(
                    "TYPE_MISMATCH", f'"||" joins strings, not a {entry.type}', entry.span, "write CAST(… AS string)"
                )
        return ex.Function("CONCAT", (widen(left, STRING), widen(right, STRING)), type=STRING, span=node.span)

    def _case(self, node: sx.Case) -> ex.Expression:
        operand, tests = self._tests(node)
        results = self.operands((*(then for _, then in node.branches), node.otherwise or sx.Null()), node.span, "CASE")
        branches = tuple(zip(tests, results[:-1], strict=True))
        return ex.Case(operand, branches, results[-1], type=results[-1].type, span=node.span)

    def _tests(self, node: sx.Case) -> tuple[ex.Expression | None, list[ex.Expression]]:
        """The conditions of CASE WHEN, or the operand of CASE x WHEN with what it is compared to."""
        tests = tuple(test for test, _ in node.branches)
        if node.operand is None:
            return None, [self.condition(test, "WHEN") for test in tests]
        operand, *values = self.operands((node.operand, *tests), node.span, "CASE", comparing=True)
        return operand, values

    def _cast(self, node: sx.Cast) -> ex.Expression:
        kind = self.type_named(node.type_name, node.span)
        operand = self.bind(node.operand)
        if not castable(operand.type, kind):
            raise QueryError("TYPE_MISMATCH", f"a {operand.type} cannot be cast to {kind}", node.span)
        return ex.Cast(operand, node.safe, type=kind, span=node.span)

    def type_named(self, text: str, span: Span) -> Type:
        """A type by its name."""
        kind = parse_type(text)
        if kind is None:
            if same_name(text, "level"):
                raise QueryError("LEVEL_NOT_ASSIGNABLE", "nothing can be made a level", span)
            raise QueryError("UNKNOWN_TYPE", f'"{text}" is not a type', span, f"types: {type_names()}")
        return kind

    def _subquery(self, query: sx.Query, span: Span) -> ex.Expression:
        if not self.subqueries:
            raise QueryError("SUBQUERY_NOT_ALLOWED", "a condition before a window uses the tuple only", span,
                             "write the condition after a window")  # fmt: skip
        plan = self.context.bind_query(query)
        if plan.emit == PANES:
            raise QueryError("BAD_PANES", "a pane is emitted once and then forgotten: it has no value in between", span,
                             "derive a stream from it, and read that under a window")  # fmt: skip
        if len(plan.columns) != 1:
            raise QueryError("SUBQUERY_COLUMNS", "a sub-query in an expression has one column", span)
        return ex.ScalarSubquery(plan, type=plan.columns[0].type, span=span)


def _is_open_and(node: sx.Expression) -> bool:
    """A conjunction without parentheses of its own."""
    return isinstance(node, sx.And) and not node.grouped


def _mixed(span: Span) -> QueryError:
    return QueryError("MIXED_SHORTHAND", "it is unclear what this is compared with", span,
                      "write the comparison in full, or put parentheses around the OR")  # fmt: skip


def _literal(node: sx.Expression) -> ex.Expression:
    match node:
        case sx.Number():
            return literals.number(node)
        case sx.String():
            return literals.string(node)
        case sx.Boolean(value):
            return ex.Literal(value, type=BOOLEAN, span=node.span)
        case sx.Typed():
            return literals.typed(node)
        case sx.Interval(microseconds):
            return ex.Literal(microseconds, type=INTERVAL, span=node.span)
        case sx.Sign():
            raise QueryError("SYNTAX_ERROR", f'a value is missing after "{node.value}"', node.span)
        case _:
            return ex.Literal(None, type=NULL, span=node.span)


def _not_null(left: Type, right: Type) -> tuple[Type, Type]:
    known = left if left != NULL else right if right != NULL else DOUBLE
    return (known if left == NULL else left), (known if right == NULL else right)


def _exact(left: ex.Expression, right: ex.Expression) -> tuple[ex.Expression, ex.Expression]:
    """A number literal beside a decimal is exact."""
    a = literals.exact(left) if isinstance(left, ex.Literal) else left
    return a, literals.exact(right) if isinstance(right, ex.Literal) else right


def _arithmetic(node: sx.Binary, left: ex.Expression, right: ex.Expression, kind: Type) -> ex.Expression:
    """Decimals keep their own scales as operands; everything else is widened to the result's type."""
    if kind.name != "decimal":
        left, right = widen(left, kind), widen(right, kind)
    return ex.Arithmetic(node.operator, left, right, type=kind, span=node.span)


def _moved_time(node: sx.Binary, left: ex.Expression, right: ex.Expression) -> ex.Expression:
    swapped = left.type == INTERVAL and node.operator == "+"
    moment, interval = (right, left) if swapped else (left, right)
    if moment.type not in (TIMESTAMP, DATE) or interval.type != INTERVAL or node.operator not in ("+", "-"):
        raise QueryError("TYPE_MISMATCH", "an interval can be added to a timestamp or taken from it", node.span)
    return ex.Arithmetic(node.operator, widen(moment, TIMESTAMP), interval, type=TIMESTAMP, span=node.span)


def castable(source: Type, target: Type) -> bool:
    """Which CASTs have a meaning; whether a value survives one is another question."""
    if target == STRING or source in (target, STRING, NULL):
        return source.name not in ("interval", "binary") or source == target
    if source.is_number or source == BOOLEAN:
        return target.is_number or target == BOOLEAN
    return {source, target} == {DATE, TIMESTAMP}
