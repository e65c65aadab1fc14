"""Answers on standard output, one clear message on standard error, and the exit status that goes with it."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import NoReturn

import click

from tidegate.errors import EngineError

FAILED, MALFORMED = 1, 2


def print_lines(lines: Iterable[str]) -> None:
    """Answers on standard output; a reader that goes away has had enough, which is no error."""
    for line in lines:
        try:
            click.echo(line)
        except BrokenPipeError:
            _to_nowhere()
            return
        except OSError as error:
            _to_nowhere()
            failed(f"standard output: {error.strerror}")


def _to_nowhere() -> None:
    """What is still to be written when Python ends would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def one_message(what: str, log: Path | None = None) -> Iterator[None]:
    """Whatever fails inside is one message: what it was and of which kind, and where the rest is told.

    The text of an exception may quote data (Q-9), so it goes with ``log`` into a file that only its owner can read.
    """
    logging.getLogger("py4j").addHandler(logging.NullHandler())  # else it writes tracebacks to standard error
    try:
        yield
    except EngineError as error:
        failed(str(error))
    except MemoryError:
        failed(f"{what} failed: it needs more memory than there is")
    except Exception as error:  # noqa: BLE001 - there is no other place to which it could go
        kept = _kept(log)
        details = f"; details, which may quote data: {kept}" if kept else ""
        failed(f"{what} failed ({type(error).__name__}){details}")


def _kept(log: Path | None) -> str | None:
    """The exception that is being handled and a log, in a file that outlasts the command; None if there is no room."""
    try:
        descriptor, name = mkstemp(prefix="tidegate-", suffix=".log")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            traceback.print_exc(file=file)
            if log is not None and log.exists():
                file.write(log.read_text(encoding="utf-8", errors="backslashreplace"))
    except OSError:
        return None
    return name


def malformed(message: str) -> NoReturn:
    """Malformed input: one message, exit status 2."""
    click.echo(f"tidegate: {message}", err=True)
    sys.exit(MALFORMED)


def failed(message: str) -> NoReturn:
    """What was asked is fine, but this machine cannot do it: one message, exit status 1."""
    click.echo(f"tidegate: {message}", err=True)
    sys.exit(FAILED)
