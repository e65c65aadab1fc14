"""What comes out of the child's pipe is believed only as far as it can be checked."""

from __future__ import annotations

import os
import random
from typing import Any

import pyarrow as pa
import pytest

from tidegate.functions.definition import arrow_type
from tidegate.functions.sample import sample
from tidegate.functions.wire import (
    ABSENT,
    ALIGNMENT,
    ANSWER,
    LENGTH,
    Status,
    TooLarge,
    answer,
    read_answer,
    receive,
    send,
)

TYPES = ("int", "bigint", "double", "boolean", "string", "timestamp", "date", "decimal(20,3)", "binary")


def frame(parts: list[Any]) -> memoryview:
    return memoryview(b"".join(bytes(part) for part in parts))


def padded(buffer: bytes) -> bytes:
    return buffer + bytes(-len(buffer) % ALIGNMENT)


def shown(array: Any) -> list[str]:
    return [repr(value) for value in array.to_pylist()]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("part", [slice(None), slice(3, 9), slice(0, 1)], ids=str)
def test_an_array_arrives_as_it_was_sent(name: str, part: slice) -> None:
    array = sample([name], 40, 1)[0][part]
    status, read = read_answer(frame(answer(Status.DONE, array)), arrow_type(name), len(array))
    assert status is Status.DONE
    assert shown(read) == shown(array)


@pytest.mark.parametrize("name", TYPES)
def test_nothing_but_null_arrives(name: str) -> None:
    array = pa.nulls(3, arrow_type(name))
    assert shown(read_answer(frame(answer(Status.DONE, array)), array.type, 3)[1]) == ["None"] * 3


def test_of_a_slice_only_its_own_bytes_are_sent() -> None:
    array = pa.array(["x" * 1000] * 1000)
    assert len(frame(answer(Status.DONE, array[5:6]))) < 2000


BAD = {
    "nothing": (pa.int64(), 2, b""),
    "too short to be one": (pa.int64(), 2, b"x" * 10),
    "no such status": (pa.int64(), 2, ANSWER.pack(9, ABSENT, ABSENT, ABSENT)),
    "no buffer": (pa.int64(), 2, ANSWER.pack(0, ABSENT, ABSENT, ABSENT)),
    "a buffer too small": (pa.int64(), 2, ANSWER.pack(0, ABSENT, 15, ABSENT) + padded(b"x" * 15)),
    "a frame too small": (pa.int64(), 2, ANSWER.pack(0, ABSENT, 16, ABSENT) + b"x" * 16),
    "an endless buffer": (pa.int64(), 2, ANSWER.pack(0, ABSENT, 2**63, ABSENT) + padded(b"x" * 16)),
    "text out of bounds": (
        pa.string(),
        1,
        ANSWER.pack(0, ABSENT, 8, 4) + padded(b"\0\0\0\0\5\0\0\0") + padded(b"abcd"),
    ),
    "not Unicode": (pa.string(), 1, ANSWER.pack(0, ABSENT, 8, 2) + padded(b"\0\0\0\0\2\0\0\0") + padded(b"\xff\xff")),
    "too many digits": (
        pa.decimal128(3, 0),
        1,
        ANSWER.pack(0, ABSENT, 16, ABSENT) + padded((10**6).to_bytes(16, "little")),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_an_answer_that_is_none_is_an_error(case: str) -> None:
    declared, rows, bad = BAD[case]
    with pytest.raises(Exception):  # noqa: B017, PT011 - which one does not matter to the host
        read_answer(memoryview(bad), declared, rows)


@pytest.mark.parametrize("name", ["string", "decimal(20,3)", "boolean"])
def test_a_damaged_answer_is_an_error_or_a_valid_array(name: str, seed: int) -> None:
    draw = random.Random(seed)
    good = bytes(frame(answer(Status.DONE, sample([name], 20, 1)[0])))
    for _ in range(300):
        bad = bytearray(good)
        for _ in range(draw.randint(1, 4)):
            bad[draw.randrange(len(bad))] = draw.randrange(256)
        try:
            array = read_answer(memoryview(bad)[: draw.randint(1, len(bad))], arrow_type(name), 20)[1]
        except Exception:  # noqa: BLE001 - see above
            continue
        if array is not None:
            array.validate(full=True)
            assert len(array) == 20


def test_a_frame_goes_through_a_pipe_and_an_oversized_one_does_not() -> None:
    reader, writer = os.pipe()
    try:
        send(writer, [b"ab", memoryview(b"cd"), b""])
        assert bytes(receive(reader, 4)) == b"abcd"
        os.write(writer, LENGTH.pack(2**62))
        with pytest.raises(TooLarge):
            receive(reader, 4)
        os.write(writer, LENGTH.pack(4) + b"ab")
        os.close(writer)
        with pytest.raises(EOFError):
            receive(reader, 4)
    finally:
        os.close(reader)
