"""What windows hold and when they change, against a second definition written from Q-3's sentences."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.reference.naive_windows import Arrival, at_boundary, held
from tidegate.plan.windows import Range, Rows, Unbounded, Window
from tidegate.reference.rows import Row, Tuple
from tidegate.reference.windows import RowsState, SlidingRangeState, WindowState, new_state
from tidegate.security.lattice import Level

LAST = 40
COUNTS = st.integers(1, 5)
WINDOWS: st.SearchStrategy[Window] = st.one_of(
    st.just(Unbounded()),
    st.builds(Range, st.integers(0, 12)),
    st.builds(Range, st.integers(0, 12), st.integers(1, 8)),
    st.builds(Rows, COUNTS),
    st.builds(Rows, COUNTS, st.none() | COUNTS, st.sampled_from([(), ("key",)]), st.none() | st.integers(0, 9)),
)


@st.composite
def arrivals(draw: st.DrawFn) -> list[Arrival]:
    """Tuples in order, many of them at one instant, of three partitions."""
    instants = sorted(draw(st.lists(st.integers(0, LAST - 10), max_size=14)))
    return [Arrival(instant, n, draw(st.sampled_from([0.0, 1.0, None]))) for n, instant in enumerate(instants)]


def tuples_at(instant: int, past: list[Arrival]) -> list[Tuple]:
    """What arrives at an instant, as the reference sees it."""
    return [Tuple(one.instant, Row((one.key, one.number), Level("U"))) for one in past if one.instant == instant]


def content(state: WindowState) -> list[int]:
    """The numbers of the tuples that a window holds; duplicates would show."""
    return sorted(int(str(tuple_.row.values[1])) for tuple_ in state.held)


def expected(window: Window, past: list[Arrival], now: int, start: int) -> list[int]:
    """The same by the second definition."""
    return sorted(one.number for one in held(window, past, now, start))


def begin(window: Window) -> WindowState:
    """The reference's window; the key is its first column."""
    return new_state(window, (0,) if isinstance(window, Rows) and window.partition else ())


@settings(max_examples=examples(250, 20_000))
@given(WINDOWS, arrivals(), st.integers(0, 6))
def test_at_every_instant_it_holds_what_the_sentences_say(window: Window, past: list[Arrival], start: int) -> None:
    """Q-3, and Q-2: it says so whenever it lets a tuple go or a boundary falls."""
    past = [one for one in past if one.instant >= start]
    state, before = begin(window), list[int]()
    for now in range(start, LAST):
        arrived = tuples_at(now, past)
        left = state.advance(now, arrived)
        assert content(state) == expected(window, past, now, start), (window, now)
        assert state.at_boundary == at_boundary(window, past, now) or not has_slide(window)
        gone = not set(before) <= set(content(state))
        assert left >= gone, "a tuple left and nobody was told"
        assert gone or arrived or not left or state.at_boundary, "a step without a reason"
        before = content(state)


def has_slide(window: Window) -> bool:
    """Whether boundaries of the window make steps."""
    return isinstance(window, Range | Rows) and window.slide is not None


@settings(max_examples=examples(250, 20_000))
@given(WINDOWS, arrivals(), st.booleans())
def test_nothing_changes_before_the_next_event(window: Window, past: list[Arrival], every: bool) -> None:
    """Advancing only at arrivals and announced events misses no change, and with ``every`` no boundary."""
    state, start = begin(window), 0
    visited, now = list[int](), 0
    while now < LAST:
        state.advance(now, tuples_at(now, past))
        visited.append(now)
        assert content(state) == expected(window, past, now, start)
        event = state.next_event(now, every)
        assert event is None or event > now
        upcoming = [one.instant for one in past if one.instant > now]
        now = min([*upcoming, LAST if event is None else event])
    contents = [expected(window, past, instant, start) for instant in range(LAST)]
    changes = {instant for instant in range(1, LAST) if contents[instant] != contents[instant - 1]}
    assert changes <= set(visited)
    if every and isinstance(window, Range) and window.slide:
        assert set(range(0, LAST, window.slide)) <= set(visited)


@settings(max_examples=examples(100, 5_000))
@given(WINDOWS, arrivals())
def test_a_window_forgets_what_can_never_return(window: Window, past: list[Arrival]) -> None:
    """Q-8: what has left leaves no trace; a counted window keeps at most n + m - 1 tuples of a partition."""
    state = begin(window)
    for now in range(LAST):
        state.advance(now, tuples_at(now, past))
    if isinstance(state, RowsState) and isinstance(window, Rows):
        assert all(len(kept) < window.count + (window.slide or 1) for kept in state.arrived.values())
    if isinstance(state, SlidingRangeState):
        assert all(tuple_.instant > LAST - state.width - state.slide for tuple_ in state.buffer)


def test_slide_equal_to_range_counts_each_tuple_once() -> None:
    """Q-3: at boundary B the window holds (B - d, B]."""
    past = [Arrival(instant, instant) for instant in range(1, 31)]
    state, counted = begin(Range(10, 10)), list[int]()
    for now in range(LAST):
        state.advance(now, tuples_at(now, past))
        if state.at_boundary:
            counted += content(state)
    assert sorted(counted) == [one.number for one in past]


def test_a_key_is_the_same_whatever_its_zero() -> None:
    """Q-8: in partition keys -0.0 = 0.0, NaN = NaN and NULL = NULL."""
    for one, other in ((0.0, -0.0), (float("nan"), float("nan")), (None, None)):
        state = begin(Rows(1, partition=("key",)))
        state.advance(1, [Tuple(1, Row((one, 1), Level("U"))), Tuple(1, Row((other, 2), Level("U")))])
        assert content(state) == [2]
