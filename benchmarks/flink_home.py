"""Flink's Python: a virtual environment of its own, since it needs other versions of what Spark needs.

Reads: nothing.  Read by: bench_against.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PACKAGE = "apache-flink==2.3.0"
HOME = Path(__file__).resolve().parents[1] / ".venv-flink"


def flink_python() -> Path | None:
    """The Python of the environment, made the first time; None, with a word why, where that fails."""
    python = HOME / "bin" / "python"
    if _has_flink(python):
        return python
    print(f"installing {PACKAGE} into {HOME.name}: some minutes and 850 MB, once", file=sys.stderr)
    install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", PACKAGE]
    for command in ([sys.executable, "-m", "venv", "--clear", str(HOME)], install):
        if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode != 0:
            print("Flink could not be installed; pip says why above. It is left out.", file=sys.stderr)
            return None
    return python if _has_flink(python) else None


def _has_flink(python: Path) -> bool:
    if not python.exists():
        return False
    asked = [str(python), "-c", "import pyflink.table"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0
