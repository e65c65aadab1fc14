"""Cases whose queries are much alike: few conditions, few windows, many combinations of them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tests.laws.reference.cases import CaseWriter, Raw
from tests.laws.reference.query_writer import Table, Writer
from tests.laws.reference.shapes import R2S
from tidegate.case import Case
from tidegate.catalog import Entry, RegisteredQuery
from tidegate.catalog import Table as Stream
from tidegate.functions.calls import Hosts
from tidegate.language.session import Sessions
from tidegate.log import first_catalog, write_log
from tidegate.plan import nodes
from tidegate.reference.processor import Processor
from tidegate.reference.replay import Replay
from tidegate.reference.rows import Row
from tidegate.sharing.merge import decomposed, every_node
from tidegate.sharing.normal import normal


def similar_case(chance: random.Random) -> Raw:
    """A random case whose listed queries are variations of one another, beside whatever else it has."""
    writer = CaseWriter(chance)
    raw = writer.case()
    alike = [one for level in writer.levels for one in _alike(writer, level)]
    return {**raw, "queries": [*raw["queries"], *chance.sample(alike, min(len(alike), 12))]}


def _alike(writer: CaseWriter, level: str) -> Iterator[Raw]:
    words = writer.writer(level)
    table = words.chance.choice([one for one in words.tables if one.is_stream])
    tests = [_test(words, table) for _ in range(5)]
    windows = [words.window_shape(table, small=True) for _ in range(2)]
    for _ in range(5):
        text = _query(words, table, tests, windows).replace("SELECT", f"SELECT {words.chance.choice(R2S)}", 1)
        yield {"name": writer.new_name("s"), "at": level, "text": text}


def _test(words: Writer, table: Table) -> str:
    """A condition; now and then one that can fail, more often one of a few comparisons."""
    columns = [*table.columns, ("level", "level")]
    whole = [name for name, kind in table.columns if kind == "integer"]
    if whole and words.chance.random() < 0.2:
        return f"2 / {words.one_of(*whole)} > {words.one_of('0', '1')}"
    if words.chance.random() < 0.35:
        return words.condition(columns, 1)
    name, kind = words.chance.choice([one for one in columns if one[1] in ("integer", "double", "string", "level")])
    level = f'"{words.chance.choice(words.levels)}"'
    value = {"integer": ("0", "1", "2"), "double": ("0.5", "1.5", "0"), "string": ("'a'", "'b'"), "level": (level,)}
    return f"{name} {words.one_of('<', '<=', '>', '>=', '=', '<>')} {words.one_of(*value[kind])}"


def _query(words: Writer, table: Table, tests: list[str], windows: list[str]) -> str:
    chance = words.chance
    drawn = " AND ".join(f"({test})" for test in chance.sample(tests, chance.randrange(1, 4)))
    more = chance.choice(tests)
    items, _ = words.named(chance.choice((words.items, words.aggregates))(table.columns, 1))
    window = chance.choice(windows)
    match chance.randrange(6):
        case 0:
            return f"SELECT {items} WHERE {drawn} FROM {table.name} [{window}]"
        case 1:
            return f"SELECT {items} FROM {table.name} [{window} WHERE {more}] WHERE {drawn}"
        case 2:
            return f"SELECT {items} FROM {table.name} [{window}] WHERE {drawn}"
        case 3:
            return f"SELECT {table.columns[0][0]} FROM {table.name} WHERE {drawn}"
        case 4:
            sources = f"{table.name} [{window}] l, {table.name} [ROWS 1] r"
            place = chance.choice(
                (f"WHERE {_of(table, drawn)} FROM {sources}", f"FROM {sources} WHERE {_of(table, drawn)}")
            )
            return f"SELECT l.{table.columns[0][0]} {place}"
        case _:
            inner = f"SELECT * FROM {table.name} [{window}] WHERE {drawn}"
            return f"SELECT COUNT(*) AS n FROM ({inner}) [ROWS 2] WHERE {more.replace('level', 'LEVEL')}"


def _of(table: Table, text: str) -> str:
    """The columns of a condition as those of one side of a join."""
    names = "|".join([*(name for name, _ in table.columns), "level"])
    return re.sub(rf"(?<![\w'.])({names})(?![\w'])", r"l.\1", text)


# ------------------------------------------------------------------------------ running decomposed plans


@dataclass(slots=True)
class Decomposing(Processor):
    """The reference, given every plan in normal form and decomposed over all that runs at its level."""

    changed: list[int] = field(default_factory=list)
    implied: bool = True

    def begin(self, entry: Entry) -> None:
        """Start a query with another plan of the same meaning."""
        if isinstance(entry, RegisteredQuery | Stream) and entry.plan is not None:
            there = [node for plan in self.plans(entry.level) for node in every_node(plan)]
            plan = normal(entry.plan)
            split = decomposed(plan, there, self.catalog.lattice, implied=self.implied, projects=True)
            self.changed.append((split != plan) * len(set(every_node(split)) & set(there)))
            entry = replace(entry, plan=split)
        Processor.begin(self, entry)

    def plans(self, level: str) -> list[nodes.QueryPlan]:
        """What runs at a level."""
        return [one.state.plan for one in self.running if one.entry.level == level]


def replay_decomposed(case: Case, implied: bool = True) -> tuple[list[str], list[int]]:
    """The lines of a case whose plans were decomposed, and for each plan that changed how many nodes it found."""
    with Hosts() as hosts:
        bottom = case.lattice.bottom
        relations = {
            (bottom, name): [Row((*values, level), level) for level, values in relation.rows]
            for name, relation in case.relations.items()
        }
        catalog = first_catalog(case)
        processor = Decomposing(catalog, relations, hosts.at, implied=implied)  # type: ignore[arg-type]
        replayed = Replay(case, write_log(case), processor, Sessions(catalog, case.users))
        return [line.text for line in replayed.run()], processor.changed
