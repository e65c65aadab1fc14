"""The syntax of statements: definitions, running them, TAG-QL and permissions.

Reads: text, language (syntax).  Read by: language, system.
"""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.language.syntax import Emitted, Expression, Name, Node, Object, Query, Select, SelectTags, Union


@dataclass(frozen=True, slots=True)
class CreateQuery(Node):
    """CREATE QUERY q AS …"""

    name: str
    query: Query


@dataclass(frozen=True, slots=True)
class CreateStream(Node):
    """CREATE STREAM x AS …"""

    name: str
    query: Query


@dataclass(frozen=True, slots=True)
class Field(Node):
    """A name with its type, in a declaration."""

    name: str
    type_name: str


@dataclass(frozen=True, slots=True)
class CreateFunction(Node):
    """CREATE FUNCTION f(a double) RETURNS double AS '…python…'"""

    name: str
    parameters: tuple[Field, ...]
    returns: str
    body: str


@dataclass(frozen=True, slots=True)
class CreateSource(Node):
    """The administrator's binding of an external source to a label range (Q-14)."""

    name: str
    fields: tuple[Field, ...]
    address: str
    levels: tuple[str, str]
    format: str | None = None
    fed_by: str | None = None
    delay: int | None = None
    skew: int | None = None
    late: str | None = None
    shed: bool = False


@dataclass(frozen=True, slots=True)
class CreateSink(Node):
    """The administrator's binding of a sink to a stream or query and a label range."""

    name: str
    origin: Object
    address: str
    levels: tuple[str, str]
    format: str | None = None


@dataclass(frozen=True, slots=True)
class CreateRelation(Node):
    """The administrator's relation with its label range."""

    name: str
    fields: tuple[Field, ...]
    levels: tuple[str, str]
    address: str | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True)
class Drop(Node):
    """DROP kind name."""

    kind: str
    target: Object


@dataclass(frozen=True, slots=True)
class Show(Node):
    """SHOW kind: what the asker may see of it."""

    kind: str


@dataclass(frozen=True, slots=True)
class StartStop(Node):
    """START q or STOP q."""

    start: bool
    target: Object


@dataclass(frozen=True, slots=True)
class Transaction(Node):
    """BEGIN, COMMIT or ABORT."""

    action: str


@dataclass(frozen=True, slots=True)
class Explain(Node):
    """EXPLAIN [SHARING|PREFILTER|PLACEMENT] a query, or the name of one."""

    kind: str | None
    target: Query | Object


@dataclass(frozen=True, slots=True)
class Permit(Node):
    """PERMIT op ON stream.field AT site, or WITHDRAW; ``*`` stands for any operator or field (S-1)."""

    withdraw: bool
    operator: str
    stream: str
    field_name: str
    site: str


@dataclass(frozen=True, slots=True)
class AttachTag(Node):
    """ATTACH TAG … (T-3); the target is a stream, an attribute or an attribute's value."""

    content: str
    target: Name
    continuously: bool = False
    where: Expression | None = None
    sign: str | None = None
    lifespan: int | None = None
    mode: str | None = None


Statement = (
    Select | Union | Emitted | SelectTags | CreateQuery | CreateStream | CreateFunction | CreateSource | CreateSink
    | CreateRelation | Drop | Show | StartStop | Transaction | Explain | Permit | AttachTag
)  # fmt: skip
