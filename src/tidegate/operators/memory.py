"""Keeping the memory that one epoch frees for the next one.

Reads: nothing.  Read by: query.
"""

from __future__ import annotations

from functools import cache

import numpy as np

LARGEST = 2**25 - 2**16  # bytes; a little below the most that the C library takes note of


@cache
def keep_freed() -> None:
    """Let the process keep up to 64 MB of freed memory; no effect but on time, and from the second call on none at all.

    The columns of an epoch take about a megabyte each. By itself the C library of Linux (glibc) gives such memory back
    to the system when it is freed, and every epoch then gets it anew page by page, which costs as much as the kernels.
    glibc adapts its threshold to the largest block that it has seen freed: so one block is freed, never touched.
    """
    block = np.empty(LARGEST, np.uint8)
    del block
