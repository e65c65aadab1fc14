"""Built-in functions and arithmetic: a table of values, with their edges (Q-7, Q-9)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference.asking import value
from tidegate.plan.functions import FUNCTIONS
from tidegate.scalars.builtins import BUILTINS

OVERFLOW, BY_ZERO = "! OVERFLOW", "! DIVISION_BY_ZERO"

NUMBERS: list[tuple[str, Any]] = [
    ("a + b", -2),
    ("a - b", 16),
    ("a * b", -63),
    ("a / 2", 3),
    ("b / 2", -4),
    ("b / -2", 4),
    ("b % 4", -1),
    ("a % -4", 3),
    ("MOD(b, 4)", -1),
    ("MOD(5.5, 2)", 1.5),
    ("MOD(a, 0)", BY_ZERO),
    ("a / 0", BY_ZERO),
    ("x / 0.0", BY_ZERO),
    ("m / 0", BY_ZERO),
    ("x % 0.0", BY_ZERO),
    ("9223372036854775807 + 1", OVERFLOW),
    ("-9223372036854775808 - 1", OVERFLOW),
    ("3037000500 * 3037000500", OVERFLOW),
    ("-9223372036854775808 / -1", OVERFLOW),
    ("-9223372036854775808 % -1", 0),
    ("-(-9223372036854775807 - 1)", OVERFLOW),
    ("2147483647 + 1", 2147483648),
    ("1e308 * 10.0", "Infinity"),
    ("1e308 * 10.0 - 1e308 * 10.0", "NaN"),
    ("(1e308 * 10.0) % 2.0", "NaN"),
    ("5.5 % (1e308 * 10.0)", 5.5),
    ("x / y", -5.0),
    ("x * y", -1.25),
    ("m + 1", "13.50"),
    ("m / 3", "4.166667"),
    ("m % 5", "2.50"),
    ("-m % 5", "-2.50"),
    ("m * m", "156.2500"),
    ("m - 12.50", "0.00"),
    ("w - w", "0"),
    ("w + 1", "11111111111111111111111111111111111112"),
    ("-w", "-11111111111111111111111111111111111111"),
    ("-m", "-12.50"),
    ("w * 10", OVERFLOW),
    ("ABS(b)", 9),
    ("ABS(y)", 0.5),
    ("ABS(-m)", "12.50"),
    ("ABS(0 - w)", "11111111111111111111111111111111111111"),
    ("ABS(-9223372036854775807 - 1)", OVERFLOW),
    ("SIGN(b)", -1),
    ("SIGN(0.0)", 0.0),
    ("SIGN(CAST('NaN' AS double))", "NaN"),
    ("SIGN(m)", "1.00"),
    ("FLOOR(y)", -1),
    ("FLOOR(2.0)", 2),
    ("CEIL(y)", 0),
    ("CEILING(m)", 13),
    ("FLOOR(-m)", -13),
    ("FLOOR(1e300)", OVERFLOW),
    ("CEIL(CAST('NaN' AS double))", OVERFLOW),
    ("ROUND(2.5)", 3.0),
    ("ROUND(-2.5)", -3.0),
    ("ROUND(2.675, 2)", 2.68),
    ("ROUND(1250, -2)", 1300),
    ("ROUND(-1250, -2)", -1300),
    ("ROUND(a, 3)", 7),
    ("ROUND(9223372036854775807, -1)", OVERFLOW),
    ("ROUND(9223372036854775807, -30)", 0),
    ("ROUND(1e300, 200)", 1e300),
    ("ROUND(1e300, -299)", 1e300),
    ("ROUND(5e-324, 400)", 5e-324),
    ("ROUND(CAST('Infinity' AS double), 2)", "Infinity"),
    ("ROUND(m)", "13.00"),
    ("ROUND(m, 1)", "12.50"),
    ("ROUND(m, 400)", "12.50"),
    ("ROUND(w, 400)", "1" * 38),
    ("ROUND(m, -400)", "0.00"),
    ("ROUND(CAST('0.00' AS decimal(10,2)), 1)", "0.00"),
    ("ROUND(9.5, NULL)", None),
    ("SQRT(6.25)", 2.5),
    ("SQRT(-1.0)", "NaN"),
    ("SQRT(CAST('NaN' AS double))", "NaN"),
    ("POWER(2, 10)", 1024.0),
    ("POWER(10.0, 400.0)", "Infinity"),
    ("POWER(-10.0, 401.0)", "-Infinity"),
    ("POWER(-10.0, 400.0)", "Infinity"),
    ("POWER(0.0, -1.0)", "Infinity"),
    ("POWER(-8.0, 0.5)", "NaN"),
    ("NULLIF(a, 7)", None),
    ("NULLIF(a, 8)", 7),
    ("NULLIF(NULL, a)", None),
    ("NULLIF(a, NULL)", 7),
    ("NULLIF(1/0, 1)", BY_ZERO),
    ("COALESCE(NULL, a, 1/0)", 7),
    ("COALESCE(NULL, NULL)", None),
    ("COALESCE(1/0, a)", BY_ZERO),
]

STRINGS: list[tuple[str, Any]] = [
    ("UPPER(s)", "AB C"),
    ("LOWER(s)", "ab c"),
    ("TRIM('  a b ')", "a b"),
    ("LTRIM('  a ')", "a "),
    ("RTRIM(' a  ')", " a"),
    ("TRIM('\ta ')", "\ta"),
    ("REVERSE(s)", "c bA"),
    ("LENGTH('aé\U0001f300')", 3),
    ("LENGTH('')", 0),
    ("CONCAT('a', 'b', 'c')", "abc"),
    ("'a' || NULL", None),
    ("REPLACE('aXbX', 'X', '-')", "a-b-"),
    ("REPLACE('abc', '', '-')", "abc"),
    ("SUBSTR('abcdef', 2)", "bcdef"),
    ("SUBSTR('abcdef', 2, 3)", "bcd"),
    ("SUBSTRING('abcdef', -2)", "ef"),
    ("SUBSTR('abcdef', -9, 4)", "a"),
    ("SUBSTR('abcdef', 9)", ""),
    ("SUBSTR('abcdef', 2, -1)", ""),
    ("SUBSTR('abcdef', 2, 9223372036854775807)", "bcdef"),
    ("INSTR('abcb', 'b')", 2),
    ("INSTR('abcb', 'x')", 0),
    ("STARTS_WITH(s, 'Ab')", True),
    ("ENDS_WITH(s, 'C')", False),
    ("CONTAINS(s, 'b c')", True),
    ("s LIKE 'A%'", True),
    ("s LIKE 'a%'", False),
    ("s LIKE 'A_ c'", True),
    ("s LIKE 'Ab'", False),
    ("'a.c' LIKE 'a.c'", True),
    ("'abc' LIKE 'a.c'", False),
    ("'a\nb' LIKE 'a%b'", True),
    ("'a%c' LIKE 'a!%c' ESCAPE '!'", True),
    ("'abc' LIKE 'a!%c' ESCAPE '!'", False),
    ("'a!c' LIKE 'a!!c' ESCAPE '!'", True),
    ("'' LIKE '%'", True),
    ("'' LIKE '_'", False),
    ("s NOT LIKE '%z%'", True),
    ("NULL LIKE '%'", None),
    ("'x' < 'é'", True),
]

TIMES: list[tuple[str, Any]] = [
    ("YEAR(t)", 2024),
    ("MONTH(d)", 2),
    ("DAY(t)", 29),
    ("HOUR(t)", 13),
    ("MINUTE(t)", 14),
    ("SECOND(t)", 15),
    ("HOUR(d)", 0),
    ("DATE_TRUNC('year', t)", "2024-01-01T00:00:00.000000Z"),
    ("DATE_TRUNC('MONTH', t)", "2024-02-01T00:00:00.000000Z"),
    ("DATE_TRUNC('day', t)", "2024-02-29T00:00:00.000000Z"),
    ("DATE_TRUNC('second', t)", "2024-02-29T13:14:15.000000Z"),
    ("DATE_TRUNC('week', t)", "! INVALID_ARGUMENT"),
    ("TO_DATE(t)", "2024-02-29"),
    ("TO_DATE(TIMESTAMP '1969-12-31T23:00:00Z')", "1969-12-31"),
    ("UNIX_SECONDS(TIMESTAMP '1970-01-01T00:01:00Z')", 60),
    ("UNIX_SECONDS(TIMESTAMP '1969-12-31T23:59:59.5Z')", -1),
    ("TIMESTAMP_SECONDS(-1)", "1969-12-31T23:59:59.000000Z"),
    ("TIMESTAMP_SECONDS(253402300800)", OVERFLOW),
    ("DATE_ADD(d, 1)", "2024-03-01"),
    ("DATE_ADD(d, -60)", "2023-12-31"),
    ("DATE_ADD(d, 9999999)", OVERFLOW),
    ("DATE_DIFF(d, DATE '2024-01-01')", 59),
    ("t + INTERVAL 1 DAY", "2024-03-01T13:14:15.678901Z"),
    ("t - INTERVAL 1 MICROSECOND", "2024-02-29T13:14:15.678900Z"),
    ("TIMESTAMP '0001-02-01' - INTERVAL 60 DAYS", OVERFLOW),
    ("TIMESTAMP '9999-12-01' + INTERVAL 60 DAYS", OVERFLOW),
    ("d = t", False),
    ("d < t", True),
    ("t > '2024-02-29'", True),
    ("time", 1),
]


@pytest.mark.parametrize(("text", "expected"), [*NUMBERS, *STRINGS, *TIMES])
def test_value(text: str, expected: Any) -> None:
    found = value(text)
    assert (found, type(found)) == (expected, type(expected))


def test_every_function_that_binds_also_runs_and_is_in_the_table() -> None:
    """COALESCE and NULLIF are evaluated with the logic: they do not need all of their arguments."""
    texts = " ".join(text for text, _ in (*NUMBERS, *STRINGS, *TIMES))
    assert set(FUNCTIONS) - set(BUILTINS) == {"COALESCE", "NULLIF"}
    assert not [name for name in FUNCTIONS if f"{name}(" not in texts]


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"COALESCE", "NULLIF", "CONCAT"}))
def test_null_in_null_out(name: str) -> None:
    arguments = {1: "NULL", 2: "NULL, NULL", 3: "NULL, NULL, NULL"}
    texts = [f"{name}({given})" for given in arguments.values()]
    found = [value(text) for text in texts]
    assert None in found
    assert all(entry is None or entry == "! WRONG_ARGUMENTS" for entry in found)


def test_a_negative_zero_is_kept_where_nothing_is_compared() -> None:
    assert str(value("x", x=-0.0)) == "-0.0"
    assert str(value("ABS(x)", x=-0.0)) == "0.0"
    assert str(value("-x", x=0.0)) == "-0.0"
