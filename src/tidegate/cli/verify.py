"""``tidegate verify``: what a gate answered, compared with what its log means."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from tidegate.cli.complain import FAILED, malformed
from tidegate.engine.verify import Compared, Told, Verdict, verify
from tidegate.errors import CaseError, EngineError
from tidegate.system.directory import read_about
from tidegate.text import one_line


@click.command("verify", short_help="Compare a gate's answers with its log.")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
def verify_command(directory: Path) -> None:
    """Replay the log in DIR, a gate's directory, and compare every answer of the gate with the reference's.

    The gate may be running; nothing is written. What is printed comes from all levels.

    Exit status 0 if all answers are equal, 1 if one differs, 2 if DIR is not a gate's directory or its log does not
    reach back to the beginning.
    """
    try:
        about = read_about(directory)
        with _progress() as told:
            verdict = verify(directory, about, told)
    except (CaseError, EngineError) as error:
        malformed(str(error))
    console = Console(highlight=False)
    console.print(_table(verdict))
    _tell_first_difference(verdict)
    sys.exit(FAILED if verdict.differing else 0)


@contextmanager
def _progress() -> Iterator[Told]:
    """A line that moves, where somebody watches."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda *_: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("")
        yield lambda what, done, total: progress.update(task, description=what, completed=done, total=total)


def _table(verdict: Verdict) -> Table:
    table = Table("level", "queries", "lines compared", "answers")
    for column in table.columns[1:3]:
        column.justify = "right"
    for level, one in verdict.levels.items():
        table.add_row(level, f"{one.queries:,}", f"{one.lines:,}", _answers(one))
    return table


def _answers(one: Compared) -> str:
    if one.differing:
        return f"[red]different in {one.differing} of {one.queries}[/red]"
    if one.left_out and not one.lines:
        return one.left_out
    return "[green]equal[/green]" + (f" ({one.left_out})" if one.left_out else "")


def _tell_first_difference(verdict: Verdict) -> None:
    """The earliest one of all queries."""
    if not verdict.differing:
        return
    (level, query), (expected, found) = min(verdict.differing.items(), key=lambda one: min(map(_time, one[1])))
    click.echo(one_line(f'first difference: query "{query}" at level "{level}"'))
    click.echo(f"  the log means: {expected}")
    click.echo(f"  the gate said: {found}")


def _time(line: str) -> float:
    return float(json.loads(line)["time"]) if line.startswith("{") else float("inf")
