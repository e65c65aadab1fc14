"""What a killed Spark leaves in a checkpoint.

Reads: nothing.  Read by: engine.
"""

from __future__ import annotations

from pathlib import Path


def clear_checkpoint(checkpoint: Path) -> None:
    """Remove files that were being written when Spark died; nobody may be using the checkpoint.

    Spark names a file when it is whole, and ignores what is not; but one such file where the first micro-batch was
    being noted makes it refuse the checkpoint for ever (STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY).
    """
    for name in (".", "offsets", "commits"):
        for pattern in (".*.tmp", "..*.tmp.crc"):
            for path in (checkpoint / name).glob(pattern):
                path.unlink(missing_ok=True)
