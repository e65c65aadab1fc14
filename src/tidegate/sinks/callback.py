"""Any Python function as a sink.

Reads: sinks.  Read by: system.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from tidegate.sinks.sink import Followed


class CallbackSink:
    """Calls a function with (epoch, batch), in order, at least once for each epoch that gave rows.

    After a restart, or after the function raised, an epoch that was not known to be done comes again; its number tells.
    ``begin`` may say from which epoch to go on, if the receiver knows better than the gate.
    """

    def __init__(
        self, function: Callable[[int, pa.RecordBatch], object], begin: Callable[[int], int] | None = None
    ) -> None:
        self.function, self.begin = function, begin

    def open(self, followed: Followed, after: int) -> int:
        """Where the receiver says, else where the gate knows."""
        return after if self.begin is None else self.begin(after)

    def write(self, epoch: int, batch: pa.RecordBatch) -> None:
        """It is out when the function has returned."""
        self.function(epoch, batch)

    def close(self) -> None:
        """Nothing is open."""
