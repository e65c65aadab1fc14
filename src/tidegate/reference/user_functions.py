"""Calling user functions a row at a time, in a child process of the calling query's level (Q-15).

Reads: functions, plan, reference.  Read by: replay.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

import pyarrow as pa

from tidegate.functions.definition import FunctionDefinition
from tidegate.functions.failure import FunctionFailed
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
        for host in self._hosts.values():
            host.close()

    def at(self, level: Level) -> Callable[[UserFunction, list[object]], object]:
        """How a query of this level calls functions."""
        host = self._hosts.setdefault(level, FunctionHost())

        def call(node: UserFunction, values: list[object]) -> object:
            definition = FunctionDefinition(node.name, node.parameters, node.returns, node.body)
            columns = [pa.array([value], kind) for value, kind in zip(values, definition.parameter_types, strict=True)]
            failed = Failure("FUNCTION_FAILED", f'function "{node.name}" failed', node.span)
            try:
                value = _value(host.call(definition, columns, 1))
            except FunctionFailed:
                return failed
            return value if _is_possible(value, node.returns) else failed

        return call


def _is_possible(value: object, type_name: str) -> bool:
    """Dates and timestamps lie in the years 1 to 9999, whatever 32 or 64 bits could say."""
    unit = {"date": DAY, "timestamp": 1}.get(type_name)
    if unit is None or not isinstance(value, int):
        return True
    return FIRST_TIMESTAMP <= value * unit <= LAST_TIMESTAMP


def _value(column: pa.Array) -> object:
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.int64())[0].as_py()
    return column.cast(pa.int32())[0].as_py() if pa.types.is_date32(column.type) else column[0].as_py()
