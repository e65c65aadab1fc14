"""Why something ended, in words for a person, and whether it is worth trying again.

Reads: errors, engine (session), sources (failure).  Read by: gate, binding.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Any

from tidegate.engine.session import has_ended
from tidegate.errors import EngineError
from tidegate.sources.failure import explain_failure

ATTEMPTS, SECONDS = 10, 60.0
"""So many, because Spark has a daemon for each kind of Python process and notices the death of each by failing once."""
_OURS = re.compile(r"tidegate\.errors\.EngineError: (?P<message>[^\n]+)")
_PASSING = re.compile(
    r"Python worker|PYTHON_WORKER|EOFException|SocketException|InterruptedException|SPARK_JOB_CANCELLED"
    r"|Broken pipe|Stream closed|Connection reset"
)


@dataclass(slots=True)
class Patience:
    """How often something that ended is started again: a few times in a minute."""

    moments: list[float] = field(default_factory=list)

    def is_left(self) -> bool:
        """Whether one more attempt is worth it; it counts as made."""
        now = time.monotonic()
        self.moments = [moment for moment in self.moments if now - moment < SECONDS]
        if len(self.moments) >= ATTEMPTS:
            return False
        self.moments.append(now)
        return True


def is_passing(error: Exception) -> bool:
    """Whether a process died below Spark, or somebody cancelled its jobs: the same again may well succeed."""
    return _PASSING.search(str(error)) is not None


def reason(error: Exception) -> str:
    """What a streaming query, or anything else, died of: one line, ours if it was ours."""
    if ours := _OURS.findall(str(error)):
        return str(ours[-1])
    return str(explain_failure(error, "")).removeprefix('source "": ')


def explain_end(error: Exception, spark: Any) -> EngineError:
    """Why a gate has ended, and what to do."""
    if isinstance(error, EngineError):
        return error
    if has_ended(spark):
        return EngineError(
            "Spark has ended: its process died or was stopped; start Spark again and open the gate with the same "
            "directory: nothing is lost"
        )
    return EngineError(f"the gate has ended: {reason(error)}; open it again with the same directory")
