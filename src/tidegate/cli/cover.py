"""``tidegate cover``: few bits for the predicates of many queries."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

import click

from tidegate.cli.complain import failed, malformed, print_lines
from tidegate.errors import CaseError, EngineError
from tidegate.sharing.bits import assign_bits, assign_bits_literally
from tidegate.sharing.matrix import members, read_matrix, read_selectivities
from tidegate.sharing.signatures import Bits
from tidegate.text import one_line

STANDARD_INPUT = "-"


@click.command("cover", short_help="Find few bits for the predicates of many queries.")
@click.argument("matrix")
@click.option("--budget", metavar="BITS", help="At most so many bits, those that help most.")
@click.option("--selectivity", metavar="FILE", help="The share of tuples for which each predicate holds.")
@click.option("--paper", is_flag=True, help="The algorithm of paper 003 to the letter.")
def cover_command(matrix: str, budget: str | None, selectivity: str | None, paper: bool) -> None:
    """Print the bits of a prefilter for MATRIX, and each query's signature, as JSON.

    MATRIX is a file, - for standard input, or the text itself: a line of 0 and 1 for each predicate, a character for
    each query. Composites list the predicates of each bit, counted from 1. The selectivities are numbers from 0 to 1,
    one for each predicate.
    """
    bits = _budget(budget)
    if matrix == selectivity == STANDARD_INPUT:
        malformed("the matrix and the selectivities cannot both be on standard input")
    try:
        given = read_matrix(_text(matrix))
        shares = None if selectivity is None else read_selectivities(_file(selectivity), given.predicates)
        start = time.perf_counter()
        found = (assign_bits_literally if paper else assign_bits)(given, bits, shares)
        print_lines([printed(found, time.perf_counter() - start)])
    except CaseError as error:
        malformed(one_line(str(error)))
    except EngineError as error:
        failed(f"{error}; leave out --paper")


def printed(bits: Bits, seconds: float) -> str:
    """The bits as one line of JSON."""
    composites = [[predicate + 1 for predicate in members(composite)] for composite in bits.composites]
    signatures = [bits.shown(query) for query in range(len(bits.signatures))]
    answer = {"bits": len(composites), "composites": composites, "signatures": signatures, "seconds": round(seconds, 6)}
    return json.dumps(answer)


def _budget(text: str | None) -> int | None:
    if text is not None and not re.fullmatch(r"[0-9]{1,9}", text):
        malformed(one_line(f'--budget: "{text}" is not a number of bits, 0 or more'))
    return None if text is None else int(text)


def _text(matrix: str) -> str:
    """The argument itself if it can only be a matrix, otherwise the file that it names."""
    return matrix if re.fullmatch(r"[01\s]*", matrix) and not _exists(matrix) else _file(matrix)


def _exists(name: str) -> bool:
    try:
        return bool(name.strip()) and Path(name).exists()
    except OSError:  # longer than names of files can be
        return False


def _file(name: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if name == STANDARD_INPUT else Path(name).read_bytes()
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise CaseError(f"{name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CaseError(f"{name}: not UTF-8 text") from None
    except ValueError:  # a name with a null character
        raise CaseError(f"{name}: not the name of a file") from None
