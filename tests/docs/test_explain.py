"""What ``explain`` draws is what the query says."""

from __future__ import annotations

from tests.docs.world import ASKER, world
from tidegate.case import build_case
from tidegate.language.session import Sessions
from tidegate.log import first_catalog


def drawn(text: str) -> tuple[str, ...]:
    """The lines that EXPLAIN shows of a query."""
    case = build_case(world())
    (spoken,) = Sessions(first_catalog(case)).say(f"EXPLAIN {text}", case.lattice.level(ASKER))
    assert spoken.shown is not None, spoken.problem
    return spoken.shown


def test_parentheses_are_drawn_around_an_operand_that_is_widened() -> None:
    """M-13: a node's parameters tell what it does. ``sid - 2`` becomes a double here, which must not hide them."""
    assert any("bp / (sid - 2)" in line for line in drawn("SELECT bp / (sid - 2) AS x FROM Vitals"))


def test_a_condition_is_drawn_on_its_side_of_the_window() -> None:
    """Q-4: before and after a window are two places."""
    before = drawn("SELECT sid WHERE bp > 100 FROM Vitals [ROWS 10]")
    after = drawn("SELECT sid FROM Vitals [ROWS 10] WHERE bp > 100")
    assert [line.strip("└─ ").split()[0] for line in before] == ["emit", "project", "window", "select", "scan"]
    assert [line.strip("└─ ").split()[0] for line in after] == ["emit", "project", "select", "window", "scan"]
