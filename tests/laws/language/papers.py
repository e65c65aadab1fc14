"""The statements of the papers with what becomes of each, and the world in which they have their meaning."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tidegate.catalog import RELATION, STREAM, Catalog, Table
from tidegate.language.session import Sessions
from tidegate.plan.schema import Field, Schema
from tidegate.plan.types import parse_type
from tidegate.security.declare import declare
from tidegate.security.lattice import Level

# The levels of sections 3 and 7 beside those of Table 1: no chain, as M-1 asks.
LATTICE = declare("U < C < S < TS, U < L < H < TS")
STREAMS = {
    "Vitals": "sid int, wt double, weight double, bp double, pr double",
    "Position": "sid int, lat string, lon string",
    "Positions": "sid int, location string",
    "IPStream": "srcIP string, destIP string, src_port int, dest_port int, protocol string, qr int, len int",
    "profitStream": "companyName string, companyId int, profit double",
    "Patients": "pid int, measure double, loc double, at timestamp, born date, fee decimal(10,2), ok boolean",
    "Animals": "pid int, loc double",
    "Packets": "src string",
}
DEFINED = (
    "CREATE FUNCTION Dist(a double, b double) RETURNS double AS 'return a'",
    "CREATE STREAM Quick AS SELECT sid, pr FROM Vitals WHERE pr > 90",
    "CREATE QUERY watch AS SELECT COUNT(*) FROM Quick [ROWS 10]",
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A statement: where it is from, who asks, what comes of it, its text."""

    source: str
    level: Level
    outcome: str
    text: str


def schema(columns: str) -> Schema:
    """A schema from ``name type, name type``.

    >>> [str(field) for field in schema("sid int, share decimal(10,2)")]
    ['sid int', 'share decimal(10,2)']
    """
    pairs = (pair.split(" ", 1) for pair in columns.split(", "))
    return tuple(Field(name, kind) for name, text in pairs if (kind := parse_type(text)) is not None)


@cache
def catalog() -> Catalog:
    """Every stream of the papers at the lowest level, and a few things derived from them."""
    found = Catalog(LATTICE)
    for name, columns in STREAMS.items():
        found = found.add(Table(STREAM, LATTICE.bottom, name, 0, schema(columns)))
    found = found.add(Table(RELATION, LATTICE.bottom, "Units", 0, schema("sid int, unit string")))
    sessions = Sessions(found)
    for text in DEFINED:
        assert not [spoken.problem for spoken in sessions.say(text, LATTICE.bottom) if spoken.problem], text
    return sessions.catalog


@cache
def paper_statements() -> tuple[Listed, ...]:
    """All statements of ``paper_statements.txt``, in order."""
    text = Path(__file__).with_name("paper_statements.txt").read_text(encoding="utf-8")
    return tuple(_listed(block) for block in text.strip().removeprefix("# ").split("\n\n# "))


def _listed(block: str) -> Listed:
    head, text = block.split("\n", 1)
    source, level, outcome = head.split(" | ")
    return Listed(source, LATTICE.level(level), outcome, text)


def outcome(text: str, level: Level) -> str:
    """``runs``, or the code of the error; a bare query is registered under a name."""
    is_query = text.upper().startswith(("SELECT", "RSTREAM", "ISTREAM", "DSTREAM"))
    spoken = Sessions(catalog()).say(text, level, name="q" if is_query else None)
    return next((entry.problem.code for entry in spoken if entry.problem), "runs")
