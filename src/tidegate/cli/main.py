"""``tidegate``: one command per file.

Exit status: 0 done, 1 failed or something wrong was found, 2 misused or malformed, 3 refused. Answers go to standard
output, complaints to standard error.
"""

from __future__ import annotations

import click

from tidegate.cli.cover import cover_command
from tidegate.cli.demo import demo
from tidegate.cli.explain import explain
from tidegate.cli.function import function
from tidegate.cli.level import level
from tidegate.cli.log import log_command
from tidegate.cli.replay import replay_command
from tidegate.cli.share import share
from tidegate.cli.verify import verify_command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tidegate")
def cli() -> None:
    """Watertight stream processing: a tuple moves only to where its level is dominated."""


for command in (replay_command, level, explain, share, function, demo, verify_command, log_command, cover_command):
    cli.add_command(command)


def main() -> None:
    """The console script."""
    cli()
