"""Random expressions: every form of ``syntax.Expression`` that some text parses to.

The parser flattens nested ANDs and ORs and drops parentheses, so neither stands directly inside itself here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.laws.language.random_words import RandomWords
from tidegate.language import syntax as sx

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
ARITHMETIC = ("+", "-", "*", "/", "%", "||")
SIGNS = ("+", "-")

Maker = Callable[[int], sx.Expression]


@dataclass(frozen=True, slots=True)
class RandomExpressions(RandomWords):
    """Draws expressions of at most a given depth."""

    def query(self, depth: int) -> sx.Query:
        """A query, for sub-queries; the next class knows how."""
        raise NotImplementedError

    def expression(self, depth: int) -> sx.Expression:
        """Any expression; at depth 0 one without parts."""
        if depth <= 0 or self.chance(0.3):
            return self.leaf()
        makers: tuple[Maker, ...] = (
            self._unary, self._binary, self._comparison, self._not, self._and, self._or, self._between, self._in,
            self._like, self._is_null, self._case, self._cast, self._call, self._call, self._subquery,
        )  # fmt: skip
        return self.one(makers)(depth - 1)

    def leaf(self) -> sx.Expression:
        """A name or a literal."""
        draw = self.random.random()
        if draw < 0.5:
            return self.column()
        if draw < 0.65:
            return sx.Number(self.number())
        if draw < 0.8:
            return sx.String(self.string())
        if draw < 0.86:
            return sx.Boolean(self.chance(0.5))
        if draw < 0.91:
            return sx.Null()
        if draw < 0.96:
            return sx.Typed(self.one(("date", "timestamp")), self.string())
        return sx.Interval(self.duration())

    def column(self) -> sx.Name:
        """A name of one to four parts."""
        return sx.Name(tuple(self.name() for _ in range(self.one((1, 1, 1, 2, 2, 3, 4)))))

    def condition(self, depth: int) -> sx.Expression | None:
        """A condition, or none."""
        return self.expression(depth) if self.chance(0.5) else None

    def expressions(self, depth: int, least: int = 1) -> tuple[sx.Expression, ...]:
        """One to three of them."""
        return tuple(self.expression(depth) for _ in range(self.random.randint(least, max(least, 3))))

    # ---------------------------------------------------------------- one method per node

    def _unary(self, depth: int) -> sx.Expression:
        return sx.Unary(self.one(SIGNS), self.expression(depth))

    def _binary(self, depth: int) -> sx.Expression:
        return sx.Binary(self.one(ARITHMETIC), self.expression(depth), self.expression(depth))

    def _comparison(self, depth: int) -> sx.Expression:
        sign = self.chance(0.08)
        right = sx.Sign(self.one(SIGNS)) if sign else self.expression(depth)
        return sx.Comparison(self.one(COMPARISONS), self.expression(depth), right)

    def _not(self, depth: int) -> sx.Expression:
        return sx.Not(self.expression(depth))

    def _and(self, depth: int) -> sx.Expression:
        return sx.And(self._operands(sx.And, depth), self.chance(0.5))

    def _or(self, depth: int) -> sx.Expression:
        return sx.Or(self._operands(sx.Or, depth))

    def _operands(self, unless: type[sx.Node], depth: int) -> tuple[sx.Expression, ...]:
        drawn = self.expressions(depth, least=2)
        return tuple(self.leaf() if isinstance(part, unless) else part for part in drawn)

    def _between(self, depth: int) -> sx.Expression:
        operand, low, high = (self.expression(depth) for _ in range(3))
        return sx.Between(operand, low, high, self.chance(0.3))

    def _in(self, depth: int) -> sx.Expression:
        return sx.In(self.expression(depth), self.expressions(depth), self.chance(0.3))

    def _like(self, depth: int) -> sx.Expression:
        escape = self.string() if self.chance(0.4) else None
        return sx.Like(self.expression(depth), self.expression(depth), escape, self.chance(0.3))

    def _is_null(self, depth: int) -> sx.Expression:
        return sx.IsNull(self.expression(depth), self.chance(0.5))

    def _case(self, depth: int) -> sx.Expression:
        branches = tuple((self.expression(depth), self.expression(depth)) for _ in range(self.one((1, 1, 2))))
        return sx.Case(self.condition(depth), branches, self.condition(depth))

    def _cast(self, depth: int) -> sx.Expression:
        return sx.Cast(self.expression(depth), self.type_name(), self.chance(0.4))

    def _call(self, depth: int) -> sx.Expression:
        level = self.level() if self.chance(0.15) else None
        if self.chance(0.15):
            return sx.Call(self.name(), (), level, star=True)
        if self.chance(0.1):
            return sx.Call(self.name(), (), level)
        return sx.Call(self.name(), self.expressions(depth), level, distinct=self.chance(0.2))

    def _subquery(self, depth: int) -> sx.Expression:
        return sx.Subquery(self.query(depth)) if depth > 0 else self.leaf()
