"""``tidegate demo``: the opening example of multilevel secure CQL, on generated vitals.

The same text asked at two clearances has two answers, and a flood of secret tuples leaves the lower answer equal to
the byte. The third query shows what engines do that filter rows *after* the window: its answer is disturbed.
"""

from __future__ import annotations

import hashlib
import json
import random
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
WATCHED = (100, 150, 200, 250, 300)
FLOOD = (150, 200)  # seconds


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


def answers(stream: list[dict[str, object]]) -> dict[str, dict[float, float]]:
    """What each query says at which time."""
    queries = [{"name": "TS", "at": "TS", "text": QUERY}, {"name": "C", "at": "C", "text": QUERY},
               {"name": "filtered", "at": "TS", "text": LEAKY}]  # fmt: skip
    case = build_case(_exact({"levels": " < ".join(LEVELS), "streams": {"Vitals": {"sid": "int", "wt": "double"}},
                              "queries": queries, "input": stream}))  # fmt: skip
    found: dict[str, dict[float, float]] = {"TS": {}, "C": {}, "filtered": {}}
    for line in track(replay(case), "replaying", console=Console(stderr=True), transient=True):
        value = json.loads(line)
        found[value["query"]][value["time"]] = value["row"]["SUM(wt)"]
    return found


def _exact(case: dict[str, object]) -> object:
    return json.loads(json.dumps(case), parse_float=Decimal)


def latest(series: dict[float, float], time: float) -> float:
    """The answer that stands at a time."""
    return series[max(moment for moment in series if moment <= time)]


def digest(series: dict[float, float]) -> str:
    """A fingerprint of everything that a query said."""
    return hashlib.sha256(json.dumps(sorted(series.items())).encode()).hexdigest()[:12]


@click.command(short_help="One text, two clearances, two answers.")
@click.option("--tuples", default=300, show_default=True, type=click.IntRange(min=300), help="Length of the stream.")
@click.option("--seed", default=7, show_default=True, help="Which stream.")
def demo(tuples: int, seed: int) -> None:
    """Two clearances, one text, two answers; and secret tuples that cannot be noticed below."""
    console = Console(width=100)
    quiet = vitals(tuples, seed)
    calm, flooded = answers(quiet), answers(quiet + flood(500))
    console.print(f"\n[bold]{QUERY}[/bold], asked at two clearances; levels {' < '.join(LEVELS)}\n")
    console.print(_side_by_side(calm))
    console.print("Same text, two answers: each sums the last 100 tuples [i]visible at its level[/i].\n")
    begin, end = FLOOD
    console.print(f"[bold]Now 500 TS tuples flood the stream from second {begin} to {end}[/bold]\n")
    console.print(_comparison(calm, flooded))
    equal = digest(calm["C"]) == digest(flooded["C"])
    console.print("C cannot notice the flood: its window counts after the shepherd." if equal else "C WAS DISTURBED")
    console.print("A filter behind the window lets TS tuples push C's rows out: that is how row filters leak.\n")
    console.print("Next: [cyan].venv/bin/tidegate replay CASE.json[/cyan] runs your own case; README.md shows one.")
    if not equal:
        raise SystemExit(1)


def _side_by_side(calm: dict[str, dict[float, float]]) -> Table:
    table = Table("query", *(f"t = {time} s" for time in WATCHED))
    for level in ("TS", "C"):
        table.add_row(f"asked at {level}", *(f"{latest(calm[level], time):,.1f}" for time in WATCHED))
    return table


def _comparison(calm: dict[str, dict[float, float]], flooded: dict[str, dict[float, float]]) -> Table:
    end = FLOOD[1]
    table = Table("query", f"t = {end} s, without the flood", "with it", "all answers")
    names = {"TS": "asked at TS", "C": "asked at C", "filtered": "filtered to C after the window"}
    for query, name in names.items():
        same = digest(calm[query]) == digest(flooded[query])
        verdict = "[green]equal to the byte[/green]" if same else "[red]different[/red]"
        table.add_row(name, f"{latest(calm[query], end):,.1f}", f"{latest(flooded[query], end):,.1f}", verdict)
    return table
