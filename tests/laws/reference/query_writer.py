"""Random queries: every window, the three places of a condition, joins, groups, sub-queries, panes and R2S.

A writer knows the tables that a query may read and draws texts from a seeded source of chance. Most texts are valid;
some are refused or fail while they run, which is part of what the laws are about.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

Columns = Sequence[tuple[str, str]]
"""What a condition may read: texts with their kind (integer, double, string, boolean or other)."""

WIDTHS = ("0 SECONDS", "500 MILLISECONDS", "1 SECOND", "2 SECONDS", "5 SECONDS", "1 MINUTE")
SLIDES = ("1 SECOND", "2 SECONDS", "3 SECONDS", "1500 MILLISECONDS")
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
PATTERNS = ("'a%'", "'_'", "'%b'", "'%'")
TEXTS = ("'a'", "'b'", "'ab'", "''")


@dataclass(frozen=True)
class Table:
    """A stream or relation and its columns."""

    name: str
    columns: tuple[tuple[str, str], ...]
    is_stream: bool = True

    def seen_as(self, alias: str | None) -> Columns:
        """The columns as a condition names them."""
        return [(f"{alias}.{name}" if alias else name, kind) for name, kind in self.columns]


@dataclass
class Writer:
    """Draws queries over tables; ``plain`` leaves out what other databases do differently."""

    chance: random.Random
    tables: list[Table]
    levels: Sequence[str] = ()
    plain: bool = False
    can_fail: bool = True
    names: int = field(default=0)

    # ---------------------------------------------------------------- expressions

    def one_of(self, *choices: str) -> str:
        """One of several texts."""
        return self.chance.choice(choices)

    def integer(self, columns: Columns, depth: int = 2) -> str:
        """A whole number."""
        own = [text for text, kind in columns if kind == "integer"]
        if depth == 0 or self.chance.random() < 0.4 or not own:
            return self.one_of(*own * 4, str(self.chance.randrange(-1, 4)))
        a, b = self.integer(columns, depth - 1), self.integer(columns, depth - 1)
        match self.chance.randrange(7):
            case 0 | 1:
                return f"({a} {self.one_of('+', '-', '*')} {b})"
            case 2:
                return f"({a} {self.one_of('/', '%')} {self.one_of('2', '3', '-2')})"
            case 3:
                return f"CASE WHEN {self.condition(columns, depth - 1)} THEN {a} ELSE {b} END"
            case 4:
                return f"COALESCE({a}, {b})"
            case 5:
                return f"LENGTH({self.string(columns, depth - 1)})"
            case _:
                return f"({a} / {b})" if self.can_fail and not self.plain else f"ABS({a})"

    def double(self, columns: Columns, depth: int = 2) -> str:
        """A double; products only with 0.5, so that halves stay halves."""
        own = [text for text, kind in columns if kind == "double"]
        if depth == 0 or self.chance.random() < 0.4 or not own:
            return self.one_of(*own * 4, self.one_of("0.5", "2.0", "-1.5"))
        a, b = self.double(columns, depth - 1), self.double(columns, depth - 1)
        match self.chance.randrange(4):
            case 0 | 1:
                return f"({a} {self.one_of('+', '-')} {b})"
            case 2:
                return f"({a} + {self.integer(columns, depth - 1)})"
            case _:
                return f"COALESCE({a} * 0.5, {b})"

    def string(self, columns: Columns, depth: int = 2) -> str:
        """A string."""
        own = [text for text, kind in columns if kind == "string"]
        if depth == 0 or self.chance.random() < 0.6 or not own:
            return self.one_of(*own * 4, self.one_of(*TEXTS))
        a = self.string(columns, depth - 1)
        b = self.string(columns, depth - 1)
        return self.one_of(f"UPPER({a})", f"({a} || {b})", f"REPLACE({a}, 'a', 'b')", f"SUBSTR({a}, 1, 1)")

    def condition(self, columns: Columns, depth: int = 2) -> str:
        """Something that is true, false or NULL."""
        if depth > 0 and self.chance.random() < 0.4:
            a, b = self.condition(columns, depth - 1), self.condition(columns, depth - 1)
            return self.one_of(f"({a} AND {b})", f"({a} OR {b})", f"NOT ({a})")
        match self.kind_in(columns, "test"):
            case "integer":
                return self._integers(columns, depth)
            case "double":
                return f"{self.double(columns, depth)} {self.one_of(*COMPARISONS)} {self.double(columns, 0)}"
            case "string" if self.chance.random() < 0.5:
                return f"{self.string(columns, depth)} {self.one_of(*COMPARISONS)} {self.string(columns, 0)}"
            case "string":
                return f"{self.string(columns, 0)} {self.one_of('', 'NOT ')}LIKE {self.one_of(*PATTERNS)}"
            case _:
                return self.plain_test(columns)

    def kind_in(self, columns: Columns, *others: str) -> str:
        """A kind that some column has, so that most of what is drawn reads a column."""
        found = {kind for _, kind in columns} & {"integer", "double", "string"}
        return self.chance.choice([*sorted(found), *others] or ["integer"])

    def _integers(self, columns: Columns, depth: int) -> str:
        """A comparison of whole numbers, in one of its forms."""
        value, low, high = self.integer(columns, depth), self.integer(columns, 0), self.integer(columns, 0)
        match self.chance.randrange(4):
            case 0:
                return f"{value} {self.one_of('', 'NOT ')}BETWEEN {low} AND {high}"
            case 1:
                return f"{value} {self.one_of('', 'NOT ')}IN ({low}, {self.one_of('1', 'NULL')}, 0)"
            case _:
                return f"{value} {self.one_of(*COMPARISONS)} {low}"

    def plain_test(self, columns: Columns) -> str:
        """A column that is NULL or not, a boolean, or a comparison of levels."""
        truths = [text for text, kind in columns if kind == "boolean"]
        labels = [text for text, kind in columns if kind == "level"]
        choices = [f"{text} IS {self.one_of('', 'NOT ')}NULL" for text, kind in columns if kind != "level"]
        if not self.plain:
            choices += truths
            choices += [
                f'{label} {self.one_of(*COMPARISONS)} "{self.chance.choice(self.levels)}"' for label in labels
            ] * 3
        return self.one_of(*choices)

    # ---------------------------------------------------------------- windows

    def window(self, table: Table, small: bool = False, conditioned: bool = True) -> str:
        """A window over a stream; ``small`` for joins, which multiply."""
        shape = self.window_shape(table, small)
        if not conditioned or self.plain or self.chance.random() < 0.8:
            return f"[{shape}]"
        return f"[{shape} WHERE {self.condition([*table.columns, *self._label()], 1)}]"

    def window_shape(self, table: Table, small: bool = False) -> str:
        """What stands between the brackets, without a condition."""
        rows = self.chance.randrange(1, 4 if small else 7)
        key = self.one_of(*(name for name, _ in table.columns), *([] if self.plain else ["level"]))
        counted = f"PARTITIONED BY {key} ROWS {min(rows, 2)}"
        return self.one_of(
            f"ROWS {rows}",
            f"ROWS {rows} SLIDE {self.chance.randrange(1, 4)}",
            counted,
            f"{counted} RANGE {self.one_of(*WIDTHS)}",
            f"RANGE {self.one_of(*WIDTHS[: 4 if small else 6])}",
            f"RANGE {self.one_of(*WIDTHS[1:5])} SLIDE {self.one_of(*SLIDES)}",
            "NOW",
            "UNBOUNDED" if not small else "NOW",
        )

    def _label(self) -> list[tuple[str, str]]:
        return [("level", "level")] if self.levels and not self.plain else []

    # ---------------------------------------------------------------- SELECT lists

    def items(self, columns: Columns, count: int) -> list[tuple[str, str]]:
        """Expressions with their kinds."""
        kinds = [self.kind_in(columns) for _ in range(count)]
        writers = {"integer": self.integer, "double": self.double, "string": self.string}
        return [(writers[kind](columns, 1), kind) for kind in kinds]

    def aggregates(self, columns: Columns, count: int) -> list[tuple[str, str]]:
        """Aggregates with the kinds of their results."""
        integer, double, string = self.integer(columns, 1), self.double(columns, 1), self.string(columns, 0)
        choices = [
            ("COUNT(*)", "integer"),
            (f"COUNT({string})", "integer"),
            (f"COUNT(DISTINCT {integer})", "integer"),
            (f"SUM({integer})", "integer"),
            (f"SUM({double})", "double"),
            (f"AVG({integer})", "double"),
            (f"MIN({string})", "string"),
            (f"MAX({double})", "double"),
        ]
        if not self.plain:
            choices += [(f"STDDEV({double})", "double"), (f"VARIANCE({integer})", "double")]
        return self.chance.choices(choices, k=count)

    def named(self, items: list[tuple[str, str]]) -> tuple[str, tuple[tuple[str, str], ...]]:
        """A SELECT list under new names, and the columns that it gives."""
        columns = []
        texts = []
        for text, kind in items:
            self.names += 1
            columns.append((f"c{self.names}", kind))
            texts.append(f"{text} AS c{self.names}")
        return ", ".join(texts), tuple(columns)
