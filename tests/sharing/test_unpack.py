"""Group unpacking by weighted set covering (P-9)."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.sharing.unpack import Group, choose_groups

IP = Group(frozenset({"src", "dest", "protocol"}), 3)
TCP = Group(frozenset({"src_port", "dest_port", "flags"}), 6)
ALONE = tuple(Group(frozenset({field}), 4) for field in ("src", "src_port", "dest_port", "flags", "payload"))


def test_several_fields_of_a_header_are_unpacked_together_and_one_alone() -> None:
    """P-9."""
    groups = (IP, TCP, *ALONE)
    assert choose_groups(["src_port", "dest_port"], groups) == (TCP,)
    assert choose_groups(["src_port", "payload"], groups) == (ALONE[1], ALONE[4])
    assert choose_groups(["src"], groups) == (IP,)
    assert choose_groups([], groups) == ()


def test_a_group_that_later_ones_make_needless_is_left_out() -> None:
    """The cheapest per field comes first, and is not needed in the end."""
    first, left, right = Group(frozenset("bc"), 2), Group(frozenset("ab"), 3), Group(frozenset("cd"), 3)
    assert choose_groups("abcd", (first, left, right)) == (left, right)


def test_a_field_in_no_group_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no group has the field 'payload'"):
        choose_groups(["src", "payload"], (IP, TCP))


GROUPS = st.lists(
    st.builds(Group, st.frozensets(st.sampled_from("abcdef"), min_size=1), st.integers(1, 20)), min_size=1, max_size=7
)


@given(GROUPS)
def test_the_cost_is_within_the_harmonic_number_of_the_least(groups: list[Group]) -> None:
    """P-9: the bound of the greedy choice."""
    wanted = frozenset().union(*(group.fields for group in groups))
    chosen = choose_groups(wanted, groups)
    least = min(
        sum(group.cost for group in some)
        for count in range(1, len(groups) + 1)
        for some in combinations(groups, count)
        if wanted <= frozenset().union(*(group.fields for group in some))
    )
    assert wanted <= frozenset().union(*(group.fields for group in chosen))
    assert sum(group.cost for group in chosen) <= least * sum(1 / n for n in range(1, len(wanted) + 1)) + 1e-9
