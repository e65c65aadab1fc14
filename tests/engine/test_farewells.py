"""Stopping is no error: what is said while streaming queries are stopped."""

from __future__ import annotations

import logging

import pytest

from tidegate.engine.session import FAREWELL, short_farewell, without_farewells

TRACE = "\n\tat org.apache.spark.Some.method(Some.scala:7)" * 500


@pytest.mark.parametrize("why", ["[SPARK_JOB_CANCELLED] Job 4 cancelled", "java.lang.InterruptedException"])
def test_a_cancelled_micro_batch_says_so_without_a_trace(why: str) -> None:
    with pytest.raises(RuntimeError) as raised, short_farewell():
        raise ValueError(f"An error occurred while calling o7.collectToPython: {why}{TRACE}")
    assert str(raised.value) == FAREWELL
    assert raised.value.__suppress_context__


def test_any_other_error_of_a_micro_batch_stays_as_it_is() -> None:
    error = ValueError(f"java.io.IOException: No space left on device{TRACE}")
    with pytest.raises(ValueError, match="No space") as raised, short_farewell():
        raise error
    assert raised.value is error


def test_after_two_gates_that_stop_at_the_same_time_py4j_is_heard_again(caplog: pytest.LogCaptureFixture) -> None:
    logger, first, second = logging.getLogger("py4j.clientserver"), without_farewells(), without_farewells()
    first.__enter__()
    second.__enter__()
    logger.error("while both stop")
    first.__exit__(None, None, None)
    logger.error("while one stops")
    second.__exit__(None, None, None)
    logger.error("afterwards")
    assert caplog.messages == ["afterwards"]
