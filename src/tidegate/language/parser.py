"""Text to syntax tree.

The grammar file does the work; this module builds the nodes and turns every failure into one QueryError with a
place and a hint. Nothing here recurses, so no text can exhaust the stack: too long and too deep are errors too.

Reads: text, errors, plan (windows), language (syntax, statements).  Read by: language, system.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from importlib.resources import files

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, VisitError

from tidegate.errors import QueryError
from tidegate.language.build_statements import BuildStatements
from tidegate.language.printer import LOOKALIKE
from tidegate.language.statements import Statement
from tidegate.language.syntax import Node
from tidegate.plan.windows import UNITS
from tidegate.text import Span, did_you_mean, is_unicode

LONGEST_TEXT = 200_000
DEEPEST_TREE = 80
LARGEST_TREE = 5_000

NOT_SUPPORTED = {
    "ORDER": ("ORDER BY has no meaning over an endless stream", "rows of one step come in a fixed order"),
    "LIMIT": ("LIMIT has no meaning over an endless stream", "bound the window instead, for example [ROWS 10]"),
    "OFFSET": ("OFFSET has no meaning over an endless stream", "bound the window instead, for example [ROWS 10]"),
    "INTERSECT": ("INTERSECT is not part of the language", "join the two windows instead"),
    "EXCEPT": ("EXCEPT is not part of the language", "filter with a condition instead"),
    "USING": ("USING is not part of the language", "write the condition: ON a.x = b.x"),
    "OVER": ("window functions are not part of the language", "write the window after the stream: S [ROWS 10]"),
    "INSERT": ("INSERT is not part of the language", "derive a stream with CREATE STREAM x AS SELECT …"),
    "UPDATE": ("UPDATE is not part of the language", "derive a stream with CREATE STREAM x AS SELECT …"),
    "DELETE": ("DELETE is not part of the language", "derive a stream with CREATE STREAM x AS SELECT …"),
}  # fmt: skip


KEYWORDS = (
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "HAVING",
    "ROWS",
    "RANGE",
    "SLIDE",
    "PARTITIONED",
    "UNBOUNDED",
    "CREATE",
)
SHORTEST_TYPO = 3
"""Letters of a word that may be a misspelt keyword: shorter ones are near to too many."""
_WORDS = re.compile(r"(?:\(\?:)?([A-Z][A-Z_|]*)(?:\)\\b)?")
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)+`|--[^\n]*|/\*(?:[^*]|\*(?!/))*\*/")


def parse(text: str) -> Statement:
    """One statement, or one QueryError; never anything else."""
    if len(text) > LONGEST_TEXT:
        raise QueryError("TEXT_TOO_LONG", f"the text has more than {LONGEST_TEXT:,} characters", text="")
    if not is_unicode(text):
        raise QueryError("SYNTAX_ERROR", "the text is not valid Unicode", text="")
    if found := LOOKALIKE.search(_QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)):
        hint = "put the name in backticks"
        raise QueryError("SYNTAX_ERROR", f'unexpected "{found[0]}"', Span(*found.span()), hint, text)
    try:
        statement = _build(_grammar().parse(text))
        _check_depth(statement)
    except UnexpectedInput as error:
        raise _syntax_error(text, error) from None
    except QueryError as error:
        raise _with_unit(error, text).within(text) from None
    return statement


@cache
def _grammar() -> Lark:
    grammar = files("tidegate.language").joinpath("cql.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True)


def _build(tree: Tree[Token]) -> Statement:
    try:
        statement: Statement = BuildStatements().transform(tree)
    except VisitError as error:
        raise error.orig_exc from None
    return statement


def _syntax_error(text: str, error: UnexpectedInput) -> QueryError:
    """Name the word that does not fit, and say what a person who wrote it may have meant."""
    start = getattr(error, "pos_in_stream", None)
    start = len(text) if start is None or start < 0 or _at_end(error) else start
    rest = text[start:]
    word = re.match(r"\w+|\S", rest)
    if word is None:
        return QueryError(
            "SYNTAX_ERROR", "the text ends too early", Span(len(text.rstrip()), len(text)), _missing(text), text
        )
    span = Span(start, start + word.end())
    if word[0].upper() in NOT_SUPPORTED:
        problem, hint = NOT_SUPPORTED[word[0].upper()]
        return QueryError("NOT_SUPPORTED", problem, span, hint, text)
    return QueryError("SYNTAX_ERROR", f'unexpected "{word[0]}"', span, _advice(word[0], text[:start]), text)


def _with_unit(error: QueryError, text: str) -> QueryError:
    """A time whose unit is misspelt, or longer than a day, is told so."""
    word = (
        re.match(r"\s*([A-Za-z]{2,})", text[error.span.end :]) if error.code == "UNIT_REQUIRED" and error.span else None
    )
    if word is None or error.span is None:
        return error
    meant = did_you_mean(word[1], [unit.upper() for unit in UNITS if len(unit) > 3])
    if not meant and word[1].upper().rstrip("S") not in ("WEEK", "MONTH", "QUARTER", "YEAR"):
        return error
    place = Span(error.span.end + word.start(1), error.span.end + word.end(1))
    return QueryError("UNIT_REQUIRED", f'"{word[1]}" is not a unit of time', place, meant or "the largest unit is DAYS")


def _at_end(error: UnexpectedInput) -> bool:
    token = getattr(error, "token", None)
    return token is not None and token.type == "$END"


def _missing(text: str) -> str:
    if not text.strip():
        return "write a statement, for example SELECT * FROM s"
    opened = [pair for pair in ("()", "[]") if text.count(pair[0]) > text.count(pair[1])]
    return f'a "{opened[0][1]}" is missing' if opened else ""


def _advice(word: str, before: str) -> str:
    if word in "'\"`":
        return "the quote is never closed"
    if re.match(r"\d+[A-Za-z_]", word):
        return "a number and a name need a space between them"
    if word == ";" or before.rstrip().endswith(";"):
        return 'one statement at a time: nothing may follow ";"'
    if before.rstrip().endswith(","):
        return "a comma too many"
    if word == "=" and before.endswith("="):
        return "write one = for a comparison"
    return _misspelt(word, before) or _misspelt_before(before) or _keyword(word)


def _keyword(word: str) -> str:
    return "" if word.upper() in KEYWORDS else did_you_mean(word, KEYWORDS)


def _misspelt(word: str, before: str) -> str:
    """A keyword that may stand here, drawn from the grammar and from nothing else."""
    return did_you_mean(word, keywords_after(before)) if len(word) >= SHORTEST_TYPO else ""


def _misspelt_before(before: str) -> str:
    """The grammar takes a misspelt keyword for a name, and stumbles over the word behind it."""
    found = re.search(r"(?<![\w.])([^\W\d]\w*)\s+$", before)
    if found is None or len(found[1]) < SHORTEST_TYPO:
        return ""
    possible = keywords_after(before[: found.start()])
    meant = "" if found[1].upper() in possible else did_you_mean(found[1], possible)
    return meant and f'{meant[:-1]} where you wrote "{found[1]}"?'


def keywords_after(before: str) -> list[str]:
    """The keywords with which a text may go on; none where it cannot be read so far."""
    state = _grammar().parse_interactive(before)
    try:
        state.exhaust_lexer()
    except UnexpectedInput:
        return []
    accepted: set[str] = state.accepts()  # type: ignore[no-untyped-call] # lark's own
    return sorted(word for terminal in accepted for word in _keywords().get(terminal, ()))


@cache
def _keywords() -> dict[str, list[str]]:
    """The words of each terminal that is one or several keywords."""
    found = ((one.name, _WORDS.fullmatch(one.pattern.value)) for one in _grammar().terminals)
    return {name: words[1].split("|") for name, words in found if words is not None}


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below a node, in the order of its fields."""
    for entry in fields(node):
        yield from _nodes_in(getattr(node, entry.name))


def _nodes_in(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for entry in value:
            yield from _nodes_in(entry)


def _check_depth(statement: Node) -> None:
    """Refuse what later, recursive stages could not walk; this walk itself needs no stack."""
    level: list[Node] = [statement]
    size = 0
    for _ in range(DEEPEST_TREE):
        level = [child for node in level for child in children(node)]
        size += len(level)
        if size > LARGEST_TREE:
            raise QueryError("TEXT_TOO_LONG", f"the text has more than {LARGEST_TREE:,} parts", statement.span)
        if not level:
            return
    raise QueryError("TOO_DEEP", f"the text nests more than {DEEPEST_TREE} levels deep", level[0].span)
