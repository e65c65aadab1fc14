"""Answers on standard output, one clear message on standard error, and the exit status that goes with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import NoReturn

import click

FAILED, MALFORMED = 1, 2


def print_lines(lines: Iterable[str]) -> None:
    """Answers on standard output; a reader that goes away has had enough, which is no error."""
    try:
        for line in lines:
            click.echo(line)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def malformed(message: str) -> NoReturn:
    """Malformed input: one message, exit status 2."""
    click.echo(f"tidegate: {message}", err=True)
    sys.exit(MALFORMED)


def failed(message: str) -> NoReturn:
    """What was asked is fine, but this machine cannot do it: one message, exit status 1."""
    click.echo(f"tidegate: {message}", err=True)
    sys.exit(FAILED)
