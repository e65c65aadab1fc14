"""Results as the lines that `tidegate replay` prints (CASES.md).

Reads: gates, plan, values, operators, engine.  Read by: engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from tidegate.engine.processor import Result
from tidegate.engine.share import Refused
from tidegate.operators.arrow import decode, from_record_batch, type_of
from tidegate.operators.emit import row_texts
from tidegate.operators.vector import LevelTable
from tidegate.plan.schema import Field
from tidegate.security.lattice import Lattice, Level
from tidegate.values import instant_text


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a line stands: step, query in order of registration, ``-`` before ``+``, text of the row, its level."""

    instant: int
    order: int
    serial: int
    is_added: bool = False
    text: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line, its place, and the level of the stream that it belongs to."""

    place: Place
    level: Level
    text: str


def result_lines(results: Iterable[Result], orders: Mapping[int, int], lattice: Lattice) -> Iterator[Line]:
    """The lines of one processor's results; ``orders`` places its statements among all."""
    levels = LevelTable(lattice)
    for result in results:
        order = orders[result.statement]
        if result.kind in "+-":
            yield from _rows(result, order, levels)
        else:
            body = json.loads(result.body)
            instant = body.pop("time")
            place = Place(instant, order, result.serial)
            yield Line(place, result.level, line_text(result.name, instant, body))


def row_lines(result: Result, order: int, lattice: Lattice) -> Iterator[Line]:
    """The lines of rows."""
    return _rows(result, order, LevelTable(lattice))


def _rows(result: Result, order: int, levels: LevelTable) -> Iterator[Line]:
    batch = decode(result.body if result.path is None else pa.memory_map(result.path).read_buffer())
    width = batch.num_columns - 2
    schema = tuple(Field(column.name, type_of(column.type)) for column in list(batch.schema)[:width])
    rows = from_record_batch(batch, schema, levels)
    instants = batch.column(width + 1).to_pylist()
    name = json.dumps(result.name)
    for instant, number, text in zip(instants, rows.level.tolist(), row_texts(rows, schema, levels), strict=True):
        label = levels.labels[number]
        place = Place(instant, order, result.serial, result.kind == "+", text, label)
        head = f'{{"query": {name}, "time": {instant_text(instant)}, "op": "{result.kind}", '
        yield Line(place, result.level, f'{head}"level": {json.dumps(label)}, "row": {text}}}')


def refusal_line(refused: Refused) -> Line:
    """The answer to a statement that was not let in."""
    answer = refused.answer
    assert answer.problem is not None
    text = line_text(answer.name, refused.instant, {"error": answer.problem.to_json()})
    return Line(Place(refused.instant, refused.order, 0), answer.level, text)


def line_text(name: str | None, instant: int, body: Mapping[str, object]) -> str:
    """One JSON object: the query, the time, and the rest."""
    return f'{{"query": {json.dumps(name)}, "time": {instant_text(instant)}, ' + json.dumps(body)[1:]
