"""Q-15: functions are called over Arrow columns, in a child that is started, kept and replaced."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pyarrow as pa
import pytest

from tests.functions.support import ONE, SMALL, comes_true, define, is_gone, script, values
from tidegate.functions.definition import FunctionDefinition, arrow_type
from tidegate.functions.failure import FunctionFailed, Reason
from tidegate.functions.host import BYTES_PER_PIECE, ROWS_PER_PIECE, FunctionHost
from tidegate.functions.process import START, Process, _Patience
from tidegate.functions.sample import sample


@pytest.fixture(scope="module")
def host() -> Iterator[FunctionHost]:
    with FunctionHost() as opened:
        yield opened


def test_an_expression_over_two_columns_with_null(host: FunctionHost) -> None:
    definition = define("a * 2.0 + b", "double", "double", returns="double")
    assert values(host, definition, pa.array([1.0, None, 3.0]), pa.array([0.5, 1.0, None])) == [2.5, None, None]


def test_arrow_numpy_and_math_are_at_hand(host: FunctionHost) -> None:
    body = "n = np.sqrt(a.fill_null(0.0))\nreturn pc.if_else(pc.is_null(a), pa.scalar(math.pi), pa.array(n))"
    assert values(host, define(body, "double", returns="double"), pa.array([4.0, None])) == [2.0, 3.141592653589793]


def test_the_example_of_the_case_format(host: FunctionHost) -> None:
    definition = define("return pc.multiply(a, 2.0)", "double", returns="double", name="twice")
    assert values(host, definition, pa.array([1.5, None])) == [3.0, None]


def test_pandas_is_loaded_only_for_a_function_that_may_use_it(host: FunctionHost) -> None:
    """Arrow would load it for the first list. With it a missing number of a series is NULL: that must stay so."""
    seen = "pa.array([0])\nreturn pa._sys.modules.get(''.join(('pan', 'das'))) is not None"
    assert values(host, define(seen, returns="boolean")) == [False] * 3
    assert values(host, define(f"import json\n{seen}", returns="boolean")) == [True] * 3
    missing = "import pandas\nreturn pa.array(pandas.Series([1.0, math.nan, 2.0]))"
    assert values(host, define(missing, returns="double")) == [1.0, None, 2.0]
    assert values(host, define("pa.array(a.to_pandas() + 1)")) == [2, 3, 4]


@pytest.mark.parametrize(
    "name", ["int", "bigint", "double", "boolean", "string", "timestamp", "date", "decimal(38,10)", "binary"]
)
def test_every_type_goes_in_and_comes_back_to_the_bit(host: FunctionHost, name: str) -> None:
    definition = define("a", name, returns=name)
    (column,) = sample([name], 60, 7)
    result = host.call(definition, [column], 60)
    assert result.type == arrow_type(name)
    assert list(map(repr, result.to_pylist())) == list(map(repr, column.to_pylist()))
    host.forget(definition)


def test_a_function_without_parameters_is_called_with_its_rows(host: FunctionHost) -> None:
    definition = FunctionDefinition("f", (), "string", "'x'")
    assert host.call(definition, [], 3).to_pylist() == ["x"] * 3


def test_no_rows_no_call() -> None:
    with FunctionHost() as fresh:
        result = fresh.call(define("raise ValueError\nreturn a"), [pa.array([], pa.int64())], 0)
        assert result.type == pa.int64()
        assert len(result) == 0
        assert fresh.pids() == ()


def test_many_rows_are_cut_into_pieces_of_bounded_size(host: FunctionHost) -> None:
    lengths = define("len(a)")
    rows = ROWS_PER_PIECE + 5
    result = host.call(lengths, [pa.array(range(rows), pa.int64())], rows).to_pylist()
    assert set(result[:-5]) == {ROWS_PER_PIECE}
    assert result[-5:] == [5] * 5
    large = pa.array([b"x" * (BYTES_PER_PIECE // 4)] * 10)
    assert max(host.call(define("len(a)", "binary"), [large], 10).to_pylist()) <= 4


def test_slices_are_sent_as_they_look(host: FunctionHost) -> None:
    assert values(host, define("a + 1"), pa.array([1, None, 3, 4], pa.int64())[1:3]) == [None, 4]


def test_a_child_is_kept_between_calls_and_one_function_has_one(host: FunctionHost) -> None:
    pid = define("import os\nreturn os.getpid()")
    other = define("import os\nreturn os.getpid()", name="g")
    assert values(host, pid) == values(host, pid)
    assert values(host, pid)[0] != values(host, other)[0]
    assert {values(host, pid)[0], values(host, other)[0]} <= set(host.pids())


def test_a_child_that_dies_between_calls_is_replaced_without_a_word(host: FunctionHost) -> None:
    """It may be killed for the want of memory elsewhere: no call has failed, so no query is suspended."""
    definition = define("import os\nreturn os.getpid() + 0")
    (first, *_) = values(host, definition)
    os.kill(first, signal.SIGKILL)
    assert comes_true(lambda: not host._children[definition].is_ready())
    assert values(host, definition)[0] != first


def test_wrong_columns_are_the_callers_mistake(host: FunctionHost) -> None:
    with pytest.raises(TypeError):
        host.call(define("a"), [pa.array([1.5])], 1)
    with pytest.raises(TypeError):
        host.call(define("a"), [], 1)
    with pytest.raises(ValueError, match="number of rows"):
        host.call(define("a"), [ONE], 2)


def test_a_host_can_be_used_again_after_it_was_closed() -> None:
    with FunctionHost() as fresh:
        assert values(fresh, define("a")) == [1, 2, 3]
        fresh.close()
        fresh.close()
        assert values(fresh, define("a")) == [1, 2, 3]


@pytest.mark.parametrize("bad", [(), (0,), (4,), (9,), (4, 9), range(10)], ids=str)
def test_rows_before_the_first_failing_one_keep_their_results(host: FunctionHost, bad: tuple[int, ...]) -> None:
    """Q-9, Q-10: a query stops at the step that fails, wherever the epoch was cut."""
    definition = define("if pc.any(a < 0).as_py():\n    raise ValueError\nreturn a * 2")
    rows = [-1 if row in bad else row for row in range(10)]
    found = host.call_until_failure(definition, [pa.array(rows, pa.int64())], 10)
    good = min(bad, default=10)
    assert found.values.to_pylist() == [row * 2 for row in range(good)]
    assert (found.failure and found.failure.reason) == (Reason.RAISED if bad else None)


def test_the_first_failing_row_gives_the_reason(host: FunctionHost) -> None:
    """Not a later row of the same piece: the text, too, is the same for every cut."""
    definition = define("if pc.any(a == 9).as_py():\n    raise ValueError\nreturn pc.if_else(a == 3, 0.5, a * 1.0)")
    found = host.call_until_failure(definition, [pa.array([1, 2, 3, 9], pa.int64())], 4)
    assert found.values.to_pylist() == [1, 2]
    assert found.failure is not None
    assert found.failure.reason is Reason.WRONG_TYPE


@pytest.mark.parametrize("bad", [None, 0, 7, 18])
@pytest.mark.parametrize("most", [1, 2, 3, 8, 18])
def test_rows_that_fail_only_together_keep_their_results(host: FunctionHost, most: int, bad: int | None) -> None:
    """Q-10: what a limit allows for each row it allows for all, in pieces; only a row that fails by itself fails."""
    definition = define(f"if len(a) > {most} or {bad} in a.to_pylist():\n    raise ValueError\nreturn a")
    found = host.call_until_failure(definition, [pa.array(range(19), pa.int64())], 19)
    assert found.values.to_pylist() == list(range(19 if bad is None else bad))
    assert (found.failure is None) == (bad is None)
    host.forget(definition)


def test_a_piece_beyond_the_memory_limit_is_cut() -> None:
    with FunctionHost(SMALL) as small:
        definition = define("b = bytearray(40_000_000 * len(a))\nreturn a")
        found = small.call_until_failure(definition, [pa.array(range(7), pa.int64())], 7)
        assert (found.values.to_pylist(), found.failure) == (list(range(7)), None)


def test_a_pause_of_the_whole_processor_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor is stopped between its slots; the clock of the wall goes on."""
    clock = iter(range(0, 10_000, 100))
    answers = iter([False] * 5 + [True] + [False] * 100)
    monkeypatch.setattr("tidegate.functions.process.time.monotonic", lambda: next(clock))
    monkeypatch.setattr("tidegate.functions.process._ready", lambda *_: next(answers))
    patience = _Patience(1.0)
    patience.wait(0, 0)
    assert patience.left == pytest.approx(0.4)
    with pytest.raises(TimeoutError):
        patience.wait(0, 0)


def test_a_child_that_cannot_start_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.functions.process.START", "raise SystemExit(1)")
    with FunctionHost() as fresh, pytest.raises(FunctionFailed, match="could not be started"):
        values(fresh, define("a"))
    monkeypatch.setattr("tidegate.functions.process.START", START)
    monkeypatch.setattr("tidegate.functions.process.sys.executable", "/nowhere/python")
    with FunctionHost() as fresh, pytest.raises(FunctionFailed, match="could not be started"):
        values(fresh, define("a"))


def test_an_answer_is_never_taken_for_that_of_another_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted while the function computes, the host must not hear the old answer in the next call."""
    with FunctionHost(SMALL) as fresh:
        values(fresh, define("a"))
        (pid,) = fresh.pids()
        with monkeypatch.context() as patched:
            patched.setattr("tidegate.functions.process.receive", interrupt)
            with pytest.raises(KeyboardInterrupt):
                values(fresh, define("a"))
        assert is_gone(pid)
        assert values(fresh, define("a"), pa.array([7, 8, 9], pa.int64())) == [7, 8, 9]


def interrupt(*_: object) -> None:
    """What the keyboard does."""
    raise KeyboardInterrupt


def test_a_forgotten_process_ends_by_itself() -> None:
    with FunctionHost() as fresh:
        values(fresh, define("a"))
        (pid,) = fresh.pids()
        fresh._children.clear()
        assert is_gone(pid)


FORK = """
import os
import pyarrow as pa
from tidegate.functions.definition import FunctionDefinition
from tidegate.functions.host import FunctionHost
pid_of = FunctionDefinition("f", (("a", "bigint"),), "bigint", "import os\\nreturn os.getpid()")
column = pa.array([1], pa.int64())
with FunctionHost() as host:
    mine = host.call(pid_of, [column], 1)[0].as_py()
    if not (copy := os.fork()):
        with host:
            theirs = host.call(pid_of, [column], 1)[0].as_py()
        os._exit(0 if theirs != mine else 1)
    _, status = os.waitpid(copy, 0)
    kept = host.call(pid_of, [column], 1)[0].as_py() == mine
print("well" if kept and status == 0 else "not well")
"""


def test_a_forked_host_has_children_of_its_own_and_leaves_the_others_alone() -> None:
    said, _ = script(FORK).communicate()
    assert said == "well\n"


def test_processor_time_is_granted_anew_for_each_call() -> None:
    """A child may live for days; only one call may not."""
    burn = """
import resource, time
end = time.process_time() + (1.01 if len(a) == 1 else 0.0)
while time.process_time() < end: pass
return resource.getrlimit(resource.RLIMIT_CPU)[0]
"""
    with FunctionHost(SMALL) as fresh:
        first, _, third = (values(fresh, define(burn), ONE[:rows])[0] for rows in (2, 1, 2))
    assert third > first


def test_a_process_says_whose_it_is() -> None:
    with FunctionHost(SMALL) as fresh:
        values(fresh, define("a"))
        (child,) = fresh._children.values()
        assert isinstance(child, Process)
        assert child.is_ready()
        child.owner = -1
        assert not child.is_ready()
        child.owner = os.getpid()
