"""Errors as data: a stable code, the problem, the place, a hint.

Problems are lower case without a full stop. They never contain data values (Q-9) and never
a name that the asker may not see (Q-12): "not there" and "not yours" read the same.

Reads: text.  Read by: everything.
"""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.text import Place, Span, locate, one_line

CODES: dict[str, str] = {
    # the text itself
    "SYNTAX_ERROR": "the text is not a statement of the language",
    "TEXT_TOO_LONG": "the text is longer than the limit",
    "TOO_DEEP": "the text nests deeper than the limit",
    "NOT_SUPPORTED": "SQL that has no meaning over streams here, or is left out on purpose",
    "NOT_AVAILABLE_YET": "the statement is understood, but nothing runs it yet",
    "UNIT_REQUIRED": "a time without its unit",
    "BAD_WINDOW": "a window or a duration that can hold nothing",
    "MIXED_SHORTHAND": "a bare literal after OR where it is unclear what it is compared with",
    "BAD_LITERAL": "a literal that its type cannot hold",
    # names
    "UNKNOWN_STREAM": "no visible stream or relation has this name",
    "UNKNOWN_COLUMN": "no visible attribute has this name",
    "UNKNOWN_FUNCTION": "no visible function has this name",
    "UNKNOWN_QUERY": "no query of this level has this name",
    "UNKNOWN_LEVEL": "the name is not one of the levels",
    "UNKNOWN_TYPE": "the name is not one of the types",
    "AMBIGUOUS_COLUMN": "the name fits more than one attribute",
    "AMBIGUOUS_NAME": "the name exists at more than one visible level",
    "NAME_EXISTS": "the name is taken at this level",
    "DUPLICATE_COLUMN": "two columns have the same name",
    "DUPLICATE_ALIAS": "two items of FROM have the same name",
    "CYCLE": "a stream would read itself",
    # types
    "TYPE_MISMATCH": "the types do not fit together",
    "WRONG_ARGUMENTS": "a function is called with the wrong arguments",
    # shape of a query
    "WINDOW_REQUIRED": "this query needs a window",
    "WINDOW_NOT_ALLOWED": "a window stands where there is none to have",
    "STREAM_REQUIRED": "the query reads no stream and would never step",
    "NOT_GROUPED": "a column that is neither grouped nor aggregated",
    "AGGREGATE_NOT_ALLOWED": "an aggregate stands where there is no group",
    "SUBQUERY_NOT_ALLOWED": "a sub-query stands where only the tuple itself may be used",
    "SUBQUERY_COLUMNS": "a scalar sub-query has more than one column",
    "UNION_MISMATCH": "the parts of a union do not fit together",
    "BAD_PANES": "GROUP BY time/c cannot be used like this",
    # levels
    "LEVEL_NOT_ASSIGNABLE": "`level` is set by the system only",
    "LEVEL_AMBIGUOUS": "it is unclear whose `level` is meant",
    "LEVEL_AGGREGATE": "levels are only partly ordered: they have no minimum or maximum",
    # while running
    "DIVISION_BY_ZERO": "a division by zero",
    "CAST_FAILED": "a value that the target type cannot hold",
    "OVERFLOW": "a number beyond the range of its type",
    "INVALID_ARGUMENT": "a function called outside its domain",
    "SCALAR_MANY_ROWS": "a scalar sub-query with more than one row",
    "FUNCTION_FAILED": "a user function raised, died, was too slow or gave the wrong type",
    # statements
    "NAME_REQUIRED": "a continuous query needs a name",
    "ALREADY_RUNNING": "the query is running",
    "NOT_RUNNING": "the query is not running",
    "NO_TRANSACTION": "COMMIT or ABORT without BEGIN",
    "IN_TRANSACTION": "BEGIN inside BEGIN",
    "SET_REFUSED": "another statement of the same BEGIN … COMMIT was refused",
    # refusals
    "LOGIN_REFUSED": "the user may not log in at this level",
    "ADMINISTRATOR_ONLY": "only the administrator may do this",
    "OTHER_LEVEL": "objects of another level cannot be changed (restricted star property), nor asked what they share",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """What went wrong, for a person and for a program; the place is found when it is shown."""

    code: str
    problem: str
    place: Place | None = None
    hint: str = ""

    def to_json(self) -> dict[str, object]:
        """The four parts in the order of CASES.md."""
        place = self.place and {
            "line": self.place.line,
            "column": self.place.column,
            "text": self.place.text,
            "underline": self.place.underline,
        }
        return {"code": self.code, "problem": self.problem, "place": place, "hint": self.hint}

    def draw(self) -> str:
        """The error as a person reads it."""
        place = "".join(f"\n  {line}" for line in self.place.draw().split("\n")) if self.place else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{self.code}: {self.problem}{place}{hint}"


class TidegateError(Exception):
    """The one base of every error that tidegate raises on purpose."""


class QueryError(TidegateError):
    """Bad text, or good text that means nothing: one error with a code, a place and a hint."""

    def __init__(self, code: str, problem: str, span: Span | None = None, hint: str = "", text: str | None = None):
        super().__init__(problem)
        assert code in CODES, code
        self.code, self.problem, self.span, self.hint, self.text = code, problem, span, hint, text

    def within(self, text: str) -> QueryError:
        """The same error, knowing the text that its span points into."""
        if self.text is None:
            self.text = text
        return self

    def report(self) -> Problem:
        """The error as data, with its place found in the text."""
        known = self.text is not None and self.span is not None
        place = locate(self.text, self.span) if known else None  # type: ignore[arg-type]
        return Problem(self.code, self.problem, place, self.hint)

    def __str__(self) -> str:
        return self.report().draw()


class Refusal(QueryError):
    """A flow rule said no. Shown like any other error; the gate that refused is in the audit."""


class CaseError(TidegateError):
    """A case file, lattice or option that is malformed: one clear message on one line, exit status 2."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class EngineError(TidegateError):
    """Spark cannot be used here; the message says why and what to do."""


class SourceError(TidegateError):
    """A source that cannot be read, or not as declared: the place, the problem and a hint on one line."""

    def __init__(self, problem: str, place: str = "", hint: str = "") -> None:
        before, after = f"{place}: " if place else "", f"; {hint}" if hint else ""
        super().__init__(one_line(f"{before}{problem}{after}"))
