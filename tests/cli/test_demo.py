"""`tidegate demo`: it runs, its claims hold on both engines, and its output can be piped."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from itertools import pairwise

import pytest
from click.testing import CliRunner

from tests.cli.apart import COMMAND, plain_environment, run_apart
from tests.docs.console import LIVE, commands, fits, lines_of
from tests.docs.pages import blocks, page
from tidegate.cli import demo
from tidegate.cli.demo import FILTERED, HIGH, LOW, Answers, answers, digest, flood, latest, vitals, wrong_claims
from tidegate.cli.main import cli

VERDICTS = {
    "asked at TS": "different",
    "asked at C": "equal to the byte",
    "filtered to C after the window": "different",
}


def verdicts(output: str) -> dict[str, str]:
    """The first and the last cell of each row of the table that compares."""
    table = output[output.index("all answers") :].splitlines()
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in table if line.startswith("│")]
    return {row[0]: row[-1] for row in rows}


def check_that_claims_hold(done: subprocess.CompletedProcess[str]) -> None:
    """It succeeds, says that its claims hold, and has no escape codes where nobody can see colours."""
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert verdicts(done.stdout) == VERDICTS
    assert "NOT TRUE" not in done.stdout


def test_on_the_reference_its_claims_hold() -> None:
    """M-12a, section 1.1 gap vi, N-1."""
    check_that_claims_hold(run_apart("demo", "--engine", "reference"))


def test_live_its_claims_hold_a_query_is_added_and_everything_is_verified() -> None:
    """M-12a, N-1, Q-10, Q-13; README shows what it prints. Nothing here depends on how fast the machine is."""
    done = run_apart("demo")
    check_that_claims_hold(done)
    output = done.stdout
    events = [
        "asked at two clearances",
        "added while it runs, at TS",
        "TS tuples flood",
        "the flood is over",
        "verify: ",
    ]
    places = [output.index(event) for event in events]
    assert places == sorted(places)
    before, between, flooded, _ = (board(output[start:end]) for start, end in pairwise(places))
    assert {len(row) for row in before} == {2}
    assert 3 in {len(row) for row in between}
    assert {len(row) for row in flooded} == {3}
    assert any(low != high for low, high, *_ in (*before, *between))
    assert re.search(r"verify: [\d,]+ lines of 3 queries, equal to the reference's over the log", output)
    (session,) = (block for block in blocks("console", page("README.md")) if LIVE in block.info)
    (command,) = commands(session)
    assert command.text == "make demo"
    assert fits(command.expected, lines_of(output), live=True), output


def board(text: str) -> list[list[str]]:
    """The answers on each line of the board."""
    return [line.split()[2:] for line in text.splitlines() if re.match(r" +\d+ s ", line)]


def test_an_interrupt_ends_it_without_a_trace() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([*COMMAND, "demo"], stdout=pipe, stderr=pipe, text=True, env=plain_environment()) as running:
        assert running.stdout is not None
        while "Live through Spark" not in running.stdout.readline():
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert (running.returncode, said) == (130, "stopped\n")


def test_without_java_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    result = CliRunner().invoke(cli, ["demo"])
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert re.search(r"Spark needs Java: .*; install Java 17 or newer .* --engine reference", result.stderr)


# ------------------------------------------------------------------------------ its claims


def test_the_flood_is_seen_above_and_not_below() -> None:
    """M-12a, section 1.1 gap vi: the last 100 visible tuples each; the first demo is the paper's core point."""
    quiet = vitals(300, seed=3)
    calm, flooded = answers(quiet), answers(quiet + flood(500))
    assert digest(calm[LOW]) == digest(flooded[LOW])
    assert digest(calm[HIGH]) != digest(flooded[HIGH])
    assert digest(calm[FILTERED]) != digest(flooded[FILTERED])
    assert latest(calm[LOW], 300) != latest(calm[HIGH], 300)
    assert wrong_claims(calm, flooded) == []


def said(**values: float) -> Answers:
    """One answer of each query."""
    return {name: [json.dumps({"time": 1.0, "row": {"SUM(wt)": value}})] for name, value in values.items()}


CALM = said(low=1.0, high=2.0, filtered=3.0)


@pytest.mark.parametrize(
    ("calm", "flooded", "wrong"),
    [
        (CALM, said(low=1.0, high=5.0, filtered=6.0), []),
        (CALM, said(low=1.5, high=5.0, filtered=6.0), ["C cannot notice the flood"]),
        (CALM, said(low=1.0, high=2.0, filtered=6.0), ["TS notices the flood"]),
        (CALM, said(low=1.0, high=5.0, filtered=3.0), ["a filter behind the window is disturbed"]),
        (
            said(low=2.0, high=2.0, filtered=3.0),
            said(low=2.0, high=5.0, filtered=6.0),
            ["the same text has two answers"],
        ),
        ({**CALM, LOW: []}, {**said(high=5.0, filtered=6.0), LOW: []}, ["C cannot notice the flood"]),
    ],
)
def test_a_claim_that_is_not_true_is_named(calm: Answers, flooded: Answers, wrong: list[str]) -> None:
    assert wrong_claims(calm, flooded) == wrong


def test_a_claim_that_is_not_true_is_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "wrong_claims", lambda *_: ["C cannot notice the flood"])
    result = CliRunner().invoke(cli, ["demo", "--engine", "reference"])
    assert result.exit_code == 1
    assert "NOT TRUE: C cannot notice the flood" in result.stdout


def test_a_digest_tells_any_two_answers_apart() -> None:
    assert digest(said(low=2.0)[LOW]) != digest(said(low=2.0000000000000004)[LOW])
    assert digest(said(low=2.0)[LOW]) == digest(said(low=2.0)[LOW])


@pytest.mark.parametrize("options", [["--tuples", "299"], ["--seed", "x"], ["--engine", "other"]])
def test_misuse_is_status_2(options: list[str]) -> None:
    assert CliRunner().invoke(cli, ["demo", *options]).exit_code == 2
