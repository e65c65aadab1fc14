"""What a generator of trees must reach: every node, and every kind of value that each field may hold.

The list is read from the type annotations of the nodes, so that a new node or a new option is missed at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from types import NoneType, UnionType
from typing import get_args, get_origin, get_type_hints

from tests.laws.language import random_trees as trees
from tests.laws.language.random_expressions import ARITHMETIC, COMPARISONS, SIGNS
from tidegate.language import statements as st
from tidegate.language import syntax as sx
from tidegate.plan.windows import Range, Rows, Unbounded

# Texts that stand for one of a few words: the annotation says str, the grammar says which.
CHOICES: dict[tuple[type, str], tuple[str, ...]] = {
    (sx.Sign, "value"): SIGNS,
    (sx.Unary, "operator"): SIGNS,
    (sx.Binary, "operator"): ARITHMETIC,
    (sx.Comparison, "operator"): COMPARISONS,
    (sx.Select, "emit"): trees.EMITS,
    (sx.Emitted, "emit"): trees.EMITS,
    (st.Drop, "kind"): trees.DROPS,
    (st.Show, "kind"): trees.SHOWS,
    (st.Transaction, "action"): trees.ACTIONS,
    (st.Explain, "kind"): trees.EXPLAINS,
    (st.CreateSource, "late"): trees.LATES,
    (st.AttachTag, "sign"): SIGNS,
    (st.AttachTag, "mode"): trees.MODES,
    (st.Permit, "operator"): ("*", "a name"),
    (st.Permit, "field_name"): ("*", "a name"),
}
# Tuples that the grammar lets be empty; all others have a first entry.
MAY_BE_EMPTY = {(sx.Call, "arguments"), (sx.Select, "group"), (st.CreateFunction, "parameters"), (Rows, "partition")}
OF_TWO = {(sx.And, "operands"), (sx.Or, "operands"), (sx.Union, "parts")}
# What no text parses to: ANDs, ORs and unions are flat, EVERY … UPDATE … is a range.
IMPOSSIBLE = {
    (sx.And, "operands", "of And"),
    (sx.Or, "operands", "of Or"),
    (sx.Union, "parts", "of Union"),
    (sx.Select, "every", "Unbounded"),
    (sx.Select, "every", "Rows"),
}

Seen = tuple[type, str, str]


def every_node() -> set[type]:
    """All concrete nodes, and the windows, which are no nodes but stand in them."""
    found = {node for module in (sx, st) for node in vars(module).values() if isinstance(node, type)}
    return {node for node in found if issubclass(node, sx.Node) and node is not sx.Node} | {Range, Rows, Unbounded}


def required() -> set[Seen]:
    """Everything that must be seen at least once."""
    wanted = {
        (node, name, kind)
        for node in every_node()
        for name, hint in _hints(node)
        for kind in _kinds(node, name, hint)
        if not kind.endswith("Sign") or (node, name) == (sx.Comparison, "right")  # a bare sign stands nowhere else
    }
    return {(node, "", "") for node in every_node()} | wanted - IMPOSSIBLE


def _hints(node: type) -> Iterator[tuple[str, object]]:
    return ((name, hint) for name, hint in get_type_hints(node).items() if name != "span")


def _kinds(node: type, name: str, hint: object) -> Iterator[str]:
    if isinstance(hint, UnionType):
        for option in get_args(hint):
            yield from _kinds(node, name, option)
    elif get_origin(hint) is tuple:
        yield from _lengths(node, name, hint)
    elif hint is bool:
        yield from ("True", "False")
    elif hint is str and (node, name) in CHOICES:
        yield from CHOICES[node, name]
    else:
        yield "None" if hint is NoneType else getattr(hint, "__name__", str(hint))


def _lengths(node: type, name: str, hint: object) -> Iterator[str]:
    if Ellipsis not in get_args(hint):
        yield "a pair"
        return
    yield "many"
    if (node, name) in MAY_BE_EMPTY:
        yield "none of them"
    if (node, name) not in OF_TWO:
        yield "one of them"
    yield from (f"of {kind}" for kind in _kinds(node, name, get_args(hint)[0]) if kind not in ("a pair", "str"))


def seen(node: object) -> Iterator[Seen]:
    """What a tree shows: its nodes (with no field), and the kind of each of their values."""
    yield type(node), "", ""
    for entry in fields(node):  # type: ignore[arg-type]
        if entry.name == "span":
            continue
        value = getattr(node, entry.name)
        yield from ((type(node), entry.name, kind) for kind in _kinds_of(type(node), entry.name, value))
        for inner in _inside(value):
            yield from seen(inner)


def _kinds_of(node: type, name: str, value: object) -> Iterator[str]:
    if isinstance(value, tuple):
        if name == "levels":
            yield "a pair"
            return
        yield ("none of them", "one of them")[len(value)] if len(value) < 2 else "many"
        yield from (f"of {type(part).__name__}" for part in value if not isinstance(part, tuple | str))
    elif isinstance(value, bool) or value is None:
        yield str(value)
    elif (node, name) in CHOICES and isinstance(value, str):
        yield value if value in CHOICES[node, name] else "a name"
    else:
        yield type(value).__name__


def _inside(value: object) -> Iterator[object]:
    if isinstance(value, sx.Node | Range | Rows | Unbounded):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _inside(part)
