"""Users, principals and login (M-3)."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from tidegate.errors import Refusal
from tidegate.security.declare import declare
from tidegate.security.flow import Decision
from tidegate.security.lattice import Level, UnknownLevel
from tidegate.security.subject import Principal, Subject, User, login, principals

DIAMOND = declare("lo < hi1, lo < hi2, hi1 < top, hi2 < top")
USERS = {"JaneDoe": Level("hi1"), "root": Level("top"), "lost": Level("gone")}


def test_a_user_has_one_principal_for_each_dominated_level() -> None:
    """M-3: JaneDoe.H, JaneDoe.L."""
    pair = declare("L < H")
    assert [str(one) for one in principals(User("JaneDoe", Level("H")), pair)] == ["JaneDoe.L", "JaneDoe.H"]
    assert list(principals(User("JaneDoe", Level("hi1")), DIAMOND)) == [
        Principal("JaneDoe", Level("lo")),
        Principal("JaneDoe", Level("hi1")),
    ]


def test_login_gives_the_principal_of_the_level_asked_for() -> None:
    assert login(USERS, "JaneDoe", " lo ", DIAMOND) == Principal("JaneDoe", Level("lo"))
    assert login(USERS, "JaneDoe", "hi1", DIAMOND) == Principal("JaneDoe", Level("hi1"))


def test_login_succeeds_exactly_at_the_principals_of_the_user() -> None:
    for name in ("JaneDoe", "root"):
        allowed = {one.level for one in principals(User(name, USERS[name]), DIAMOND)}
        for level in DIAMOND.levels():
            try:
                login(USERS, name, level, DIAMOND)
            except Refusal:
                assert level not in allowed
            else:
                assert level in allowed


@pytest.mark.parametrize("level", ["hi2", "top"])
def test_refusals_read_the_same_for_unknown_and_for_too_low_users(level: str) -> None:
    """M-3, Q-12: above the clearance, incomparable with it, no such user, a clearance that is no level."""
    reports = set()
    for name in ("JaneDoe", "nobody", "lost"):
        with pytest.raises(Refusal) as caught:
            login(USERS, name, level, DIAMOND)
        reports.add(str(caught.value))
    assert reports == {f'LOGIN_REFUSED: this user may not log in at level "{level}"'}


def test_an_unknown_user_is_refused_even_at_the_bottom() -> None:
    with pytest.raises(Refusal):
        login(USERS, "nobody", "lo", DIAMOND)


def test_an_unknown_level_reads_the_same_whoever_asks() -> None:
    """Q-6, Q-12: level names are public, the users are not."""
    reports = set()
    for name in ("root", "nobody"):
        with pytest.raises(UnknownLevel) as caught:
            login(USERS, name, "hi3", DIAMOND)
        reports.add(str(caught.value))
    assert len(reports) == 1


def test_a_subject_is_no_administrator_unless_it_says_so() -> None:
    assert Subject(None, Level("lo")) == Subject(None, Level("lo"), administrator=False)
    assert Subject("ana", Level("lo")) != Subject("ana", Level("lo"), administrator=True)


@pytest.mark.parametrize(
    ("value", "attribute"),
    [
        (User("ana", Level("lo")), "clearance"),
        (Principal("ana", Level("lo")), "level"),
        (Subject("ana", Level("lo")), "level"),
        (Subject("ana", Level("lo")), "administrator"),
        (Decision(False, "no"), "allowed"),
        (DIAMOND, "above"),
        (declare({"ranks": "U < S", "compartments": ["N"]}), "compartments"),
    ],
)
def test_nothing_that_decides_can_be_changed_afterwards(value: object, attribute: str) -> None:
    """M-2: what has a level keeps it for life."""
    with pytest.raises(FrozenInstanceError):
        setattr(value, attribute, True)
