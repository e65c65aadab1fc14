"""``tidegate replay``: run cases and print every result (CASES.md)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from tidegate.case import Case, TickEntry, read_case
from tidegate.cli.complain import malformed, one_message, print_lines
from tidegate.engine.replay import Cuts, Load, Progress
from tidegate.engine.session import spark_session
from tidegate.errors import CaseError
from tidegate.gates.admit import QUARANTINE
from tidegate.gates.release import may_see
from tidegate.log import Arrived, Log, write_log
from tidegate.reference.replay import replay
from tidegate.security.lattice import Level
from tidegate.sharing.switches import SWITCHES
from tidegate.text import one_line

Replayed = Callable[[int, Level | None], Iterator[str]]
"""The lines of a case by its number, for a reader."""


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
    --epoch, --micro-batch and --architecture change nothing in what it does. Spark runs all cases in one session.
    """
    left_out = _switches(off)
    cases = [(Path(file).name, load_case(file)) for file in files]
    readers = [_reader(reader, case, name) for name, case in cases]
    cuts, trusted = Cuts(epoch, micro_batch), architecture == "trusted"
    with _engine(engine, [case for _, case in cases], cuts, trusted, left_out) as replayed:
        for number, ((name, case), asking) in enumerate(zip(cases, readers, strict=True)):
            print_lines(_with_name(replayed(number, asking), name if len(cases) > 1 else None))
            _summarise(case, name, asking, always=summary)


@contextmanager
def _engine(engine: str, cases: list[Case], cuts: Cuts, trusted: bool, off: frozenset[str]) -> Iterator[Replayed]:
    """What gives the lines of each case: the reference as they are asked for, Spark after running them all."""
    if engine == "reference":
        with one_message("the reference"):
            yield lambda number, reader: replay(cases[number], reader)
        return
    if trusted:
        click.echo("trusted architecture: one plan for all levels; levels are not isolated, no claim is made", err=True)
    with TemporaryDirectory(prefix="tidegate-") as work, one_message("the engine", Path(work) / "spark.log"):
        load = Load(cases, cuts, trusted, off)
        with _progress() as told:
            told("starting Spark", 0, 1)
            with spark_session(Path(work)) as spark:
                load.run(spark, Path(work), told)
        yield load.lines  # large results still lie there


@contextmanager
def _progress() -> Iterator[Progress]:
    """A line that moves, where somebody watches."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda *_: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True) as progress:
        task = progress.add_task("")
        yield lambda what, done, total: progress.update(task, description=what, completed=done, total=total)


def _switches(off: str) -> frozenset[str]:
    words = [word.strip() for word in off.split(",") if word.strip()]
    unknown = [word for word in words if word not in SWITCHES]
    if unknown:
        malformed(f'--off: "{unknown[0]}" is not an optimisation; known: {", ".join(SWITCHES)}')
    return frozenset(words)


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


def _with_name(lines: Iterable[str], name: str | None) -> Iterable[str]:
    prefix = f'{{"case": {json.dumps(name)}, '
    return lines if name is None else (prefix + line[1:] for line in lines)


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
