"""What a function returned, as a column of its declared type, inside the child.

Nothing is adjusted silently: a number must survive the cast, text is not parsed, a double does not become a decimal.

Reads: nothing.  Read by: child.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

_NUMBERS = ("integer", "float", "decimal")
_WIDEST_PRECISION = 76


class WrongLength(Exception):
    """A result that is a column, but not of one value per row."""


class WrongType(Exception):
    """A result that no cast without loss takes to the declared type."""


def fit(result: Any, declared: pa.DataType, rows: int) -> pa.Array:
    """A column of ``rows`` values; a plain value is repeated. Raises WrongLength, WrongType or an error of Arrow's.

    None is no result: a body that forgot to return would otherwise give NULL for ever. NULLs come in columns.
    """
    if result is None:
        raise WrongType
    column, is_plain = _column(result)
    if not is_plain and len(column) != rows:
        raise WrongLength
    fitted = _cast(column, declared)
    return pa.repeat(fitted[0], rows) if is_plain else fitted


def _column(result: Any) -> tuple[pa.Array, bool]:
    """The result as one array, and whether it was a single value."""
    if isinstance(result, pa.ChunkedArray):
        return result.combine_chunks(), False
    if isinstance(result, pa.Array):
        return result, False
    if isinstance(result, list | tuple) or (isinstance(result, np.ndarray) and result.ndim):
        return pa.array(result), False
    if isinstance(result, pa.Scalar):
        return pa.repeat(result, 1), True
    return pa.array([result.item() if isinstance(result, np.ndarray) else result]), True


def _cast(column: pa.Array, declared: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    source, target = _kind(column.type), _kind(declared)
    numbers = source in _NUMBERS and target in _NUMBERS and (source, target) != ("float", "decimal")
    if not (source in (target, "null") or numbers):
        raise WrongType
    if (source, target) == ("integer", "decimal"):  # Arrow asks for room for every integer, not for these
        column = column.cast(pa.decimal256(_WIDEST_PRECISION, declared.scale))
    return column.cast(declared, safe=True)


def _kind(arrow: pa.DataType) -> str:
    """Types that differ in width only have the same kind."""
    tests = {
        "integer": pa.types.is_integer,
        "float": pa.types.is_floating,
        "decimal": pa.types.is_decimal,
        "date": pa.types.is_date,
        "string": lambda t: t in (pa.string(), pa.large_string(), pa.string_view()),
        "binary": lambda t: t in (pa.binary(), pa.large_binary(), pa.binary_view()) or pa.types.is_fixed_size_binary(t),
        "timestamp": pa.types.is_timestamp,
    }
    return next((kind for kind, test in tests.items() if test(arrow)), str(arrow))
