"""Calls user functions in children of this process, one child per function.

A host belongs to one level. It starts a child when a function is first called, keeps it, and starts another when it is
gone. Rows are sent in pieces of bounded size: a row-wise function cannot tell, and the limits mean the same for every
epoch, however large.

Reads: body, definition, failure, limits, process, wire.  Read by: check, operators, reference, engine.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, TracebackType

import pyarrow as pa

from tidegate.functions.body import compile_body
from tidegate.functions.definition import FunctionDefinition
from tidegate.functions.failure import FunctionFailed, Reason
from tidegate.functions.limits import DEFAULT, MEBIBYTE, Limits
from tidegate.functions.process import Process
from tidegate.functions.wire import read_answer, request

ROWS_PER_PIECE = 65_536
BYTES_PER_PIECE = 16 * MEBIBYTE
SURVIVED = (Reason.RAISED, Reason.WRONG_TYPE, Reason.WRONG_LENGTH)  # after these the child can be asked again


@dataclass(frozen=True, slots=True)
class Beginning:
    """The results of the rows before the first that fails; ``failure`` is None if none does."""

    values: pa.Array
    failure: FunctionFailed | None


class FunctionHost:
    """A context manager: after it, no child is left.

    One thread at a time. A forked copy of the host starts children of its own and leaves these alone.
    """

    def __init__(self, limits: Limits = DEFAULT) -> None:
        self.limits = limits
        self._children: dict[FunctionDefinition, Process] = {}

    def __enter__(self) -> FunctionHost:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End every child and what it started. Calling again starts anew."""
        for definition in tuple(self._children):
            self.forget(definition)

    def forget(self, definition: FunctionDefinition) -> None:
        """End the child of a function that is no longer needed, if it has one."""
        child = self._children.pop(definition, None)
        if child is not None:
            child.end()

    def pids(self) -> tuple[int, ...]:
        """The children, for those who watch processes."""
        return tuple(child.pid for child in self._children.values())

    def call(self, definition: FunctionDefinition, columns: Sequence[pa.Array], rows: int) -> pa.Array:
        """One value per row, of the declared type; FunctionFailed if any row has none. No rows, no call."""
        _require(definition, columns, rows)
        pieces = [self._call_piece(definition, *piece) for piece in _pieces(columns, rows)]
        return pieces[0] if len(pieces) == 1 else pa.concat_arrays([pa.nulls(0, definition.result_type), *pieces])

    def call_until_failure(self, definition: FunctionDefinition, columns: Sequence[pa.Array], rows: int) -> Beginning:
        """The results up to the first row that fails by itself, found by halving: about log2(rows) more calls.

        A query is suspended at the step that fails and earlier steps stand (Q-9), wherever the epochs were cut (Q-10).
        Rows that fail only together, beyond a limit, do not fail: they are sent in pieces that went through.
        """
        values: list[pa.Array] = [pa.nulls(0, definition.result_type)]
        start, suspect, most = 0, 0, rows  # a call with all rows before ``suspect`` has failed
        while start < rows:
            count = min(most, (suspect - start + 1) // 2 if start < suspect else rows - start)
            try:
                values.append(self.call(definition, [column[start : start + count] for column in columns], count))
            except FunctionFailed as failure:
                if count == 1:
                    return Beginning(pa.concat_arrays(values), failure)
                suspect = start + count
                continue
            start += count
            if start == suspect:  # nothing in it failed by itself
                most = max(map(len, values))
        return Beginning(pa.concat_arrays(values), None)

    def _call_piece(self, definition: FunctionDefinition, columns: Sequence[pa.Array], rows: int) -> pa.Array:
        frame = self._child(definition).ask(request(columns, rows))
        decoded = _decode(frame, definition.result_type, rows)
        if isinstance(decoded, pa.Array):
            return decoded
        if decoded not in SURVIVED:
            self.forget(definition)
        raise FunctionFailed(decoded)

    def _child(self, definition: FunctionDefinition) -> Process:
        """The child of a function, started if there is none that can be asked."""
        child = self._children.get(definition)
        if child is None or not child.is_ready():
            self.forget(definition)
            child = self._children[definition] = Process(self.limits, _setup(definition))
        return child


def _setup(definition: FunctionDefinition) -> bytes:
    code = compile_body(definition.name, definition.parameter_names, definition.body)
    if not isinstance(code, CodeType):
        raise FunctionFailed(Reason.UNUSABLE)
    schema = pa.schema([pa.field("result", definition.result_type)]).serialize().to_pybytes()
    is_plain = not any(word in definition.body for word in ("import", "pandas"))
    return marshal.dumps((code, schema, is_plain))


def _decode(frame: memoryview, declared: pa.DataType, rows: int) -> pa.Array | Reason:
    """The array of an answer, or why there is none. Arrow's errors are dropped here: they quote what the child sent."""
    try:
        status, array = read_answer(frame, declared, rows)
    except Exception:  # noqa: BLE001 - the function has written over the protocol, its process is as good as dead
        return Reason.DIED
    return Reason[status.name] if array is None else array


def _require(definition: FunctionDefinition, columns: Sequence[pa.Array], rows: int) -> None:
    """The caller's part: columns of the declared types and of one length."""
    if tuple(column.type for column in columns) != definition.parameter_types:
        raise TypeError(f'the columns do not have the types of the parameters of "{definition.name}"')
    if any(len(column) != rows for column in columns):
        raise ValueError("the columns do not have the given number of rows")


def _pieces(columns: Sequence[pa.Array], rows: int) -> Iterator[tuple[list[pa.Array], int]]:
    size = sum(column.nbytes for column in columns)
    step = min(ROWS_PER_PIECE, max(1, rows * BYTES_PER_PIECE // max(size, 1)))
    for start in range(0, rows, step):
        count = min(step, rows - start)
        yield [column[start : start + count] for column in columns], count
