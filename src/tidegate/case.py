"""Case files: levels, streams, queries and input in one JSON text (CASES.md).

Reading is strict: an unknown key, a repeated one, a name that is not declared are errors with one clear message, and
nothing is guessed. A tuple that does not fit is no error of the case: it is quarantined when it is admitted.

Reads: errors, security, plan, values, gates, catalog.  Read by: reference, system.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tidegate.errors import CaseError
from tidegate.gates.admit import read_instant
from tidegate.plan.schema import Field, Schema, same_name
from tidegate.plan.types import parse_type, type_names
from tidegate.security.declare import declare
from tidegate.security.lattice import Lattice, Level
from tidegate.text import did_you_mean, is_unicode, listed
from tidegate.values import Unfit, read_row

KEYS = ("levels", "streams", "relations", "queries", "input", "users", "sites", "functions", "options")
LATE = ("restamp", "quarantine")
LONGEST_EPOCH = 1_000_000_000


@dataclass(frozen=True, slots=True)
class StatementEntry:
    """A statement with who says it; listed queries are statements too."""

    at: Level
    text: str
    user: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class TickEntry:
    """Progress: every instant up to this one is complete."""


@dataclass(frozen=True, slots=True)
class TupleEntry:
    """A tuple as it came, to be admitted or quarantined."""

    stream: str
    raw: Mapping[str, object]


Payload = StatementEntry | TickEntry | TupleEntry


@dataclass(frozen=True, slots=True)
class Relation:
    """A stored relation: its columns, and its rows with their levels."""

    schema: Schema
    rows: tuple[tuple[Level, tuple[object, ...]], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A whole case, checked; ``levels`` declares the lattice, as the case wrote it."""

    lattice: Lattice
    levels: object
    streams: Mapping[str, Schema]
    relations: Mapping[str, Relation]
    listed: tuple[StatementEntry, ...]
    input: tuple[tuple[int | None, Payload], ...]
    users: Mapping[str, Level] | None = None
    late: str = "restamp"
    epoch: Decimal | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


def read_case(text: str) -> Case:
    """A case from its JSON text, or CaseError with one clear message."""
    try:
        raw = json.loads(text, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_no_repetition)
    except (json.JSONDecodeError, RecursionError) as error:
        place = (
            f"line {error.lineno}, column {error.colno}: {error.msg}"
            if isinstance(error, json.JSONDecodeError)
            else "nested too deeply"
        )
        raise CaseError(f"the case is not JSON: {place}") from None
    except (ValueError, ArithmeticError):  # thousands of digits, or such an exponent
        raise CaseError("the case has a number that nothing can hold") from None
    return build_case(raw)


def _no_constant(word: str) -> object:
    raise CaseError(f'{word} is not JSON; in a row write it as the string "{word}"')


def _no_repetition(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise CaseError(f'the key "{key}" stands twice in one object')
        found[key] = value
    return found


def build_case(raw: object) -> Case:
    """A case from its JSON value."""
    case = _mapping(raw, "the case")
    _check_keys(case, KEYS, "the case")
    if "levels" not in case:
        raise CaseError('the case has no "levels"')
    lattice = declare(case["levels"])
    streams = _streams(case.get("streams", {}))
    relations = _relations(case.get("relations", {}), lattice, streams)
    users = _users(case["users"], lattice) if "users" in case else None
    late, epoch = _options(case.get("options", {}))
    functions = _functions(case.get("functions", []), lattice)
    queries = [_query(entry, n, lattice) for n, entry in enumerate(_list(case.get("queries", []), "queries"), 1)]
    entries = [_entry(entry, n, lattice, streams) for n, entry in enumerate(_list(case.get("input", []), "input"), 1)]
    return Case(lattice, case["levels"], streams, relations, (*functions, *queries), tuple(entries), users, late, epoch,
                {"sites": case["sites"]} if "sites" in case else {})  # fmt: skip


# ------------------------------------------------------------------------------ small readers


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise CaseError(f"{what} is not an object")
    return value


def _list(value: object, what: str) -> list[object]:
    if not isinstance(value, list):
        raise CaseError(f'"{what}" is not a list')
    return value


def _string(value: object, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise CaseError(f"{what} is not a text")
    if not is_unicode(value):
        raise CaseError(f"{what} is not valid Unicode")
    return value


def _check_keys(value: Mapping[str, object], known: tuple[str, ...], what: str) -> None:
    for key in value:
        if key not in known:
            hint = did_you_mean(key, known) or f"known keys: {listed(known, 12)}"
            raise CaseError(f'{what} has an unknown key "{key}"; {hint}')


def _level(value: object, lattice: Lattice, what: str) -> Level:
    level = lattice.find(value)
    if level is None:
        raise CaseError(f"{what}: {lattice.unknown(value)}" if isinstance(value, str) else f"{what} has no level")
    return level


# ------------------------------------------------------------------------------ declarations


def _streams(value: object) -> dict[str, Schema]:
    streams: dict[str, Schema] = {}
    for name, columns in _mapping(value, '"streams"').items():
        check_new(name, streams, "stream")
        streams[name] = read_schema(columns, f'stream "{name}"')
    return streams


def _check_unicode(name: str, what: str) -> None:
    if not is_unicode(name):
        raise CaseError(f'{what} "{name}": the name is not valid Unicode')


def check_new(name: str, taken: Mapping[str, object], what: str) -> None:
    """Refuse a name that is empty, the system's own or taken."""
    _check_unicode(name, what)
    if not name.strip():
        raise CaseError(f"a {what} has an empty name")
    if same_name(name, "QUARANTINE"):
        raise CaseError(f'{what} "{name}": QUARANTINE is the system\'s own stream')
    if same_name(name, "level"):
        raise CaseError(f'{what} "{name}": "level" is a name of the system')
    if any(same_name(name, other) for other in taken):
        raise CaseError(f'{what} "{name}" is declared twice')


def read_schema(value: object, what: str) -> Schema:
    """Columns with their types, in order."""
    columns: list[Field] = []
    for name, type_name in _mapping(value, what).items():
        _check_unicode(name, f"{what}, attribute")
        kind = parse_type(type_name) if isinstance(type_name, str) else None
        if kind is None:
            raise CaseError(f'{what}, attribute "{name}": unknown type "{type_name}"; types: {type_names()}')
        if same_name(name, "level"):
            raise CaseError(f'{what}: "level" is set by the system and cannot be declared')
        if not name or any(same_name(name, column.name) for column in columns):
            raise CaseError(
                f'{what} declares attribute "{name}" twice' if name else f"{what} has an empty attribute name"
            )
        columns.append(Field(name, kind))
    if not columns:
        raise CaseError(f"{what} declares no attribute")
    return tuple(columns)


def _relations(value: object, lattice: Lattice, streams: Mapping[str, Schema]) -> dict[str, Relation]:
    relations: dict[str, Relation] = {}
    for name, raw in _mapping(value, '"relations"').items():
        what = f'relation "{name}"'
        check_new(name, {**streams, **relations}, "relation")
        entry = _mapping(raw, what)
        _check_keys(entry, ("schema", "rows"), what)
        schema = read_schema(entry.get("schema"), what)
        rows = [
            _row(row, schema, lattice, f"{what}, row {n}")
            for n, row in enumerate(_list(entry.get("rows", []), "rows"), 1)
        ]
        relations[name] = Relation(schema, tuple(rows))
    return relations


def _row(value: object, schema: Schema, lattice: Lattice, what: str) -> tuple[Level, tuple[object, ...]]:
    row = _mapping(value, what)
    _check_keys(row, ("level", *(column.name for column in schema)), what)
    level = _level(row.get("level"), lattice, what)
    try:
        return level, read_row(row, schema)
    except Unfit as problem:
        raise CaseError(f"{what}: {problem}") from None


def _users(value: object, lattice: Lattice) -> dict[str, Level]:
    users = _mapping(value, '"users"')
    for name in users:
        _check_unicode(name, "user")
    return {name: _level(level, lattice, f'user "{name}"') for name, level in users.items()}


def _options(value: object) -> tuple[str, Decimal | None]:
    options = _mapping(value, '"options"')
    _check_keys(options, ("late", "epoch"), '"options"')
    late, epoch = options.get("late", "restamp"), options.get("epoch")
    if late not in LATE:
        raise CaseError(f'option "late" is {" or ".join(LATE)}, not {json.dumps(late, default=str)}')
    countable = isinstance(epoch, int | Decimal) and not isinstance(epoch, bool) and 0 < epoch <= LONGEST_EPOCH
    if epoch is not None and not countable:
        raise CaseError(f'option "epoch" is a positive number of tuples or seconds, at most {LONGEST_EPOCH:,}')
    return late, None if epoch is None else Decimal(epoch)


# ------------------------------------------------------------------------------ statements and input


def _functions(value: object, lattice: Lattice) -> list[StatementEntry]:
    """A list of CREATE FUNCTION texts or of {"at", "text"}, or an object from name to either."""
    entries = list(value.values()) if isinstance(value, Mapping) else _list(value, "functions")
    found: list[StatementEntry] = []
    for number, entry in enumerate(entries, 1):
        what = f"function {number}"
        if isinstance(entry, str):
            found.append(StatementEntry(lattice.bottom, entry))
            continue
        fields = _mapping(entry, what)
        _check_keys(fields, ("at", "text", "user"), what)
        at = _level(fields.get("at", lattice.bottom), lattice, what)
        found.append(StatementEntry(at, _text(fields.get("text"), what), _user(fields, what)))
    return found


def _query(value: object, number: int, lattice: Lattice) -> StatementEntry:
    fields = _mapping(value, f"query {number}")
    _check_keys(fields, ("name", "at", "text", "user"), f"query {number}")
    name = _string(fields.get("name"), f"query {number}: name")
    what = f'query "{name}"'
    at = _level(fields.get("at"), lattice, what)
    return StatementEntry(at, _text(fields.get("text"), what), _user(fields, what), name)


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise CaseError(f"{what} has no text")
    return value


def _user(fields: Mapping[str, object], what: str) -> str | None:
    user = fields.get("user")
    return None if user is None else _string(user, f"{what}: user")


def _entry(value: object, number: int, lattice: Lattice, streams: Mapping[str, Schema]) -> tuple[int | None, Payload]:
    what = f"input entry {number}"
    fields = _mapping(value, what)
    _check_keys(fields, ("stream", "time", "level", "row", "tag", "at", "user", "statement"), what)
    reader: Callable[..., tuple[int | None, Payload]] = (
        _statement if "statement" in fields else _tuple if "stream" in fields else _tick
    )
    return reader(fields, what, lattice, streams)


def _tick(fields: Mapping[str, object], what: str, *_: object) -> tuple[int, Payload]:
    _check_keys(fields, ("time",), f"{what} (a tick)")
    return _time(fields, what), TickEntry()


def _time(fields: Mapping[str, object], what: str) -> int:
    instant = read_instant(fields.get("time"))
    if instant is None:
        raise CaseError(f'{what}: "time" is seconds since 1970 as a number, to the microsecond')
    return instant


def _statement(fields: Mapping[str, object], what: str, lattice: Lattice, *_: object) -> tuple[int, Payload]:
    _check_keys(fields, ("time", "at", "user", "statement"), f"{what} (a statement)")
    at = _level(fields.get("at"), lattice, what)
    return _time(fields, what), StatementEntry(at, _text(fields["statement"], what), _user(fields, what))


def _tuple(
    fields: Mapping[str, object], what: str, lattice: Lattice, streams: Mapping[str, Schema]
) -> tuple[None, Payload]:
    _check_keys(fields, ("stream", "time", "level", "row", "tag"), f"{what} (a tuple)")
    if "tag" in fields:
        raise CaseError(f"{what} is a tag: tags are not available yet")
    name = _string(fields["stream"], f"{what}: stream")
    declared = next((stream for stream in streams if same_name(stream, name)), None)
    if declared is None:
        hint = did_you_mean(name, streams) or f"declared: {listed(streams)}"
        raise CaseError(f'{what}: stream "{name}" is not declared; {hint}')
    return None, TupleEntry(declared, fields)
