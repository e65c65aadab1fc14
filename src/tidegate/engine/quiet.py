"""What Spark says because of a gate and that means nothing to anybody: left out while the gate is open.

Each sentence is one that Spark always says when somebody does as a gate does. Nothing else is touched: no level of any
logger, no other sentence, and nothing after the gate has closed.

Reads: nothing.  Read by: system, engine, sources.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

ALWAYS = (
    r"\Qspark.sql.adaptive.enabled\E is not supported in streaming .*",
    r"Disabling AQE since AQE is not supported in stateful workloads.*",
    r"No more data to read from the socket.*",
    r"Value state \w+ doesn't contain a value.*",
)
"""While streaming queries start and run."""
STOPPING = (
    r"Failed to cancel job group .* Cannot find active jobs for it.*",
    r"Lost task .* TaskKilled .*SPARK_JOB_CANCELLED.*",
    r"Interrupted while joining on: .*",
)
"""While they are stopped, which cancels what they are doing."""
WHO = ("org.apache.spark.sql.execution.streaming", "org.apache.spark.scheduler", "org.apache.hadoop.util")
"""Who says it."""


@dataclass(slots=True)
class Quiet:
    """Some sentences that Spark's log leaves out until ``lift``; where it keeps no such log, nothing happens."""

    spark: Any
    sentences: tuple[str, ...]
    _filters: list[tuple[Any, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        with suppress(Exception):  # another logger than Spark's own, or Spark is gone: it is only about noise
            self._filters = list(_leave_out(self.spark, self.sentences))

    def lift(self) -> None:
        """Let everything be said again."""
        while self._filters:
            logger, one = self._filters.pop()
            with suppress(Exception):
                logger.removeFilter(one)

    def __enter__(self) -> Quiet:
        return self

    def __exit__(self, *_: object) -> None:
        self.lift()


def _leave_out(spark: Any, sentences: tuple[str, ...]) -> list[tuple[Any, Any]]:
    log4j = spark._jvm.org.apache.logging.log4j
    known = log4j.LogManager.getContext(False).getConfiguration()
    decision = getattr(log4j.core, "Filter$Result")
    loggers = {one.getName(): one for one in (known.getLoggerConfig(name) for name in WHO)}
    one = log4j.core.filter.RegexFilter.createFilter(
        f"(?s)(?:{'|'.join(sentences)})", None, False, decision.DENY, decision.NEUTRAL
    )
    for logger in loggers.values():
        logger.addFilter(one)
    return [(logger, one) for logger in loggers.values()]


def register_once(spark: Any, source: Any) -> None:
    """Make a data source known to a session; again it does nothing, where Spark would warn that one is replaced."""
    known = False
    with suppress(Exception):
        known = spark._jsparkSession.sessionState().dataSourceManager().dataSourceExists(source.name())
    if not known:
        spark.dataSource.register(source)
