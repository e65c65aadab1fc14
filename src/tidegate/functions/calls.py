"""Calling the functions of a plan, in a child process of the calling query's level (Q-15).

The reference calls a row at a time, kernels a column at a time; a row's value, or that it has none, is the same.

Reads: functions, plan, scalars, values.  Read by: reference, engine.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

import pyarrow as pa

from tidegate.functions.definition import FunctionDefinition
from tidegate.functions.host import FunctionHost
from tidegate.plan.expressions import UserFunction
from tidegate.scalars.casts import DAY
from tidegate.scalars.values import Failure
from tidegate.security.lattice import Level
from tidegate.values import FIRST_TIMESTAMP, LAST_TIMESTAMP


class Hosts:
    """One host per level; closing them leaves no process behind."""

    def __init__(self) -> None:
        self._hosts: dict[Level, FunctionHost] = {}

    def __enter__(self) -> Hosts:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End every child; a call starts a new one."""
        for host in self._hosts.values():
            host.close()

    def at(self, level: Level) -> Callable[[UserFunction, list[object]], object]:
        """How a query of this level calls functions for one row."""
        many = self.columns_at(level)
        return lambda node, values: many(node, [[value] for value in values], 1)[0]

    def columns_at(self, level: Level) -> Callable[[UserFunction, list[list[object]], int], list[object]]:
        """How a query of this level calls functions for many rows: one value or Failure for each."""
        host = self._hosts.setdefault(level, FunctionHost())

        def call(node: UserFunction, arguments: list[list[object]], rows: int) -> list[object]:
            definition = FunctionDefinition(node.name, node.parameters, node.returns, node.body)
            kinds = definition.parameter_types
            columns = [pa.array(values, kind) for values, kind in zip(arguments, kinds, strict=True)]
            failed = Failure("FUNCTION_FAILED", f'function "{node.name}" failed', node.span)
            found = [failed if value is _FAILED else value for value in _values(host, definition, columns, rows)]
            return [value if _is_possible(value, node.returns) else failed for value in found]

        return call


_FAILED = object()


def _values(host: FunctionHost, definition: FunctionDefinition, columns: list[pa.Array], rows: int) -> list[object]:
    """The value of each row. After one that fails, few rows are sent at first: failures often come together."""
    found: list[object] = []
    step = rows
    while len(found) < rows:
        start, count = len(found), min(step, rows - len(found))
        beginning = host.call_until_failure(definition, [column[start : start + count] for column in columns], count)
        found += _plain(beginning.values)
        step = 2 * step
        if beginning.failure is not None:
            found.append(_FAILED)
            step = 1
    return found


def _is_possible(value: object, type_name: str) -> bool:
    """Dates and timestamps lie in the years 1 to 9999, whatever 32 or 64 bits could say."""
    unit = {"date": DAY, "timestamp": 1}.get(type_name)
    if unit is None or not isinstance(value, int):
        return True
    return FIRST_TIMESTAMP <= value * unit <= LAST_TIMESTAMP


def _plain(column: pa.Array) -> list[object]:
    """Dates as days and timestamps as microseconds, as everywhere here; the rest as Python has it."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    elif pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    values: list[object] = column.to_pylist()
    return values
