"""Q-9, Q-10, Q-13: where sharing is most likely to show: beginnings, errors, and plans built on those of others."""

from __future__ import annotations

import json

from tests.engine.processing import processed
from tests.sharing.sameness import case_of, errors_in, listed, said, same_in_every_way, tuple_of
from tidegate.case import read_case
from tidegate.engine.processor import LevelProcessor
from tidegate.plan import nodes
from tidegate.sharing.merge import MOST_LINKS


def test_windows_that_count_from_their_beginning_are_shared_only_by_who_began_with_the_same_tuple() -> None:
    """Q-13: both queries are given one tuple of their first and two of their second stream, but not the same ones."""
    one = "CREATE QUERY q1 AS SELECT S.a AS k, U.b FROM U [ROWS 3], S [ROWS 2 SLIDE 2] WHERE U.b > 0"
    two = "CREATE QUERY q2 AS SELECT S.a, T.b FROM S [ROWS 2 SLIDE 2], T [ROWS 3] WHERE T.b > 0"
    together = [said(1, one), tuple_of("S", 1, a=1), said(1, two), tuple_of("U", 1, b=5), tuple_of("S", 1, a=2)]
    together += [tuple_of("T", 1, b=7), tuple_of("T", 1, b=8)]
    lines = same_in_every_way(case_of((), [*together, *(tuple_of("S", 2 + n, a=10 + n) for n in range(6))]))
    assert len(lines) > 10


def test_a_query_that_fails_does_not_advance_a_window_that_counts_twice() -> None:
    """Q-9: the sub-query fails before the window is looked at; another query goes on with the window."""
    failing = "SELECT a, (SELECT SUM(10/(b-4)) FROM S [ROWS 1]) FROM S [ROWS 3 SLIDE 2]"
    queries = listed(failing, "SELECT RSTREAM a FROM S [ROWS 3 SLIDE 2]", "SELECT a FROM S [ROWS 3 SLIDE 2]")
    lines = same_in_every_way(case_of(queries, [tuple_of("S", 1 + n, a=n, b=n) for n in range(9)]))
    assert [line["query"] for line in errors_in(lines)] == ["q1"]


def test_errors_below_a_shared_condition_point_at_their_own_text() -> None:
    """Q-9: three plans are equal but for the places of what can fail below the conditions that they share."""
    tuples = [tuple_of("S", 1 + n, a=5 - n, b=n) for n in range(7)]
    for texts in (
        (
            "SELECT x FROM (SELECT 10/a AS x FROM S [ROWS 3]) WHERE x > 1",
            "SELECT   x FROM   (SELECT   10/a AS x FROM S [ROWS 3]) WHERE x > 1",
            "SELECT x + 1 AS longer FROM (SELECT 10/a AS x FROM S [ROWS 3]) WHERE x > 1 AND x < 5",
        ),
        (
            "SELECT b, SUM(10/a) FROM S [ROWS 3] GROUP BY b HAVING b > 1",
            "SELECT b, COUNT(*), SUM(10/a) FROM S [ROWS 3] GROUP BY b HAVING b > 1",
            "SELECT b,      SUM(10/a) FROM S [ROWS 3] GROUP BY b HAVING b > 1 AND b < 9",
        ),
        (
            "SELECT b WHERE 10/a > 1 FROM S [ROWS 3] WHERE b > 1",
            "SELECT b, a WHERE 10/a > 1 FROM S [ROWS 3] WHERE b > 1",
            "SELECT b, a WHERE  10/a > 1 FROM S [ROWS 3] WHERE b > 1 AND b < 9",
        ),
    ):
        errors = errors_in(same_in_every_way(case_of(listed(*texts), tuples), sizes=(3,)))
        columns = [error["error"]["place"]["column"] for error in errors]
        assert [text[column - 1 :][:4] for text, column in zip(texts, columns, strict=True)] == ["10/a"] * 3


def test_many_thresholds_that_imply_one_another_do_not_make_long_chains() -> None:
    """M-21: each could be built on the one before, and every query would go a longer way than the last."""
    depths = list[int]()

    def look(processor: LevelProcessor) -> LevelProcessor:
        depths.extend(len(list(nodes.walk(life.kernel.plan.root))) for life in processor.kernels.lives)
        return processor

    queries = listed(*(f"SELECT a FROM S [RANGE 1 SECOND] WHERE a > {n}" for n in range(20)))
    processed(read_case(json.dumps(case_of(queries, [tuple_of("S", 1, a=1)]))), 1000, keep=look)
    assert len(depths) == 20
    assert max(depths) == 3 + MOST_LINKS + 1  # project, window and stream; what is shared; and its own


def test_late_queries_and_those_that_start_again_share_windows_with_some_that_fail() -> None:
    """Q-9, Q-13: division, cast, overflow and a scalar with two rows, at different steps over the same windows."""
    texts = (
        "SELECT 10/a FROM S [ROWS 3]",
        "SELECT a, COUNT(*), SUM(10/b) FROM S [ROWS 3] GROUP BY a",
        "SELECT a, COUNT(*), SUM(b) FROM S [ROWS 3] GROUP BY a",
        "SELECT SUM(b + 9223372036854775801) FROM S [ROWS 3]",
        "SELECT a, (SELECT b FROM S [ROWS 2]) FROM S [ROWS 3]",
        "SELECT a FROM S [ROWS 3] WHERE b > (SELECT AVG(b) FROM S [ROWS 2])",
        "SELECT RSTREAM a, b WHERE CAST(s AS int) > 3 FROM S [ROWS 3 SLIDE 2]",
        "SELECT t, SUM(10/b) FROM S GROUP BY time/3 AS t, a",
        "SELECT t, a, COUNT(*) FROM S GROUP BY time/3 AS t, a",
    )
    tuples = [tuple_of("S", 1 + n, a=n * 3 % 5, b=n - 4, s="no number" if n == 6 else str(n)) for n in range(10)]
    late = [said(3.5, f"CREATE QUERY late{n} AS {texts[n]}") for n in (2, 4, 5)]
    again = [said(6.5, f"START q{n}") for n in (1, 2, 7)]
    lines = same_in_every_way(case_of(listed(*texts), [*tuples[:3], *late, *tuples[3:6], *again, *tuples[6:]]), (3,))
    assert len(errors_in(lines)) > 5


def test_a_derived_stream_that_stops_and_starts_within_an_instant_keeps_its_readers() -> None:
    """Q-13, Q-14: readers of two levels, some of whom came while it stood still."""
    reader = "SELECT RSTREAM y, a FROM d [ROWS 2]"
    tuples = [tuple_of("S", 1 + n, a=n * 3 % 5, b=n) for n in range(8)]
    entries = [said(0.5, "CREATE STREAM d AS SELECT a, SUM(b) AS y FROM S [ROWS 3] GROUP BY a")]
    entries += [said(0.5, f"CREATE QUERY r1 AS {reader}"), said(0.5, f"CREATE QUERY r2 AS {reader}", "S"), *tuples[:3]]
    entries += [said(3, "STOP d"), tuple_of("S", 3, a=1, b=3), said(3, "START d"), tuple_of("S", 3, a=1, b=8)]
    entries += [
        said(3, f"CREATE QUERY r3 AS {reader}", "S"),
        tuple_of("S", 3, a=1, b=9),
        *tuples[3:5],
        said(5, "STOP d"),
    ]
    entries += [tuple_of("S", 5, a=2, b=2), said(6, f"CREATE QUERY r4 AS {reader}"), *tuples[5:7], said(7, "START d")]
    entries += [tuple_of("S", 7, "C", a=1, b=1), *tuples[7:]]
    assert len(same_in_every_way(case_of((), entries), (1, 3))) > 10
