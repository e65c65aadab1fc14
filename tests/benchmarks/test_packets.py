"""The 50 network-monitoring queries of the benchmarks have the shape that paper 003 reports (P-10, P-11)."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from packets import COLUMNS, LAST, NARROW, WIDE, Watch, headers, repeated, uses, watches

from tidegate.catalog import STREAM, Catalog, Table
from tidegate.language.binder import bind_query
from tidegate.language.parser import parse
from tidegate.language.syntax import Select
from tidegate.plan.nodes import PANES
from tidegate.plan.schema import Field
from tidegate.plan.types import INT, STRING
from tidegate.security.declare import declare

COMPARE = {"=": pc.equal, "<": pc.less, ">": pc.greater}


def wanted(packets: pa.Table, watch: Watch) -> pa.ChunkedArray:
    """Which packets meet all predicates of a query."""
    kept = pc.equal(packets["proto"], packets["proto"])
    for predicate in watch.predicates:
        name, operator, value = predicate.split()
        kept = pc.and_(kept, pc.fill_null(COMPARE[operator](packets[name], int(value)), False))
    return kept


@pytest.mark.parametrize("load", LAST)
def test_50_queries_have_47_predicates_14_of_them_shared_p11(load: str) -> None:
    counts = list(uses(load).values())
    assert len(watches(load)) == 50
    assert (len(counts), sum(count > 1 for count in counts)) == (47, 14)


def test_in_the_wide_load_46_queries_have_predicates_and_the_others_want_all_p11() -> None:
    assert sum(bool(watch.predicates) for watch in watches(WIDE)) == 46


def test_in_the_narrow_load_some_query_wants_packets_but_all_together_at_most_a_tenth() -> None:
    packets = headers(None)
    anybody = wanted(packets, watches(NARROW)[0])
    for watch in watches(NARROW)[1:]:
        anybody = pc.or_(anybody, wanted(packets, watch))
    assert 0 < pc.sum(anybody).as_py() <= len(packets) / 10


@pytest.mark.parametrize("load", LAST)
def test_every_query_is_one_over_panes_p10(load: str) -> None:
    lattice = declare("blp4")
    columns = tuple(Field(name, STRING if name in ("src", "dst") else INT) for name in COLUMNS)
    catalog = Catalog(lattice).add(Table(STREAM, lattice.bottom, "Packets", 1, columns))
    for watch in watches(load):
        statement = parse(watch.cql())
        assert isinstance(statement, Select)
        assert bind_query(statement, catalog, lattice.top).emit == PANES


def test_packets_repeat_and_their_time_does_not() -> None:
    base = headers(None).slice(0, 3)
    rows = repeated(base, 2, 5, 100)
    assert rows["len"].to_pylist() == [base["len"][n].as_py() for n in (2, 0, 1, 2, 0)]
    assert rows["instant"].to_pylist() == [200, 300, 400, 500, 600]
