"""N-2, for the shepherd of a live gate: a level's epochs are the same bytes whatever happens above or beside it."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.conftest import examples
from tests.engine.living import Living, Processors
from tests.laws.reference.cases import CaseWriter, Raw
from tests.laws.reference.running import chances, show
from tidegate.case import Case, StatementEntry, TupleEntry, read_case
from tidegate.engine.epochs import Epoch, write_epoch
from tidegate.security.lattice import Level

Event = tuple[str, Any]


class Collected(Processors):
    """Keeps the bytes of every epoch, by level."""

    def __init__(self, directory: Path, case: Case) -> None:
        super().__init__(directory, case.lattice)
        self.bytes: dict[Level, dict[int, bytes]] = defaultdict(dict)

    def put(self, level: Level, epoch: Epoch) -> None:
        """As a file, the way a processor would find it."""
        path = self.directory / "one.arrow"
        write_epoch(epoch, path)
        self.bytes[level].setdefault(epoch.number, path.read_bytes())


def events(raw: Raw, chance: Random) -> list[Event]:
    """What a case's input comes to, with segments cut, ticks and crashes between its entries."""
    found: list[Event] = []
    for entry in raw["input"]:
        found.append(("entry", entry))
        if chance.random() < 0.4:
            found.append(("flush", None))
        if chance.random() < 0.4:
            found.append(("tick", chance.randrange(1, 3)))
    return [*found, ("flush", None), ("tick", 60)]


def disturbed(base: list[Event], writer: CaseWriter, levels: tuple[str, ...], chance: Random) -> list[Event]:
    """The same with entries of other levels between them, and crashes."""
    found: list[Event] = []
    for event in base:
        while chance.random() < 0.5:
            found.append(("entry", writer.entry(float(chance.randrange(1, 20)), levels)))
        if chance.random() < 0.1:
            found.append(("crash", None))
        found.append(event)
    return found


def epochs_of(directory: Path, case: Case, happening: list[Event], chance: Random) -> dict[Level, dict[int, bytes]]:
    """Every level's epochs."""
    living = Living(directory, case, chance, tuple(case.lattice.levels()))
    collected = living.processors = Collected(directory, case)
    living.shepherd.put = collected.put
    for kind, value in happening:
        if kind == "entry":
            _enter(living, case, value)
        elif kind == "flush":
            living.flush()
        elif kind == "crash":
            living.crash()
            living.shepherd.put = collected.put
        else:
            living.now += value * 1_000_000
            living.shepherd.tick(living.now, living.now - 1_000_000)
    living.shepherd.close()
    return collected.bytes


def _enter(living: Living, case: Case, raw: Raw) -> None:
    only = read_case(json.dumps({"levels": case.levels, "streams": _plain(case), "input": [raw]})).input
    for _, entry in only:
        if isinstance(entry, StatementEntry):
            living.say(entry)
        elif isinstance(entry, TupleEntry):
            living.segments.setdefault(entry.stream, []).append(entry.raw)


def _plain(case: Case) -> Raw:
    return {name: {one.name: str(one.type) for one in schema} for name, schema in case.streams.items()}


@pytest.mark.parametrize("part", range(2))
def test_epochs_show_nothing_of_other_levels(seed: int, part: int, tmp_path: Path) -> None:
    """Data, statements, refusals, bad tuples, late tuples and crashes at levels that a reader does not dominate."""
    compared = 0
    for number, (name, chance) in enumerate(chances(seed, f"live twins, part {part}", examples(80, 4_000) // 2)):
        writer = CaseWriter(chance)
        raw = writer.case()
        case = read_case(json.dumps({**raw, "input": [], "queries": []}))
        reader = Level(chance.choice(writer.levels[:-1]))
        below = [level for level in writer.levels if case.lattice.dominates(reader, Level(level))]
        visible = [one for one in raw["input"] if one.get("level", one.get("at", reader)) in below and _fits(one)]
        base = events({**raw, "input": visible}, chance)
        hidden = tuple(level for level in writer.levels if level not in below)
        twin = disturbed(base, writer, hidden, chance)
        one = epochs_of(tmp_path / f"{number}a", case, base, Random(number))
        other = epochs_of(tmp_path / f"{number}b", case, twin, Random(number))
        for level in map(Level, below):
            assert one.get(level) == other.get(level), show(f"{name}, at {level}", {**raw, "input": visible})
            compared += len(one.get(level, {}))
    assert compared > 20


def _fits(entry: Raw) -> bool:
    return "no such thing" not in json.dumps(entry)
