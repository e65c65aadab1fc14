"""From a declaration of levels, as it stands in a case file, to the lattice (M-1).

A preset's name, a chain ``U < C < S``, covers ``lo < a, lo < b, a < hi, b < hi``, one level
``U``, or ``{"ranks": …, "compartments": […]}``, also as JSON text. Everything else is refused
with one message that names what offends.

Reads: lattice, order, compartments, presets.  Read by: case files, catalog, cli.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise

from tidegate.errors import CaseError
from tidegate.security.compartments import Compartments
from tidegate.security.lattice import SPACES, Lattice, shown
from tidegate.security.order import Order
from tidegate.security.presets import PRESETS
from tidegate.text import did_you_mean, listed

KEYS = ("ranks", "compartments")
SHAPES = 'the levels must be a text or an object with "ranks" and "compartments"'


def declare(declaration: object) -> Lattice:
    """The lattice that is declared; CaseError if it is none, or not clearly one."""
    if isinstance(declaration, str) and declaration.strip(SPACES).startswith(("{", '"')):
        declaration = _from_json(declaration)
    if isinstance(declaration, str):
        return _order(declaration)
    if isinstance(declaration, Mapping):
        return _compartments(declaration)
    raise CaseError(SHAPES)


def _from_json(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise CaseError(f"the levels are not JSON: {shown(text)}") from None


def _once(items: list[tuple[str, object]]) -> dict[str, object]:
    """An object without repeated keys: of two meanings neither is taken."""
    keys = [key for key, _ in items]
    for place, key in enumerate(keys):
        if key in keys[:place]:
            raise CaseError(f"the key {shown(key)} stands twice")
    return dict(items)


def _order(text: str) -> Order:
    """An order from a preset's name or from chains with commas between them."""
    name = text.strip(SPACES)
    if name in PRESETS:
        return _order(PRESETS[name].order)
    chains = [[part.strip(SPACES) for part in chain.split("<")] for chain in text.split(",")]
    if not all(part for chain in chains for part in chain):
        raise CaseError(f"the name of a level is empty in {shown(name)}")
    if chains == [[name]] and (hint := did_you_mean(name, PRESETS)):
        # A mistyped preset would otherwise be a lattice of one level, and all input quarantined.
        raise CaseError(f"{shown(name)} is neither an order nor a preset; {hint}")
    names = dict.fromkeys(part for chain in chains for part in chain)
    return Order(names, dict.fromkeys(pair for chain in chains for pair in pairwise(chain)))


def _compartments(declaration: Mapping[object, object]) -> Compartments:
    for key in declaration:
        if key not in KEYS:
            raise CaseError(f"{shown(key)} is not a key of the levels; the keys are {listed(KEYS)}")
    for key in KEYS:
        if key not in declaration:
            raise CaseError(f'the key "{key}" is missing; the keys are {listed(KEYS)}')
    ranks, compartments = declaration["ranks"], declaration["compartments"]
    if not isinstance(ranks, str):
        raise CaseError('"ranks" must be a text such as "U < S < TS"')
    if not isinstance(compartments, list | tuple) or not all(isinstance(name, str) for name in compartments):
        raise CaseError('"compartments" must be a list of texts such as ["NATO", "CRYPTO"]')
    return Compartments(_order(ranks), compartments)
