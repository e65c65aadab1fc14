"""`tidegate level`: every operator, every way to give a lattice, and exit 2 with one message otherwise."""

from __future__ import annotations

from itertools import product

import pytest
from click.testing import CliRunner, Result

from tidegate.cli.level import answer, level
from tidegate.security.declare import declare

BOX = '{"ranks": "s0 < s1", "compartments": ["c0", "c1"]}'
DIAMOND = "lo < hi1, lo < hi2, hi1 < top, hi2 < top"


def run(lattice: str, expression: str, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(level, [lattice, expression], input=given)


@pytest.mark.parametrize(
    ("lattice", "expression", "printed"),
    [
        (BOX, "s1:c0 >= s0:c0", "true"),
        (BOX, "s1:c0>=s0:c1", "false"),
        (BOX, "s1 ! s0:c1", "true"),
        (BOX, "s1:c1,c0 = s1: c0, c1", "true"),
        (BOX, "lub(s1:c0, s0:c1)", "s1:c0,c1"),
        (BOX, "lub(s0:c1,c0, s1)", "s1:c0,c1"),
        (BOX, "lub(s0, s1:c1,c0)", "s1:c0,c1"),
        (BOX, "lub(s0:c1,c0,s1:c0)", "s1:c0,c1"),
        (BOX, "glb( s1:c0 , s0:c1 )", "s0"),
        (BOX, "glb(s1:c0,c1,s1:c1)", "s1:c1"),
        ("blp4", "TS > S", "true"),
        ("blp4", "S > S", "false"),
        ("blp4", "S < S", "false"),
        ("blp4", "U < C", "true"),
        ("blp4", "C <= C", "true"),
        ("blp4", "C <> C", "false"),
        ("blp4", "C ! S", "false"),
        ("blp4", "\n lub (U,\nC)\n", "C"),
        ("tlp2", "AMBER+STRICT >= AMBER", "true"),
        ("hl7", "lub(N, R)", "R"),
        (DIAMOND, "lub(hi1, hi2)", "top"),
        (DIAMOND, "hi1 ! hi2", "true"),
        ("lub < glb", "lub < glb", "true"),
        ("lub < glb", "lub(lub, glb)", "glb"),
        ("very low < very high", "glb(very high, very low)", "very low"),
        ("U", "U = U", "true"),
    ],
)
def test_the_answer_is_true_false_or_a_label(lattice: str, expression: str, printed: str) -> None:
    result = run(lattice, expression)
    assert (result.exit_code, result.stdout, result.stderr) == (0, f"{printed}\n", "")


@pytest.mark.parametrize("given", [BOX, f"\n{BOX}\n", '"s0 < s1"', "s0 < s1\n"])
def test_the_lattice_may_come_on_standard_input(given: str) -> None:
    result = run("-", "s1 > s0", given)
    assert (result.exit_code, result.stdout) == (0, "true\n")


def test_arguments_of_a_bound_are_split_where_both_are_labels() -> None:
    """Every pair of labels of a lattice with commas in them, with and without spaces."""
    lattice = declare({"ranks": "u < s", "compartments": ["a", "b", "c"]})
    for (x, y), comma in product(product(lattice.levels(), repeat=2), (",", " , ")):
        assert answer(lattice, f"lub({x}{comma}{y})") == lattice.lub(x, y)


QUESTION = "is not a question about levels; write a >= b, a <= b, a > b, a < b, a = b, a <> b, a ! b (incomparable), "


@pytest.mark.parametrize(
    ("lattice", "expression", "message"),
    [
        ("blp4", "S >= X", '"X" is not a level; the levels are "U", "C", "S", "TS"'),
        ("blp4", "s >= U", '"s" is not a level; did you mean "S"?'),
        ("blp4", ">= U", '"" is not a level; the levels are "U", "C", "S", "TS"'),
        ("blp4", "S", f'"S" {QUESTION}lub(a, b) or glb(a, b)'),
        ("blp4", "", f'"" {QUESTION}lub(a, b) or glb(a, b)'),
        ("blp4", "U < C < S", f'"U < C < S" {QUESTION}lub(a, b) or glb(a, b)'),
        ("blp4", "U != C", f'"U != C" {QUESTION}lub(a, b) or glb(a, b)'),
        ("blp4", "max(U, C)", f'"max(U, C)" {QUESTION}lub(a, b) or glb(a, b)'),
        ("blp4", "lub(U, X)", '"X" is not a level; the levels are "U", "C", "S", "TS"'),
        ("blp4", "lub(U)", '"U" is not two levels with a comma between them'),
        ("blp4", "lub(U, C, S)", '"U, C, S" is not two levels with a comma between them'),
        (BOX, "lub(s0:c0,c1)", '"c1" is not a level: no rank is called "c1"; the ranks are "s0", "s1"'),
        ("U < S < U", "U < S", "the levels form a cycle: U < S < U"),
        ('{"ranks"', "U < S", 'the levels are not JSON: "{"ranks""'),
        ("", "U < S", 'the name of a level is empty in ""'),
    ],
)
def test_malformed_input_is_one_message_and_exit_2(lattice: str, expression: str, message: str) -> None:
    result = run(lattice, expression)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"tidegate: {message}\n")


@pytest.mark.parametrize("given", [b"\xff\xfe", b"", b"[1, 2]"])
def test_malformed_standard_input_is_one_message_and_exit_2(given: bytes) -> None:
    result = run("-", "U < S", given)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
