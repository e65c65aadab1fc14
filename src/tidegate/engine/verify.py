"""Live equals replay: what a gate answered against what its log means.

Nothing is written, so the gate may be running meanwhile.

Reads: engine, reference.  Read by: cli.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidegate.engine.herd import path_name
from tidegate.engine.journal import Tick
from tidegate.engine.lines import line_text, row_lines
from tidegate.engine.livelog import read_live, read_ticks
from tidegate.engine.processor import Result
from tidegate.engine.results import Results
from tidegate.operators.arrow import encode
from tidegate.reference.replay import replay_lines
from tidegate.security.declare import declare
from tidegate.security.lattice import Lattice, Level

Answers = dict[tuple[Level, str], list[str]]
"""Lines by level and name of the query, in their order."""
Told = Callable[[str, int, int], None]
"""Hears how it goes: what is being done, how much of it, of how much."""


@dataclass(frozen=True, slots=True)
class Span:
    """The instants in which a level is compared: behind the first one, up to the last one."""

    after: int
    last: int

    def __contains__(self, instant: int) -> bool:
        return self.after < instant <= self.last


@dataclass(frozen=True, slots=True)
class Compared:
    """A level: its queries, the lines that they should have given, how many queries differ, and what was left out."""

    queries: int
    lines: int
    differing: int
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many lines were compared, and the first line that differs, of each query that has one."""

    lines: int
    queries: int
    differing: Mapping[tuple[Level, str], tuple[str, str]]
    levels: Mapping[Level, Compared]


def verify(directory: Path, about: Mapping[str, Any], told: Told = lambda *_: None) -> Verdict:
    """Compare every answer of a gate with the reference's over the gate's own log.

    Each level is compared up to the last epoch that it has answered, from the oldest one whose results are kept. One
    that was ever given less than its share, because it was behind, is left out. CaseError where the log was dropped.
    """
    lattice = declare(about["levels"])
    ticks = read_ticks(directory)
    spans = dict(_answered(directory, ticks, lattice))
    expected = expected_lines(directory, about, spans, told)
    found: Answers = {}
    for number, (level, within) in enumerate(spans.items()):
        told("reading answers", number, len(spans))
        found |= live_lines(directory, level, lattice, within)
    keys = {**expected, **found}
    differing = {key: _first_difference(expected.get(key, []), found.get(key, [])) for key in keys
                 if expected.get(key, []) != found.get(key, [])}  # fmt: skip
    levels = {level: _compared(level, expected, [*keys], [*differing], within) for level, within in spans.items()}
    levels |= {level: Compared(0, 0, 0, "not compared: tuples were shed") for level in _shed(ticks)}
    return Verdict(sum(map(len, expected.values())), len(keys), differing, levels)


def _compared(level: Level, expected: Answers, keys: list[tuple[Level, str]], differing: list[tuple[Level, str]],
              within: Span) -> Compared:  # fmt: skip
    lines = sum(len(found) for key, found in expected.items() if key[0] == level)
    left_out = "older results were dropped by age" if within.after >= 0 else ""
    return Compared(sum(key[0] == level for key in keys), lines, sum(key[0] == level for key in differing), left_out)


def expected_lines(
    directory: Path, about: Mapping[str, Any], spans: Mapping[Level, Span], told: Told = lambda *_: None
) -> Answers:
    """What the reference says that the queries of a gate should have answered, at some levels and in their spans."""
    told("reading the log", 0, 1)
    case, log = read_live(directory, about)
    expected: Answers = {}
    for line in replay_lines(case, log):
        told("replaying", line.instant - log.first, max(1, log.last - log.first))
        name = json.loads(line.text)["query"]
        if line.level in spans and line.instant in spans[line.level] and name is not None:
            expected.setdefault((line.level, name), []).append(line.text)
    return expected


def _answered(directory: Path, ticks: list[Tick], lattice: Lattice) -> Iterator[tuple[Level, Span]]:
    """Each level that was awake and got all its tuples, with the instants that it has answered and that are kept."""
    without = _shed(ticks)
    for level in dict.fromkeys(level for tick in ticks for level in tick.epochs if level not in without):
        results = Results(directory / "levels" / path_name(level) / "results", lattice)
        yield level, Span(_end(ticks, level, results.kept - 1), _end(ticks, level, results.done))


def _shed(ticks: list[Tick]) -> dict[Level, None]:
    return dict.fromkeys(level for tick in ticks for level in tick.shed)


def _end(ticks: list[Tick], level: Level, epoch: int) -> int:
    """The instant up to which an epoch of a level reaches; before all of them it is -1."""
    return max((tick.instant for tick in ticks if level in tick.epochs and tick.epochs[level] <= epoch), default=-1)


def live_lines(directory: Path, level: Level, lattice: Lattice, within: Span) -> Answers:
    """What the queries of a level answered in a span, as lines."""
    results = Results(directory / "levels" / path_name(level) / "results", lattice)
    found: Answers = {}
    for serial in results.serials():
        lines: list[tuple[int, str, str]] = []
        for _, body in results.problems(serial):
            name, instant = body.pop("name"), body.pop("time")
            lines.append((instant, name, line_text(name, instant, body)))
        for epoch in results.epochs(serial, -1):
            batch = results.read(serial, epoch)
            known = {key.decode(): value.decode() for key, value in batch.schema.metadata.items()}
            result = Result(0, serial, level, known["kind"], known["name"], encode(batch))
            lines += [(line.place.instant, known["name"], line.text) for line in row_lines(result, 0, lattice)]
        for instant, name, text in sorted(lines, key=lambda one: one[0]):
            if instant in within:
                found.setdefault((level, name), []).append(text)
    return found


def _first_difference(expected: list[str], found: list[str]) -> tuple[str, str]:
    both = zip([*expected, "nothing"], [*found, "nothing"], strict=False)
    return next((one, other) for one, other in both if one != other)
