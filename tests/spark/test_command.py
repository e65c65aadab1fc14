"""`tidegate replay --engine spark`, as a user runs it: clean output, no process left behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

COMMAND = (sys.executable, "-c", "from tidegate.cli.main import main; main()", "replay")
NAMES = ("alarms", "first", "function", "mistakes", "vitals")
EXAMPLES = [str(Path(__file__).parents[2] / "examples" / f"{name}.json") for name in NAMES]


def output(*options: str) -> tuple[int, str, str]:
    """What the command prints about the examples."""
    ran = subprocess.run([*COMMAND, *EXAMPLES, *options], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout, ran.stderr


def test_the_engines_print_the_same() -> None:
    """Q-10, for one reader, with epochs of two tuples, standard error included."""
    assert output("--as", "C", "--engine", "spark", "--epoch", "2") == output("--as", "C")
