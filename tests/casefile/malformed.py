"""Malformed cases: each a text, and words that its one message must contain.

The table has a row for every check that reading a case makes, and then what people and broken programs write.
"""

from __future__ import annotations

import json
from typing import Any

VALID: dict[str, Any] = {
    "levels": "U < C < S",
    "streams": {"Vitals": {"sid": "int", "wt": "double"}},
    "relations": {
        "Units": {"schema": {"sid": "int", "unit": "string"}, "rows": [{"level": "U", "sid": 1, "unit": "a"}]}
    },
    "queries": [{"name": "q", "at": "C", "text": "SELECT SUM(wt) AS w FROM Vitals [ROWS 2]", "user": "ana"}],
    "functions": [{"at": "U", "text": "CREATE FUNCTION f(a double) RETURNS double AS 'a'", "user": "ana"}],
    "users": {"ana": "S"},
    "options": {"late": "restamp", "epoch": 10},
    "input": [
        {"stream": "Vitals", "time": 1.0, "level": "U", "row": {"sid": 1, "wt": 80.0}},
        {"time": 2.0, "at": "C", "user": "ana", "statement": "SHOW QUERIES"},
        {"time": 3.0},
    ],
}


def with_(**changes: object) -> str:
    """The valid case with some parts replaced, as text."""
    return json.dumps({**VALID, **changes})


def query(**changes: object) -> str:
    """The valid case with its query changed."""
    return with_(queries=[{**VALID["queries"][0], **changes}])


def entry(**fields: object) -> str:
    """The valid case with one entry of input."""
    return with_(input=[fields])


def relation(**changes: object) -> str:
    """The valid case with its relation changed."""
    return with_(relations={"Units": {**VALID["relations"]["Units"], **changes}})


def without(key: str) -> str:
    """The valid case without a part."""
    return json.dumps({name: value for name, value in VALID.items() if name != key})


NOT_JSON: dict[str, tuple[str, str]] = {
    "empty file": ("", "not JSON: line 1"),
    "blank file": (" \n\n", "not JSON: line 3"),
    "cut off": (with_()[:-1], "not JSON: line 1"),
    "single quotes": ("{'levels': 'U'}", "not JSON: line 1, column 2"),
    "trailing comma": ('{"levels": "U",}', "not JSON"),
    "comment": ('// mine\n{"levels": "U"}', "not JSON: line 1, column 1"),
    "two values": ('{"levels": "U"} {"levels": "U"}', "not JSON"),
    "binary garbage": ("\x00\x01\x02\x7f\x80", "not JSON"),
    "control character in a string": ('{"levels": "U\n"}', "not JSON"),
    "NaN token": (
        '{"levels": "U", "options": {"epoch": NaN}}',
        'NaN is not JSON; in a row write it as the string "NaN"',
    ),
    "Infinity token": ('{"levels": "U", "options": {"epoch": Infinity}}', "Infinity is not JSON"),
    "-Infinity token": ('{"levels": "U", "options": {"epoch": -Infinity}}', "-Infinity is not JSON"),
    "repeated key": ('{"levels": "U", "levels": "C"}', 'the key "levels" stands twice'),
    "repeated attribute": ('{"levels": "U", "streams": {"S": {"a": "int", "a": "int"}}}', 'the key "a" stands twice'),
    "nested lists": ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
    "nested objects": ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
    "integer of thousands of digits": ('{"levels": "U", "options": {"epoch": ' + "9" * 5_000 + "}}", "can hold"),
    "exponent of many digits": ('{"levels": "U", "input": [{"time": 1e99999999999999999999}]}', ""),
}

NOT_A_CASE: dict[str, tuple[str, str]] = {
    "a list": ("[]", "the case is not an object"),
    "null": ("null", "the case is not an object"),
    "a text": ('"U < C"', "the case is not an object"),
    "a number": ("1", "the case is not an object"),
    "unknown key": (with_(querys=[]), 'unknown key "querys"; did you mean "queries"?'),
    "unknown key without a likely meaning": (with_(zzz=1), 'unknown key "zzz"; known keys: "levels"'),
    "key with a line break": (with_(**{"lev\nels": 1}), "unknown key"),
    "key with a lone surrogate": ('{"levels": "U", "\\ud800": 1}', "unknown key"),
    "no levels": (without("levels"), 'the case has no "levels"'),
    "levels null": (with_(levels=None), "the levels must be a text or an object"),
    "levels in a cycle": (with_(levels="U < C < U"), "cycle"),
    "levels without a top": (with_(levels="lo < a, lo < b"), "upper bound"),
    "levels empty": (with_(levels=""), "empty"),
    "mistyped preset": (with_(levels="blp"), 'did you mean "blp4"?'),
    "compartments missing": (with_(levels={"ranks": "U"}), '"compartments" is missing'),
}

TABLES: dict[str, tuple[str, str]] = {
    "streams a list": (with_(streams=[]), '"streams" is not an object'),
    "stream without a schema": (with_(streams={"V": None}), 'stream "V" is not an object'),
    "stream without attributes": (with_(streams={"V": {}}), 'stream "V" declares no attribute'),
    "stream without a name": (with_(streams={" ": {"a": "int"}}), "a stream has an empty name"),
    "stream of half a character": (with_(streams={"\ud800": {"a": "int"}}), "the name is not valid Unicode"),
    "attribute of half a character": (with_(streams={"V": {"\ud800": "int"}}), "the name is not valid Unicode"),
    "relation of half a character": (with_(relations={"\udfff": {"schema": {"a": "int"}}}), "not valid Unicode"),
    "attribute of a relation of half a character": (relation(schema={"a\udc00": "int"}), "not valid Unicode"),
    "stream twice": (with_(streams={"V": {"a": "int"}, "v": {"a": "int"}}), 'stream "v" is declared twice'),
    "stream called QUARANTINE": (with_(streams={"Quarantine": {"a": "int"}}), "the system's own stream"),
    "stream called level": (with_(streams={"Level": {"a": "int"}}), "name of the system"),
    "unknown type": (with_(streams={"V": {"a": "integer"}}), 'attribute "a": unknown type "integer"; types: int'),
    "type with a line break": (with_(streams={"V": {"a": "in\nt"}}), "unknown type"),
    "type not a text": (with_(streams={"V": {"a": 1}}), "unknown type"),
    "decimal too wide": (with_(streams={"V": {"a": "decimal(39,0)"}}), "unknown type"),
    "decimal with more places than digits": (with_(streams={"V": {"a": "decimal(2,3)"}}), "unknown type"),
    "attribute called level": (with_(streams={"V": {"LEVEL": "string"}}), "set by the system"),
    "attribute twice": (with_(streams={"V": {"a": "int", "A": "int"}}), 'declares attribute "A" twice'),
    "attribute without a name": (with_(streams={"V": {"": "int"}}), "empty attribute name"),
    "relations a list": (with_(relations=[]), '"relations" is not an object'),
    "relation named like a stream": (with_(relations={"VITALS": {"schema": {"a": "int"}}}), "declared twice"),
    "relation called level": (with_(relations={"level": {"schema": {"a": "int"}}}), "name of the system"),
    "relation a text": (with_(relations={"R": "Units.csv"}), 'relation "R" is not an object'),
    "relation without a schema": (with_(relations={"R": {"rows": []}}), 'relation "R" is not an object'),
    "relation with an unknown key": (relation(row=[]), 'unknown key "row"; did you mean "rows"?'),
    "rows not a list": (relation(rows={}), '"rows" is not a list'),
    "row not an object": (relation(rows=[1]), 'relation "Units", row 1 is not an object'),
    "row without a level": (relation(rows=[{"sid": 1, "unit": "a"}]), "row 1 has no level"),
    "row of an unknown level": (relation(rows=[{"level": "X", "sid": 1, "unit": "a"}]), '"X" is not a level'),
    "row of a level that is no text": (relation(rows=[{"level": 1, "sid": 1, "unit": "a"}]), "row 1 has no level"),
    "row with an undeclared attribute": (relation(rows=[{"level": "U", "sid": 1, "unit": "a", "x": 1}]), '"x"'),
    "row without an attribute": (relation(rows=[{"level": "U", "sid": 1}]), 'attribute "unit" is missing'),
    "row of another type": (relation(rows=[{"level": "U", "sid": "1", "unit": "a"}]), 'attribute "sid": not a whole'),
}

STATEMENTS: dict[str, tuple[str, str]] = {
    "queries an object": (with_(queries={"q": "SELECT 1"}), '"queries" is not a list'),
    "query a text": (with_(queries=["SELECT 1"]), "query 1 is not an object"),
    "query without a name": (with_(queries=[{"at": "U", "text": "x"}]), "query 1: name is not a text"),
    "query with a blank name": (query(name=" "), "query 1: name is not a text"),
    "query with a name that is no text": (query(name=1), "query 1: name is not a text"),
    "query without a level": (with_(queries=[{"name": "q", "text": "x"}]), 'query "q" has no level'),
    "query of an unknown level": (query(at="c"), '"c" is not a level; did you mean "C"?'),
    "query without a text": (query(text=None), 'query "q" has no text'),
    "query with a user that is no text": (query(user=1), 'query "q": user is not a text'),
    "query with an unknown key": (query(level="U"), 'query 1 has an unknown key "level"'),
    "query with a line break in its name": (query(name="a\nb", at="X"), "is not a level"),
    "user of half a character": (with_(users={"\ud800": "S"}), "the name is not valid Unicode"),
    "users a list": (with_(users=["ana"]), '"users" is not an object'),
    "user of an unknown level": (with_(users={"ana": "TS"}), 'user "ana": "TS" is not a level'),
    "user without a level": (with_(users={"ana": None}), 'user "ana" has no level'),
    "options a list": (with_(options=[]), '"options" is not an object'),
    "unknown option": (with_(options={"lat": "restamp"}), 'did you mean "late"?'),
    "late something else": (with_(options={"late": "drop"}), 'option "late" is restamp or quarantine, not "drop"'),
    "late a list": (with_(options={"late": ["restamp"]}), 'option "late" is restamp or quarantine'),
    "epoch zero": (with_(options={"epoch": 0}), 'option "epoch" is a positive number'),
    "epoch negative": (with_(options={"epoch": -1.5}), 'option "epoch" is a positive number'),
    "epoch true": (with_(options={"epoch": True}), 'option "epoch" is a positive number'),
    "epoch a text": (with_(options={"epoch": "10"}), 'option "epoch" is a positive number'),
    "functions a text": (with_(functions="f"), '"functions" is not a list'),
    "function a number": (with_(functions=[1]), "function 1 is not an object"),
    "function without a text": (with_(functions=[{"at": "U"}]), "function 1 has no text"),
    "function of an unknown level": (with_(functions={"f": {"at": "X", "text": "x"}}), '"X" is not a level'),
    "function with an unknown key": (with_(functions=[{"body": "a"}]), 'function 1 has an unknown key "body"'),
    "function with a user that is no text": (with_(functions=[{"text": "x", "user": ["ana"]}]), "user is not a text"),
}

INPUT: dict[str, tuple[str, str]] = {
    "input an object": (with_(input={}), '"input" is not a list'),
    "entry a number": (with_(input=[1.0]), "input entry 1 is not an object"),
    "entry empty": (entry(), 'input entry 1: "time" is seconds'),
    "entry with an unknown key": (entry(time=1, strem="V"), 'unknown key "strem"; did you mean "stream"?'),
    "tick with a level": (entry(time=1, level="U"), 'input entry 1 (a tick) has an unknown key "level"'),
    "tick without a number": (entry(time="1.0"), '"time" is seconds since 1970'),
    "tick at true": (entry(time=True), '"time" is seconds since 1970'),
    "tick before 1970": (entry(time=-1), '"time" is seconds since 1970'),
    "tick finer than a microsecond": (entry(time=0.0000001), "to the microsecond"),
    "tick finer by far": ('{"levels": "U", "input": [{"time": 1.' + "0" * 40 + "1}]}", "to the microsecond"),
    "tick in the year 10000": (entry(time=253402300800), '"time" is seconds since 1970'),
    "tick at 1e400": ('{"levels": "U", "input": [{"time": 1e400}]}', '"time" is seconds since 1970'),
    "tick at 1e999999": ('{"levels": "U", "input": [{"time": 1e999999}]}', '"time" is seconds since 1970'),
    "tuple of an undeclared stream": (entry(stream="Vital", time=1), 'did you mean "Vitals"?'),
    "tuple of a stream that is no text": (entry(stream=1, time=1), "stream is not a text"),
    "tuple with a user": (entry(stream="Vitals", time=1, user="ana"), 'unknown key "user"'),
    "tag": (entry(stream="Vitals", time=1, level="U", tag={}), "tags are not available yet"),
    "statement without a level": (entry(time=1, statement="SHOW QUERIES"), "input entry 1 has no level"),
    "statement of an unknown level": (entry(time=1, at="X", statement="SHOW QUERIES"), '"X" is not a level'),
    "statement without a time": (entry(at="U", statement="SHOW QUERIES"), '"time" is seconds'),
    "statement that is no text": (entry(time=1, at="U", statement=1), "input entry 1 has no text"),
    "statement with a row": (entry(time=1, at="U", statement="x", row={}), '(a statement) has an unknown key "row"'),
    "statement with a user that is no text": (entry(time=1, at="U", statement="x", user={}), "user is not a text"),
    "statement with a blank user": (entry(time=1, at="U", statement="x", user=""), "user is not a text"),
}

MALFORMED: dict[str, tuple[str, str]] = {**NOT_JSON, **NOT_A_CASE, **TABLES, **STATEMENTS, **INPUT}
