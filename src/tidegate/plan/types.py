"""The types of attributes and expressions.

``level`` is a type of its own: it compares by dominance, and nothing can be cast to it (Q-6).
``null`` is the type of a bare NULL; ``interval`` exists only between parentheses, never in a schema.

Reads: nothing.  Read by: plan, language, reference, operators.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

INT_RANGE = (-(2**31), 2**31 - 1)
BIGINT_RANGE = (-(2**63), 2**63 - 1)
MOST_DIGITS = 38


@dataclass(frozen=True, slots=True)
class Type:
    """A type by its name; only decimals have a precision and a scale."""

    name: str
    precision: int = 0
    scale: int = 0

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})" if self.name == "decimal" else self.name

    @property
    def is_integer(self) -> bool:
        """True for int and bigint."""
        return self in (INT, BIGINT)

    @property
    def is_number(self) -> bool:
        """True for everything that can be added up."""
        return self.is_integer or self.name in ("double", "decimal")


INT = Type("int")
BIGINT = Type("bigint")
DOUBLE = Type("double")
BOOLEAN = Type("boolean")
STRING = Type("string")
TIMESTAMP = Type("timestamp")
DATE = Type("date")
BINARY = Type("binary")
LEVEL = Type("level")
NULL = Type("null")
INTERVAL = Type("interval")

DECLARABLE = {t.name: t for t in (INT, BIGINT, DOUBLE, BOOLEAN, STRING, TIMESTAMP, DATE, BINARY)}
_DECIMAL = re.compile(r"decimal\s*\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)", re.IGNORECASE)


def decimal(precision: int, scale: int) -> Type:
    """A decimal of at most 38 digits; arithmetic that needs more keeps as many as fit."""
    return Type("decimal", min(precision, MOST_DIGITS), min(scale, MOST_DIGITS))


def parse_type(text: str) -> Type | None:
    """The type that a declaration names, or None.

    >>> str(parse_type("Decimal(10, 2)"))
    'decimal(10,2)'
    """
    if match := _DECIMAL.fullmatch(text.strip()):
        precision, scale = int(match[1]), int(match[2])
        return decimal(precision, scale) if 1 <= precision <= MOST_DIGITS and scale <= precision else None
    return DECLARABLE.get(text.strip().lower())


def type_names() -> str:
    """All types as a hint lists them."""
    return ", ".join([*DECLARABLE, "decimal(p,s)"])


def common_type(left: Type, right: Type) -> Type | None:
    """The type that holds both sides of a comparison, a CASE or a union; None where there is none.

    >>> str(common_type(INT, decimal(5, 2)))
    'decimal(12,2)'
    """
    if left == right or right == NULL:
        return left
    if left == NULL:
        return right
    if left.is_number and right.is_number:
        return _common_number(left, right)
    if {left, right} == {DATE, TIMESTAMP}:
        return TIMESTAMP
    return None


def _common_number(left: Type, right: Type) -> Type:
    if DOUBLE in (left, right):
        return DOUBLE
    if left.is_integer and right.is_integer:
        return BIGINT
    a, b = as_decimal(left), as_decimal(right)
    scale = max(a.scale, b.scale)
    return decimal(max(a.precision - a.scale, b.precision - b.scale) + scale, scale)


def as_decimal(number: Type) -> Type:
    """The decimal that holds every value of an exact number type."""
    return {INT: decimal(10, 0), BIGINT: decimal(19, 0)}.get(number, number)


def arithmetic_type(operator: str, left: Type, right: Type) -> Type | None:
    """The type of ``left operator right``; integers are 64-bit whatever their declared width (Q-7)."""
    if not (left.is_number and right.is_number):
        return None
    if DOUBLE in (left, right):
        return DOUBLE
    if left.is_integer and right.is_integer:
        return BIGINT
    return _decimal_arithmetic(operator, as_decimal(left), as_decimal(right))


def _decimal_arithmetic(operator: str, a: Type, b: Type) -> Type:
    if operator == "*":
        return _shrink(a.precision + b.precision + 1, a.scale + b.scale)
    if operator == "/":
        scale = max(6, a.scale + b.precision + 1)
        return _shrink(a.precision - a.scale + b.scale + scale, scale)
    scale = max(a.scale, b.scale)
    return decimal(max(a.precision - a.scale, b.precision - b.scale) + scale + 1, scale)


def _shrink(precision: int, scale: int) -> Type:
    """Give up places after the point before giving up places before it, but keep six."""
    if precision <= MOST_DIGITS:
        return decimal(precision, scale)
    return decimal(MOST_DIGITS, max(min(scale, 6), scale - (precision - MOST_DIGITS)))
