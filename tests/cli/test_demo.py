"""`tidegate demo`: it runs, it proves its point, and its output can be piped."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tidegate.cli.demo import answers, digest, flood, latest, vitals
from tidegate.cli.main import cli


def test_in_a_pipe_it_is_plain_text_and_succeeds() -> None:
    """No escape codes where nobody can see colours."""
    plain = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "CLICOLOR_FORCE")}
    command = (sys.executable, "-c", "from tidegate.cli.main import main; main()", "demo")
    done = subprocess.run(command, capture_output=True, check=False, env=plain)
    assert done.returncode == 0
    assert b"equal to the byte" in done.stdout
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"Traceback" not in done.stderr


def test_the_flood_is_seen_above_and_not_below() -> None:
    """M-12a, section 1.1 gap vi: the last 100 visible tuples each; the first demo is the paper's core point."""
    quiet = vitals(300, seed=3)
    calm, flooded = answers(quiet), answers(quiet + flood(500))
    assert digest(calm["C"]) == digest(flooded["C"])
    assert digest(calm["TS"]) != digest(flooded["TS"])
    assert digest(calm["filtered"]) != digest(flooded["filtered"])
    assert latest(calm["C"], 300) != latest(calm["TS"], 300)


def test_a_digest_tells_any_two_answers_apart() -> None:
    assert digest({1.0: 2.0}) != digest({1.0: 2.0000000000000004})
    assert digest({1.0: 2.0, 2.0: 3.0}) == digest({2.0: 3.0, 1.0: 2.0})


@pytest.mark.parametrize("options", [["--tuples", "299"], ["--seed", "x"]])
def test_misuse_is_status_2(options: list[str]) -> None:
    assert CliRunner().invoke(cli, ["demo", *options]).exit_code == 2
