"""Replaying a case on processors without Spark, to compare with the reference line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tidegate.case import Case
from tidegate.engine.epochs import Epoch
from tidegate.engine.lines import Line, refusal_line, result_lines
from tidegate.engine.processor import LevelProcessor, Result
from tidegate.engine.share import Assignment, Shepherd

Keep = Callable[[LevelProcessor], LevelProcessor]


def processed(
    case: Case,
    size: int,
    *,
    shards: int = 1,
    trusted: bool = False,
    keep: Keep = lambda one: one,
    off: Iterable[str] = (),
) -> list[str]:
    """The lines of a case, in epochs of so many tuples; ``keep`` may put the processor away between two epochs."""
    assignments, refused = Shepherd(case, size, trusted, frozenset(off)).assignments()
    found = [refusal_line(one) for one in refused]
    for assignment in assignments:
        for shard in range(shards):
            found += _lines(case, assignment, shard, shards, keep)
    return [line.text for line in sorted(found, key=lambda line: line.place)]


def _lines(case: Case, assignment: Assignment, shard: int, shards: int, keep: Keep) -> Iterator[Line]:
    results = list(run(assignment.epochs, shard, shards, keep))
    return result_lines(results, dict(enumerate(assignment.orders)), case.lattice)


def run(epochs: tuple[Epoch, ...], shard: int, shards: int, keep: Keep) -> Iterator[Result]:
    """Everything that one shard of one processor gives."""
    assert epochs[0].world is not None
    processor = LevelProcessor(epochs[0].world, shard, shards)
    try:
        for epoch in epochs:
            yield from processor.advance(epoch)
            processor = keep(processor)
    finally:
        processor.close()
