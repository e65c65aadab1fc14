"""``tidegate demo``: the opening example of multilevel secure CQL, on made-up vitals.

The same text asked at two clearances has two answers, and a flood of secret tuples leaves the lower answer equal to
the byte. The third query shows what engines do that filter rows *after* the window: its answer is disturbed.

By default a gate runs it live through Spark (``demo_live``). Here is what both engines show, and the reference.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from tidegate.case import build_case
from tidegate.reference.replay import replay

LEVELS = ("U", "C", "S", "TS")
QUERY = "SELECT SUM(wt) FROM Vitals [ROWS 100]"
LEAKY = 'SELECT SUM(wt) FROM Vitals [ROWS 100] WHERE level <= "C"'
LOW, HIGH, FILTERED = "low", "high", "filtered"
ASKED = {HIGH: ("TS", QUERY), LOW: ("C", QUERY), FILTERED: ("TS", LEAKY)}
HEADINGS = {HIGH: "asked at TS", LOW: "asked at C", FILTERED: "filtered to C after the window"}
WATCHED = (100, 150, 200, 250, 300)
FLOOD = (150, 200)  # seconds
INTERRUPTED = 130

Answers = Mapping[str, Sequence[str]]
"""What each query said, as the lines that ``tidegate replay`` prints."""


@click.command(short_help="One text, two clearances, two answers.")
@click.option("--engine", type=click.Choice(["spark", "reference"]), default="spark", show_default=True,
              help="A live gate through Spark, or a case through the reference, which needs no Java.")  # fmt: skip
@click.option(
    "--tuples", default=300, show_default=True, type=click.IntRange(min=300), help="How many; reference only."
)
@click.option("--seed", default=7, show_default=True, help="Which stream.")
def demo(engine: str, tuples: int, seed: int) -> None:
    """Two clearances, one text, two answers; and secret tuples that cannot be noticed below.

    Takes about half a minute, and with --engine reference a second. Exit status 1 if a claim that it makes is wrong.
    """
    console = Console(width=100, highlight=False)
    try:
        wrong = _live(console, seed) if engine == "spark" else _replayed(console, tuples, seed)
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
        sys.exit(INTERRUPTED)
    for claim in wrong:
        console.print(f"[bold red]NOT TRUE: {claim}[/bold red]")
    sys.exit(1 if wrong else 0)


def _live(console: Console, seed: int) -> list[str]:
    from tidegate.cli.demo_live import run_live  # loads Spark

    return run_live(console, seed)


def _replayed(console: Console, tuples: int, seed: int) -> list[str]:
    """The demo on the reference engine; which claims are wrong."""
    quiet = vitals(tuples, seed)
    calm, flooded = answers(quiet), answers(quiet + flood(500))
    console.print(f"\n[bold]{QUERY}[/bold], asked at two clearances; levels {' < '.join(LEVELS)}\n")
    console.print(_side_by_side(calm))
    console.print("Same text, two answers: each sums the last 100 tuples [i]visible at its level[/i].\n")
    begin, end = FLOOD
    console.print(f"[bold]Now 500 TS tuples flood the stream from second {begin} to {end}[/bold]\n")
    console.print(comparison(calm, flooded, float(end), f"t = {end} s"))
    tell_the_point(console)
    console.print("\nNext: [cyan].venv/bin/tidegate replay CASE.json[/cyan] runs your own case; README.md shows one.")
    return wrong_claims(calm, flooded)


# ------------------------------------------------------------------------------ what both engines show


def wrong_claims(calm: Answers, flooded: Answers) -> list[str]:
    """Which of the demo's claims do not hold, given what was answered without the flood and with it."""
    changed = {query for query in ASKED if digest(calm[query]) != digest(flooded[query])}
    claims = {
        "the same text has two answers": _values(calm[LOW]) != _values(calm[HIGH]),
        "C cannot notice the flood": LOW not in changed and bool(calm[LOW]),
        "TS notices the flood": HIGH in changed,
        "a filter behind the window is disturbed": FILTERED in changed,
    }
    return [claim for claim, holds in claims.items() if not holds]


def comparison(calm: Answers, flooded: Answers, time: float, moment: str) -> Table:
    """What each query says at a time, and whether all that it says is the same, without the flood and with it."""
    table = Table("query", f"{moment}, without the flood", "with it", "all answers")
    for query, heading in HEADINGS.items():
        same = digest(calm[query]) == digest(flooded[query])
        verdict = "[green]equal to the byte[/green]" if same else "[red]different[/red]"
        table.add_row(heading, *(shown(latest(found[query], time)) for found in (calm, flooded)), verdict)
    return table


def tell_the_point(console: Console) -> None:
    """What the comparison says."""
    console.print("C cannot notice the flood: its window counts after the shepherd.")
    console.print("A filter behind the window lets TS tuples push C's rows out: that is how row filters leak.")


def digest(lines: Iterable[str]) -> str:
    """A fingerprint of everything that a query said."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def latest(lines: Iterable[str], time: float) -> float | None:
    """The answer that stands at a time; None where it is NULL, or where there is none yet."""
    values = [json.loads(line) for line in lines]
    said: list[float | None] = [value["row"]["SUM(wt)"] for value in values if value["time"] <= time]
    return said[-1] if said else None


def shown(value: float | None) -> str:
    """A sum for people."""
    return "NULL" if value is None else f"{value:,.1f}"


def _values(lines: Iterable[str]) -> list[object]:
    return [json.loads(line)["row"] for line in lines]


# ------------------------------------------------------------------------------ the reference


def vitals(tuples: int, seed: int) -> list[dict[str, object]]:
    """A stream of soldiers' weights; every level sends a quarter."""
    chance = random.Random(seed)
    return [
        _vital(float(n), chance.choice(LEVELS), chance.randrange(1, 40), round(chance.uniform(55, 110), 1))
        for n in range(1, tuples + 1)
    ]


def _vital(time: float, level: str, soldier: int, weight: float) -> dict[str, object]:
    return {"stream": "Vitals", "time": time, "level": level, "row": {"sid": soldier, "wt": weight}}


def flood(tuples: int) -> list[dict[str, object]]:
    """TS tuples between the others, evenly over the seconds of the flood."""
    begin, end = FLOOD
    return [_vital(round(begin + (end - begin) * n / tuples, 3), "TS", 99, 100.0) for n in range(tuples)]


def answers(stream: list[dict[str, object]]) -> Answers:
    """What each query says of a stream."""
    queries = [{"name": name, "at": level, "text": text} for name, (level, text) in ASKED.items()]
    case = build_case(_exact({"levels": " < ".join(LEVELS), "streams": {"Vitals": {"sid": "int", "wt": "double"}},
                              "queries": queries, "input": stream}))  # fmt: skip
    found: dict[str, list[str]] = {name: [] for name in ASKED}
    console = Console(stderr=True)
    quiet = not console.is_terminal
    for line in track(replay(case), "replaying", console=console, transient=True, disable=quiet):
        found[json.loads(line)["query"]].append(line)
    return found


def _exact(case: dict[str, object]) -> object:
    return json.loads(json.dumps(case), parse_float=Decimal)


def _side_by_side(calm: Answers) -> Table:
    table = Table("query", *(f"t = {time} s" for time in WATCHED))
    for query in (HIGH, LOW):
        table.add_row(HEADINGS[query], *(shown(latest(calm[query], time)) for time in WATCHED))
    return table
