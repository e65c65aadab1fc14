"""The log of a case: its input admitted, stamped once and put into one order, and each level's share of it (Q-1).

Reads: case, catalog, gates, plan, values.  Read by: reference, engine, cli.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidegate.case import Case, StatementEntry, TickEntry, TupleEntry
from tidegate.catalog import RELATION, STREAM, Catalog, Table
from tidegate.gates.admit import QUARANTINE, Admitted, Refused, admit, read_instant
from tidegate.gates.shepherd import Clock, Stamped, in_order, share_of
from tidegate.plan.schema import Field, Schema
from tidegate.plan.types import STRING
from tidegate.security.lattice import Lattice, Level
from tidegate.values import exact_json

QUARANTINE_FIELDS = (Field("stream", STRING), Field("reason", STRING), Field("row", STRING))


@dataclass(frozen=True, slots=True)
class Arrived:
    """A tuple of the log: its stream and its row."""

    stream: str
    level: Level
    values: tuple[object, ...]


Entry = StatementEntry | TickEntry | Arrived


@dataclass(slots=True)
class Log:
    """The shepherd's log of a case, in order, and what was counted while it was written."""

    entries: list[Stamped[Entry]]
    first: int
    last: int
    late: dict[Level, int]
    quarantined: int


def write_log(case: Case) -> Log:
    """Q-1: stamp every entry once, in the order of arrival."""
    clock, entries, quarantined = Clock(), list[Stamped[Entry]](), list[Stamped[Entry]]()
    for instant, payload in case.input:
        match payload:
            case TickEntry():
                entries.append(Stamped(max(instant or 0, clock.last_tick), clock.arrivals, payload))
                clock.tick(instant or 0)
            case StatementEntry():
                entries.append(clock.stamp(instant or 0, payload))
            case TupleEntry():
                admitted, kept_out = _admit(case, payload, clock)
                (entries if not kept_out else quarantined).append(admitted)
    first, last = span(entries)
    moved = [Stamped(max(first, min(entry.instant, last)), entry.arrival, entry.payload) for entry in quarantined]
    return Log(in_order([*entries, *(moved if entries else quarantined)]), first, last, clock.late, len(quarantined))


def span(entries: list[Stamped[Entry]]) -> tuple[int, int]:
    """The first and the last instant; an empty span where there is nothing."""
    instants = [entry.instant for entry in entries]
    return min(instants, default=0), max(instants, default=-1)


def _admit(case: Case, payload: TupleEntry, clock: Clock) -> tuple[Stamped[Entry], bool]:
    """A tuple in its place, or its quarantine entry at the top (Q-11); late ones by the option of the case (Q-1)."""
    decision = admit(payload.raw, case.streams[payload.stream], case.lattice)
    if isinstance(decision, Admitted) and clock.is_late(decision.instant):
        clock.count_late(decision.level)
        if case.late == "quarantine":
            decision = Refused("late")
    if isinstance(decision, Admitted):
        return clock.stamp(decision.instant, Arrived(payload.stream, decision.level, decision.values)), False
    row = exact_json(payload.raw.get("row"))
    record = Arrived(QUARANTINE, case.lattice.top, (payload.stream, decision.reason, row))
    return clock.stamp(read_instant(payload.raw.get("time")) or 0, record), True


def label_of(entry: Entry, lattice: Lattice) -> Level:
    """Who may know of an entry: a tick is for everyone."""
    match entry:
        case Arrived(level=level) | StatementEntry(at=level):
            return level
        case _:
            return lattice.bottom


def share(log: Log, level: Level, lattice: Lattice) -> list[Stamped[Entry]]:
    """What a processor at a level receives, numbered anew: the numbers count nothing that it may not see (Q-14)."""
    labelled = ((label_of(entry.payload, lattice), entry) for entry in log.entries)
    received = share_of(level, labelled, lattice)
    return [Stamped(entry.instant, place, entry.payload) for place, entry in enumerate(received)]


def first_catalog(case: Case) -> Catalog:
    """What exists before the first instant."""
    return catalog_of(case.lattice, case.streams, {name: known.schema for name, known in case.relations.items()})


def catalog_of(lattice: Lattice, streams: Mapping[str, Schema], relations: Mapping[str, Schema]) -> Catalog:
    """Declared streams and relations at the bottom, the quarantine at the top."""
    catalog = Catalog(lattice)
    for name, schema in streams.items():
        catalog = catalog.add(Table(STREAM, lattice.bottom, name, 0, schema))
    for name, schema in relations.items():
        catalog = catalog.add(Table(RELATION, lattice.bottom, name, 0, schema))
    return catalog.add(Table(STREAM, lattice.top, QUARANTINE, 0, QUARANTINE_FIELDS))
