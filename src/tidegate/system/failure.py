"""Why something ended, in words for a person, and whether it is worth trying again.

Reads: errors, engine (session), sources (failure).  Read by: gate, binding.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tidegate.engine.session import has_ended
from tidegate.errors import EngineError, TidegateError
from tidegate.sources.failure import explain_failure

FEW, MANY = 2, 10
"""Attempts: many after a death, because Spark notices that of each kind of Python process by failing once."""
MOST_WORDS = 40
SECONDS = 600.0
"""After so long without an end, what ended before counts no more."""
_OURS = re.compile(r"tidegate\.errors\.EngineError: (?P<message>[^\n]+)")
_PASSING = re.compile(
    r"Python worker|PYTHON_WORKER|EOFException|SocketException|InterruptedException|SPARK_JOB_CANCELLED"
    r"|Broken pipe|Stream closed|Connection reset"
)


@dataclass(slots=True)
class Patience:
    """How often something that ended is started again: a few times without any progress in between."""

    progress: int = -1
    count: int = 0
    latest: float = 0.0

    def is_left(self, error: Exception, progress: int) -> bool:
        """Whether one more attempt is worth it; it counts as made."""
        now = time.monotonic()
        if progress != self.progress or now - self.latest > SECONDS:
            self.count = 0
        self.progress, self.latest, self.count = progress, now, self.count + 1
        return self.count <= (MANY if is_passing(error) else FEW)


def is_passing(error: Exception) -> bool:
    """Whether a process died below Spark, or somebody cancelled its jobs: the same again may well succeed."""
    return _PASSING.search(_words(error)) is not None


def _words(error: BaseException) -> str:
    """What an error and its causes say, with Java's traces: an EOFException has no words of its own."""
    found, cause = list[str](), [error]
    while cause and len(found) < MOST_WORDS:
        one = cause.pop()
        found += [str(one), str(getattr(one, "_stackTrace", ""))]
        cause += [next_one for next_one in (getattr(one, "_cause", None), one.__cause__) if next_one is not None]
    return "\n".join(found)


def reason(error: Exception) -> str:
    """What a streaming query, or anything else, died of: one line, ours if it was ours."""
    if ours := _OURS.findall(str(error)):
        return str(ours[-1])
    return str(explain_failure(error, "")).removeprefix('source "": ')


@contextmanager
def spoken_of(spark: Any) -> Iterator[None]:
    """Around what needs Spark: where its process has died, that is said, and not what became of a call to it."""
    try:
        yield
    except TidegateError:
        raise
    except Exception as error:
        if has_ended(spark):
            raise explain_end(error, spark) from None
        raise


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
