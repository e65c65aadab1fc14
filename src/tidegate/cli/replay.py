"""``tidegate replay``: run cases and print every result (CASES.md)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from tidegate.case import Case, TickEntry, read_case
from tidegate.cli.complain import malformed, print_lines
from tidegate.errors import CaseError
from tidegate.gates.admit import QUARANTINE
from tidegate.gates.release import may_see
from tidegate.log import Arrived, Log, write_log
from tidegate.reference.replay import replay
from tidegate.security.lattice import Level
from tidegate.text import one_line

SWITCHES = ("sharing", "prefilter")


@click.command("replay")
@click.argument("files", nargs=-1, required=True, metavar="CASE.json [MORE.json …]")
@click.option("--engine", type=click.Choice(["spark", "reference"]), default="reference", show_default=True,
              help="What runs the queries; the answers are the same.")  # fmt: skip
@click.option("--architecture", type=click.Choice(["replicated", "trusted"]), default="replicated", show_default=True,
              help="A processor per level, or one plan with rewritten windows.")  # fmt: skip
@click.option("--off", default="", metavar="RULES", help=f"Optimisations to leave out: {', '.join(SWITCHES)}.")
@click.option("--epoch", type=click.IntRange(min=1), help="Cut the input into epochs of this many tuples.")
@click.option("--micro-batch", type=click.IntRange(min=1), help="Run real micro-batches of this many tuples.")
@click.option("--as", "reader", metavar="LEVEL", help="Print only what a reader at this level may see.")
@click.option(
    "--summary/--no-summary",
    default=False,
    help="Count quarantined and late tuples on standard error even if there are none.",
)
def replay_command(files: tuple[str, ...], engine: str, architecture: str, off: str, epoch: int | None,
                   micro_batch: int | None, reader: str | None, summary: bool) -> None:  # fmt: skip
    """Run cases and print every result as a JSON line.

    Tuples that were quarantined or late are counted on standard error; with --as, those that the reader may know of.

    The reference engine is the meaning itself: it has no plan to share, no prefilter and no batches, so --off,
    --epoch, --micro-batch and --architecture change nothing in what it does.
    """
    _check_switches(off)
    if engine == "spark":
        malformed("the Spark engine is not available yet; leave out --engine, or use --engine reference")
    cases = [(Path(file).name, load_case(file)) for file in files]
    readers = [_reader(reader, case, name) for name, case in cases]
    for (name, case), asking in zip(cases, readers, strict=True):
        print_lines(_lines(case, asking, name if len(cases) > 1 else None))
        _summarise(case, name, asking, always=summary)


def _check_switches(off: str) -> None:
    unknown = [word for word in filter(None, off.split(",")) if word.strip() not in SWITCHES]
    if unknown:
        malformed(f'--off: "{unknown[0]}" is not an optimisation; known: {", ".join(SWITCHES)}')


def load_case(file: str) -> Case:
    """A case from a file, or from standard input for "-"; malformed ones end the command with status 2."""
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return read_case(raw.decode("utf-8-sig"))
    except CaseError as error:
        malformed(f"{file}: {error}")
    except OSError as error:
        malformed(f"{file}: {error.strerror}")
    except UnicodeDecodeError:
        malformed(f"{file}: not UTF-8 text")


def _reader(text: str | None, case: Case, name: str) -> Level | None:
    if text is None:
        return None
    level = case.lattice.find(text)
    if level is None:
        malformed(f"--as: {name}: {case.lattice.unknown(text)}")
    return level


def _lines(case: Case, reader: Level | None, name: str | None) -> Iterator[str]:
    prefix = "" if name is None else f'{{"case": {json.dumps(name)}, '
    return (prefix + line[1:] if name is not None else line for line in replay(case, reader))


def _summarise(case: Case, name: str, reader: Level | None, always: bool) -> None:
    """No tuple disappears without a word.

    Late tuples count at their level, quarantined ones at the top: a reader learns of no more, not even by whether there
    is a line.
    """
    log, lattice = write_log(case), case.lattice
    late = sum(n for level, n in log.late.items() if reader is None or may_see(reader, level, lattice))
    whole = reader is None or may_see(reader, lattice.top, lattice)
    if always or late or (whole and log.quarantined):
        quarantined = f"{log.quarantined} quarantined{_first_reason(case, log)}, " if whole else ""
        click.echo(one_line(f"{name}: {quarantined}{late} late"), err=True)


def _first_reason(case: Case, log: Log) -> str:
    """The first tuple of the quarantine as the file counts its entries, and why it is there."""
    reasons = {entry.arrival: entry.payload.values[1] for entry in log.entries
               if isinstance(entry.payload, Arrived) and entry.payload.stream == QUARANTINE}  # fmt: skip
    if not reasons:
        return ""
    first = min(reasons)
    # Ticks do not arrive: the clock numbers the other entries.
    stamped = [number for number, (_, entry) in enumerate(case.input, 1) if not isinstance(entry, TickEntry)]
    return f" (first: input entry {stamped[first - 1]}: {reasons[first]})"
