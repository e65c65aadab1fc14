"""Whole segments: decided as one tuple at a time, and no decision depends on another tuple (Q-1, Q-11, Q-14)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.gates.admit import Admitted, admit
from tidegate.gates.segments import (
    END_OF_TIME,
    NO_LABEL,
    QUARANTINE_LATE,
    REASONS,
    RESTAMP,
    Judged,
    Offered,
    Terms,
    judge,
    share_mask,
)
from tidegate.gates.shepherd import Clock, share_of
from tidegate.plan.schema import Field
from tidegate.plan.types import INT
from tidegate.security.declare import declare
from tidegate.security.lattice import Level

CHAIN = declare("U < C < S < TS")
DIAMOND = declare("lo < hi1, lo < hi2, hi1 < top, hi2 < top")
ALL = Terms(Level("U"), Level("TS"))
LAST, NOW = 1_000_000, 3_000_000

Tuple = tuple[object, int | None, bool]
"""Label, instant, whether it is unfit."""

TUPLES = st.lists(
    st.tuples(
        st.sampled_from(["U", "C", "S", "TS", " S ", "s", "", "nobody", None]),
        st.one_of(st.none(), st.integers(-5, 20_000_000), st.sampled_from([END_OF_TIME - 1, END_OF_TIME, 2**62])),
        st.booleans(),
    )
)


def offer(tuples: list[Tuple]) -> Offered:
    """Tuples as a source claims them."""
    texts = list(dict.fromkeys(label for label, _, _ in tuples if label is not None))
    labels = [NO_LABEL if label is None else texts.index(label) for label, _, _ in tuples]
    return Offered(
        texts,
        np.array(labels, np.int64),
        np.array([instant or 0 for _, instant, _ in tuples], np.int64),
        np.array([instant is None for _, instant, _ in tuples], np.bool_),
        np.array([unfit for _, _, unfit in tuples], np.bool_),
    )


def judged(tuples: list[Tuple], terms: Terms = ALL) -> Judged:
    """What the gate decides at tick 1 s, clock 3 s."""
    return judge(offer(tuples), terms, LAST, NOW, CHAIN)


def reasons(tuples: list[Tuple], terms: Terms = ALL) -> list[str]:
    """Why each stays out."""
    return [REASONS[reason] for reason in judged(tuples, terms).reasons.tolist()]


@given(TUPLES)
def test_a_segment_is_judged_as_its_tuples_one_by_one(tuples: list[Tuple]) -> None:
    """Q-11, Q-1: label, instant and values as admission decides; late ones stamped as the clock does."""
    found = judged(tuples, Terms(Level("U"), Level("TS"), RESTAMP, skew=END_OF_TIME))
    clock = Clock(LAST)
    for place, (label, instant, unfit) in enumerate(tuples):
        seconds = None if instant is None else instant // 1_000_000
        row: dict[str, object] = {} if unfit else {"a": 1}
        decision = admit({"level": label, "time": seconds, "row": row}, (Field("a", INT),), CHAIN)
        assert bool(found.reasons[place] == 0) == isinstance(decision, Admitted)
        if isinstance(decision, Admitted) and instant is not None:
            assert found.levels[found.labels[place]] == decision.level
            assert found.instants[place] == clock.stamp(instant, None).instant


@given(TUPLES, st.sampled_from([RESTAMP, QUARANTINE_LATE]), st.data())
def test_no_tuple_changes_what_is_decided_about_another(tuples: list[Tuple], late: str, data: st.DataObject) -> None:
    """M-8: what is invisible to somebody must not be felt in what is visible."""
    kept = data.draw(st.lists(st.booleans(), min_size=len(tuples), max_size=len(tuples)))
    terms = Terms(Level("U"), Level("S"), late)
    whole = judged(tuples, terms)
    part = judged([one for one, keep in zip(tuples, kept, strict=True) if keep], terms)
    chosen = np.array(kept, np.bool_)
    assert part.reasons.tolist() == whole.reasons[chosen].tolist()
    assert part.instants.tolist() == whole.instants[chosen].tolist()


@pytest.mark.parametrize(
    ("offered", "reason"),
    [
        (("U", 2_000_000, False), ""),
        ((None, None, False), "no level"),
        ((None, None, True), "not as declared"),
        (("nobody", None, True), "unknown level"),
        (("TS", None, True), "forbidden level"),
        (("U", None, True), "no time"),
        (("U", -1, True), "time before 1970 or after the year 9999"),
        (("U", END_OF_TIME, True), "time before 1970 or after the year 9999"),
        (("U", 2_000_000, True), "not as declared"),
        (("U", LAST, False), "late"),
        (("U", LAST + 1, False), ""),
        (("U", NOW + 500_000, False), ""),
        (("U", NOW + 500_001, False), "ahead of the clock"),
    ],
)
def test_the_first_reason_stands(offered: Tuple, reason: str) -> None:
    assert reasons([offered], Terms(Level("U"), Level("S"), QUARANTINE_LATE, skew=500_000)) == [reason]


def test_what_stays_out_is_stamped_by_the_clock_and_not_by_its_own_word() -> None:
    found = judged([("nobody", 2_500_000, False), ("U", 2**62, False), ("U", 2_500_000, False)])
    assert found.instants.tolist() == [LAST + 1, LAST + 1, 2_500_000]


def test_late_tuples_are_counted_at_their_own_level() -> None:
    """Q-1: both kinds of late are counted."""
    tuples: list[Tuple] = [
        ("U", 5, False),
        ("S", 6, False),
        ("S", LAST, False),
        ("S", LAST + 1, False),
        (None, 5, False),
    ]
    for late in (RESTAMP, QUARANTINE_LATE):
        assert judged(tuples, Terms(Level("U"), Level("TS"), late)).late == {"U": 1, "S": 2}


def test_a_range_of_labels_is_an_interval_of_the_lattice() -> None:
    """Q-14: above its lower end and below its upper end; what is beside it is out."""
    terms = Terms(Level("lo"), Level("hi1"))
    assert [terms.allows(Level(level), DIAMOND) for level in ("lo", "hi1", "hi2", "top")] == [True, True, False, False]


@given(st.lists(st.sampled_from(["U", "C", "S", "TS"])), st.sampled_from(["U", "C", "S", "TS"]))
def test_a_share_is_what_the_level_dominates(labels: list[str], reader: str) -> None:
    """M-4."""
    levels = [Level(label) for label in dict.fromkeys(labels)]
    numbers = np.array([levels.index(Level(label)) for label in labels], np.int64)
    mask = share_mask(Level(reader), levels, numbers, CHAIN)
    pairs = ((Level(label), place) for place, label in enumerate(labels))
    assert np.flatnonzero(mask).tolist() == list(share_of(Level(reader), pairs, CHAIN))
