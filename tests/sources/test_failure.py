"""Failures of streams as one sentence: no stack trace, no data value."""

from __future__ import annotations

import pytest

from tidegate.errors import SourceError
from tidegate.sources.failure import explain_failure

HEAD = "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: "
TRACE = "\n\tat org.apache.spark.Some.method(Some.scala:7)\nCaused by: "
KNOWN = {
    "pyspark.errors.PythonException: ModuleNotFoundError: No module named 'tidegate'": (
        "Spark's workers run a Python in which tidegate is not installed; name the right one in PYSPARK_PYTHON"
    ),
    "java.io.IOException: No space left on device": "no space is left on the device; free some",
    "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)": "a Python worker died; look",
    "java.net.SocketTimeoutException: Timed out while waiting for the Python worker to connect back": (
        "a Python worker did not start within the ten seconds that Spark waits; the machine is too busy"
    ),
    "java.lang.OutOfMemoryError: Java heap space": "there is not enough memory; take fewer",
    "java.lang.RuntimeException: file:/in/a.parquet is not a Parquet file. Expected magic number": (
        "file:/in/a.parquet is not a Parquet file; repair it"
    ),
    "[PATH_NOT_FOUND] Path does not exist: file:/in. SQLSTATE: 42K03": "file:/in does not exist; put it back",
    "java.io.FileNotFoundException: File file:/in/a does not exist": "file:/in/a does not exist; put it back",
    '[CAST_INVALID_INPUT] The value \'secret\' of the type "STRING" cannot be cast to "INT" because': (
        "a value cannot be cast to INT; use try_cast"
    ),
    "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `bp` cannot": (
        "there is no column bp; look"
    ),
    "[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records are detected: [secret]": (
        "a record is malformed; read"
    ),
    "java.nio.file.AccessDeniedException: Permission denied": "a file may not be read or written; change",
    "java.io.IOException: Too many open files": "too many files are open; raise",
    "[FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH] Encountered error while reading file file:///in/a.parquet. "
    "Data type mismatches when reading Parquet column. Expected Spark type int, actual Parquet type BINARY, "
    "column: [sid].": 'column "sid" of file:///in/a.parquet has another type than declared; declare',
}


@pytest.mark.parametrize("said", KNOWN)
def test_a_known_failure_is_one_sentence(said: str) -> None:
    message = str(explain_failure(RuntimeError(f"{HEAD}Job aborted{TRACE}{said}{TRACE}x"), "ward"))
    assert message.startswith(f'source "ward": {KNOWN[said]}')
    assert "secret" not in message
    assert ".scala" not in message


def test_our_own_error_is_found_inside_a_traceback() -> None:
    text = 'Traceback:\n  File "x.py", line 3\ntidegate.errors.SourceError: /in/a: it broke; mend it\n\tat org.apache'
    assert str(explain_failure(RuntimeError(HEAD + text), "ward")) == 'source "ward": /in/a: it broke; mend it'
    assert str(explain_failure(SourceError("it broke"), "ward")) == 'source "ward": it broke'


def test_of_an_unknown_failure_the_root_cause_is_kept_on_one_line() -> None:
    told = explain_failure(RuntimeError(f"{HEAD}Boom happened SQLSTATE: XXKST\n=== Streaming Query ===\nlots"), "ward")
    python = explain_failure(RuntimeError(f"{HEAD}Job\nTraceback:\n  File x\nValueError: bad thing\n\tat x"), "ward")
    assert str(told) == 'source "ward": Boom happened'
    assert str(python) == 'source "ward": ValueError: bad thing'
    assert str(explain_failure(RuntimeError(), "ward")) == 'source "ward": RuntimeError'


def test_the_cause_of_a_failure_is_looked_at_too() -> None:
    error = RuntimeError("outer")
    error.__cause__ = OSError("No space left on device")
    assert "no space is left" in str(explain_failure(error, "ward"))
