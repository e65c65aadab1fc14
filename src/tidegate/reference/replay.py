"""Replaying a case: from its input to the lines that `tidegate replay` prints (CASES.md).

Reads: case, log, gates, language, security, functions, reference.  Read by: system, cli.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tidegate.case import Case, StatementEntry
from tidegate.errors import Problem
from tidegate.functions.calls import Hosts
from tidegate.gates.admit import QUARANTINE
from tidegate.gates.release import may_see
from tidegate.gates.shepherd import Stamped
from tidegate.language.session import Sessions, Spoken
from tidegate.log import QUARANTINE_FIELDS, Arrived, Entry, Log, first_catalog, span, write_log
from tidegate.plan.schema import with_hidden
from tidegate.reference.processor import Processor, Result
from tidegate.reference.rows import Row, Tuple, row_json
from tidegate.security.lattice import Level
from tidegate.text import locate
from tidegate.values import instant_text


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output, with the level of the stream it belongs to and its place among the lines of its instant."""

    level: Level
    instant: int
    place: tuple[int, bool, str, str]
    text: str


@dataclass(slots=True)
class Replay:
    """One run of one case."""

    case: Case
    log: Log
    processor: Processor
    sessions: Sessions
    lines: list[Line] = field(default_factory=list)

    def run(self) -> Iterator[Line]:
        """Every line, in order: step, then query, then ``-`` before ``+``, then the row's text."""
        self._say(self.log.first, [StatementEntry(s.at, s.text, s.user, s.name) for s in self.case.listed])
        yield from self._flush_if_empty()
        position, now, last = 0, self.log.first, self.log.last
        if last < now and self.log.entries:  # nothing but quarantined tuples: only the top may learn of them
            self.processor.keep(self.case.lattice.top)
            now, last = span(self.log.entries)
        while now <= last:
            while position < len(self.log.entries) and self.log.entries[position].instant <= now:
                self._enter(self.log.entries[position])
                position += 1
            for result in self.processor.advance(now):
                self._add(now, result)
            yield from self._flush()
            now = self._next(position, now, last)

    def _flush_if_empty(self) -> Iterator[Line]:
        return self._flush() if self.log.last < self.log.first else iter(())

    def _next(self, position: int, now: int, last: int) -> int:
        event = self.processor.next_event(now)
        entry = self.log.entries[position].instant if position < len(self.log.entries) else None
        return min((instant for instant in (event, entry) if instant is not None), default=last + 1)

    def _flush(self) -> Iterator[Line]:
        lines, self.lines = sorted(self.lines, key=lambda line: line.place), []
        return iter(lines)

    # ---------------------------------------------------------------- entries

    def _enter(self, entry: Stamped[Entry]) -> None:
        match entry.payload:
            case StatementEntry():
                self._say(entry.instant, [entry.payload])
            case Arrived(stream, level, values):
                self._arrive(entry.instant, stream, level, values)
            case _:
                pass

    def _arrive(self, instant: int, stream: str, level: Level, values: tuple[object, ...]) -> None:
        home = self.case.lattice.top if stream == QUARANTINE else self.case.lattice.bottom
        fields = QUARANTINE_FIELDS if stream == QUARANTINE else self.case.streams[stream]
        time = (instant // 1_000_000,) if with_hidden(fields, instants=True)[-1].name == "time" else ()
        hidden = (level, *time) if with_hidden(fields, instants=True)[-1].hidden else (level,)
        self.processor.receive((home, stream, 0), Tuple(instant, Row((*values, *hidden), level)))

    def _say(self, now: int, statements: list[StatementEntry]) -> None:
        for statement in statements:
            self.sessions.catalog = self.processor.catalog
            spoken = self.sessions.say(statement.text, statement.at, statement.user, statement.name)
            self.processor.catalog = self.sessions.catalog
            for entry in spoken:
                self._carry_out(now, entry)

    def _carry_out(self, now: int, spoken: Spoken) -> None:
        if spoken.ended:
            self.processor.end(spoken.ended)
        if spoken.begun:
            self.processor.begin(spoken.begun)
        if spoken.problem:
            self._add_problem(now, spoken.level, spoken.serial, spoken.name, spoken.problem)
        if spoken.shown is not None:
            body = {"statement": spoken.text, "at": spoken.level, "shown": list(spoken.shown)}
            self._add_line(now, spoken.level, (spoken.serial, False, "", ""), body, None)

    # ---------------------------------------------------------------- lines

    def _add(self, now: int, result: Result) -> None:
        entry = result.entry
        if result.failure:
            plan = entry.plan
            text = self.sessions.texts.get((entry.kind, entry.level, entry.name.casefold(), entry.serial), "")
            place = locate(text, result.failure.span) if text and plan else None
            problem = Problem(result.failure.code, result.failure.problem, place)
            self._add_problem(now, entry.level, entry.serial, entry.name, problem)
        elif result.stepped and entry.plan:
            for row in result.stepped.rows:
                shown = row_json(row, entry.plan.columns)
                body = {"op": result.stepped.operation, "level": row.level, "row": shown}
                order = (entry.serial, result.stepped.operation != "-", json.dumps(shown), row.level)
                self._add_line(now, entry.level, order, body, entry.name)

    def _add_problem(self, now: int, level: Level, serial: int, name: str | None, problem: Problem) -> None:
        self._add_line(now, level, (serial, False, "", ""), {"error": problem.to_json()}, name)

    def _add_line(
        self, now: int, level: Level, order: tuple[int, bool, str, str], body: Mapping[str, object], name: str | None
    ) -> None:
        head = f'{{"query": {json.dumps(name)}, "time": {instant_text(now)}, '
        self.lines.append(Line(level, now, order, head + json.dumps(body)[1:]))


def replay(case: Case, reader: Level | None = None) -> Iterator[str]:
    """The lines of a case; with a reader only those of streams that the reader may see (Q-6)."""
    for line in replay_lines(case, write_log(case)):
        if reader is None or may_see(reader, line.level, case.lattice):
            yield line.text


def replay_lines(case: Case, log: Log) -> Iterator[Line]:
    """What a case answers to a log, which is taken as it is: admitted and stamped."""
    with Hosts() as hosts:
        relations = {(case.lattice.bottom, name): [Row((*values, level), level) for level, values in relation.rows]
                     for name, relation in case.relations.items()}  # fmt: skip
        catalog = first_catalog(case)
        processor = Processor(catalog, relations, hosts.at)  # type: ignore[arg-type]
        yield from Replay(case, log, processor, Sessions(catalog, case.users)).run()
