"""Q-15: what may stand in AS '…', and what an author is told who wrote something else."""

from __future__ import annotations

import math
from types import CodeType
from typing import Any

import pytest

from tests.functions.support import define
from tidegate.errors import QueryError
from tidegate.functions.body import COMPARE, FUNCTION, OPERATE, TRUTH, BodyProblem, compile_body
from tidegate.functions.definition import FunctionDefinition, arrow_type, check_body
from tidegate.functions.operators import compare, operate, truth


def run(body: str, *arguments: Any, name: str = "f") -> Any:
    """Run a body here, on plain Python values."""
    code = compile_body(name, "abc"[: len(arguments)], body)
    assert isinstance(code, CodeType), code
    scope: dict[str, Any] = {OPERATE: operate, COMPARE: compare, TRUTH: truth, "math": math}
    exec(code, scope)
    return scope[FUNCTION](*arguments)


@pytest.mark.parametrize(
    "body",
    [
        "a * 2 + b",
        "  a * 2 + b  ",
        "\n    a * 2 + b\n",
        "(a * 2\n + b)",
        "return a * 2 + b",
        "    x = a * 2\n    return x + b",
        "if a > 0:\n    return a * 2 + b\nelse:\n    return 0",
        "def f(x, y):\n    return x * 2 + y",
        "def f(x, y=0, *rest, z=1):\n    return x * 2 + y",
        "import math\nTWO = 2\ndef g(x):\n    return x * TWO\ndef f(a, b):\n    return g(a) + b",
    ],
)
def test_three_forms_mean_the_same(body: str) -> None:
    assert run(body, 3, 4) == 10


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("-a if not a > 5 and a != 4 or a == 9 else ~a", -3),
        ("[x for x in range(a * 3) if x % 2 == 1 and 1 < x <= 7]", [3, 5, 7]),
        ("'%s' % a + f'{a + 1:>{a}}'", "3  4"),
        ("match -a:\n    case -3: return 1 + 1\n    case {-1: 0}: return 0", 2),
        ("total = 0\nwhile total < a ** 2:\n    total += 2\nassert total\nreturn total", 10),
        ("return a in [3] and a is not None and 2 ** 3", 8),
    ],
)
def test_plain_python_keeps_its_meaning(body: str, expected: Any) -> None:
    assert run(body, 3) == expected


@pytest.mark.parametrize(
    ("body", "problem", "line"),
    [
        ("a *", "invalid syntax", 1),
        ("x = 1\ny = = 2\nreturn y", "invalid syntax", 2),
        ("x = a\n  return x", "unexpected indent", 2),
        ("x = 1\nbreak\nreturn x", "outside loop", 2),
        ("", "empty", 1),
        ("# nothing", "empty", 1),
        ("x = a", "nothing is returned", 1),
        ("def g(a):\n    return a", 'a function named "f"', 1),
        ("\ndef f():\n    return 1", "cannot be called with 1 arguments", 2),
        ("def f(a, *, b):\n    return 1", "cannot be called with 1 arguments", 1),
        ("a\0", "", 1),
        ("(" * 5000 + ")" * 5000, "", 1),
        ("-" * 5000 + "a", "", 1),
        ("+".join(["a"] * 5000), "nests too deeply", 1),
    ],
)
def test_a_body_that_is_no_function_is_told_with_its_line(body: str, problem: str, line: int) -> None:
    found = check_body(define(body))
    assert isinstance(found, BodyProblem)
    assert problem in found.problem
    assert found.line == line


def test_a_body_is_checked_without_being_run() -> None:
    assert check_body(define("raise SystemExit(1)\ndef f(a):\n    return a")) is None


@pytest.mark.parametrize("name", ["class", "a b", "1st", ""])
def test_a_parameter_that_python_cannot_name_is_told(name: str) -> None:
    found = check_body(FunctionDefinition("f", ((name, "int"),), "int", "1"))
    assert found == BodyProblem(f'parameter "{name}" cannot be a name in Python', 1)


def test_a_parameter_is_found_however_its_letters_are_written() -> None:
    """Python reads ﬁ as fi, so the parameter must follow."""
    code = compile_body("f", ["ﬁ"], "ﬁ + fi")
    assert isinstance(code, CodeType)
    scope: dict[str, Any] = {OPERATE: operate}
    exec(code, scope)
    assert scope[FUNCTION](1) == 2


def test_a_function_without_known_types_cannot_exist() -> None:
    with pytest.raises(QueryError) as caught:
        define("a", "integer")
    assert caught.value.code == "UNKNOWN_TYPE"
    with pytest.raises(QueryError):
        define("a", returns="decimal(39,2)")


def test_types_have_their_arrow_types() -> None:
    names = ("int", "bigint", "double", "boolean", "string", "timestamp", "date", "decimal(10,2)", "binary")
    shown = "int32 int64 double bool string timestamp[us, tz=UTC] date32[day] decimal128(10, 2) binary"
    assert " ".join(str(arrow_type(name)) for name in names) == shown
