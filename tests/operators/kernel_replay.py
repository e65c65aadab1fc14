"""Replaying a case on kernels, cut into epochs, to compare with the reference line by line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tidegate.case import Case, StatementEntry, TickEntry
from tidegate.catalog import RegisteredQuery, Table
from tidegate.errors import Problem
from tidegate.gates.shepherd import Stamped
from tidegate.language.session import Sessions, Spoken
from tidegate.operators.batch import Batch
from tidegate.operators.emit import row_texts
from tidegate.operators.evaluate import UserCalls
from tidegate.operators.processor import Feed, Given, KernelProcessor, StreamKey
from tidegate.operators.vector import LevelTable, Vector, from_values
from tidegate.plan import nodes
from tidegate.plan.expressions import UserFunction
from tidegate.plan.schema import Schema, with_hidden
from tidegate.plan.types import LEVEL, Type
from tidegate.reference.replay import QUARANTINE_FIELDS, Arrived, Entry, Log, first_catalog, write_log
from tidegate.reference.user_functions import Hosts
from tidegate.security.lattice import Level
from tidegate.text import locate
from tidegate.values import instant_text


def batch_of(rows: list[tuple[tuple[object, ...], Level]], schema: Schema, levels: LevelTable) -> Batch:
    """Rows with their labels as columns; the hidden level is filled in from the label."""
    labels = levels.encode([label for _, label in rows])
    columns = [
        Vector(LEVEL, labels) if column.hidden and column.type == LEVEL else _column(rows, number, column.type)
        for number, column in enumerate(schema)
    ]
    return Batch(tuple(columns), labels)


def _column(rows: list[tuple[tuple[object, ...], Level]], number: int, kind: Type) -> Vector:
    return from_values([row[number] for row, _ in rows], kind)


@dataclass
class KernelReplay:
    """One run of one case, its instants cut into epochs of so many."""

    case: Case
    hosts: Hosts
    cut: int
    levels: LevelTable = field(init=False)
    log: Log = field(init=False)
    processor: KernelProcessor = field(init=False)
    sessions: Sessions = field(init=False)
    lines: list[tuple[tuple[object, ...], str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.levels, self.log = LevelTable(self.case.lattice), write_log(self.case)
        bottom = self.case.lattice.bottom
        stored = {
            (bottom, name): batch_of(
                [((*v, label), label) for label, v in relation.rows],
                with_hidden(relation.schema, instants=False),
                self.levels,
            )
            for name, relation in self.case.relations.items()
        }
        self.processor = KernelProcessor(self.levels, stored, self._calls)  # type: ignore[arg-type]
        self.sessions = Sessions(first_catalog(self.case), self.case.users)

    def _calls(self, level: Level) -> UserCalls:
        call: Callable[[UserFunction, list[object]], object] = self.hosts.at(level)
        return lambda node, arguments: [call(node, list(values)) for values in zip(*arguments, strict=True)]

    def run(self) -> list[str]:
        """Every line, in the order of `tidegate replay`."""
        for statement in self.case.listed:
            self._say(statement, (self.log.first, -1))
        last = self.log.first - 1
        if self.log.last < self.log.first and self.log.entries:  # nothing but quarantined tuples
            self.processor.lives = [life for life in self.processor.lives if life.entry.level == self.case.lattice.top]
            last = self.log.entries[0].instant - 1
        for epoch in self._epochs():
            for entry in epoch:
                if isinstance(entry.payload, StatementEntry):
                    self._say(entry.payload, (entry.instant, entry.arrival))
            now = max(last, epoch[-1].instant)
            self._advance(epoch, last, now)
            last = now
        if last < self.log.last:
            self._advance([], last, self.log.last)
        return [line for _, line in sorted(self.lines, key=lambda entry: entry[0])]

    def _epochs(self) -> Iterator[list[Stamped[Entry]]]:
        """Whole instants, so many at a time; an instant with a statement is an epoch of its own."""
        by_instant: dict[int, list[Stamped[Entry]]] = {}
        for entry in self.log.entries:
            by_instant.setdefault(entry.instant, []).append(entry)
        waiting: list[Stamped[Entry]] = []
        instants = 0
        for instant, entries in by_instant.items():
            spoken = any(isinstance(entry.payload, StatementEntry) for entry in entries)
            if spoken:
                yield [*waiting, _nothing(instant - 1)]
                yield entries
                waiting, instants = [], 0
                continue
            waiting += entries
            instants += 1
            if instants == self.cut:
                yield waiting
                waiting, instants = [], 0
        if waiting:
            yield waiting

    def _advance(self, entries: list[Stamped[Entry]], last: int, now: int) -> None:
        grouped: dict[StreamKey, list[Stamped[Entry]]] = {}
        for entry in entries:
            if isinstance(entry.payload, Arrived):
                grouped.setdefault(self._key(entry.payload.stream), []).append(entry)
        feeds = {key: self._feed(key[1], found) for key, found in grouped.items()}
        for given in self.processor.advance(feeds, last, now):
            self._print(given)

    def _key(self, stream: str) -> StreamKey:
        lattice = self.case.lattice
        return (lattice.top if stream == "QUARANTINE" else lattice.bottom), stream, 0

    def _feed(self, stream: str, entries: list[Stamped[Entry]]) -> Feed:
        schema = with_hidden(QUARANTINE_FIELDS if stream == "QUARANTINE" else self.case.streams[stream], instants=True)
        rows = []
        for entry in entries:
            assert isinstance(entry.payload, Arrived)
            hidden = (entry.payload.level, entry.instant // 1_000_000)
            values = (*entry.payload.values, *hidden)
            rows.append((values[: len(schema)], entry.payload.level))
        instants = np.array([entry.instant for entry in entries], np.int64)
        return Feed(
            batch_of(rows, schema, self.levels), instants, np.array([entry.arrival for entry in entries], np.int64)
        )

    def _say(self, statement: StatementEntry, place: tuple[int, int]) -> None:
        for spoken in self.sessions.say(statement.text, statement.at, statement.user, statement.name):
            if spoken.ended:
                self.processor.end(spoken.ended, place)
            if spoken.begun:
                self.processor.begin(spoken.begun, place)
            self._print_spoken(spoken, place[0])

    def _print_spoken(self, spoken: Spoken, now: int) -> None:
        if spoken.problem:
            self._line(now, (spoken.serial, False, "", ""), spoken.name, {"error": spoken.problem.to_json()})
        if spoken.shown is not None:
            body = {"statement": spoken.text, "at": spoken.level, "shown": list(spoken.shown)}
            self._line(now, (spoken.serial, False, "", ""), None, body)

    def _print(self, given: Given) -> None:
        entry = given.entry
        plan = entry.plan
        assert plan is not None
        if isinstance(entry, RegisteredQuery):
            operation = "-" if plan.emit == nodes.DSTREAM else "+"
            texts = row_texts(given.emitted.rows, plan.columns, self.levels)
            found = zip(given.emitted.instants.tolist(), given.emitted.rows.level.tolist(), texts, strict=True)
            for instant, number, text in found:
                label = self.levels.labels[number]
                body = {"op": operation, "level": label, "row": json.loads(text)}
                self._line(instant, (entry.serial, operation != "-", text, label), entry.name, body)
        if given.failed:
            self._fail(given)

    def _fail(self, given: Given) -> None:
        entry, failed = given.entry, given.failed
        assert failed is not None
        text = self.sessions.texts[entry.kind, entry.level, entry.name.casefold(), entry.serial]
        problem = Problem(failed.code, failed.problem, locate(text, failed.span))
        self._line(failed.instant, (entry.serial, False, "", ""), entry.name, {"error": problem.to_json()})
        if given.ended:
            return
        current = self.sessions.catalog.own((entry.kind,), entry.name, entry.level)
        if isinstance(current, RegisteredQuery | Table) and current.serial == entry.serial:
            self.sessions.catalog = self.sessions.catalog.replace(replace(current, running=False))

    def _line(self, now: int, order: tuple[object, ...], name: str | None, body: Mapping[str, object]) -> None:
        head = f'{{"query": {json.dumps(name)}, "time": {instant_text(now)}, '
        self.lines.append(((now, *order), head + json.dumps(body)[1:]))


def _nothing(instant: int) -> Stamped[Entry]:
    return Stamped(instant, 0, TickEntry())


def kernel_lines(case: Case, cut: int) -> list[str]:
    """The lines of a case, computed by kernels."""
    with Hosts() as hosts:
        return KernelReplay(case, hosts, cut).run()
