"""From segments to each level's share of a tick: admitted by the gate, held until their tick, ordered, split (Q-1).

What happens in a tick is a function of its line in the journal, the segments that the line names and the statements
before it, so a tick that a crash cut short is done again with the same result.

Reads: gates, log, plan, values, operators, engine.  Read by: engine, system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from tidegate.engine.broken import Broken
from tidegate.engine.epochs import ARRIVAL, INSTANT, LEVEL
from tidegate.engine.journal import Counted, Tick
from tidegate.engine.segments import broken_rows, offered, read_segment
from tidegate.errors import EngineError
from tidegate.gates.admit import QUARANTINE
from tidegate.gates.segments import REASONS, UNFIT, Judged, Terms, judge, share_mask
from tidegate.log import QUARANTINE_FIELDS
from tidegate.operators.arrow import arrow_type, from_arrow
from tidegate.operators.emit import shown
from tidegate.operators.vector import LevelTable, Mask, Numbers
from tidegate.plan.schema import Schema
from tidegate.security.lattice import Lattice, Level
from tidegate.values import exact_json


@dataclass(frozen=True, slots=True)
class StreamTerms:
    """A declared stream: its columns, what its source may send, and whether its tuples tell their time."""

    schema: Schema
    terms: Terms
    timed: bool = True


@dataclass(frozen=True, slots=True)
class Rows:
    """Admitted tuples of one stream: declared columns, labels (by number), instants, and order of arrival."""

    table: pa.Table
    levels: Sequence[Level]
    labels: Numbers
    instants: Numbers
    arrivals: Numbers

    def __len__(self) -> int:
        return len(self.instants)

    def take(self, chosen: Numbers | Mask) -> Rows:
        """Some of the rows, copied."""
        places = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        return Rows(self.table.take(pa.array(places)), self.levels, self.labels[places], self.instants[places],
                    self.arrivals[places])  # fmt: skip

    def bytes(self) -> int:
        """What they take in memory."""
        numbers = (self.labels, self.instants, self.arrivals)
        return int(self.table.nbytes) + sum(one.nbytes for one in numbers)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Tuples of one segment whose instant no tick has reached, and the tick that took it."""

    tick: int
    stream: str
    rows: Rows
    bytes: int

    def split(self, instant: int) -> tuple[Rows | None, Waiting | None]:
        """What is complete at an instant, and what waits on; nothing is copied where all of it is one of them."""
        is_complete = self.rows.instants <= instant
        if is_complete.all():
            return self.rows, None
        if not is_complete.any():
            return None, self
        return self.rows.take(is_complete), waiting(self.tick, self.stream, self.rows.take(~is_complete))


def waiting(tick: int, stream: str, rows: Rows) -> Waiting:
    """Tuples that wait, and how much room they take."""
    return Waiting(tick, stream, rows, rows.bytes())


@dataclass(slots=True)
class Herd:
    """Everything that has arrived and is not yet released."""

    lattice: Lattice
    streams: dict[str, StreamTerms]
    directory: Path
    waiting: list[Waiting] = field(default_factory=list)
    arrivals: int = 0
    counted: Counted = field(default_factory=Counted)
    began: int = -1
    """Where the gate's time begins: whatever is older is late."""
    old: dict[str, int] = field(default_factory=dict)
    """By stream, how many tuples were older than that, as far as this process knows."""

    # ---------------------------------------------------------------- one tick

    def tick(self, tick: Tick) -> dict[str, Rows]:
        """Admit the segments of a tick and give what it completes, by stream and in order; the rest waits."""
        ready: dict[str, list[Rows]] = {}
        before, self.waiting = self.waiting, []
        for one in before:
            self._release(one, tick.instant, ready)
        for stream, batch in tick.segments:
            rows, refused = self._admit(stream, batch, tick)
            if len(rows):
                self._release(waiting(tick.number, stream, rows), tick.instant, ready)
            if len(refused):
                ready.setdefault(QUARANTINE, []).append(refused)
        return {stream: _ordered(pieces) for stream, pieces in ready.items()}

    def _release(self, one: Waiting, instant: int, ready: dict[str, list[Rows]]) -> None:
        complete, rest = one.split(instant)
        if complete is not None:
            ready.setdefault(one.stream, []).append(complete)
        if rest is not None:
            self.waiting.append(rest)

    def reopen(self, tick: Tick, earlier: Sequence[Tick]) -> None:
        """Bring back what waited before a tick, out of the segments of earlier ticks, and what was counted."""
        for one in earlier:
            self.arrivals = one.arrivals
            for stream, batch in one.segments if self._has_all(one) else ():
                rows, _ = self._admit(stream, batch, one)
                still = rows.instants > tick.last
                if still.any():
                    self.waiting.append(waiting(one.number, stream, rows.take(still)))
        self.arrivals, self.counted = tick.arrivals, tick.counted
        if self.held != tick.held:
            raise EngineError(f"{self.directory}: segments with tuples that wait are missing; restore them from a copy")

    def _has_all(self, tick: Tick) -> bool:
        """Segments of a tick between two that are needed may have been dropped: none of its tuples wait."""
        return all(self.segment(*one).exists() for one in tick.segments)

    @property
    def held(self) -> int:
        """How many tuples wait."""
        return sum(len(one.rows) for one in self.waiting)

    def _admit(self, name: str, batch: int, tick: Tick) -> tuple[Rows, Rows]:
        """The admitted tuples of a segment, and the quarantine entries of the others."""
        stream, table = self.streams[name], read_segment(self.segment(name, batch))
        claims = offered(table, stream.schema, None if stream.timed else tick.clock)
        found = judge(claims, stream.terms, tick.last, tick.clock, self.lattice)
        if found.late:
            is_old = (claims.instants <= self.began) & (found.labels >= 0) & ~claims.timeless & ~claims.unfit
            self.old[name] = self.old.get(name, 0) + int(is_old.sum())
        arrivals = self.arrivals + np.arange(len(table))
        self.arrivals += len(table)
        self.counted += _count(found)
        declared = table.select(range(len(stream.schema)))
        rows = Rows(declared, found.levels, found.labels, found.instants, arrivals)
        if found.reasons.any():
            rows = rows.take(found.reasons == 0)
        return rows, self._refused(name, table, found, arrivals)

    def _refused(self, stream: str, table: pa.Table, found: Judged, arrivals: Numbers) -> Rows:
        """Q-11: what was kept out, with the reason, at the top."""
        bad = np.flatnonzero(found.reasons)
        schema, chosen = self.streams[stream].schema, table.take(pa.array(bad))
        broken = broken_rows(chosen, schema)
        reasons = [_reason(*one) for one in zip(found.reasons[bad].tolist(), broken, strict=True)]
        columns = [[stream] * len(bad), reasons, _row_texts(chosen, schema, broken, self.lattice)]
        arrays = [
            pa.array(column, arrow_type(one.type)) for column, one in zip(columns, QUARANTINE_FIELDS, strict=True)
        ]
        entries = pa.Table.from_arrays(arrays, names=[one.name for one in QUARANTINE_FIELDS])
        labels = np.zeros(len(bad), np.int64)
        return Rows(entries, [self.lattice.top], labels, found.instants[bad], arrivals[bad])

    def segment(self, stream: str, batch: int) -> Path:
        """Where a segment lies."""
        return segments_of(self.directory, stream) / f"{batch}.arrow"


def _count(found: Judged) -> Counted:
    counts = np.bincount(found.labels[found.reasons == 0], minlength=len(found.levels))
    tuples = dict(zip(found.levels, counts.tolist(), strict=True))
    return Counted(tuples, found.late, {}, int((found.reasons > 0).sum()))


def segments_of(directory: Path, stream: str) -> Path:
    """The directory of a stream's segments."""
    return directory / "streams" / path_name(stream) / "segments"


def path_name(text: str) -> str:
    """A name or a level as one part of a path, whatever characters it has.

    >>> path_name("night_shift"), path_name("a b/c")
    ('night_shift', 'a%20.b%2f.c')
    """
    return "".join(one if (one.isalnum() or one == "_") and one.isascii() else f"%{ord(one):x}." for one in text)


def _ordered(pieces: list[Rows]) -> Rows:
    """All rows of a stream by (instant, arrival)."""
    merged = pieces[0] if len(pieces) == 1 else _concatenated(pieces)
    instants = merged.instants
    rising = (instants[1:] >= instants[:-1]).all() and (merged.arrivals[1:] > merged.arrivals[:-1]).all()
    return merged if rising else merged.take(np.lexsort((merged.arrivals, instants)))


def _concatenated(pieces: list[Rows]) -> Rows:
    levels = list(dict.fromkeys(level for piece in pieces for level in piece.levels))
    places = {level: place for place, level in enumerate(levels)}
    labels = [np.array([places[level] for level in piece.levels] or [0], np.int64)[piece.labels] for piece in pieces]
    return Rows(
        pa.concat_tables([piece.table for piece in pieces]),
        levels,
        np.concatenate(labels),
        np.concatenate([piece.instants for piece in pieces]),
        np.concatenate([piece.arrivals for piece in pieces]),
    )


def _reason(reason: int, broken: Broken | None) -> str:
    """Why a tuple stays out; of a record that was not decoded, what is wrong in it."""
    if broken is None or not broken.problem:
        return REASONS[reason]
    return f"{REASONS[UNFIT]}: {broken.problem}"


def _row_texts(chosen: pa.Table, schema: Schema, broken: Sequence[Broken | None], lattice: Lattice) -> list[str]:
    """Each row as JSON text, or what was found in its place where it was not decoded."""
    levels = LevelTable(lattice)
    columns = [_shown(chosen.column(place), column.type, levels) for place, column in enumerate(schema)]
    names = [column.name for column in schema]
    texts = [exact_json(dict(zip(names, values, strict=True))) for values in zip(*columns, strict=True)]
    return [exact_json(raw.shown()) if raw is not None else text for raw, text in zip(broken, texts, strict=True)]


def _shown(array: pa.ChunkedArray, kind: object, levels: LevelTable) -> list[object]:
    """Values as JSON, or nothing where they cannot be shown at all."""
    try:
        return shown(from_arrow(array, kind, levels), levels)  # type: ignore[arg-type]
    except (ValueError, OverflowError):  # not Unicode, or beyond the calendar: that is why they are here
        return [None] * len(array)


# ------------------------------------------------------------------------------ a level's share


def share_rows(level: Level, ready: Mapping[str, Rows], lattice: Lattice) -> dict[str, Rows]:
    """What a processor at a level receives of a tick (M-4).

    Streams by name, and every row copied: neither the order nor the bytes may tell of rows that stay out.
    """
    shares: dict[str, Rows] = {}
    for stream, rows in sorted(ready.items()):
        chosen = np.flatnonzero(share_mask(level, rows.levels, rows.labels, lattice))
        if len(chosen):
            shares[stream] = rows.take(chosen)
    return shares


def numbered(shares: Mapping[str, Rows], first: int) -> dict[str, pa.RecordBatch]:
    """A level's tuples as its epoch has them: arrival numbers count only what the level receives (Q-14)."""
    everything = np.sort(np.concatenate([rows.arrivals for rows in shares.values()])) if shares else np.zeros(0)
    return {stream: _batch(rows, first + np.searchsorted(everything, rows.arrivals)) for stream, rows in shares.items()}


def _batch(rows: Rows, arrivals: Numbers) -> pa.RecordBatch:
    names = [*rows.table.column_names, LEVEL, INSTANT, ARRIVAL]
    present = {label: str(rows.levels[label]) for label in np.unique(rows.labels).tolist()}
    texts = sorted(present.values())  # no label is named that none of the rows has, and their order tells nothing
    places = np.zeros(len(rows.levels), np.int32)
    for label, text in present.items():
        places[label] = texts.index(text)
    labels = pa.DictionaryArray.from_arrays(pa.array(places[rows.labels]), pa.array(texts, pa.string()))
    arrays = [column.combine_chunks() for column in rows.table.columns]
    arrays = [one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one for one in arrays]
    beside = [labels, pa.array(rows.instants), pa.array(arrivals.astype(np.int64))]
    return pa.RecordBatch.from_arrays([*arrays, *beside], names=names)
