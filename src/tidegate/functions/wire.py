"""What goes through the pipes between host and child.

A frame is its length and its bytes. A request is the number of rows and an Arrow IPC stream. An answer is a status and,
if all went well, the bare buffers of one array. It is not IPC, because the child may send anything: the reader must not
follow what untrusted metadata says (types, nesting, compressed buffers that grow). The host knows type and length, and
Arrow's full validation checks the rest.

Reads: nothing.  Read by: child, process, host.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
import pyarrow as pa

LENGTH = struct.Struct("<Q")
ANSWER = struct.Struct("<QQQQ32x")  # status and the sizes of three buffers, as long as ALIGNMENT
ALIGNMENT = 64
ABSENT = 2**64 - 1
LARGEST_WRITE = 1 << 30  # the kernel writes at most 2 GiB at once


class Status(IntEnum):
    """How a call ended, as the child says."""

    DONE = 0
    RAISED = 1
    WRONG_TYPE = 2
    WRONG_LENGTH = 3
    TOO_MUCH_MEMORY = 4


class TooLarge(Exception):
    """A frame that says to be longer than the reader is ready to take."""


def _go_on() -> None:
    """No waiting: the descriptor blocks."""


def send(descriptor: int, parts: Sequence[Any], wait: Callable[[], None] = _go_on) -> None:
    """Write the parts as one frame; ``wait`` is called before each write and may raise."""
    views = [memoryview(part).cast("B") for part in parts]
    for view in (memoryview(LENGTH.pack(sum(map(len, views)))), *views):
        while view:
            wait()
            view = view[os.write(descriptor, view[:LARGEST_WRITE]) :]


def receive(descriptor: int, largest: int, wait: Callable[[], None] = _go_on) -> memoryview:
    """Read one frame; EOFError if the other side closed. No memory is touched before its bytes are there."""
    (size,) = LENGTH.unpack(_read(descriptor, LENGTH.size, wait))
    if size > largest:
        raise TooLarge
    return _read(descriptor, size, wait)


def _read(descriptor: int, size: int, wait: Callable[[], None]) -> memoryview:
    whole = np.empty(size, np.uint8).data
    rest = whole
    while rest:
        wait()
        count = os.readv(descriptor, [rest])
        if not count:
            raise EOFError
        rest = rest[count:]
    return whole


def request(columns: Sequence[pa.Array], rows: int) -> list[Any]:
    """The parts of a request frame; of a slice only its own rows are sent."""
    batch = pa.RecordBatch.from_arrays(list(columns), names=[str(index) for index in range(len(columns))])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return [LENGTH.pack(rows), sink.getvalue()]


def read_request(frame: memoryview) -> tuple[list[pa.Array], int]:
    """The columns and the number of rows of a request."""
    (rows,) = LENGTH.unpack(frame[: LENGTH.size])
    return pa.ipc.open_stream(pa.py_buffer(frame[LENGTH.size :])).read_next_batch().columns, rows


def answer(status: Status, array: pa.Array | None = None) -> list[Any]:
    """The parts of an answer frame."""
    buffers = [] if array is None else pa.concat_arrays([array]).buffers()  # a copy without offset or spare room
    sizes = [ABSENT if buffer is None else buffer.size for buffer in buffers]
    parts: list[Any] = [ANSWER.pack(status, *sizes, *[ABSENT] * (3 - len(sizes)))]
    for buffer in buffers:
        if buffer is not None:
            parts += [buffer, bytes(-buffer.size % ALIGNMENT)]
    return parts


def read_answer(frame: memoryview, declared: pa.DataType, rows: int) -> tuple[Status, pa.Array | None]:
    """The status and the array of an answer; any error means that the frame is not one."""
    status, *sizes = ANSWER.unpack(frame[: ANSWER.size])
    if status != Status.DONE:
        return Status(status), None
    buffers, start = [], ANSWER.size
    for size in sizes[: declared.num_buffers]:
        present = size != ABSENT
        buffers.append(pa.py_buffer(frame[start : start + size]) if present else None)
        start += size + -size % ALIGNMENT if present else 0
    if start > len(frame):
        raise ValueError("the buffers are longer than their frame")
    array = pa.Array.from_buffers(declared, rows, buffers)
    array.validate(full=True)
    return Status.DONE, array
