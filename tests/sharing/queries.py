"""Queries of one small world, to be compared and merged."""

from __future__ import annotations

from tidegate.case import read_schema
from tidegate.catalog import RELATION, STREAM, Catalog, Table
from tidegate.language import syntax as sx
from tidegate.language.binder import bind_query
from tidegate.language.parser import parse
from tidegate.plan.schema import Schema
from tidegate.security.declare import declare
from tidegate.sharing.compare import Compared, Sharing, compare
from tidegate.sharing.merge import Query

LATTICE = declare("L < H")
BOTTOM = LATTICE.bottom


def _schema(columns: dict[str, str]) -> Schema:
    return read_schema(columns, "here")


CATALOG = (
    Catalog(LATTICE)
    .add(Table(STREAM, BOTTOM, "Vitals", 0, _schema({"sid": "int", "wt": "double", "bp": "double", "pr": "double"})))
    .add(Table(STREAM, BOTTOM, "Position", 0, _schema({"sid": "int", "lat": "string", "lon": "string"})))
    .add(Table(RELATION, BOTTOM, "Units", 0, _schema({"sid": "int", "unit": "string"})))
)


def query(text: str, name: str = "q", level: str = "H") -> Query:
    """A query as it is registered."""
    tree = parse(text)
    assert isinstance(tree, sx.Select | sx.Union | sx.Emitted)
    return Query(name, level, bind_query(tree, CATALOG, LATTICE.level(level)))


def shared(executing: str, incoming: str, levels: tuple[str, str] = ("H", "H")) -> Sharing:
    """What one text shares with another that runs."""
    one, other = query(executing, "one", levels[0]), query(incoming, "other", levels[1])
    return compare(Compared.of(one), Compared.of(other), LATTICE)
