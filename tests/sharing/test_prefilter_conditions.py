"""Q-2, Q-4, Q-10: conditions of every type give the reference's rows through the prefilter, tested once for many."""

from __future__ import annotations

import json
import random

from tests.engine.processing import processed
from tidegate.case import read_case
from tidegate.reference.replay import replay

STREAM = {
    "i": "int",
    "l": "bigint",
    "d": "double",
    "f": "boolean",
    "s": "string",
    "ts": "timestamp",
    "dt": "date",
    "dec": "decimal(10,2)",
    "bin": "binary",
}
VALUES: dict[str, list[object]] = {
    "i": [None, 0, 1, -1, 2**31 - 1, -(2**31), 3],
    "l": [None, 0, 2**63 - 1, -(2**63), 2**53, 2**53 + 1],
    "d": [None, 0.0, -0.0, "NaN", "Infinity", "-Infinity", 1.5, float(2**53)],
    "f": [None, True, False],
    "s": [None, "", "a", "b", "é", "Z", "𝔘", "\uffff", "a\u0000", "ab", "NULL"],
    "ts": [None, "2020-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z"],
    "dt": [None, "2020-01-01", "1969-12-31"],
    "dec": [None, "1.50", "-0.01", "0.00"],
    "bin": [None, "", "YWI="],
}
LABELS = ("U", "S", "U:NATO", "S:NATO", "S:CRYPTO", "S:NATO,CRYPTO")
CONDITIONS = (
    "i > 3",
    "i >= 2147483647",
    "i < -2147483648",
    "i <= -2147483648",
    "i IN (1, 3)",
    "i IN (1, NULL)",
    "i NOT IN (1, NULL)",
    "NOT i = 1",
    "i <> 1",
    "l > 9007199254740992",
    "l = 9223372036854775807",
    "l < -9223372036854775807",
    "l >= 9007199254740992.5",
    "l = 9007199254740993",
    "d > 0",
    "d >= 0",
    "d < 0",
    "NOT d < 0",
    "d <> 0",
    "d = 0",
    "d = -0.0",
    "d IN (0.0, 1.5)",
    "d BETWEEN -1 AND 2",
    "NOT d BETWEEN -1 AND 2",
    "NOT (d > 0 OR d < 0)",
    "f",
    "NOT f",
    "f = TRUE",
    "f <> TRUE",
    "f IS NULL",
    "f IS NOT NULL",
    "f AND i > 0",
    "f OR i > 0",
    "f = FALSE OR s = 'a'",
    "s = ''",
    "s = 'a'",
    "s > 'a'",
    "s >= 'é'",
    "s < 'Z'",
    "s <> ''",
    "s IN ('a', 'é', '')",
    "s NOT IN ('a','b')",
    "s BETWEEN 'a' AND 'é'",
    "NOT s = 'a'",
    "NOT s > 'a'",
    "s > '\uffff'",
    "s < '𝔘'",
    "s = NULL",
    "NULL",
    "TRUE",
    "FALSE",
    "1 = 1",
    "NOT (s IS NULL)",
    "level = 'S'",
    "level <= 'S'",
    "level >= 'U:NATO'",
    "level > 'U:NATO'",
    "NOT level <= 'S:NATO'",
    "level IN ('S', 'U:NATO')",
    "level < 'S:NATO,CRYPTO'",
    "level <> 'S'",
    "time > 5",
    "time/2 = 2",
    "time BETWEEN 3 AND 6",
    "s = 'a' OR s IS NULL",
    "i IS NULL OR d > 1",
    "i = l",
    "d > i",
    "s = s",
    "s <> s",
    "d = d",
    "d <> d",
    "dec > 0",
    "dec = 1.5",
    "ts > TIMESTAMP '2000-01-01 00:00:00'",
    "dt < DATE '2000-01-01'",
    "ts > dt",
    "bin IS NULL",
    "dec IS NULL",
    "dt IS NULL",
    "ts IS NULL",
    "l IS NULL",
    "i > 3 AND i > 1",
    "i > 1 AND i < 0",
    "i = 1 AND i = 3",
    "CASE WHEN f THEN i > 0 ELSE s = 'a' END",
    "s LIKE 'a%'",
    "s LIKE ''",
    "TRY_CAST(s AS int) IS NULL",
    "i > NULL",
    "NOT (i > 0 AND s > 'a')",
    "(i > 0 OR s = 'a') AND (i > 0 OR d > 0)",
    "i > 0 OR (s = 'a' AND d > 0)",
)


def test_conditions_of_every_type_give_the_same_rows_through_the_prefilter(seed: int) -> None:
    """NULL, NaN, both zeros, the ends of integers, texts beyond ASCII, incomparable levels; each condition alone."""
    chance = random.Random(seed)
    entries: list[object] = [
        {"stream": "P", "time": 1 + n // 2, "level": chance.choice(LABELS), "row": _row(chance)} for n in range(40)
    ]
    for condition in CONDITIONS:
        texts = (
            ("S:NATO,CRYPTO", f"SELECT RSTREAM COUNT(*) WHERE {condition} FROM P [ROWS 3]"),
            ("S:NATO,CRYPTO", f"SELECT dec, bin, ts FROM P WHERE {condition}"),
            ("U:NATO", f"SELECT i, s WHERE {condition} FROM P [ROWS 2]"),
        )
        raw = {
            "levels": {"ranks": "U < S", "compartments": ["NATO", "CRYPTO"]},
            "streams": {"P": STREAM},
            "queries": [{"name": f"q{n}", "at": at, "text": text} for n, (at, text) in enumerate(texts)],
            "input": [*entries, {"time": 60}],
        }
        case = read_case(json.dumps(raw))
        expected = list(replay(case))
        assert not any("error" in line for line in expected), condition
        assert processed(case, 7) == expected, condition


def _row(chance: random.Random) -> dict[str, object]:
    return {name: chance.choice(values) for name, values in VALUES.items()}
