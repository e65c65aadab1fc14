"""A query's lines are its own: other queries, their order, extra ticks and the order of arrival do not change them."""

from __future__ import annotations

from tests.conftest import examples
from tests.laws.reference.cases import CaseWriter, Raw
from tests.laws.reference.running import by_query, calm, chances, run, show


def is_derived(query: Raw) -> bool:
    """Whether a listed entry defines a stream, which its readers must follow."""
    return str(query["text"]).startswith("CREATE STREAM")


def test_the_order_of_queries_in_the_list_does_not_matter(seed: int) -> None:
    """Q-10: each query gives the same lines at any place of the list."""
    for name, chance in chances(seed, "order", examples(60, 3_000)):
        raw = calm(CaseWriter(chance).case())
        streams = [query for query in raw["queries"] if is_derived(query)]
        queries = [query for query in raw["queries"] if not is_derived(query)]
        shuffled = {**raw, "queries": [*streams, *chance.sample(queries, len(queries))]}
        assert by_query(run(shuffled)) == by_query(run(raw)), show(name, raw, shuffled)


def test_other_queries_do_not_matter(seed: int) -> None:
    """Q-10, Q-9: with others beside it, failing ones too, or quite alone."""
    for name, chance in chances(seed, "company", examples(60, 3_000)):
        raw = calm(CaseWriter(chance).case())
        together = by_query(run(raw))
        streams = [query for query in raw["queries"] if is_derived(query)]
        for query in raw["queries"]:
            if not is_derived(query):
                alone = {**raw, "queries": [*streams, query]}
                assert by_query(run(alone)).get(query["name"]) == together.get(query["name"]), show(name, raw, alone)


def test_a_tick_that_makes_nothing_late_changes_nothing(seed: int) -> None:
    """Q-1: progress alone has no meaning for a query."""
    for name, chance in chances(seed, "ticks", examples(40, 2_000)):
        raw = CaseWriter(chance).case()
        ticked = {**raw, "input": list(with_ticks(raw["input"]))}
        assert run(ticked) == run(raw), show(name, raw, ticked)


def with_ticks(entries: list[Raw]) -> list[Raw]:
    """A tick wherever all that follows is later."""
    result: list[Raw] = []
    for place, entry in enumerate(entries):
        result.append(entry)
        following = min((other["time"] for other in entries[place + 1 :]), default=entry["time"])
        if following > entry["time"] and "row" not in entry:
            result.append({"time": entry["time"]})
        elif following > entry["time"] + 1:
            result.append({"time": round(entry["time"] + 1, 6)})
    return result


def test_between_ticks_only_instant_and_ties_count(seed: int) -> None:
    """Q-1: order = (instant, arrival); sorting the arrivals between two ticks by instant changes nothing."""
    for name, chance in chances(seed, "arrival", examples(40, 2_000)):
        raw = {**CaseWriter(chance).case(), "options": {"late": "restamp"}}
        ordered = {**raw, "input": by_instant(raw["input"])}
        assert run(ordered) == run(raw), show(name, raw, ordered)


def by_instant(entries: list[Raw]) -> list[Raw]:
    """Between ticks in the order of the instants that the entries really get; ties as they came."""
    result: list[Raw] = []
    between: list[Raw] = []
    last = -1.0
    for entry in entries:
        if set(entry) == {"time"}:
            result += [*sorted(between, key=lambda one: max(one["time"], last + 1e-6)), entry]
            between, last = [], max(last, entry["time"])
        else:
            between.append(entry)
    return [*result, *between]
