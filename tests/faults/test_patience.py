"""How often something that died is started again, and what is known to pass."""

from __future__ import annotations

import pytest

from tidegate.system.failure import FEW, MANY, Patience, is_passing

DEAD, WRONG = RuntimeError("Python worker exited unexpectedly"), RuntimeError("epoch 3 is missing")


class Captured(Exception):
    """As PySpark has it: the words of a Java exception, its trace, and its cause."""

    def __init__(self, words: str, trace: str = "", cause: Exception | None = None) -> None:
        super().__init__(words)
        self._stackTrace, self._cause = trace, cause


@pytest.mark.parametrize(
    "error",
    [
        DEAD,
        Captured("Broken pipe"),
        Captured("Stream closed"),
        Captured("", cause=Captured("", "java.io.EOFException\n\tat java.io.DataInputStream.readInt")),
        Captured("[STREAM_FAILED]", cause=Captured("", cause=Captured("java.net.SocketException: Connection reset"))),
        Captured("An error occurred while calling a micro-batch: java.lang.InterruptedException"),
    ],
    ids=str,
)
def test_the_death_of_a_process_passes(error: Exception) -> None:
    assert is_passing(error)


@pytest.mark.parametrize(
    "error", [WRONG, Captured("[CAST_INVALID_INPUT]", "at org.apache.spark.api.python.X")], ids=str
)
def test_what_is_wrong_stays_wrong(error: Exception) -> None:
    assert not is_passing(error)


@pytest.mark.parametrize(("error", "attempts"), [(DEAD, MANY), (WRONG, FEW)], ids=str)
def test_patience_ends_where_there_is_no_progress(error: Exception, attempts: int) -> None:
    patience = Patience()
    assert [patience.is_left(error, 7) for _ in range(attempts + 2)] == [True] * attempts + [False] * 2
    assert patience.is_left(error, 8), "it had come further"
