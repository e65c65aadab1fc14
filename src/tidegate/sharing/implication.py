"""Does one condition imply another? (M-21)

``bp > 120`` implies ``bp > 50``: whoever wants the first can start from the rows of the second. The answer yes is a
promise, for NULL, NaN, incomparable levels and every other row; the answer no only means that nothing was found.

Reads: plan, security, sharing.  Read by: sharing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from tidegate.plan import expressions as ex
from tidegate.plan.conjuncts import MIRRORED, conjuncts
from tidegate.plan.types import DOUBLE, LEVEL
from tidegate.security.lattice import COMPARISONS, Lattice
from tidegate.sharing.regions import EVERYTHING, NOT_NULL, Values, both, term_of, truth

Condition = ex.Expression | Iterable[ex.Expression]
"""One condition, or several that all hold."""

MOST_CASES = 64
WEAKER = {
    "=": ("<=", ">="),
    "<": ("<=", "<>"),
    ">": (">=", "<>"),
}
"""What a comparison says about the same two operands besides itself."""


def implies(premise: Condition, conclusion: Condition, lattice: Lattice | None = None) -> bool:
    """True only if for every row for which the premise is TRUE the conclusion is TRUE, and does not fail.

    What can fail implies nothing and is implied only by itself (Q-9). Without a lattice, levels compare by text alone.
    """
    given, wanted = split(premise), split(conclusion)
    known = frozenset(given)
    safe = tuple(part for part in given if not ex.can_fail(part))
    return all(part in known or (not ex.can_fail(part) and _follows(safe, part, lattice)) for part in wanted)


@dataclass(frozen=True, eq=False, slots=True)
class Facts:
    """Canonical conjuncts that cannot fail, ready to be compared with many; and what each term can be then."""

    parts: tuple[ex.Expression, ...]
    known: frozenset[ex.Expression]
    terms: Mapping[ex.Expression, Values]

    @staticmethod
    def of(parts: tuple[ex.Expression, ...], lattice: Lattice | None) -> Facts:
        """From conjuncts that are canonical and cannot fail."""
        found = (truth(part, lattice) for part in parts)
        terms = dict.fromkeys(one.term for one in found if one is not None and one.term is not None)
        return Facts(parts, frozenset(parts), {term: _allowed(parts, term, lattice) for term in terms})

    def imply(self, other: Facts, lattice: Lattice | None) -> bool:
        """What :func:`implies` says; where a term alone says no, without looking further."""
        for term, values in other.terms.items():
            if term not in self.terms or not self.terms[term].within(values):
                return False
        return all(part in self.known or _follows(self.parts, part, lattice) for part in other.parts)


def split(condition: Condition) -> tuple[ex.Expression, ...]:
    """The canonical conjuncts of one condition, or of several together."""
    parts = (condition,) if isinstance(condition, ex.Expression) else tuple(condition)
    return tuple(dict.fromkeys(part for one in parts for part in conjuncts(one)))


@lru_cache(maxsize=65_536)
def _follows(given: tuple[ex.Expression, ...], wanted: ex.Expression, lattice: Lattice | None) -> bool:
    """Whether one conjunct follows from some that cannot fail."""
    if wanted in given or _stated(given, wanted, lattice) or _by_cases(given, wanted, lattice):
        return True
    return _never(given, lattice)


def _stated(given: tuple[ex.Expression, ...], wanted: ex.Expression, lattice: Lattice | None) -> bool:
    asked = truth(wanted, lattice)
    if asked is not None and _allowed(given, asked.term, lattice).within(asked.true):
        return True
    match wanted:
        case ex.Or(operands):
            return any(_follows(given, part, lattice) for part in operands)
        case ex.And(operands):
            return all(_follows(given, part, lattice) for part in operands)
        case ex.Compare():
            return any(_weaker(one, wanted, lattice) for one in given if isinstance(one, ex.Compare))
        case _:
            return False


def _allowed(given: tuple[ex.Expression, ...], term: ex.Expression | None, lattice: Lattice | None) -> Values:
    """The values that a term can have where all that is given is true."""
    found = EVERYTHING
    for one in given:
        known = truth(one, lattice)
        if known is not None and (known.term is None or known.term == term):
            found = both(found, known.true)
        elif any(term == term_of(part) for part in _needed(one)):
            found = both(found, NOT_NULL)
    return found


@lru_cache(maxsize=16_384)
def _never(given: tuple[ex.Expression, ...], lattice: Lattice | None) -> bool:
    """Whether no value of some term is left: what is never true implies everything."""
    known = (truth(one, lattice) for one in given)
    terms = {one.term for one in known if one is not None and one.term is not None}
    left = ((term, _allowed(given, term, lattice)) for term in terms)
    return any(not (one.parts or one.null or (one.nan and term.type == DOUBLE)) for term, one in left)


def _needed(test: ex.Expression) -> Iterator[ex.Expression]:
    """What is not NULL where a test is true: the operands of everything that gives NULL for NULL."""
    match test:
        case ex.Not(ex.Compare() | ex.Like() | ex.Column() as operand):
            yield from _needed(operand)
        case ex.Compare(left=left, right=right) | ex.Arithmetic(left=left, right=right):
            yield from (left, right, *_needed(left), *_needed(right))
        case ex.Like(operand, pattern):
            yield from (operand, pattern, *_needed(operand), *_needed(pattern))
        case ex.Convert(operand) | ex.Cast(operand):
            yield from (operand, *_needed(operand))
        case _:
            pass


def _weaker(one: ex.Compare, other: ex.Compare, lattice: Lattice | None) -> bool:
    """Two comparisons of the same operands, or of the same level with two constants."""
    if (one.left, one.right) == (other.left, other.right):
        return other.operator in WEAKER.get(one.operator, ())
    if (one.left, one.right) == (other.right, other.left):
        return MIRRORED[other.operator] in (one.operator, *WEAKER.get(one.operator, ()))
    return lattice is not None and _levels(one, other, lattice)


def _levels(one: ex.Compare, other: ex.Compare, lattice: Lattice) -> bool:
    """Dominance is transitive: level <= a and a <= b give level <= b. For lattices too large to ask every level."""
    a, b = one.right, other.right
    if (
        one.left != other.left
        or one.left.type != LEVEL
        or not (isinstance(a, ex.Literal) and isinstance(b, ex.Literal))
    ):
        return False
    if one.operator == "=":
        return COMPARISONS[other.operator](lattice, a.value, b.value)  # type: ignore[arg-type]
    if other.operator not in (one.operator[0], one.operator[0] + "=") or one.operator == "<>":
        return False
    strict = other.operator == one.operator[0] and one.operator.endswith("=")
    return COMPARISONS[one.operator[0] if strict else one.operator[0] + "="](lattice, a.value, b.value)  # type: ignore[arg-type]


def _by_cases(given: tuple[ex.Expression, ...], wanted: ex.Expression, lattice: Lattice | None) -> bool:
    """From a OR b follows what follows from a and from b, each with everything else that is given."""
    choices = [one for one in given if isinstance(one, ex.Or)]
    if prod(len(one.operands) for one in choices) > MOST_CASES:
        return False
    for one in choices:
        rest = tuple(other for other in given if other is not one)
        if all(_follows(split((*rest, case)), wanted, lattice) for case in one.operands):
            return True
    return False
