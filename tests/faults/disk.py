"""Filling a small disk, and making room again."""

from __future__ import annotations

import errno
from pathlib import Path

BALLAST = "ballast"


def fill(disk: Path, leave: int = 0) -> None:
    """Use up what is free, but for so many bytes."""
    with (disk / BALLAST).open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
        file.truncate(max(0, file.tell() - leave))


def free(disk: Path) -> None:
    """Make room."""
    (disk / BALLAST).unlink(missing_ok=True)
