"""How a user function fails, in words that the function did not choose.

A function sees data, so whatever it could say - a message, the name of an exception, a number - could carry a value out
of its level (Q-9, N-9). It can only choose one of these sentences.

Reads: errors.  Read by: functions, operators, engine.
"""

from __future__ import annotations

from enum import Enum

from tidegate.errors import TidegateError


class Reason(Enum):
    """The whole of what a failure says."""

    RAISED = "the function raised an error"
    WRONG_TYPE = "the result of the function does not fit its declared type"
    WRONG_LENGTH = "the result of the function does not have one value per row"
    TOO_SLOW = "the function took longer than its time limit"
    TOO_MUCH_MEMORY = "the function needed more memory than its limit"
    DIED = "the process of the function died"
    UNUSABLE = "the body of the function cannot be used"
    NOT_STARTED = "the process of the function could not be started"


class FunctionFailed(TidegateError):
    """A call gave no result; the queries that needed it are suspended (Q-9). The text is the reason's and no more."""

    code = "FUNCTION_FAILED"

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason.value
