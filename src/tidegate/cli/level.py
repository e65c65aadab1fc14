"""`tidegate level`: ask a lattice one question.

Names of levels cannot contain the operators or parentheses, so the operator of an expression
is found first and the rest are labels.

Reads: security.  Read by: cli/main.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

import click

from tidegate.cli.complain import malformed
from tidegate.errors import CaseError
from tidegate.security.declare import declare
from tidegate.security.lattice import COMPARISONS, Lattice, Level, shown

QUESTIONS: dict[str, Callable[[Lattice, Level, Level], bool]] = {
    **COMPARISONS,
    "!": lambda lattice, a, b: lattice.incomparable(a, b),
}
BOUNDS: dict[str, Callable[[Lattice, Level, Level], Level]] = {
    "lub": lambda lattice, a, b: lattice.lub(a, b),
    "glb": lambda lattice, a, b: lattice.glb(a, b),
}
FORMS = "write a >= b, a <= b, a > b, a < b, a = b, a <> b, a ! b (incomparable), lub(a, b) or glb(a, b)"


@click.command()
@click.argument("lattice")
@click.argument("expression")
def level(lattice: str, expression: str) -> None:
    """Compare two levels of LATTICE, or find their bounds.

    LATTICE is a preset (blp4, tlp2, hl7), an order such as "U < C < S", JSON with "ranks" and
    "compartments", or - to read one of these from standard input. EXPRESSION is one of
    a >= b, a <= b, a > b, a < b, a = b, a <> b (different), a ! b (incomparable), lub(a, b), glb(a, b).
    """
    try:
        click.echo(answer(declare(_read(lattice)), expression))
    except CaseError as error:
        malformed(str(error))


def answer(lattice: Lattice, expression: str) -> str:
    """``true``, ``false`` or a label; CaseError if the expression is none of the forms."""
    call = re.fullmatch(r"\s*(lub|glb)\s*\((.*)\)\s*", expression, re.DOTALL)
    if call:
        return BOUNDS[call[1]](lattice, *_two_labels(lattice, call[2]))
    parts = re.split(r"([<>=!]+)", expression)
    if len(parts) != 3 or parts[1] not in QUESTIONS:
        raise CaseError(f"{shown(expression)} is not a question about levels; {FORMS}")
    left, right = lattice.level(parts[0]), lattice.level(parts[2])
    return "true" if QUESTIONS[parts[1]](lattice, left, right) else "false"


def _read(argument: str) -> str:
    """The argument, or standard input if it is ``-``."""
    if argument != "-":
        return argument
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise CaseError("standard input is not UTF-8 text") from None


def _two_labels(lattice: Lattice, text: str) -> tuple[Level, Level]:
    """Split at the one comma that leaves a label on each side.

    A label has commas of its own, but only one rank, and no compartment is named like a rank:
    so at most one comma fits.
    """
    parts = text.split(",")
    for cut in range(1, len(parts)):
        left, right = ",".join(parts[:cut]), ",".join(parts[cut:])
        if lattice.knows(left) and lattice.knows(right):
            return lattice.level(left), lattice.level(right)
    if len(parts) == 2:
        return lattice.level(parts[0]), lattice.level(parts[1])
    raise CaseError(f"{shown(text.strip())} is not two levels with a comma between them")
