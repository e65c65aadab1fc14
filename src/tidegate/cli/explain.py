"""``tidegate explain``: the plans of a case's queries, drawn."""

from __future__ import annotations

import click

from tidegate.catalog import RegisteredQuery, Table
from tidegate.cli.complain import malformed
from tidegate.cli.replay import load_case
from tidegate.language.session import Sessions
from tidegate.plan.explain import draw
from tidegate.reference.replay import first_catalog


@click.command("explain")
@click.argument("file", metavar="CASE.json")
@click.option("--query", "name", help="Only the query of this name.")
def explain(file: str, name: str | None) -> None:
    """Draw the plan of each query of CASE.json, or say why it has none."""
    case = load_case(file)
    sessions = Sessions(first_catalog(case), case.users)
    shown = 0
    for entry in case.listed:
        for spoken in sessions.say(entry.text, entry.at, entry.user, entry.name):
            if name is not None and spoken.name != name:
                continue
            shown += 1
            click.echo(f"{spoken.name} at {spoken.level}")
            if spoken.problem:
                click.echo(spoken.problem.draw())
            elif isinstance(spoken.begun, RegisteredQuery | Table) and spoken.begun.plan:
                click.echo(draw(spoken.begun.plan))
    if name is not None and not shown:
        malformed(f'{file}: no query is named "{name}"')
