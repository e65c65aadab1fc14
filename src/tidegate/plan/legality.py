"""Which condition may cross which window: the one decision of Q-4, for every rule that moves a condition.

Reads: plan (expressions, windows).  Read by: optimizer, sharing, prefilter, placement.
"""

from __future__ import annotations

from tidegate.plan.expressions import Expression, RowLevel, can_fail, subqueries, walk
from tidegate.plan.windows import Range, Unbounded, Window


def may_cross(condition: Expression, window: Window) -> bool:
    """Whether a condition means the same before and after a window.

    A RANGE, NOW or UNBOUNDED window holds a tuple for reasons of its own time only, so it does not matter when the
    condition removes it. A window that counts (ROWS, PARTITIONED BY, SLIDE by rows) would count other tuples.
    A condition that reads more than the tuple, or the level of the row rather than the tuple's, never crosses.
    One that can fail crosses no window that slides: there a tuple is tested at the boundary, not when it arrives.
    """
    if not isinstance(window, Range | Unbounded) or not uses_only_the_tuple(condition):
        return False
    slides = isinstance(window, Range) and window.slide is not None
    return not (slides and can_fail(condition))


def uses_only_the_tuple(condition: Expression) -> bool:
    """Conditions before a window use nothing but the tuple itself."""
    return not any(subqueries(condition)) and not any(isinstance(node, RowLevel) for node in walk(condition))
