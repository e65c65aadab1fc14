"""From an epoch's file to the tuples that queries are given: what nobody wants is left where it is (P-14).

Each condition that several queries have is tested once, on the columns that it reads; tuples that no query wants, and
columns that none reads, are not taken out of the file. Where most tuples are wanted they are all taken: picking them
would cost more than it saves. The outcomes of the tests go along as bits, so that no query tests again.

Reads: plan, operators, sharing.  Read by: processor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidegate.operators.arrow import from_arrow
from tidegate.operators.batch import NO_BITS, Batch, Bits
from tidegate.operators.evaluate import Evaluator
from tidegate.operators.processor import Feed
from tidegate.operators.tables import MICROSECONDS
from tidegate.operators.vector import Failures, LevelTable, Mask, Numbers, Vector, unread
from tidegate.plan import expressions as ex
from tidegate.plan.schema import Schema, with_hidden
from tidegate.plan.types import BIGINT, BOOLEAN, LEVEL
from tidegate.sharing.prefilter import MOST_WANTED, Want, test_of_text

_TESTS: dict[str, Callable[[pa.Array, str], pa.Array]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


@dataclass(frozen=True, slots=True)
class Passed:
    """What a prefilter has done: tuples that came, tuples that were taken, and bytes of columns likewise."""

    tuples: int = 0
    taken: int = 0
    bytes: int = 0
    bytes_taken: int = 0

    def __add__(self, other: Passed) -> Passed:
        """Both, one after the other."""
        return Passed(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True)
class Prefilter:
    """What the queries of a level want of one stream; ``conditions`` are the distinct ones of all."""

    columns: frozenset[int] | None
    conditions: tuple[ex.Expression, ...] = ()
    wants: tuple[tuple[ex.Expression, ...], ...] = ()

    @property
    def wants_all(self) -> bool:
        """Whether some query wants every tuple."""
        return any(not one for one in self.wants)


EVERYTHING = Prefilter(None, wants=((),))
NOTHING = Prefilter(frozenset())


def prefilter(wants: Sequence[Want], *, columns: bool, bits: bool) -> Prefilter:
    """The prefilter for what queries want of a stream; ``columns`` says whether any may be left out."""
    read = frozenset(column for want in wants for column in want.columns)
    asked = tuple(dict.fromkeys(want.conditions for want in wants))
    tested = tuple(dict.fromkeys(one for conditions in asked for one in conditions))
    if not bits and any(not one for one in asked):
        tested = ()  # nothing would come of it
    return Prefilter(read if columns else None, tested, asked)


# ------------------------------------------------------------------------------ one epoch


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the tuples of a stream for the queries of a level."""

    levels: LevelTable
    by_bits: bool = True

    def feed(self, batch: pa.RecordBatch, schema: Schema, wanted: Prefilter) -> Feed:
        """The tuples of a record batch that somebody wants, as columns."""
        instants, arrivals = (np.asarray(batch.column(len(schema) + place)) for place in (1, 2))
        level = from_arrow(batch.column(len(schema)), LEVEL, self.levels).data
        masks = self._tested(batch, schema, level, instants, wanted.conditions)
        chosen = None if wanted.wants_all else _chosen(masks, wanted.wants, len(batch))
        if chosen is None:
            rows = self._rows(batch, schema, level, instants, wanted, None)
            return Feed(rows, instants, arrivals, Bits(masks) if self.by_bits and masks else NO_BITS)
        rows = self._rows(batch, schema, level, instants, wanted, chosen)
        bits = Bits({one: mask[chosen] for one, mask in masks.items()}) if self.by_bits else NO_BITS
        whole = Feed(Batch((), level), instants, arrivals)
        return Feed(rows, instants[chosen], arrivals[chosen], bits, whole)

    def _rows(self, batch: pa.RecordBatch, schema: Schema, level: Numbers, instants: Numbers, wanted: Prefilter,
              chosen: Numbers | None) -> Batch:  # fmt: skip
        count = len(batch) if chosen is None else len(chosen)
        level = level if chosen is None else level[chosen]
        columns = list[Vector]()
        for place, column in enumerate(with_hidden(schema, instants=True)):
            if wanted.columns is not None and place not in wanted.columns:
                columns.append(unread(count))
            elif place < len(schema):
                array = batch.column(place)
                columns.append(
                    from_arrow(array if chosen is None else array.take(pa.array(chosen)), column.type, self.levels)
                )
            elif place == len(schema):
                columns.append(Vector(LEVEL, level))
            else:
                columns.append(Vector(BIGINT, (instants if chosen is None else instants[chosen]) // MICROSECONDS))
        return Batch(tuple(columns), level)

    def _tested(self, batch: pa.RecordBatch, schema: Schema, level: Numbers, instants: Numbers,
                conditions: Iterable[ex.Expression]) -> dict[ex.Expression, Mask]:  # fmt: skip
        """Which tuples each condition holds for; none of them can fail."""
        conditions = tuple(conditions)
        if not conditions:
            return {}
        tests = Tests(batch, len(with_hidden(schema, instants=True)))
        written = {one: ex.rewrite(one, tests.without_texts) for one in conditions}
        read = frozenset(column for one in written.values() for column in ex.columns(one))
        rows = self._rows(batch, schema, level, instants, Prefilter(read), None)
        rows = Batch((*rows.columns, *tests.found), level)
        evaluator = Evaluator(self.levels, Failures(), _no_function)
        return {one: evaluator.evaluate(test, rows).is_true() for one, test in written.items()}


def passed(batch: pa.RecordBatch, schema: Schema, wanted: Prefilter, feed: Feed) -> Passed:
    """What came of a record batch, and what of it was taken; hidden columns are no part of it."""
    sizes = [batch.column(place).nbytes for place in range(len(schema))]
    read = sum(size for place, size in enumerate(sizes) if wanted.columns is None or place in wanted.columns)
    taken = len(feed.instants)
    return Passed(len(batch), taken, sum(sizes), read * taken // max(1, len(batch)))


def _no_function(node: ex.UserFunction, arguments: list[list[object]], rows: int) -> list[object]:
    raise TypeError("a condition with a function is never cheap")


def _chosen(masks: dict[ex.Expression, Mask], wants: Iterable[tuple[ex.Expression, ...]], rows: int) -> Numbers | None:
    """The tuples that somebody wants; None if they are so many that all are taken."""
    wanted = np.zeros(rows, np.bool_)
    for conditions in wants:
        wanted |= np.logical_and.reduce([masks[one] for one in conditions])
    chosen = np.flatnonzero(wanted)
    return chosen if len(chosen) <= MOST_WANTED * rows else None


@dataclass(slots=True)
class Tests:
    """Tests of texts, made in Arrow: no text has to become an object for them."""

    batch: pa.RecordBatch
    width: int
    found: list[Vector] = field(default_factory=list)

    def without_texts(self, test: ex.Expression) -> ex.Expression:
        """A column of outcomes in place of a test of texts."""
        match test:
            case ex.Compare(sign, ex.Column(place), ex.Literal(str(value))) if test_of_text(test):
                return self._outcome(_TESTS[sign](self.batch.column(place), value))
            case ex.IsNull(ex.Column(place)) if place < self.batch.num_columns:
                return self._outcome(self.batch.column(place).is_null())
            case _:
                return test

    def _outcome(self, outcome: pa.Array) -> ex.Expression:
        null = np.asarray(outcome.is_null()) if outcome.null_count else None
        self.found.append(Vector(BOOLEAN, np.asarray(outcome.fill_null(False)), null))
        return ex.Column(self.width + len(self.found) - 1, "", type=BOOLEAN)
