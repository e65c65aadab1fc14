"""CAST: what converts, what is an error, and TRY_CAST, which is NULL where CAST is an error (Q-7, Q-9)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference.asking import value

FAILED = "! CAST_FAILED"

CASTS: list[tuple[str, str, Any]] = [
    # to integers: toward zero, within the range
    ("x", "int", 2),
    ("y", "int", 0),
    ("-x", "bigint", -2),
    ("'12'", "int", 12),
    ("' -12 '", "int", -12),
    ("'+7'", "bigint", 7),
    ("'1.5'", "int", FAILED),
    ("'0x1'", "int", FAILED),
    ("''", "int", FAILED),
    ("'1 2'", "int", FAILED),
    ("'٣'", "int", FAILED),
    ("2147483648", "int", FAILED),
    ("'2147483648'", "int", FAILED),
    ("'9223372036854775807'", "bigint", 9223372036854775807),
    ("'9223372036854775808'", "bigint", FAILED),
    ("'99999999999999999999999'", "bigint", FAILED),
    ("9.3e18", "bigint", FAILED),
    ("'0000000000000000000000001'", "int", 1),
    ("m", "int", 12),
    ("w", "bigint", FAILED),
    ("p", "int", 1),
    # to double
    ("a", "double", 7.0),
    ("'2.5'", "double", 2.5),
    ("'.5e1'", "double", 5.0),
    ("'NaN'", "double", "NaN"),
    ("'-Infinity'", "double", "-Infinity"),
    ("'nan'", "double", FAILED),
    ("'1_0'", "double", FAILED),
    ("'1e400'", "double", FAILED),
    ("m", "double", 12.5),
    ("p", "double", 1.0),
    # to decimal: half away from zero
    ("2.345", "decimal(5,2)", "2.35"),
    ("-2.345", "decimal(5,2)", "-2.35"),
    ("'2.345'", "decimal(5,2)", "2.35"),
    ("999.995", "decimal(5,2)", FAILED),
    ("a", "decimal(5,2)", "7.00"),
    ("1e300", "decimal(38,0)", FAILED),
    ("'x'", "decimal(5,2)", FAILED),
    ("'1e99999999999999999999'", "decimal(5,2)", FAILED),
    ("w", "decimal(38,0)", "1" * 38),
    ("'" + "9" * 38 + "'", "decimal(38,0)", "9" * 38),
    ("CAST('NaN' AS double)", "decimal(5,2)", FAILED),
    # to boolean
    ("'true'", "boolean", True),
    ("' FALSE '", "boolean", False),
    ("'1'", "boolean", FAILED),
    ("0", "boolean", False),
    ("a", "boolean", True),
    # to string
    ("a", "string", "7"),
    ("x", "string", "2.5"),
    ("1e300", "string", "1e+300"),
    ("p", "string", "true"),
    ("m", "string", "12.50"),
    ("d", "string", "2024-02-29"),
    ("t", "string", "2024-02-29T13:14:15.678901Z"),
    ("CAST('NaN' AS double)", "string", "NaN"),
    ("level", "string", "U"),
    # to times
    ("'2024-02-29'", "date", "2024-02-29"),
    ("'2023-02-29'", "date", FAILED),
    ("t", "date", "2024-02-29"),
    ("d", "timestamp", "2024-02-29T00:00:00.000000Z"),
    ("'2024-02-29 01:00'", "timestamp", "2024-02-29T01:00:00.000000Z"),
    ("'2024-02-29T01:00:00+01:00'", "timestamp", "2024-02-29T00:00:00.000000Z"),
    ("'0001-01-01T00:00:00+14:00'", "timestamp", FAILED),
    ("'9999-12-31T23:59:59-14:00'", "timestamp", FAILED),
    ("'soon'", "timestamp", FAILED),
    # to binary
    ("'é'", "binary", "w6k="),
]


@pytest.mark.parametrize(("text", "kind", "expected"), CASTS)
def test_cast(text: str, kind: str, expected: Any) -> None:
    found = value(f"CAST({text} AS {kind})")
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(("text", "kind", "expected"), CASTS)
def test_try_cast_is_null_where_cast_is_an_error(text: str, kind: str, expected: Any) -> None:
    assert value(f"TRY_CAST({text} AS {kind})") == (None if expected == FAILED else expected)


def test_null_casts_to_null() -> None:
    for kind in ("int", "string", "decimal(5,2)", "timestamp", "boolean"):
        assert value(f"CAST(NULL AS {kind})") is None
        assert value(f"CAST(s AS {kind})", s=None) is None


def test_try_cast_forgives_the_cast_and_nothing_else() -> None:
    """Q-9: an error inside its operand stays an error."""
    assert value("TRY_CAST(1/0 AS int)") == "! DIVISION_BY_ZERO"
    assert value("TRY_CAST(CAST('x' AS double) AS int)") == FAILED


def test_a_text_that_is_no_unicode_is_no_reason_to_stop() -> None:
    """Q-9: an error is a value, for every text that a query can contain."""
    assert value("CAST('\ud800' AS binary)") in (FAILED, "! BAD_LITERAL", "! SYNTAX_ERROR")


@pytest.mark.parametrize(("left", "right"), [("w", "f"), ("f", "w")])
def test_widening_a_decimal_never_turns_it_into_null(left: str, right: str) -> None:
    """A common type of 38 digits may be too narrow: that is an error, or a comparison that is right, but not NULL."""
    assert value(f"{left} = {right}") in (False, "! OVERFLOW")
    assert value(f"({left} = {right}) IS NULL") in (False, "! OVERFLOW")
    assert value(f"COALESCE({left}, {right}) IS NULL") in (False, "! OVERFLOW")
