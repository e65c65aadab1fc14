"""Queries that come and go share what they have in common, and nothing else (M-15 to M-18, Q-13)."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from tests.engine.processing import processed
from tidegate.case import read_case
from tidegate.engine.processor import LevelProcessor
from tidegate.engine.share import Shepherd
from tidegate.operators.commons import CommonWindow
from tidegate.reference.replay import replay

Raw = dict[str, Any]
SUM = "SELECT SUM(x) FROM A [ROWS 3]"


def case(*entries: Raw, queries: list[Raw] | None = None) -> str:
    """A case over one stream of numbers."""
    streams = {"A": {"k": "int", "x": "double", "s": "string"}}
    return json.dumps({"levels": "U < S", "streams": streams, "queries": queries or [], "input": list(entries)})


def tuple_at(time: float, level: str = "U", **row: object) -> Raw:
    """A tuple with some values, the others NULL."""
    return {"stream": "A", "time": time, "level": level, "row": {"k": None, "x": None, "s": None, **row}}


def said(time: float, text: str, at: str = "S") -> Raw:
    """A statement."""
    return {"time": time, "at": at, "statement": text}


def watched(text: str, look: Callable[[LevelProcessor], None], size: int = 1) -> None:
    """Replay a case, equal to the reference, and look at the processor of every level after each epoch."""

    def keep(processor: LevelProcessor) -> LevelProcessor:
        look(processor)
        return processor

    assert processed(read_case(text), size, keep=keep) == list(replay(read_case(text)))


def windows(processor: LevelProcessor) -> list[CommonWindow]:
    """The windows that the queries of a processor have in common."""
    return [window for ground in processor.kernels.grounds.values() for window in ground.windows.values()]


def test_a_late_joiner_has_a_place_in_the_window_that_is_there() -> None:
    entries = [tuple_at(n, x=float(n)) for n in range(1, 9)]
    entries.insert(2, said(2.5, f"CREATE QUERY late AS {SUM}"))
    seen: list[tuple[int, list[int]]] = []
    watched(
        case(*entries, queries=[{"name": "first", "at": "S", "text": SUM}]),
        lambda one: seen.append(
            (len(windows(one)), sorted(start for w in windows(one) for start in w.starts.values()))
        ),
    )
    assert seen[-1] == (1, [0, 2])


def test_queries_that_are_the_same_compute_once_when_what_was_before_has_left() -> None:
    entries = [tuple_at(n, x=float(n)) for n in range(1, 12)]
    entries.insert(2, said(2.5, f"CREATE QUERY late AS {SUM}"))
    reused: list[int] = []

    def look(processor: LevelProcessor) -> None:
        reused.append(sum(ground.reused for ground in processor.kernels.grounds.values()))

    watched(case(*entries, queries=[{"name": "first", "at": "S", "text": SUM}]), look)
    gains = [after - before for before, after in pairwise(reused)]
    assert gains[-1] > gains[2]  # the whole result, not only the window


def test_a_shared_result_is_one_object_under_several_names() -> None:
    queries = [{"name": f"q{n}", "at": "S", "text": SUM} for n in range(3)]
    assignments, _ = Shepherd(read_case(case(*(tuple_at(n, x=1.5) for n in (1, 2)), queries=queries)), 1).assignments()
    (mine,) = assignments
    assert mine.epochs[0].world is not None
    processor = LevelProcessor(mine.epochs[0].world)
    list(processor.advance(mine.epochs[0]))
    results = list(processor.advance(mine.epochs[1]))
    assert [result.name for result in results] == ["q0", "q1", "q2"]
    assert len({id(result.body) for result in results}) == 1


def test_levels_share_nothing_even_in_one_processor() -> None:
    """M-15: in the trusted architecture one processor has the queries of both levels."""
    queries = [{"name": f"q{level}", "at": level, "text": SUM} for level in ("U", "S")]
    text = case(*(tuple_at(n, "US"[n % 2], x=float(n)) for n in range(1, 7)), queries=queries)
    seen: list[int] = []

    def keep(processor: LevelProcessor) -> LevelProcessor:
        seen.append(len(windows(processor)))
        return processor

    assert processed(read_case(text), 1, trusted=True, keep=keep) == list(replay(read_case(text)))
    assert seen[-1] == 2


def test_dropping_frees_what_nobody_sees_any_more() -> None:
    """An unbounded window holds everything from its first reader's start on; then from the next one's."""
    text = "SELECT COUNT(*), MAX(x) FROM A [UNBOUNDED]"
    entries = [tuple_at(n, x=float(n)) for n in range(1, 9)]
    entries[4:4] = [said(4.5, f"CREATE QUERY late AS {text}")]
    entries += [said(8.5, "DROP QUERY first"), tuple_at(9, x=0.0), said(9.5, "DROP QUERY late"), tuple_at(10, x=0.0)]
    held: list[list[int]] = []
    watched(
        case(*entries, queries=[{"name": "first", "at": "S", "text": text}]),
        lambda one: held.append([len(window.held.instants) for window in windows(one) if window.held is not None]),
    )
    assert [8] in held
    assert [5] in held
    assert held[-1] == []


def test_an_error_points_at_the_text_of_its_own_query() -> None:
    """Q-9: the window is shared, and so would the quotient be; each query says where in its own text it failed."""
    queries = [
        {"name": "plain", "at": "S", "text": "SELECT 6 / k FROM A [ROWS 2]"},
        {"name": "shifted", "at": "S", "text": "SELECT    6 / k   FROM A [ROWS 2]"},
        {"name": "sound", "at": "S", "text": "SELECT k FROM A [ROWS 2]"},
    ]
    text = case(*(tuple_at(n, k=k) for n, k in enumerate((1, 2, 0, 3), 1)), queries=queries)
    for size in (1, 2, 1000):
        watched(text, lambda _: None, size)
    errors = [json.loads(line)["error"] for line in replay(read_case(text)) if "error" in json.loads(line)]
    assert [error["place"]["column"] for error in errors] == [8, 11]


def test_a_thousand_queries_that_came_and_went_leave_nothing() -> None:
    entries: list[Raw] = []
    for n in range(250):
        entries += [
            said(n + 0.1, f"CREATE QUERY q{n} AS SELECT SUM(x), {n} FROM A [ROWS {n + 1}] WHERE x > {n}"),
            tuple_at(n + 0.2, x=float(n)),
            said(n + 0.3, f"DROP QUERY q{n}"),
        ]
    last: list[LevelProcessor] = []
    watched(case(*entries, tuple_at(1000, x=1.0)), last.append, 1000)
    gc.collect()
    kernels = last[-1].kernels
    assert kernels.lives == []
    assert windows(last[-1]) == []
    assert all(len(ground.shapes.known) == 0 for ground in kernels.grounds.values())


def test_a_column_is_read_from_the_registration_of_its_first_reader_on() -> None:
    """P-14: until then its values stay in the file; the window that both have is one."""
    entries = [tuple_at(n, k=n, x=float(n), s=f"text {n}") for n in range(1, 10)]
    entries.insert(4, said(4.5, "CREATE QUERY reads AS SELECT k, s FROM A [ROWS 3]"))
    entries.insert(8, said(7.5, "DROP QUERY reads"))
    kinds: list[set[str]] = []

    def look(processor: LevelProcessor) -> None:
        held = [window.held for window in windows(processor) if window.held is not None]
        kinds.append({one.rows.columns[2].type.name for one in held})

    watched(case(*entries, queries=[{"name": "other", "at": "S", "text": "SELECT k FROM A [ROWS 3]"}]), look)
    assert kinds[1] == {"unread"}
    assert {"string"} in kinds
    assert kinds[-1] == {"unread"}


def test_tuples_that_nobody_wants_are_steps_all_the_same() -> None:
    """Q-2: RSTREAM tells the relation at each arrival, also of a tuple that no condition keeps."""
    queries = [
        {"name": "all", "at": "S", "text": "SELECT RSTREAM x FROM A [ROWS 1 WHERE x > 5]"},
        {"name": "none", "at": "S", "text": "SELECT COUNT(*) FROM A [ROWS 1 WHERE x > 50]"},
    ]
    entries = [tuple_at(n, x=x) for n, x in enumerate((1.0, 9.0, 1.0, 1.0), 1)]
    dropped: list[int] = []

    def look(processor: LevelProcessor) -> None:
        dropped.append(sum(one.tuples - one.taken for one in processor.passed.values()))

    watched(case(*entries, queries=queries), look)
    assert dropped[-1] > 0
    lines = [json.loads(line) for line in replay(read_case(case(*entries, queries=queries)))]
    assert [line["time"] for line in lines if line["query"] == "all"] == [2.0, 3.0, 4.0]
    assert [line["time"] for line in lines if line["query"] == "none"] == [1.0]
