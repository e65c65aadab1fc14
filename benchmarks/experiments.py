"""Paper 000's experiments as data: complete 1 to 4, partial 1 and 2, in CQL and as near as Flink's SQL comes.

The paper gives one query for each of the partial ones and says that SELECT lists differ; here they are lists of our own
for the joins, and the seven choices among AVG, MAX and MIN for the aggregates.

One tuple per millisecond, a quarter of them per level; with two streams they take turns. So a window of the last 100
positions is also one of the last 200 milliseconds, which is what Flink's join of two streams can say.

Reads: nothing.  Read by: bench_against, through_spark.
"""

from __future__ import annotations

from dataclasses import dataclass

LABELS = ("U", "C", "S", "TS")
LEVELS = 'LEVEL = "TS" OR LEVEL = "S" OR LEVEL = "C" OR LEVEL = "U"'
WITHIN = "weight > 100 AND weight < 200"
VALUES = {"Vitals": "weight", "Positions": "location"}
JOINED = ("Vitals.sid", "weight", "location", "Vitals.level", "Positions.level")
SELECT, AVERAGE, JOIN, SUMMARY = "select", "average", "join", "summary"


@dataclass(frozen=True)
class Asked:
    """A continuous query: its kind, what it shows, and a condition after the windows."""

    kind: str
    shows: tuple[str, ...]
    where: str = WITHIN

    def cql(self) -> str:
        """As the paper writes it."""
        shown, vitals = ", ".join(self.shows), f"Vitals [ROWS {50 if self.kind == JOIN else 100} {LEVELS}]"
        if self.kind == JOIN:
            return (
                f"SELECT {shown} FROM Positions [ROWS 100 {LEVELS}], {vitals} "
                f"WHERE Vitals.sid = Positions.sid AND {self.where}"
            )
        grouped = " GROUP BY level" if self.kind == AVERAGE else ""
        return f"SELECT {shown} FROM {vitals} WHERE {self.where}{grouped}"

    def flink(self) -> str:
        """In Flink's SQL: see through_flink for what is not the same."""
        if self.kind == SELECT:
            return f"SELECT {', '.join(self.shows)} FROM Vitals WHERE {self.where}"
        if self.kind == JOIN:
            columns = ", ".join(f"{name} AS {name.replace('.', '_')}" for name in self.shows)
            return (
                f"SELECT {columns} FROM Positions, Vitals WHERE Vitals.sid = Positions.sid AND {self.where} "
                "AND Positions.ts BETWEEN Vitals.ts - INTERVAL '0.199' SECOND AND Vitals.ts + INTERVAL '0.099' SECOND"
            )
        window = "WINDOW w AS (ORDER BY ts ROWS BETWEEN 99 PRECEDING AND CURRENT ROW)"
        return f"SELECT {', '.join(self._over())} FROM Vitals {window}"

    def _over(self) -> list[str]:
        if self.kind == AVERAGE:
            tested = [f"{self.where} AND level = '{label}'" for label in LABELS]
            return [f"AVG(CASE WHEN {test} THEN weight END) OVER w AS c{n}" for n, test in enumerate(tested)]
        calls = [call.removesuffix("(weight)") for call in self.shows]
        return [f"{call}(CASE WHEN {self.where} THEN weight END) OVER w AS c{n}" for n, call in enumerate(calls)]

    def flink_columns(self) -> list[str]:
        """Names and types of what Flink's query gives."""
        if self.kind in (SELECT, JOIN):
            types = {"sid": "INT", "level": "STRING", "weight": "DOUBLE", "location": "DOUBLE"}
            return [f"{name.replace('.', '_')} {types[name.rpartition('.')[2]]}" for name in self.shows]
        return [f"c{n} DOUBLE" for n in range(len(self._over()))]


@dataclass(frozen=True)
class Experiment:
    """Queries that run at the same time, and the streams that they read."""

    name: str
    asked: tuple[Asked, ...]
    streams: tuple[str, ...] = ("Vitals",)


_SELECT = Asked(SELECT, ("sid", "weight"))
_AVERAGE = Asked(AVERAGE, ("AVG(weight)",))
_JOIN = Asked(JOIN, JOINED, "weight > 100")
_LISTS = (JOINED, JOINED[:3], JOINED[:2], ("Vitals.sid", "location"), ("weight", "location", "Vitals.level"))
_CALLS = ("AVG(weight)", "MAX(weight)", "MIN(weight)")
_CHOICES = [tuple(call for n, call in enumerate(_CALLS) if choice >> n & 1) for choice in range(7, 0, -1)]
BOTH = ("Vitals", "Positions")
EXPERIMENTS = (
    Experiment("complete 1: 9 select", (_SELECT,) * 9),
    Experiment("complete 2: 9 average", (_AVERAGE,) * 9),
    Experiment("complete 3: 5 join", (_JOIN,) * 5, BOTH),
    Experiment("complete 4: 3 of each", (_SELECT,) * 3 + (_AVERAGE,) * 3 + (_JOIN,) * 3, BOTH),
    Experiment("partial 1: 5 join lists", tuple(Asked(JOIN, shows) for shows in _LISTS), BOTH),
    Experiment("partial 2: 7 aggregates", tuple(Asked(SUMMARY, shows) for shows in _CHOICES)),
)

CANNOT_SAY = {
    ("flink", JOIN): "no join of row windows: a join by time, the same only because tuples come at even distances",
    ("flink", AVERAGE): "no groups of a row window: a column per level, and a row for each tuple, changed or not",
    ("flink", SUMMARY): "no differences: a row for each tuple, changed or not",
    ("spark", JOIN): "no row windows: one key, Python over whole columns",
    ("spark", AVERAGE): "no row windows: one key, Python over whole columns",
    ("spark", SUMMARY): "no row windows: one key, Python over whole columns",
}


def cannot_say(engine: str, experiment: Experiment) -> str:
    """What an engine has no words for in an experiment, and what it was given instead; empty if there is nothing."""
    kinds = dict.fromkeys(asked.kind for asked in experiment.asked)
    found = (CANNOT_SAY.get((engine.split()[0], kind)) for kind in kinds)
    return "; ".join(dict.fromkeys(text for text in found if text))
