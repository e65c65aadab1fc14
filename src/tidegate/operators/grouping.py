"""Rows by group over time, and what aggregates make of them; each argument and each sum is computed once.

Reads: plan, operators.  Read by: epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from tidegate.operators.aggregate import Sums, aggregated
from tidegate.operators.batch import Changes
from tidegate.operators.evaluate import Evaluator
from tidegate.operators.failing import Failing
from tidegate.operators.tables import first_of_each, where
from tidegate.operators.timeline import Sweep, sweep
from tidegate.operators.vector import Numbers, Vector, codes, combined_codes, representatives
from tidegate.plan.expressions import Aggregate, Expression


@dataclass(slots=True)
class Grouping:
    """The rows of a changelog by their keys: segments between one change of a group and the next."""

    changes: Changes
    keys: list[Vector]
    evaluator: Evaluator
    groups: Numbers
    spans: Sweep
    found: dict[Expression | Aggregate, Vector] = field(default_factory=dict)
    """Arguments by row, and aggregates by segment, as far as somebody has asked for them."""
    sums: dict[Expression, Sums] = field(default_factory=dict)
    _there: Numbers | slice | None = None
    _levels: Numbers | None = None
    _key_columns: tuple[Vector, ...] | None = None

    @staticmethod
    def of(changes: Changes, keys: tuple[Expression, ...], arguments: tuple[Expression, ...], evaluator: Evaluator,
           failing: Failing) -> Grouping:  # fmt: skip
        """Rows with an error in a key or an argument matter, and are left out (Q-9): first keys, then arguments."""
        values = [evaluator.evaluate(key, changes.rows) for key in keys]
        found = {
            one: evaluator.evaluate(one, changes.rows) for one in dict.fromkeys(arguments)
        }  # the first in the text
        sides = (failing.note(one, changes.enter) for one in (values, list(found.values())))
        usable = [kept for kept in sides if kept is not None]
        if usable:
            kept = reduce(np.intersect1d, usable)
            changes, values = changes.take(kept), [value.take(kept) for value in values]
            found = {argument: value.take(kept) for argument, value in found.items()}
        groups = combined_codes([codes(value) for value in values], len(changes))
        spans = sweep(groups, changes.enter, changes.leave)
        return Grouping(changes, values, evaluator, groups, spans, dict(found.items()))

    @property
    def there(self) -> Numbers | slice:
        """The segments in which the group has any row."""
        if self._there is None:
            self._there = where(self.spans.count() > 0)
        return self._there

    @property
    def levels(self) -> Numbers:
        """The lub of each segment's rows (Q-6)."""
        if self._levels is None:
            self._levels = self.spans.levels(self.changes.rows.level, self.evaluator.levels)
        return self._levels

    @property
    def key_columns(self) -> tuple[Vector, ...]:
        """The keys of the segments in which there is a row."""
        if self._key_columns is None:
            member = first_of_each(self.groups)[self.spans.group[self.there]]
            self._key_columns = tuple(representatives(key.take(member)) for key in self.keys)
        return self._key_columns

    def argument(self, expression: Expression) -> Vector:
        """The value of an expression for each row."""
        return self._once(expression, lambda: self.evaluator.evaluate(expression, self.changes.rows))

    def value(self, call: Aggregate) -> Vector:
        """The value of an aggregate in each segment."""
        return self._once(call, lambda: self._aggregated(call))

    def _aggregated(self, call: Aggregate) -> Vector:
        argument = None if call.argument is None else self.argument(call.argument)
        lifetimes = (self.changes.enter, self.changes.leave)
        sums = None if call.argument is None else self.sums.setdefault(call.argument, Sums())
        return aggregated(call, argument, self.spans, self.groups, self.evaluator, lifetimes, sums)

    def _once(self, key: Expression | Aggregate, compute: Callable[[], Vector]) -> Vector:
        if key not in self.found:
            self.found[key] = compute()
        return self.found[key]
