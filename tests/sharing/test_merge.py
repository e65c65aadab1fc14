"""M-17, M-18: decomposed and merged plans, node by node."""

from __future__ import annotations

import pytest

from tests.sharing.queries import LATTICE, query
from tidegate.plan import nodes
from tidegate.plan.explain import plan_text
from tidegate.sharing.drawing import drawing
from tidegate.sharing.merge import Query, decomposed, every_node, merged
from tidegate.sharing.normal import normal
from tidegate.sharing.report import merged_drawing

FIGURE_3 = """\
emit ISTREAM  [Q6]
└─ project sid, bp
   └─ window UNBOUNDED
      └─ #1 select bp > 120.0 (before the window)  [Q6, Q7]
         └─ scan Vitals@L  [Q6, Q7]
emit ISTREAM  [Q7]
└─ project sid, bp, pr
   └─ window UNBOUNDED
      └─ select level = 'L' (before the window)
         └─ see #1: select bp > 120.0 (before the window)"""


def texts(*conditions: str) -> list[Query]:
    """Queries that differ in their conditions, named a, b, c …"""
    return [query(f"SELECT sid WHERE {one} FROM Vitals [ROWS 5]", "abcdef"[n]) for n, one in enumerate(conditions)]


def what_is_tested(conditions: list[str], *, implied: bool) -> list[str]:
    """What the last query tests, innermost first, after the others."""
    *others, last = texts(*conditions)
    running: list[nodes.Node] = []
    for other in others:
        running += every_node(decomposed(other.plan, running, LATTICE, implied=implied))
    plan = decomposed(last.plan, running, LATTICE, implied=implied)
    lines = [line.strip() for line in plan_text(plan).split("\n") if "select" in line]
    return [line.removeprefix("select ").removesuffix(" (before the window)") for line in reversed(lines)]


def test_figure_3_of_the_paper() -> None:
    """Q7's condition is what Q6 has and LEVEL = "L" behind it."""
    six = query("SELECT sid,bp WHERE bp > 120 FROM Vitals", "Q6")
    seven = query('SELECT sid,bp,pr WHERE LEVEL = "L" AND bp > 120 FROM Vitals', "Q7")
    assert drawing(merged([six, seven], LATTICE)) == FIGURE_3


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (["bp > 1", "pr > 2 AND bp > 1"], ["bp > 1.0", "pr > 2.0"]),
        (["bp > 1", "pr > 2", "wt > 3 AND pr > 2 AND bp > 1"], ["bp > 1.0", "(wt > 3.0) AND (pr > 2.0)"]),
        (["bp > 1", "bp > 1 AND pr > 2", "wt > 3 AND pr > 2 AND bp > 1"], ["bp > 1.0", "pr > 2.0", "wt > 3.0"]),
        (["pr > 2", "bp > 1", "bp > 1 AND wt > 3", "wt > 3 AND bp > 1"], ["bp > 1.0", "wt > 3.0"]),
        (["bp > 50", "bp > 120"], ["bp > 50.0", "bp > 120.0"]),
        (["bp > 50", "bp > 100", "bp > 60", "bp > 120"], ["bp > 50.0", "bp > 100.0", "bp > 120.0"]),
        (["bp > 120", "bp > 50"], ["bp > 50.0"]),
        (["bp > 120 AND pr > 2", "pr > 2 AND bp > 120"], ["(bp > 120.0) AND (pr > 2.0)"]),
        (["sid = 1", "sid IN (1, 2) AND sid = 1"], ["sid = 1"]),
        (["bp > 1", "bp > 1 AND 1 / sid > 0"], ["(bp > 1.0) AND ((1 / sid) > 0)"]),
        (["1 / sid > 0", "bp > 1 AND 1 / sid > 0"], ["(bp > 1.0) AND ((1 / sid) > 0)"]),
    ],
)
def test_a_condition_is_built_on_the_best_one_that_runs(conditions: list[str], expected: list[str]) -> None:
    assert what_is_tested(conditions, implied=True) == expected


def test_without_implication_only_equal_conjuncts_are_reused() -> None:
    assert what_is_tested(["bp > 50", "bp > 120"], implied=False) == ["bp > 120.0"]
    assert what_is_tested(["bp > 50", "bp > 120 AND bp > 50"], implied=False) == ["bp > 50.0", "bp > 120.0"]


def test_nothing_to_reuse_leaves_the_plan_as_it_is() -> None:
    one, other = texts("bp > 1", "pr > 2")
    assert decomposed(one.plan, every_node(other.plan), LATTICE) is one.plan
    assert decomposed(one.plan, every_node(one.plan), LATTICE) == one.plan


def test_sub_queries_of_from_are_decomposed_and_scalar_ones_are_left_alone() -> None:
    runs = query("SELECT sid FROM Vitals [ROWS 5] WHERE bp > 1")
    inside = query("SELECT COUNT(*) AS n FROM (SELECT sid FROM Vitals [ROWS 5] WHERE bp > 1 AND pr > 2) [ROWS 2]")
    beside = query("SELECT sid FROM Vitals [ROWS 5] WHERE bp > 1 AND pr > (SELECT MAX(pr) FROM Vitals [ROWS 1])")
    there = list(every_node(runs.plan))
    assert set(there[1:]) <= set(every_node(decomposed(inside.plan, there, LATTICE)))
    assert decomposed(beside.plan, there, LATTICE) is beside.plan


def test_a_project_takes_its_columns_from_a_wider_one_only_when_asked() -> None:
    """M-17."""
    wide, narrow = query("SELECT sid, bp FROM Vitals", "w"), query("SELECT bp AS b FROM Vitals", "n")
    there = list(every_node(wide.plan))
    root = decomposed(narrow.plan, there, LATTICE, projects=True).root
    assert isinstance(root, nodes.Project)
    assert (root.input, root.names) == (wide.plan.root, ("b",))
    assert decomposed(narrow.plan, there, LATTICE) is narrow.plan


def test_equal_queries_are_one_plan_with_two_names() -> None:
    """M-16: no new work, the result fanned out."""
    both = [query("SELECT AVG(bp) FROM Vitals [ROWS 5]", name) for name in ("ann", "bob")]
    plan = merged(both, LATTICE)
    assert set(plan.users.values()) == {("ann", "bob")}
    assert drawing(plan).count("emit") == 1


def test_merging_adds_no_node_twice_and_leaves_no_edge_without_end() -> None:
    """M-18: Algorithm 1 as printed would add what is there and drop what is not."""
    plan = merged(texts("bp > 1", "bp > 1 AND pr > 2", "bp > 2", "bp > 1"), LATTICE)
    assert len(plan.nodes) == len(set(plan.nodes))
    assert all(below in plan.users for node in plan.nodes for below in node.inputs)
    assert [name for name, _ in plan.plans] == ["a", "b", "c", "d"]
    assert plan.plans[0][1] == plan.plans[3][1]


def test_queries_of_two_levels_are_never_merged() -> None:
    """M-15."""
    two = [query("SELECT sid FROM Vitals", "a", "L"), query("SELECT sid FROM Vitals", "b", "H")]
    with pytest.raises(ValueError, match="levels"):
        merged(two)
    assert (
        merged_drawing(two, LATTICE).count("scan Vitals@L\n") + merged_drawing(two, LATTICE).count("scan Vitals") == 3
    )


def test_in_normal_form_a_condition_stands_in_its_one_place() -> None:
    """M-13, X-1."""
    joined = query("SELECT V.sid FROM Vitals [NOW] V, Units U WHERE V.sid = U.sid AND bp > 1 AND unit = 'a'")
    assert plan_text(normal(joined.plan)).split("\n")[2:] == [
        "    join on U.sid = V.sid",
        "      window NOW",
        "        select V.bp > 1.0 (before the window)",
        "          scan Vitals@L",
        "      select U.unit = 'a'",
        "        relation Units@L",
    ]
    rows = query("SELECT sid FROM Vitals [ROWS 5 bp > 1] WHERE pr > 2 AND 1 < bp")
    assert plan_text(normal(rows.plan)).split("\n")[2:] == [
        "    select (pr > 2.0) AND (bp > 1.0)",
        "      window ROWS 5",
        "        select bp > 1.0 (before the window)",
        "          scan Vitals@L",
    ]
