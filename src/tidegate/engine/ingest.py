"""Ingest: one streaming query per source, which appends segments to the log (DESIGN 3).

Spark decodes the declared columns and no more. The number of the micro-batch is the number of the segment: a
micro-batch that is run again finds its segment there, so nothing is lost and nothing is doubled.

Reads: plan, engine.  Read by: system.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import NumericType, TimestampNTZType, TimestampType

from tidegate.engine.checkpoint import clear_checkpoint
from tidegate.engine.segments import as_segment, clear_away, write_segment
from tidegate.engine.session import short_farewell
from tidegate.errors import EngineError
from tidegate.plan.schema import Schema

MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Feed:
    """A streaming DataFrame and which of its columns are what."""

    frame: DataFrame
    schema: Schema
    time: str | None
    level: str | None
    label: str | None = None
    """What every tuple is labelled with where no column says it."""
    corrupt: str | None = None


def columns_of(feed: Feed) -> list[Column]:
    """Declared columns, label, instant in microseconds, text that could not be decoded."""
    declared = [sf.col(_quoted(one.name)).cast(str(one.type)).alias(f"c{n}") for n, one in enumerate(feed.schema)]
    level = sf.lit(feed.label) if feed.level is None else sf.col(_quoted(feed.level))
    corrupt = sf.lit(None) if feed.corrupt is None else sf.col(_quoted(feed.corrupt))
    return [*declared, level.cast("string").alias("level"), _instant(feed).alias("instant"),
            corrupt.cast("string").alias("broken")]  # fmt: skip


def _instant(feed: Feed) -> Column:
    if feed.time is None:
        return sf.lit(None).cast("long")
    column, kind = sf.col(_quoted(feed.time)), feed.frame.schema[feed.time].dataType
    if isinstance(kind, TimestampNTZType):
        column, kind = sf.to_utc_timestamp(column.cast("timestamp"), sf.current_timezone()), TimestampType()
    if isinstance(kind, TimestampType):
        return sf.unix_micros(column)
    if isinstance(kind, NumericType):
        return sf.round(column * MICROSECONDS).try_cast("long")  # NaN is no time, and no reason to stop the source
    raise EngineError(f'column "{feed.time}" is {kind.simpleString()}; a time is a timestamp or seconds as a number')


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def start_ingest(
    feed: Feed, segments: Path, checkpoint: Path, taken: Callable[[], int], wait: Callable[[], None]
) -> StreamingQuery:
    """Append what arrives to the log.

    ``taken`` is the newest segment that a tick has taken: those up to it may have been dropped, and are never written
    again. ``wait`` returns when there is room for more (Q-16).
    """
    segments.mkdir(parents=True, exist_ok=True)
    clear_away(segments)
    clear_checkpoint(checkpoint)
    frame = feed.frame.select(*columns_of(feed))

    def append(batch: DataFrame, number: int) -> None:
        path = segments / f"{number}.arrow"
        if number <= taken() or path.exists():
            return
        wait()
        with short_farewell():
            table = batch.toArrow()
        if len(table):
            write_segment(as_segment(table, feed.schema), path)

    return frame.writeStream.foreachBatch(append).option("checkpointLocation", str(checkpoint)).start()
