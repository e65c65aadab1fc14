"""M-15 to M-21: what two queries share, beyond the eight of the paper."""

from __future__ import annotations

import pytest

from tests.sharing.queries import shared
from tidegate.sharing.compare import COMPLETE, IMPLIED, LOOSE, NONE, STRICT, Sharing

JOINED = "FROM Vitals [ROWS 10] V, Position [ROWS 10] P"
THREE, AVERAGE = "FROM Vitals [ROWS 3]", "aggregate(AVG(bp))"


@pytest.mark.parametrize(
    ("executing", "incoming"),
    [
        ("SELECT sid WHERE bp > 120 FROM Vitals", "select SID from VITALS where 120 < bp"),
        ("SELECT sid FROM Vitals WHERE bp > 1 AND pr > 2", "SELECT sid FROM Vitals WHERE pr > 2 AND bp > 1 AND bp > 1"),
        ("SELECT sid FROM Vitals [NOW] WHERE bp > 1", "SELECT sid FROM Vitals [RANGE 0 SECONDS bp > 1]"),
        ("SELECT wt FROM Vitals [PARTITIONED BY LEVEL ROWS 2]", "SELECT wt FROM Vitals [partition by level rows 2]"),
        (f"SELECT lon WHERE V.sid = P.sid AND bp > 1 {JOINED}", f"SELECT lon WHERE bp > 1 AND P.sid = V.sid {JOINED}"),
        ("SELECT 1 / sid FROM Vitals WHERE 1 / sid > 0", "SELECT 1 / sid FROM Vitals WHERE 1 / sid > 0"),
    ],
)  # fmt: skip
def test_two_spellings_share_completely(executing: str, incoming: str) -> None:
    assert shared(executing, incoming) == shared(incoming, executing) == Sharing(COMPLETE)


def test_queries_of_two_levels_share_nothing() -> None:
    """M-15."""
    text = "SELECT sid WHERE bp > 120 FROM Vitals"
    assert shared(text, text, ("L", "H")) == shared(text, text, ("H", "L")) == Sharing(NONE)
    assert shared(text, text, ("L", "L")) == Sharing(COMPLETE)


@pytest.mark.parametrize(
    ("executing", "incoming", "expected"),
    [
        ("SELECT sid, bp FROM Vitals", "SELECT bp FROM Vitals", Sharing(LOOSE, ("project(sid, bp)",))),
        ("SELECT sid, bp FROM Vitals", "SELECT bp, sid FROM Vitals", Sharing(LOOSE, ("project(sid, bp)",))),
        ("SELECT bp FROM Vitals", "SELECT sid, bp FROM Vitals", Sharing(NONE)),
        ("SELECT sid, 1 / sid AS x FROM Vitals", "SELECT sid FROM Vitals", Sharing(NONE)),
        (f"SELECT AVG(bp) AS a {THREE}", f"SELECT AVG(bp) + 1.0 AS b {THREE}", Sharing(STRICT, (AVERAGE,))),
        (f"SELECT AVG(bp) {THREE}", "SELECT AVG(bp) FROM Vitals [ROWS 4]", Sharing(NONE)),
        (f"SELECT sid {THREE}", f"SELECT RSTREAM sid {THREE}", Sharing(LOOSE, ("project(sid)",))),
        (f"SELECT AVG(bp) {THREE}", f"SELECT RSTREAM AVG(bp) {THREE}", Sharing(STRICT, (AVERAGE, "project(AVG(bp))"))),
    ],
)  # fmt: skip
def test_parts_of_queries(executing: str, incoming: str, expected: Sharing) -> None:
    assert shared(executing, incoming) == expected


def test_a_condition_before_a_row_window_is_not_the_one_behind_it() -> None:
    """Q-4: a window that counts would count other tuples."""
    before, after = "SELECT sid WHERE bp > 1 FROM Vitals [ROWS 5]", "SELECT sid FROM Vitals [ROWS 5] WHERE bp > 1"
    assert shared(before, after) == shared(after, before) == Sharing(NONE)


def test_a_condition_that_moves_across_a_time_window_shows_in_the_steps_of_rstream() -> None:
    """Q-2: a tuple that is not let in never leaves, so RSTREAM would say less often what there is."""
    before, after = "STREAM sid WHERE bp > 1 FROM Vitals [NOW]", "STREAM sid FROM Vitals [NOW] WHERE bp > 1"
    assert shared(f"SELECT R{before}", f"SELECT R{after}") == Sharing(NONE)
    assert shared(f"SELECT I{before}", f"SELECT I{after}") == Sharing(COMPLETE)


@pytest.mark.parametrize(
    ("executing", "incoming", "kind"),
    [
        ("bp > 50", "bp > 120", IMPLIED),
        ("bp > 50 AND pr > 1", "bp > 120 AND pr = 7", IMPLIED),
        ("bp > 50 AND wt > 1", "bp > 120", NONE),
        ("bp > 120", "bp > 50", NONE),
        ('level <= "H"', 'level = "L"', IMPLIED),
        ("bp > 50", "bp > 120 AND 1 / sid > 0", NONE),
        ("1 / sid > 0", "bp > 120 AND 1 / sid > 0", NONE),
        ("bp > 120", "bp > 120 AND 1 / sid > 0", NONE),
        ("bp > 120", "bp > 120 AND bp > (SELECT MAX(bp) FROM Vitals [ROWS 1])", NONE),
    ],
)
def test_conditions_that_are_implied_or_can_fail(executing: str, incoming: str, kind: str) -> None:
    """M-21; Q-9: NULL AND error is an error, so what can fail is not taken apart."""
    one, other = (f"SELECT sid FROM Vitals [ROWS 9] WHERE {text}" for text in (executing, incoming))
    assert shared(one, other).kind == kind


def test_a_loose_cell_names_the_best_executing_node() -> None:
    incoming = "SELECT wt FROM Vitals WHERE bp > 1 AND pr > 2 AND sid = 3"
    executing = "SELECT x.sid WHERE x.bp > 1 AND y.bp > 1 AND y.pr > 2 FROM Vitals [ROWS 1] x, Vitals [ROWS 1] y"
    assert shared(executing, incoming) == Sharing(LOOSE, ("select(bp, pr)",))
    assert shared(incoming, executing) == Sharing(NONE)


def test_groups_and_their_conditions_have_names() -> None:
    one = "SELECT level, AVG(bp) AS a FROM Vitals [ROWS 9] GROUP BY level HAVING AVG(bp) > 3"
    other = "SELECT level, AVG(bp) AS b FROM Vitals [ROWS 9] GROUP BY level HAVING AVG(bp) > 3 AND level = 'L'"
    assert shared(one, other) == Sharing(STRICT, ("aggregate(AVG(bp))", "select(AVG(bp))"))
    distinct = "SELECT DISTINCT sid FROM Vitals [ROWS 9]"
    assert shared(distinct, f"RSTREAM({distinct})") == Sharing(STRICT, ("project(sid)", "distinct"))
    union = "SELECT sid FROM Vitals [ROWS 9] UNION ALL SELECT sid FROM Position [ROWS 9]"
    assert shared(union, f"RSTREAM({union})") == Sharing(LOOSE, ("project(sid)", "union all"))
