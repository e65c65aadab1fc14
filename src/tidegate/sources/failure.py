"""What Spark says when a source fails, as one sentence for a person: the problem, the place, a hint.

Reads: errors.  Read by: system.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tidegate.errors import SourceError

LONGEST = 300  # letters of a message that is not ours
MOST_CAUSES = 20


@dataclass(frozen=True, slots=True)
class Sign:
    """How a failure is known, and what to say; {name} is what the expression calls name."""

    pattern: re.Pattern[str]
    problem: str
    hint: str


def _sign(pattern: str, problem: str, hint: str) -> Sign:
    return Sign(re.compile(pattern, re.DOTALL), problem, hint)


_REPAIR = "repair it or move it away, then start the stream again"
SIGNS = (
    _sign(
        r"No module named 'tidegate",
        "Spark's workers run a Python in which tidegate is not installed",
        "name the right one in PYSPARK_PYTHON before Spark starts, or activate the virtual environment",
    ),
    _sign(r"No space left on device", "no space is left on the device", "free some, then start the stream again"),
    _sign(r"Disk quota exceeded", "the disk quota is used up", "free some space, then start the stream again"),
    _sign(r"Too many open files", "too many files are open", "raise the limit: ulimit -n"),
    _sign(
        r"OutOfMemoryError|Cannot allocate memory|MemoryError",
        "there is not enough memory",
        "take fewer files or rows at once, or give the driver more memory",
    ),
    _sign(
        r"Timed out while waiting for the Python worker",
        "a Python worker did not start within the ten seconds that Spark waits",
        "the machine is too busy: leave it more cores, then start the stream again",
    ),
    _sign(
        r"Python worker exited unexpectedly|Python worker failed to connect|PYTHON_WORKER_\w+|EOFException",
        "a Python worker died",
        "look for a lack of memory (dmesg), then start the stream again",
    ),
    _sign(
        r"(?P<file>\S+?)[ \n]*is not a Parquet file|CANNOT_READ_FILE_FOOTER.*?file: (?P<other>\S+?)[.\s]",
        "{file} is not a Parquet file",
        _REPAIR,
    ),
    _sign(
        r"PARQUET_COLUMN_DATA_TYPE_MISMATCH.*?file (?P<file>\S+?)\.? .*?[Cc]olumn:? \[?`?(?P<column>\w+)",
        'column "{column}" of {file} has another type than declared',
        "declare the type that the file has",
    ),
    _sign(
        r"PATH_NOT_FOUND\]? Path does not exist: (?P<file>\S+?)\.? |FileNotFoundException: (?:File )?(?P<other>\S+)",
        "{file} does not exist",
        "put it back, or correct the path",
    ),
    _sign(
        r"UNRESOLVED_COLUMN\S*\]? A column.*? with name (?P<column>[`\w.]+)",
        "there is no column {column}",
        "look for a renamed column",
    ),
    _sign(
        r"(?:CAST_INVALID_INPUT|CAST_OVERFLOW)\S*\]? The value .*?cannot be cast to \"(?P<kind>[^\"]+)\"",
        "a value cannot be cast to {kind}",
        "use try_cast, and let NULL stand for what does not fit",
    ),
    _sign(r"MALFORMED_RECORD", "a record is malformed", "read in PERMISSIVE mode with a column for corrupt records"),
    _sign(r"Permission denied|AccessControlException", "a file may not be read or written", "change its permissions"),
)
_OURS = re.compile(r"tidegate\.errors\.SourceError: (?P<message>[^\n]+)")
_CAUSE = re.compile(r"terminated with exception: (?P<message>.*?)(?: SQLSTATE: \w+)?\s*(?:\n|$)")
_RAISED = re.compile(
    r"^(?:Caused by: |: )?(?:[\w.$]*\.)?(?P<message>(?!Py4J)\w*(?:Error|Exception): (?!Traceback)[^\n]+)", re.MULTILINE
)


def explain_failure(error: Exception, name: str) -> SourceError:
    """One clear message without a stack trace; of a failure that is not known, the first line of its root cause."""
    if isinstance(error, SourceError):
        return SourceError(str(error), f'source "{name}"')
    text = "\n".join(_texts(error))
    if ours := _OURS.findall(text):
        return SourceError(ours[-1], f'source "{name}"')
    for sign in SIGNS:
        if match := sign.pattern.search(text):
            return SourceError(sign.problem.format(**_named(match)), f'source "{name}"', sign.hint)
    return SourceError(_first_line(text) or type(error).__name__, f'source "{name}"')


def _texts(error: BaseException) -> list[str]:
    """What an exception and its causes say, the root last."""
    said: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(said) < MOST_CAUSES:
        said.append(str(cause))
        cause = cause.__cause__
    return said


def _named(match: re.Match[str]) -> dict[str, str]:
    """The groups that were found; ``other`` is a second place in which a file may stand."""
    groups = {key: value.strip("`'\"") for key, value in match.groupdict().items() if value}
    return {"file": groups.get("other", "a file"), **groups}


def _first_line(text: str) -> str:
    """The root cause that a trace of Java or Python names last, or what stopped the query, or the first line."""
    for pattern in (_RAISED, _CAUSE):
        if found := pattern.findall(text):
            return str(found[-1])[:LONGEST]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:LONGEST] if lines else ""
