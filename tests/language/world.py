"""A small world for asking questions: a lattice that is no chain, and at each level things with names of their own.

    roof       Submarine, Codebook, decrypt, Periscope, warhead
    east west  Convoy, Depots, armour, Ambush, scout | Trawler, Quays, sonar, Wreck, beacon
    floor      Vitals, Position, Units, half, Quick, pulse

``Mirror`` exists at floor, east and west.
"""

from __future__ import annotations

import re
from functools import cache

from tidegate.catalog import FUNCTION, RELATION, STREAM, TABLES, Catalog, Entry, Table
from tidegate.errors import QueryError
from tidegate.language.execute import execute
from tidegate.language.parser import parse
from tidegate.language.session import Sessions
from tidegate.plan.nodes import QueryPlan
from tidegate.plan.schema import Field, Schema
from tidegate.plan.types import parse_type
from tidegate.security.declare import declare
from tidegate.security.lattice import Level
from tidegate.security.subject import Subject

LATTICE = declare("floor < east, floor < west, east < roof, west < roof")
FLOOR, EAST, WEST, ROOF = (LATTICE.level(name) for name in ("floor", "east", "west", "roof"))
LEVELS = (FLOOR, EAST, WEST, ROOF)
OUTSIDE: tuple[tuple[str, Level, str, str], ...] = (
    (STREAM, FLOOR, "Vitals", "sid int, wt double, bp double, pr double, note string, ok boolean"),
    (STREAM, FLOOR, "Position", "sid int, lat string, lon string"),
    (STREAM, FLOOR, "Bills", "fee decimal(10,2), due date, paid timestamp, scan binary, total bigint"),
    (STREAM, FLOOR, "Mirror", "image string"),
    (RELATION, FLOOR, "Units", "sid int, unit string"),
    (STREAM, EAST, "Convoy", "truck int, cargo string"),
    (STREAM, EAST, "Mirror", "image string"),
    (RELATION, EAST, "Depots", "depot string, truck int"),
    (STREAM, WEST, "Trawler", "net int, catch double"),
    (STREAM, WEST, "Mirror", "image string"),
    (RELATION, WEST, "Quays", "quay string"),
    (STREAM, ROOF, "Submarine", "depth double, torpedo int"),
    (RELATION, ROOF, "Codebook", "cipher string"),
)
DEFINED: tuple[tuple[Level, str], ...] = (
    (FLOOR, "CREATE FUNCTION half(a double) RETURNS double AS 'return a'"),
    (FLOOR, "CREATE STREAM Quick AS SELECT sid, pr FROM Vitals WHERE pr > 90"),
    (FLOOR, "CREATE QUERY pulse AS SELECT AVG(pr) FROM Vitals [ROWS 10]"),
    (FLOOR, "CREATE QUERY resting AS SELECT sid FROM Quick"),
    (EAST, "CREATE FUNCTION armour(a double, b int) RETURNS double AS 'return a'"),
    (EAST, "CREATE STREAM Ambush AS SELECT truck FROM Convoy WHERE cargo = 'fuel'"),
    (EAST, "CREATE QUERY scout AS SELECT COUNT(*) FROM Ambush [RANGE 1 MINUTE]"),
    (WEST, "CREATE FUNCTION sonar(a int) RETURNS string AS 'return a'"),
    (WEST, "CREATE STREAM Wreck AS SELECT net FROM Trawler WHERE catch > 1"),
    (WEST, "CREATE QUERY beacon AS SELECT net FROM Wreck"),
    (ROOF, "CREATE FUNCTION decrypt(a string) RETURNS string AS 'return a'"),
    (ROOF, "CREATE STREAM Periscope AS SELECT torpedo FROM Submarine"),
    (ROOF, "CREATE QUERY warhead AS SELECT MAX(torpedo) FROM Periscope [ROWS 3]"),
    (FLOOR, "STOP resting"),
)


def schema(columns: str) -> Schema:
    """A schema from ``name type, name type``."""
    pairs = (pair.split(" ", 1) for pair in re.split(r", ", columns))
    return tuple(Field(name, kind) for name, text in pairs if (kind := parse_type(text)) is not None)


@cache
def world() -> Catalog:
    """The catalog with everything in it."""
    catalog = Catalog(LATTICE)
    for serial, (kind, level, name, columns) in enumerate(OUTSIDE):
        catalog = catalog.add(Table(kind, level, name, serial, schema(columns)))
    sessions = Sessions(catalog, serials=len(OUTSIDE))
    for level, text in DEFINED:
        problems = [spoken.problem for spoken in sessions.say(text, level) if spoken.problem]
        assert not problems, problems
    return sessions.catalog


def seen_from(catalog: Catalog, level: Level) -> Catalog:
    """The catalog without what is invisible at a level."""
    visible = {key: entry for key, entry in catalog.entries.items() if LATTICE.dominates(level, entry.level)}
    return Catalog(catalog.lattice, visible)


def names(entries: list[Entry]) -> set[str]:
    """Every word that only these entries could have taught: their names and those of their columns."""
    columns = {field.name for entry in entries if isinstance(entry, Table) for field in entry.fields}
    return {entry.name for entry in entries} | columns


def invisible_names(level: Level) -> set[str]:
    """Names that exist, but not for an asker of this level."""
    kinds = (*TABLES, FUNCTION, "query")
    visible = list(world().visible(kinds, level))
    return names([entry for entry in world().entries.values() if entry not in visible]) - names(visible)


def ask(text: str, level: Level, catalog: Catalog | None = None, administrator: bool = False) -> str:
    """What the asker reads: the drawn error, or what is shown, or what began and ended."""
    try:
        subject = Subject(None, level, administrator)
        outcome = execute(parse(text), catalog if catalog is not None else world(), subject, 1_000)
    except QueryError as error:
        return str(error.within(text))
    if outcome.shown is not None:
        return "\n".join(["shown:", *outcome.shown])
    return f"begun: {outcome.begun and outcome.begun.name}, ended: {outcome.ended and outcome.ended.name}"


def plan_of(text: str, level: Level = ROOF) -> QueryPlan:
    """The plan of a query that must bind."""
    outcome = execute(parse(f"CREATE QUERY a_new_one AS {text}"), world(), Subject(None, level), 1_000)
    plan: QueryPlan | None = getattr(outcome.begun, "plan", None)
    assert plan is not None
    return plan


def code_of(text: str, level: Level = ROOF) -> str:
    """The code of the error that a query or a statement gives."""
    answer = ask(text, level)
    return answer.split(":")[0]
