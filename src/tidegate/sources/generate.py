"""Made-up tuples: row number n of a kind and a seed is always the same row, however rows are cut into batches.

No state runs from row to row: each value is a hash of (seed, column, row number), made for a whole batch at once.

Reads: plan (schema, types), errors.  Read by: generator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidegate.errors import SourceError
from tidegate.plan.schema import Field, Schema
from tidegate.plan.types import BIGINT, DOUBLE, INT, STRING
from tidegate.text import did_you_mean, listed

Words = npt.NDArray[np.uint64]
Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

KEYS = 1_000  # distinct sensors, hosts and vessels
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to make: equal recipes make equal rows.

    Row n has the instant ``start + n * speed / rate`` seconds, less up to ``disorder`` seconds. ``skew`` is the
    exponent of Zipf's law over the keys; 0 makes them equally frequent. ``levels`` are labels with their weights.
    """

    kind: str
    levels: Mapping[str, float]
    rate: float
    seed: int = 0
    speed: float = 1.0
    skew: float = 0.0
    disorder: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            hint = did_you_mean(self.kind, KINDS) or f"there are {listed(KINDS)}"
            raise SourceError(f'there is no kind "{self.kind}" of made-up tuples', hint=hint)
        for name in ("rate", "speed"):
            if not 0 < getattr(self, name) < float("inf"):
                raise SourceError(f"the {name} of made-up tuples must be above 0")
        for name in ("skew", "disorder"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise SourceError(f"the {name} of made-up tuples must be 0 or more")
        weights = list(self.levels.values())
        if not weights or min(weights) < 0 or not 0 < sum(weights) < float("inf"):
            raise SourceError("made-up tuples need levels with weights", hint='such as {"U": 3, "S": 1}')


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one batch while they are made: their numbers, and where chance comes from."""

    seed: int
    skew: float
    numbers: Words
    _salts: list[int] = field(default_factory=lambda: [0])

    def words(self) -> Words:
        """64 random bits per row, others at each call."""
        self._salts[0] += 1
        return scrambled(self.numbers * _GOLDEN + np.uint64(_salt(self.seed, self._salts[0])))

    def uniform(self) -> Doubles:
        """From 0 up to, but not, 1."""
        return (self.words() >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def bell(self, middle: float, spread: float, low: float) -> Doubles:
        """Near a middle, to one place: the sum of four even parts of one word is almost normal."""
        word = self.words()
        parts = [(word >> np.uint64(shift)) & np.uint64(0xFFFF) for shift in (0, 16, 32, 48)]
        total = (parts[0] + parts[1] + parts[2] + parts[3]).astype(np.float64) / 65536.0
        values: Doubles = np.round(np.maximum(middle + spread * (total - 2.0) * 1.7320508, low), 1)
        return values

    def below(self, bound: int) -> Longs:
        """Whole numbers from 0 up to, but not, a bound."""
        return ((self.words() >> np.uint64(32)) * np.uint64(bound) >> np.uint64(32)).astype(np.int64)

    def keys(self) -> Longs:
        """Numbers of keys, 0 the most frequent."""
        if self.skew == 0:
            return self.below(KEYS)
        return np.searchsorted(_zipf(self.skew), self.uniform(), side="right").astype(np.int64)


def scrambled(words: Words) -> Words:
    """SplitMix64's finish: neighbouring numbers come out unrelated, each number its own."""
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))


def _salt(seed: int, column: int) -> int:
    word = np.array([(seed * 1_000_003 + column) % 2**64], np.uint64)
    return int(scrambled(scrambled(word) + _GOLDEN)[0])


@cache
def _zipf(skew: float) -> Doubles:
    weights = np.arange(1, KEYS + 1, dtype=np.float64) ** -skew
    total = np.cumsum(weights / weights.sum())
    total[-1] = 1.0
    return total


# ------------------------------------------------------------------------------ kinds


def _int(values: Longs) -> pa.Array:
    return pa.array(values.astype(np.int32))


def _vitals(rows: Rows) -> list[pa.Array]:
    measured = [rows.bell(75, 15, 2), rows.bell(118, 18, 0), rows.bell(82, 14, 0)]
    return [_int(rows.keys()), *(pa.array(values) for values in measured)]


def _position(rows: Rows) -> list[pa.Array]:
    lat = _table(tuple(f"{degrees}{side}" for side in "NS" for degrees in range(91)))
    lon = _table(tuple(f"{degrees}{side}" for side in "EW" for degrees in range(181)))
    return [_int(rows.keys()), lat.take(pa.array(rows.below(len(lat)))), lon.take(pa.array(rows.below(len(lon))))]


def _packets(rows: Rows) -> list[pa.Array]:
    hosts = _table(tuple(f"10.0.{number >> 8}.{number & 255}" for number in range(KEYS)))
    chance = rows.below(100)
    proto = np.where(chance < 66, 6, np.where(chance < 98, 17, 1))
    names = (proto == 17) & (rows.below(8) == 0)  # questions to and answers from a name service
    port = np.where(names, 53, np.array([80, 443, 22, 25, 8080])[rows.below(5)])
    flags = np.where(proto == 6, np.array([2, 16, 18, 24, 17])[rows.below(5)], 0)
    return [
        _int(proto),
        hosts.take(pa.array(rows.keys())),
        _int(np.where(proto == 1, 0, 1024 + rows.below(64_000))),
        hosts.take(pa.array(rows.keys())),
        _int(np.where(proto == 1, 0, port)),
        _int(40 + rows.below(1461)),
        _int(np.array([64, 128, 255, 57])[rows.below(4)]),
        _int(flags),
        pa.array(rows.below(2).astype(np.int32), mask=~names),
    ]


def _ships(rows: Rows) -> list[pa.Array]:
    """Each vessel circles slowly around a place of its own."""
    key = rows.keys()
    own = Rows(rows.seed, 0.0, key.astype(np.uint64))
    lat, lon, turn = own.uniform() * 120 - 60, own.uniform() * 340 - 170, own.uniform() * 2 * np.pi
    angle = turn + rows.numbers.astype(np.float64) * 1e-5
    places = [np.round(lat + np.sin(angle), 5), np.round(lon + np.cos(angle), 5)]
    course = np.round(np.degrees(-angle) % 360, 1) % 360
    vessel, kind = pa.array(200_000_000 + key * 7_919), _int(60 + own.below(30))
    return [vessel, kind, *(pa.array(values) for values in (*places, rows.bell(11, 4, 0), course))]


@cache
def _table(texts: tuple[str, ...]) -> pa.Array:
    return pa.array(texts, pa.string())


def _schema(text: str) -> Schema:
    types = {kind.name: kind for kind in (INT, BIGINT, DOUBLE, STRING)}
    return tuple(Field(name, types[kind]) for name, kind in (column.split() for column in text.split(", ")))


_PACKET = "proto int, src string, sport int, dst string, dport int, len int, ttl int, flags int, qr int"
KINDS: dict[str, tuple[Schema, Callable[[Rows], list[pa.Array]]]] = {
    "vitals": (_schema("sid int, wt double, bp double, pr double"), _vitals),
    "position": (_schema("sid int, lat string, lon string"), _position),
    "packets": (_schema(_PACKET), _packets),
    "ships": (_schema("vessel bigint, kind int, lat double, lon double, sog double, cog double"), _ships),
}


# ------------------------------------------------------------------------------ batches

TIME, LEVEL = "ts", "level"


def attributes(kind: str) -> Schema:
    """The declared attributes of a kind: neither the time nor the level."""
    return KINDS[kind][0]


def batch(recipe: Recipe, start: int, first: int, count: int) -> pa.RecordBatch:
    """Rows ``first`` to ``first + count``, the zeroth at the instant ``start``: time, label, attributes."""
    schema, make = KINDS[recipe.kind]
    numbers = np.arange(first, first + count, dtype=np.uint64)
    rows = Rows(recipe.seed, recipe.skew, numbers)
    labels = _labels(recipe, rows)
    instants = _instants(recipe, start, rows)
    arrays = [pa.array(instants).view(pa.timestamp("us", "UTC")), labels, *make(rows)]
    return pa.RecordBatch.from_arrays(arrays, names=[TIME, LEVEL, *(column.name for column in schema)])


def _labels(recipe: Recipe, rows: Rows) -> pa.Array:
    weights = np.array(list(recipe.levels.values()), np.float64)
    shares = np.cumsum(weights)[:-1] / weights.sum()
    return _table(tuple(recipe.levels)).take(pa.array(np.searchsorted(shares, rows.uniform(), side="right")))


def _instants(recipe: Recipe, start: int, rows: Rows) -> Longs:
    stride = recipe.speed * 1e6 / recipe.rate
    passed = rows.numbers.astype(np.float64) * stride - rows.uniform() * (recipe.disorder * 1e6)
    return start + np.floor(passed).astype(np.int64)
