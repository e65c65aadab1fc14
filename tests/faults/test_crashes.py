"""`kill -9` at random moments, of the JVM, of Python workers and of the driver: nothing is lost, nothing is doubled."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from tests.conftest import examples
from tests.faults.crashing import DRIVER, JVM, WORKER, Lives
from tests.faults.driver import texts
from tests.faults.world import EARLY, END, LEVELS, PASSING, STREAM, write_input
from tidegate.engine.livelog import read_live
from tidegate.engine.results import Results, for_reader
from tidegate.engine.verify import Answers, Span, live_lines, verify
from tidegate.log import Arrived
from tidegate.security.declare import declare
from tidegate.security.lattice import Level
from tidegate.system.directory import read_about

ROUND = (JVM, JVM, WORKER, WORKER, DRIVER, DRIVER)
ROUNDS = examples(6, 60) // len(ROUND)
LATTICE = declare(LEVELS)


def answers(gate: Path) -> Answers:
    """What the queries that were there before the first tuple answered up to the end."""
    found: Answers = {}
    for level in ("U", "S"):
        found |= live_lines(gate, Level(level), LATTICE, Span(-1, END))
    return {key: lines for key, lines in found.items() if key[1] in EARLY}


def statements(gate: Path) -> Iterator[str]:
    """What was registered and dropped, by name or text."""
    for line in (gate / "statements.jsonl").read_text().splitlines():
        said = json.loads(line)
        if said["kind"] == "statement":
            yield said["name"] or said["text"]


def expected_statements() -> Counter[str]:
    """Everything that the driver says, once."""
    gone = [f"DROP QUERY `{one.name}`" for one in PASSING if one.goes is not None]
    return Counter([*EARLY, *(one.name for one in PASSING), STREAM, *gone])


def check_reader(gate: Path) -> None:
    """Who read on from the last epoch that it had seen has seen every epoch once, up to where it was ended."""
    results = Results(gate / "levels" / "S" / "results", LATTICE)
    (serial,) = {one for one in results.serials() for epoch in results.epochs(one, -1)[:1]
                 if (results.read(one, epoch).schema.metadata or {})[b"name"] == b"sums"}  # fmt: skip
    written = {epoch: texts(for_reader(results.read(serial, epoch), epoch, Level("S")))
               for epoch in results.epochs(serial, -1)}  # fmt: skip
    seen = [json.loads(line) for line in gate.with_suffix(".seen").read_text().splitlines()]
    assert [one["epoch"] for one in seen] == list(written)[: len(seen)]
    assert all(one["rows"] == written[one["epoch"]] for one in seen)
    assert len(seen) >= len(written) - 1


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_gate_that_is_killed_answers_as_one_that_is_not(number: int, seed: int, tmp_path: Path) -> None:
    """Q-10, Q-13: six kills at random moments; queries, catalog and positions come back."""
    chance = Random(f"{seed} {number}")
    tuples = write_input(tmp_path / "in")
    with (
        closing(Lives(tmp_path / "calm", tmp_path / "in", tmp_path, chance)) as calm,
        closing(Lives(tmp_path / "gate", tmp_path / "in", tmp_path, chance)) as killed,
        ThreadPoolExecutor() as pool,
    ):
        undisturbed = pool.submit(calm.run, [])
        killed.run(chance.sample(ROUND, len(ROUND)))
        undisturbed.result()
    assert sum(text.startswith("killed") for text in killed.story) == len(ROUND), killed.story
    verdict = verify(killed.gate, read_about(killed.gate))
    assert verdict.differing == {}, killed.story
    assert verdict.queries == len(EARLY) + len(PASSING), "each of them answered something"
    _, log = read_live(killed.gate, read_about(killed.gate))
    arrived = [(one.instant, str(one.payload.level), *one.payload.values) for one in log.entries
               if isinstance(one.payload, Arrived)]  # fmt: skip
    assert Counter(arrived) == Counter(tuples), killed.story
    assert Counter(statements(killed.gate)) == expected_statements()
    assert answers(killed.gate) == answers(calm.gate)
    check_reader(killed.gate)
