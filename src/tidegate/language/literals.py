"""Literals: from what is written to a value of a type.

A literal takes the type that its neighbour asks for: ``'2024-01-31'`` beside a date is a date, ``1.5`` beside a
decimal is exact. What its type cannot hold is an error at once, not when the query runs.

Reads: errors, values, plan, security.  Read by: language.
"""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import islice

from tidegate.errors import QueryError
from tidegate.language import syntax as sx
from tidegate.plan.expressions import Literal
from tidegate.plan.types import (
    BIGINT,
    BIGINT_RANGE,
    DATE,
    DOUBLE,
    INT,
    INT_RANGE,
    LEVEL,
    STRING,
    TIMESTAMP,
    Type,
    decimal,
)
from tidegate.security.lattice import Lattice
from tidegate.text import Span, did_you_mean, listed
from tidegate.values import WIDE, decimal_of, parse_date, parse_timestamp


def number(node: sx.Number, negative: bool = False) -> Literal:
    """An integer is an int, or a bigint where it must be; anything with a point or an exponent is a double."""
    text = ("-" if negative else "") + node.text
    if node.text.isdecimal():
        value = int(text)
        if not BIGINT_RANGE[0] <= value <= BIGINT_RANGE[1]:
            raise QueryError(
                "BAD_LITERAL",
                "a whole number of more than 64 bits",
                node.span,
                "write it with a point: it becomes a double",
            )
        kind = INT if INT_RANGE[0] <= value <= INT_RANGE[1] else BIGINT
        return Literal(value, text, type=kind, span=node.span)
    double = float(text)
    if math.isinf(double):
        raise QueryError("BAD_LITERAL", "a number beyond the range of double", node.span)
    return Literal(double, text, type=DOUBLE, span=node.span)


def exact(literal: Literal) -> Literal:
    """A number literal as the decimal that it writes; anything else, and what has too many digits, as it is."""
    value = decimal_of(literal.text) if literal.type.is_number else None
    if value is None:
        return literal
    _, digits, exponent = value.as_tuple()
    scale = max(0, -exponent) if isinstance(exponent, int) else 0
    whole = max(len(digits) + (exponent if isinstance(exponent, int) else 0), 1)
    if whole + scale > 38:
        return literal
    fitted = value.quantize(Decimal(1).scaleb(-scale), context=WIDE)
    return Literal(fitted, literal.text, type=decimal(whole + scale, scale), span=literal.span)


def typed(node: sx.Typed) -> Literal:
    """``DATE '…'`` and ``TIMESTAMP '…'``."""
    kinds = {"date": DATE, "timestamp": TIMESTAMP}
    if node.type_name not in kinds:
        raise QueryError("SYNTAX_ERROR", f'"{node.type_name}" cannot stand before a string', node.span,
                         "only DATE '…' and TIMESTAMP '…' can")  # fmt: skip
    return time(node.value, kinds[node.type_name], node.span)


def time(text: str, kind: Type, span: Span) -> Literal:
    """A date or a timestamp written as a string."""
    value = parse_date(text) if kind == DATE else parse_timestamp(text)
    if value is None:
        example = "2024-01-31" if kind == DATE else "2024-01-31T12:00:00Z"
        raise QueryError("BAD_LITERAL", f"not a {kind}", span, f"write for example '{example}'")
    return Literal(value, text, type=kind, span=span)


def level(text: str, span: Span, lattice: Lattice) -> Literal:
    """A level by its name; level names are public (Q-6), so the hint may list them."""
    if not lattice.knows(text):
        names = list(islice(lattice.levels(), 9))
        hint = did_you_mean(text, names) or f"levels: {listed(names)}"
        raise QueryError("UNKNOWN_LEVEL", f'"{text}" is not a level', span, hint)
    return Literal(lattice.level(text), text, type=LEVEL, span=span)


def string(node: sx.String) -> Literal:
    """A string."""
    return Literal(node.value, node.value, type=STRING, span=node.span)
