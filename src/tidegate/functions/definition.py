"""What a user function is: a name, typed parameters, a result type and a body in Python (Q-15).

Types go by the names of declarations and are carried as Arrow types: ``timestamp`` in microseconds UTC, ``date`` in
days.

Reads: errors, plan (types), body.  Read by: host, check.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from tidegate.errors import QueryError
from tidegate.functions.body import BodyProblem, compile_body
from tidegate.plan.types import parse_type, type_names

_ARROW: dict[str, pa.DataType] = {
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", "UTC"),
    "date": pa.date32(),
    "binary": pa.binary(),
}


def arrow_type(type_name: str) -> pa.DataType:
    """The Arrow type of a declared type; UNKNOWN_TYPE if there is none of that name.

    >>> arrow_type("decimal(10,2)")
    Decimal128Type(decimal128(10, 2))
    """
    found = parse_type(type_name)
    if found is None:
        raise QueryError("UNKNOWN_TYPE", f'type "{type_name}" does not exist', hint=f"the types are {type_names()}")
    return pa.decimal128(found.precision, found.scale) if found.name == "decimal" else _ARROW[found.name]


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    """A function as its author wrote it. The types exist; whether the body is Python, ``check_body`` tells."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    returns: str
    body: str

    def __post_init__(self) -> None:
        for type_name in (*(each for _, each in self.parameters), self.returns):
            arrow_type(type_name)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names that the body uses, in the order of the call."""
        return tuple(name for name, _ in self.parameters)

    @property
    def parameter_types(self) -> tuple[pa.DataType, ...]:
        """What the columns of a call must be."""
        return tuple(arrow_type(type_name) for _, type_name in self.parameters)

    @property
    def result_type(self) -> pa.DataType:
        """What every result is cast to."""
        return arrow_type(self.returns)


def check_body(definition: FunctionDefinition) -> BodyProblem | None:
    """What is wrong with the body as Python, or None. It is compiled and never run."""
    compiled = compile_body(definition.name, definition.parameter_names, definition.body)
    return compiled if isinstance(compiled, BodyProblem) else None
