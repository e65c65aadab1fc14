"""The syntax of queries and expressions: what a text says, before anybody asks what it means.

Every node is frozen and carries its span, which never takes part in a comparison: parsing the printed
form of a tree gives an equal tree.

Reads: text, plan (windows).  Read by: language.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tidegate.plan.windows import Window
from tidegate.text import NOWHERE, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Anything that stands somewhere in a text."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


# ------------------------------------------------------------------------------ expressions


@dataclass(frozen=True, slots=True)
class Name(Node):
    """``sid``, ``V.sid``, ``Patients.loc.value``."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A number as written: its text is its identity, its type is found by the binder."""

    text: str


@dataclass(frozen=True, slots=True)
class String(Node):
    """A string in either kind of quotes."""

    value: str


@dataclass(frozen=True, slots=True)
class Boolean(Node):
    """TRUE or FALSE."""

    value: bool


@dataclass(frozen=True, slots=True)
class Null(Node):
    """NULL."""


@dataclass(frozen=True, slots=True)
class Typed(Node):
    """``DATE '2024-01-01'`` or ``TIMESTAMP '…'``."""

    type_name: str
    value: str


@dataclass(frozen=True, slots=True)
class Interval(Node):
    """``INTERVAL 5 MINUTES``, in microseconds."""

    microseconds: int


@dataclass(frozen=True, slots=True)
class Sign(Node):
    """A bare ``+`` or ``-`` right of a comparison (TAG-QL)."""

    value: str


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """``-x`` or ``+x``."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """Arithmetic and ``||``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """``=, <>, <, <=, >, >=``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Not(Node):
    """NOT x."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class And(Node):
    """A flat conjunction of two or more; ``grouped`` if it was written in parentheses."""

    operands: tuple[Expression, ...]
    grouped: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Or(Node):
    """A flat disjunction; a bare literal in it takes the left side of the comparison before it (Q-4)."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Between(Node):
    """x [NOT] BETWEEN low AND high."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class In(Node):
    """x [NOT] IN (…)."""

    operand: Expression
    options: tuple[Expression, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Like(Node):
    """x [NOT] LIKE pattern [ESCAPE 'c']."""

    operand: Expression
    pattern: Expression
    escape: str | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsNull(Node):
    """x IS [NOT] NULL."""

    operand: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Case(Node):
    """CASE [x] WHEN a THEN b … [ELSE c] END."""

    operand: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None


@dataclass(frozen=True, slots=True)
class Cast(Node):
    """CAST or TRY_CAST (``safe``: NULL instead of an error)."""

    operand: Expression
    type_name: str
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function, built in, an aggregate or a user's; ``star`` for COUNT(*)."""

    name: str
    arguments: tuple[Expression, ...]
    level: str | None = None
    distinct: bool = False
    star: bool = False


@dataclass(frozen=True, slots=True)
class Subquery(Node):
    """A query in parentheses inside an expression."""

    query: Query


Expression = (
    Name | Number | String | Boolean | Null | Typed | Interval | Sign | Unary | Binary | Comparison
    | Not | And | Or | Between | In | Like | IsNull | Case | Cast | Call | Subquery
)  # fmt: skip

# ------------------------------------------------------------------------------ queries


@dataclass(frozen=True, slots=True)
class Object(Node):
    """A name that belongs to a level (Q-14); the level is written only where two match."""

    name: str
    level: str | None = None


@dataclass(frozen=True, slots=True)
class Item(Node):
    """One expression of the SELECT list, which may be named."""

    expression: Expression
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Star(Node):
    """``*`` or ``V.*``."""

    qualifier: str | None = None


@dataclass(frozen=True, slots=True)
class WindowClause(Node):
    """A window and the condition written inside it."""

    window: Window
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Source(Node):
    """One entry of FROM; ``condition`` is the ON of a JOIN with the entries before it."""

    table: Object | Query
    window: WindowClause | None = None
    alias: str | None = None
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class GroupItem(Node):
    """One expression of GROUP BY, which may be named."""

    expression: Expression
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Select(Node):
    """One SELECT; ``before`` is the WHERE in front of FROM, ``where`` the one behind it (Q-4).

    ``above`` is the threshold of FREQUENT, ``every`` the window of paper 001's EVERY … UPDATE ….
    """

    items: tuple[Item | Star, ...]
    sources: tuple[Source, ...]
    emit: str | None = None
    distinct: bool = False
    before: Expression | None = None
    where: Expression | None = None
    group: tuple[GroupItem, ...] = ()
    every: Window | None = None
    having: Expression | None = None
    above: str | None = None
    with_tags: bool = False


@dataclass(frozen=True, slots=True)
class Union(Node):
    """UNION ALL of two or more queries."""

    parts: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Emitted(Node):
    """``ISTREAM(q)``, ``DSTREAM(q)``, ``RSTREAM(q)``."""

    emit: str
    query: Query


@dataclass(frozen=True, slots=True)
class SelectTags(Node):
    """SELECT TAGS, or SELECT TAGGED OBJECTS (``objects``), with or without their tags (T-3, T-4)."""

    objects: bool
    sources: tuple[Source, ...]
    where: Expression | None = None
    with_tags: bool = False


Query = Select | Union | Emitted | SelectTags
