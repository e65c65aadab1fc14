"""One clear message on standard error, and the exit status that goes with it."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

MALFORMED = 2


def malformed(message: str) -> NoReturn:
    """Malformed input: one message, exit status 2."""
    click.echo(f"tidegate: {message}", err=True)
    sys.exit(MALFORMED)
