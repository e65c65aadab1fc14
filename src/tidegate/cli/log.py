"""``tidegate log``: the log of a gate as a case file."""

from __future__ import annotations

from pathlib import Path

import click

from tidegate.cli.complain import malformed, print_lines
from tidegate.engine.caselog import read_case_log
from tidegate.errors import CaseError, EngineError
from tidegate.security.declare import declare
from tidegate.system.directory import read_about
from tidegate.text import one_line


@click.command("log", short_help="Print a gate's log as a case.")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--as", "reader", metavar="LEVEL", help="Only what this level dominates.")
def log_command(directory: Path, reader: str | None) -> None:
    """Print the log in DIR, a gate's directory, as a case file: `tidegate log DIR | tidegate replay -` runs it again.

    The gate may be running; nothing is written. Tuples that were quarantined for what a case does not know (the labels
    that a source may send, the clock, a text that was not decoded) are left out and counted on standard error.

    Exit status 2 if DIR is not a gate's directory or its log does not reach back to the beginning.
    """
    try:
        about = read_about(directory)
        lattice = declare(about["levels"])
        found = None if reader is None else lattice.find(reader)
        if reader is not None and found is None:
            malformed(f"--as: {lattice.unknown(reader)}")
        written = read_case_log(directory, about, found)
    except (CaseError, EngineError) as error:
        malformed(str(error))
    print_lines(written.lines())
    if written.left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(written.left_out.items()))
        click.echo(one_line(f"{directory}: quarantined tuples left out: {reasons}"), err=True)
