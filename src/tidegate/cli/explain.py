"""``tidegate explain``: the plans of a case's queries, drawn."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from tidegate.case import Case
from tidegate.catalog import RegisteredQuery, Table
from tidegate.cli.complain import malformed, print_lines
from tidegate.cli.replay import load_case
from tidegate.language.session import Sessions, Spoken
from tidegate.log import first_catalog
from tidegate.plan.explain import draw
from tidegate.text import did_you_mean, listed, one_line


@click.command("explain", short_help="Draw the plan of each query of a case.")
@click.argument("file", metavar="CASE.json")
@click.option("--query", "name", help="Only the query of this name.")
def explain(file: str, name: str | None) -> None:
    """Draw the plan of each query of CASE.json, or say why it has none.

    Exit status 1 if a query that is shown has an error, 2 if no query has the name.
    """
    every = _spoken(load_case(file))
    shown = [spoken for spoken in every if name is None or spoken.name == name]
    if name is not None and not shown:
        malformed(one_line(f'{file}: no query is named "{name}"; {_hint(name, every)}'))
    print_lines("\n\n".join(_drawn(spoken) for spoken in shown).split("\n") if shown else [])
    sys.exit(1 if any(spoken.problem for spoken in shown) else 0)


def _spoken(case: Case) -> list[Spoken]:
    sessions = Sessions(first_catalog(case), case.users)
    said = (sessions.say(entry.text, entry.at, entry.user, entry.name) for entry in case.listed)
    return [spoken for statement in said for spoken in statement]


def _drawn(spoken: Spoken) -> str:
    """The name and level, then the plan or the error; a function has neither."""
    head = f"{spoken.name} at {spoken.level}"
    if spoken.problem:
        return f"{head}\n{spoken.problem.draw()}"
    if isinstance(spoken.begun, RegisteredQuery | Table) and spoken.begun.plan:
        return f"{head}\n{draw(spoken.begun.plan)}"
    return head


def _hint(name: str, every: Iterable[Spoken]) -> str:
    names = [spoken.name for spoken in every if spoken.name is not None]
    return did_you_mean(name, names) or (f"there are {listed(names)}" if names else "the case has none")
