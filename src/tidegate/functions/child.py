"""The program in the child: load one function, then answer one call after the other.

It is started under a package that holds this folder and nothing else of tidegate (``process.START``). What goes wrong
is told by a status only; no word of the function's leaves the process.

Reads: body (names), operators, results, restraint, wire.  Read by: process (by name).
"""

from __future__ import annotations

import marshal
import math
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidegate.functions.body import COMPARE, FUNCTION, OPERATE, TRUTH
from tidegate.functions.operators import compare, operate, truth
from tidegate.functions.restraint import grant_memory, grant_seconds
from tidegate.functions.results import WrongLength, fit
from tidegate.functions.wire import Status, answer, read_request, receive, send

ANY_SIZE = 2**63


def serve(requests: int, answers: int, memory: int, seconds: float) -> None:
    """Answer until the host ends this process. The first frame is the function; an empty answer says "ready"."""
    code, schema, is_plain = marshal.loads(receive(requests, ANY_SIZE))
    if is_plain:
        hide_pandas()
    declared = pa.ipc.read_schema(pa.py_buffer(schema)).field(0).type
    send(answers, [])
    grant_memory(memory)
    scope = scope_of_body()
    while True:
        frame = receive(requests, ANY_SIZE)
        grant_seconds(seconds)
        send(answers, respond(code, scope, declared, frame))


def hide_pandas() -> None:
    """Let Arrow not find pandas when it looks, which it does once, for the first list that it is given.

    Loading it would take longer than everything else here. Not for a function that may bring objects of pandas itself.
    """
    places, sys.path = sys.path, []
    pa.array([])
    sys.path = places


def scope_of_body() -> dict[str, Any]:
    """What a body may use without importing it, and what its operators were rewritten to."""
    return {"pa": pa, "pc": pc, "np": np, "math": math, OPERATE: operate, COMPARE: compare, TRUTH: truth}


def respond(code: Any, scope: dict[str, Any], declared: pa.DataType, frame: memoryview) -> list[Any]:
    """One answer. The body itself runs in the first call, so that it has a call's limits."""
    try:
        columns, rows = read_request(frame)
        if FUNCTION not in scope:
            exec(code, scope)
        result = scope[FUNCTION](*columns)
    except MemoryError:
        return answer(Status.TOO_MUCH_MEMORY)
    except BaseException:  # noqa: BLE001 - sys.exit() is a failure like any other
        return answer(Status.RAISED)
    return _fitted(result, declared, rows)


def _fitted(result: Any, declared: pa.DataType, rows: int) -> list[Any]:
    try:
        return answer(Status.DONE, fit(result, declared, rows))
    except MemoryError:
        return answer(Status.TOO_MUCH_MEMORY)
    except WrongLength:
        return answer(Status.WRONG_LENGTH)
    except BaseException:  # noqa: BLE001 - whatever a foreign object does when it is looked at
        return answer(Status.WRONG_TYPE)
