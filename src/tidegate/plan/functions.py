"""Built-in functions and aggregates: names, argument types and result types.

What they compute is in reference/ (a value at a time) and operators/ (a column at a time); this is the one place
that says which exist. LEAST and GREATEST are left out: over levels and NaN they would need rules of their own.

Reads: plan (types).  Read by: language, reference, operators.
"""

from __future__ import annotations

from collections.abc import Callable

from tidegate.plan.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    NULL,
    STRING,
    TIMESTAMP,
    Type,
    common_type,
    decimal,
)

Types = tuple[Type, ...]
Signature = tuple[Types, Type]
Rule = Callable[[Types], Signature | None]

AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX", "STDDEV", "VARIANCE", "LUB")
DATE_PARTS = ("year", "month", "day", "hour", "minute", "second")


def _fixed(result: Type, *parameters: Type, optional: int = 0) -> Rule:
    """Exactly these parameters, the last ``optional`` of which may be left out."""

    def rule(given: Types) -> Signature | None:
        if not len(parameters) - optional <= len(given) <= len(parameters):
            return None
        wanted = parameters[: len(given)]
        fits = all(common_type(have, want) == want for have, want in zip(given, wanted, strict=True))
        return (wanted, result) if fits else None

    return rule


def _same_number(given: Types) -> Signature | None:
    """ABS, and SIGN: a number in, the same type out (integers are 64-bit)."""
    if len(given) != 1 or not (given[0].is_number or given[0] == NULL):
        return None
    kind = BIGINT if given[0].is_integer else DOUBLE if given[0] == NULL else given[0]
    return (kind,), kind


def _whole_number(given: Types) -> Signature | None:
    """FLOOR and CEIL: any number to bigint."""
    same = _same_number(given)
    return (same[0], BIGINT) if same else None


def _round(given: Types) -> Signature | None:
    """ROUND(x) and ROUND(x, digits): half away from zero."""
    same = _same_number(given[:1])
    if not same or len(given) > 2 or (len(given) == 2 and not (given[1].is_integer or given[1] == NULL)):
        return None
    return (*same[0], *([BIGINT] * (len(given) - 1))), same[1]


def _modulo(given: Types) -> Signature | None:
    """MOD(a, b) on numbers of a common type."""
    kind = common_type(*given) if len(given) == 2 else None
    if kind is None or not (kind.is_number or kind == NULL):
        return None
    kind = BIGINT if kind.is_integer else DOUBLE if kind == NULL else kind
    return (kind, kind), kind


def _first_of(given: Types) -> Signature | None:
    """COALESCE and NULLIF: all arguments of one type, which is the result's."""
    kind: Type | None = NULL
    for have in given:
        kind = common_type(kind, have) if kind is not None else None
    return None if kind is None or not given else ((kind,) * len(given), kind)


def _pair(given: Types) -> Signature | None:
    return _first_of(given) if len(given) == 2 else None


def _strings(given: Types) -> Signature | None:
    """CONCAT of any number of strings."""
    fits = given and all(have in (STRING, NULL) for have in given)
    return ((STRING,) * len(given), STRING) if fits else None


def _part_of_time(given: Types) -> Signature | None:
    return ((TIMESTAMP,), BIGINT) if len(given) == 1 and given[0] in (TIMESTAMP, DATE, NULL) else None


FUNCTIONS: dict[str, Rule] = {
    "ABS": _same_number,
    "SIGN": _same_number,
    "FLOOR": _whole_number,
    "CEIL": _whole_number,
    "CEILING": _whole_number,
    "ROUND": _round,
    "SQRT": _fixed(DOUBLE, DOUBLE),
    "POWER": _fixed(DOUBLE, DOUBLE, DOUBLE),
    "MOD": _modulo,
    "COALESCE": _first_of,
    "NULLIF": _pair,
    "UPPER": _fixed(STRING, STRING),
    "LOWER": _fixed(STRING, STRING),
    "TRIM": _fixed(STRING, STRING),
    "LTRIM": _fixed(STRING, STRING),
    "RTRIM": _fixed(STRING, STRING),
    "REVERSE": _fixed(STRING, STRING),
    "LENGTH": _fixed(BIGINT, STRING),
    "CONCAT": _strings,
    "REPLACE": _fixed(STRING, STRING, STRING, STRING),
    "SUBSTR": _fixed(STRING, STRING, BIGINT, BIGINT, optional=1),
    "SUBSTRING": _fixed(STRING, STRING, BIGINT, BIGINT, optional=1),
    "INSTR": _fixed(BIGINT, STRING, STRING),
    "STARTS_WITH": _fixed(BOOLEAN, STRING, STRING),
    "ENDS_WITH": _fixed(BOOLEAN, STRING, STRING),
    "CONTAINS": _fixed(BOOLEAN, STRING, STRING),
    **{part.upper(): _part_of_time for part in DATE_PARTS},
    "DATE_TRUNC": _fixed(TIMESTAMP, STRING, TIMESTAMP),
    "TO_DATE": _fixed(DATE, TIMESTAMP),
    "UNIX_SECONDS": _fixed(BIGINT, TIMESTAMP),
    "TIMESTAMP_SECONDS": _fixed(TIMESTAMP, BIGINT),
    "DATE_ADD": _fixed(DATE, DATE, BIGINT),
    "DATE_DIFF": _fixed(BIGINT, DATE, DATE),
}


def aggregate_type(name: str, argument: Type) -> Type | None:
    """The result type of an aggregate over values of a type, or None where it has no meaning."""
    if name == "COUNT":
        return BIGINT
    if name in ("MIN", "MAX"):
        return argument if argument.name not in ("level", "interval") else None
    if name == "LUB":
        return argument if argument.name == "level" else None
    if not (argument.is_number or argument == NULL):
        return None
    if name == "SUM":
        return _sum_type(argument)
    return DOUBLE


def _sum_type(argument: Type) -> Type:
    if argument.is_integer:
        return BIGINT
    return decimal(38, argument.scale) if argument.name == "decimal" else DOUBLE
