"""A gate without Spark; a small disk."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.lean import Lean


@pytest.fixture
def lean(tmp_path: Path) -> Iterator[Lean]:
    """A gate without Spark."""
    found = Lean(tmp_path / "gate")
    yield found
    found.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tidegate-test", str(place)], check=False)
    if mounted.returncode != 0:
        pytest.skip("only root can mount a small disk")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)
