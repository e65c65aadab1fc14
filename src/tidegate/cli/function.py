"""``tidegate function check``: is a user function deterministic and row-wise (Q-15)?"""

from __future__ import annotations

import sys

import click

from tidegate.catalog import UserDefined
from tidegate.cli.complain import malformed
from tidegate.cli.replay import load_case
from tidegate.functions.check import check as check_function
from tidegate.functions.definition import FunctionDefinition
from tidegate.functions.sample import sample
from tidegate.language.session import Sessions
from tidegate.log import first_catalog


@click.group("function")
def function() -> None:
    """Check user functions."""


@function.command("check", short_help="Try each function of a case in different cuts.")
@click.argument("file", metavar="CASE.json")
@click.option("--rows", default=200, show_default=True, type=click.IntRange(min=2), help="How many sample rows to use.")
@click.option("--seed", default=1, show_default=True, help="Which sample rows.")
def check(file: str, rows: int, seed: int) -> None:
    """Call each function of CASE.json on the same rows in different cuts, and compare to the bit.

    Exit status 1 if a function is not row-wise or not deterministic: its answers would depend on the batches.
    """
    case = load_case(file)
    sessions = Sessions(first_catalog(case), case.users)
    found = False
    sound = True
    for entry in case.listed:
        for spoken in sessions.say(entry.text, entry.at, entry.user, entry.name):
            if spoken.problem and "FUNCTION" in entry.text.upper():
                malformed(f"{file}: {spoken.problem.draw()}")
            if isinstance(spoken.begun, UserDefined):
                found = True
                sound &= _check_one(spoken.begun, rows, seed)
    if not found:
        malformed(f'{file}: the case has no "functions"')
    sys.exit(0 if sound else 1)


def _check_one(entry: UserDefined, rows: int, seed: int) -> bool:
    definition = FunctionDefinition(entry.name, entry.parameters, entry.returns, entry.body)
    columns = sample([kind for _, kind in entry.parameters], rows, seed)
    verdict = check_function(definition, columns)
    click.echo(f"{entry.name}: {verdict}")
    return verdict.is_sound
