"""Q-10: Spark gives the reference's bytes, whatever the epochs and micro-batches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.cases.text_case import load, runnable
from tests.conftest import examples
from tests.laws.reference.cases import CaseWriter
from tests.laws.reference.running import chances
from tidegate.case import Case, read_case
from tidegate.engine.replay import Cuts, Load
from tidegate.reference.replay import replay

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Expected(NamedTuple):
    """A case and the reference's lines, which are asked for once however often it goes through Spark."""

    name: str
    case: Case
    lines: list[str]


def expected(name: str, case: Case) -> Expected:
    """What Spark should give."""
    return Expected(name, case, list(replay(case)))


def differing(spark: SparkSession, work: Path, cases: Sequence[Expected], cuts: Cuts, *,
              trusted: bool = False) -> list[str]:  # fmt: skip
    """Run cases as one load, and name those whose lines are not the reference's."""
    together = Load([one.case for one in cases], cuts, trusted)
    together.run(spark, work)
    return [one.name for number, one in enumerate(cases) if list(together.lines(number)) != one.lines]


@pytest.fixture(scope="module")
def text_cases() -> list[Expected]:
    """Every text case, by its name."""
    return [expected(f"{path.parent.name}/{path.stem}", load(path).case()) for path in runnable()]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_all_text_cases_as_one_load(spark: SparkSession, tmp_path: Path, text_cases: list[Expected], size: int) -> None:
    """Epochs of so many tuples, as many in a micro-batch as there are."""
    assert differing(spark, tmp_path, text_cases, Cuts(epoch=size)) == []


def test_one_processor_for_all_levels(spark: SparkSession, tmp_path: Path, text_cases: list[Expected]) -> None:
    """M-9: the trusted architecture answers alike; it has no functions."""
    plain = [one for one in text_cases if not one.name.startswith("functions/")]
    assert differing(spark, tmp_path, plain, Cuts(epoch=7), trusted=True) == []


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_real_micro_batches(spark: SparkSession, tmp_path: Path, text_cases: list[Expected], size: int) -> None:
    """Ten cases of every kind: state goes through Spark's store between one tuple and the next."""
    assert differing(spark, tmp_path, _varied(text_cases), Cuts(micro_batch=size)) == []


def _varied(text_cases: list[Expected]) -> list[Expected]:
    """Of ten folders the case with the most input."""
    folders: dict[str, Expected] = {}
    for one in text_cases:
        folder = one.name.partition("/")[0]
        if folder not in folders or len(one.case.input) > len(folders[folder].case.input):
            folders[folder] = one
    chosen = [folders[folder] for folder in sorted(folders) if folder != "functions"]
    assert len(chosen) >= 10
    return chosen[:10]


@pytest.mark.parametrize("shards", [1, 2, 3])
def test_generated_loads(spark: SparkSession, tmp_path: Path, seed: int, shards: int) -> None:
    """Generated cases of many queries, 40 in all, through one, two and three shards."""
    count = {1: 8, 2: 24, 3: 8}[shards] * examples(1, 20)
    raw = [(name, CaseWriter(chance).case()) for name, chance in chances(seed, f"Spark, {shards} shards", count)]
    cases = [expected(f"{name} {json.dumps(case)}", read_case(json.dumps(case))) for name, case in raw]
    assert differing(spark, tmp_path, cases, Cuts(epoch=5, shards=shards)) == []
