"""`tidegate` in a process of its own, as a user runs it: needed where it starts Spark, of which a process has one."""

from __future__ import annotations

import os
import subprocess
import sys

COMMAND = (sys.executable, "-c", "from tidegate.cli.main import main; main()")


def plain_environment() -> dict[str, str]:
    """The environment without wishes for colours."""
    return {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "CLICOLOR_FORCE")}


def run_apart(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What a command prints into a pipe."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, env=plain_environment())
