"""Is a function deterministic and row-wise? Ask it the same in different cuts (Q-15).

What is compared is compared to the bit; any NaN equals any other. A function may fail on a row (overflow does), but
then on that row alone as well, and only there. A verdict is about the rows tried: it finds mistakes, it proves nothing.

Reads: definition, failure, host, limits.  Read by: cli.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import cycle
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidegate.functions.definition import FunctionDefinition
from tidegate.functions.failure import FunctionFailed, Reason
from tidegate.functions.host import FunctionHost
from tidegate.functions.limits import DEFAULT, Limits

ROWS_WITHOUT_COLUMNS = 16
UNEVEN = (2, 1, 5, 3, 8)
OF_A_ROW = (Reason.RAISED, Reason.WRONG_TYPE)  # what one row may do without ending the check


class Finding(Enum):
    """What the rows tried have shown."""

    SOUND = "deterministic and row-wise on the rows tried"
    NOT_DETERMINISTIC = "not deterministic: the same rows gave different results"
    NOT_ROW_WISE = "not row-wise: a row's result depends on the rows around it"
    FAILED = "no verdict: the function failed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The finding, the first row that shows it, on how many rows the function failed, and the reason of the first."""

    finding: Finding
    row: int | None = None
    failing: int = 0
    reason: Reason | None = None

    @property
    def is_sound(self) -> bool:
        """True if nothing speaks against using the function."""
        return self.finding is Finding.SOUND

    def __str__(self) -> str:
        failed = f"; it failed on {self.failing} of them: {self.reason.value}" if self.failing and self.reason else ""
        return f"{self.finding.value}{f' (row {self.row + 1})' if self.row is not None else ''}{failed}"


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What one call gave: values or a reason, never both."""

    values: Any = None
    reason: Reason | None = None


def check(definition: FunctionDefinition, columns: Sequence[pa.Array], limits: Limits = DEFAULT) -> Verdict:
    """Call it row by row, in uneven pieces and on the whole, in two processes, and compare."""
    rows = len(columns[0]) if columns else ROWS_WITHOUT_COLUMNS
    if not rows:
        raise ValueError("there are no rows to try the function on")
    with FunctionHost(limits) as first, FunctionHost(limits) as second:
        alone = []
        for row in range(rows):
            outcome = _try(first, definition, columns, row, 1)
            if outcome.reason is not None and outcome.reason not in OF_A_ROW:
                return Verdict(Finding.FAILED, row, 1, outcome.reason)
            alone.append(outcome)
        return _judge(definition, columns, alone, (first, second))


def _judge(
    definition: FunctionDefinition,
    columns: Sequence[pa.Array],
    alone: list[_Outcome],
    hosts: tuple[FunctionHost, FunctionHost],
) -> Verdict:
    """Compare larger cuts with what each row gave alone."""
    kept = [row for row, outcome in enumerate(alone) if outcome.reason is None]
    reasons = [outcome.reason for outcome in alone if outcome.reason is not None]
    failed = (len(reasons), reasons[0] if reasons else None)
    if reasons and not kept:
        return Verdict(Finding.FAILED, 0, *failed)
    good = [column.take(pa.array(kept, pa.int64())) for column in columns]
    found = _compare(definition, good, [alone[row] for row in kept], hosts)
    if found is not None:
        return Verdict(found[0], kept[found[1]], *failed)
    if reasons and _try(hosts[0], definition, columns, 0, len(alone)).reason is None:
        return Verdict(Finding.NOT_ROW_WISE, None, *failed)
    return Verdict(Finding.SOUND, None, *failed)


def _compare(
    definition: FunctionDefinition,
    columns: Sequence[pa.Array],
    alone: list[_Outcome],
    hosts: tuple[FunctionHost, FunctionHost],
) -> tuple[Finding, int] | None:
    """The first finding against the function and its row, over rows that are all well by themselves."""
    rows = len(alone)
    whole, again = (_try(host, definition, columns, 0, rows) for host in hosts)
    uneven = [_try(hosts[1], definition, columns, start, count) for start, count in _uneven(rows)]
    for finding, other in (
        (Finding.NOT_DETERMINISTIC, again),
        (Finding.NOT_ROW_WISE, _joined(alone)),
        (Finding.NOT_ROW_WISE, _joined(uneven)),
    ):
        row = _first_difference(whole, other)
        if row is not None:
            return finding, row
    return None


def _try(
    host: FunctionHost, definition: FunctionDefinition, columns: Sequence[pa.Array], start: int, count: int
) -> _Outcome:
    try:
        return _Outcome(host.call(definition, [column[start : start + count] for column in columns], count))
    except FunctionFailed as failed:
        return _Outcome(reason=failed.reason)


def _uneven(rows: int) -> Iterator[tuple[int, int]]:
    start = 0
    for size in cycle(UNEVEN):
        if start >= rows:
            return
        yield start, min(size, rows - start)
        start += size


def _joined(outcomes: Sequence[_Outcome]) -> _Outcome:
    """The pieces as one column, or the first failure among them."""
    failures = [outcome for outcome in outcomes if outcome.reason is not None]
    return failures[0] if failures else _Outcome(pa.concat_arrays([outcome.values for outcome in outcomes]))


def _first_difference(left: _Outcome, right: _Outcome) -> int | None:
    """The first row in which two columns are not the same bits; row 0 if only one of them failed."""
    if left.reason is not None or right.reason is not None:
        return None if left.reason is right.reason else 0
    nulls = pc.xor(left.values.is_null(), right.values.is_null())
    values = pc.fill_null(pc.not_equal(_bits(left.values), _bits(right.values)), False)
    found: int = pc.index(pc.or_(nulls, values), True).as_py()
    return None if found < 0 else found


def _bits(column: pa.Array) -> pa.Array:
    """Doubles as integers, so that 0.0 and -0.0 differ and NaN equals NaN."""
    if column.type != pa.float64():
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(math.nan), column).view(pa.int64())
