"""Syntax tree to text: one canonical spelling for each tree.

Keywords are upper case, one space separates words, parentheses stand only where they are needed and strings are
in single quotes. Parsing the printed text gives the same tree.

Reads: plan (windows), language (syntax).  Read by: language, plan explanations, tests.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tidegate.language import syntax as sx
from tidegate.plan.windows import Range, Rows, duration_text

# What binds tighter has the higher number; an operand below its place needs parentheses.
OR, AND, NOT, COMPARE, SUM, PRODUCT, UNARY, PRIMARY = range(8)

_TYPE = re.compile(r"[a-z]+(\(\d+,\d+\))?")
LOOKALIKE = re.compile("[\u0130\u0131\u017f\u212a]")  # letters that a parser takes for i, s and k
_PLAIN = re.compile(r"[^\W\d]\w*")
RESERVED = frozenset(
    "SELECT FROM WHERE GROUP HAVING ORDER LIMIT OFFSET OVER UNION INTERSECT EXCEPT JOIN ON USING NATURAL LEFT RIGHT "
    "FULL OUTER INNER CROSS AS AND OR NOT IN IS LIKE BETWEEN CASE WHEN THEN ELSE END CAST TRY_CAST NULL TRUE FALSE "
    "EXISTS DISTINCT BY WITH".split()
)
# Words that begin something else where a name may begin; the other keywords are names wherever a name can stand.
CONTEXTUAL = frozenset("ISTREAM DSTREAM RSTREAM TAGS TAGGED INTERVAL SHARING PREFILTER PLACEMENT".split())


def print_name(name: str) -> str:
    """A name, in backticks where it would read as something else.

    >>> print_name("sid"), print_name("AVG(bp)"), print_name("from")
    ('sid', '`AVG(bp)`', '`from`')
    """
    plain = _PLAIN.fullmatch(name) and not LOOKALIKE.search(name) and name.upper() not in RESERVED | CONTEXTUAL
    return name if plain else "`" + name.replace("`", "``") + "`"


def print_string(value: str) -> str:
    """A string in single quotes."""
    return "'" + value.replace("'", "''") + "'"


def print_level(text: str | None) -> str:
    """``@C`` behind a name, or nothing."""
    if text is None:
        return ""
    return "@" + (text if print_name(text) == text else print_string(text))


def print_expression(node: sx.Expression, place: int = OR) -> str:
    """An expression, in parentheses if it binds looser than its place allows."""
    text, binds = _expression(node)
    return f"({text})" if binds < place else text


def _expression(node: sx.Expression) -> tuple[str, int]:
    match node:
        case sx.Or(operands):
            return " OR ".join(_disjunct(part) for part in operands), OR
        case sx.And(operands):
            return " AND ".join(print_expression(part, NOT) for part in operands), AND
        case sx.Not(operand):
            return f"NOT {print_expression(operand, NOT)}", NOT
        case sx.Comparison(_, _, sx.Sign()):
            return f"({_comparison(node)})", PRIMARY  # a bare sign ends at a parenthesis
        case sx.Comparison() | sx.Between() | sx.In() | sx.Like() | sx.IsNull():
            return _comparison(node), COMPARE
        case sx.Binary(operator, left, right):
            binds = PRODUCT if operator in ("*", "/", "%") else SUM
            return f"{print_expression(left, binds)} {operator} {print_expression(right, binds + 1)}", binds
        case sx.Unary(operator, operand):
            inner = print_expression(operand, UNARY)
            return f"{operator}{' ' if inner[0] in '+-' else ''}{inner}", UNARY
        case _:
            return _primary(node), PRIMARY


def _disjunct(node: sx.Expression) -> str:
    """A conjunction keeps the parentheses it was written in: beside a bare literal they matter (Q-4)."""
    grouped = isinstance(node, sx.And) and node.grouped
    return f"({print_expression(node)})" if grouped else print_expression(node, AND)


def _comparison(node: sx.Comparison | sx.Between | sx.In | sx.Like | sx.IsNull) -> str:
    if isinstance(node, sx.Comparison):
        return f"{print_expression(node.left, SUM)} {node.operator} {print_expression(node.right, SUM)}"
    left, negated = print_expression(node.operand, SUM), "NOT " if node.negated else ""
    match node:
        case sx.Between(_, low, high):
            return f"{left} {negated}BETWEEN {print_expression(low, SUM)} AND {print_expression(high, SUM)}"
        case sx.In(_, options):
            return f"{left} {negated}IN ({_list(options)})"
        case sx.Like(_, pattern, escape):
            tail = f" ESCAPE {print_string(escape)}" if escape is not None else ""
            return f"{left} {negated}LIKE {print_expression(pattern, SUM)}{tail}"
        case sx.IsNull():
            return f"{left} IS {negated}NULL"


def _primary(node: sx.Expression) -> str:
    match node:
        case sx.Name(parts):
            return ".".join(print_name(part) for part in parts)
        case sx.Number(text) | sx.Sign(text):
            return text
        case sx.String(value):
            return print_string(value)
        case sx.Boolean(value):
            return "TRUE" if value else "FALSE"
        case sx.Typed(type_name, value):
            return f"{_typed_name(type_name)} {print_string(value)}"
        case sx.Interval(microseconds):
            return f"INTERVAL {duration_text(microseconds)}"
        case sx.Call():
            return _call(node)
        case sx.Case():
            return _case(node)
        case sx.Cast(operand, type_name, safe):
            return f"{'TRY_CAST' if safe else 'CAST'}({print_expression(operand)} AS {print_type(type_name)})"
        case sx.Subquery(query):
            return f"({print_query(query)})"
        case _:
            return "NULL"


def _typed_name(name: str) -> str:
    return name.upper() if name in ("date", "timestamp") else print_name(name)


def print_type(name: str) -> str:
    """A type by its name; what cannot be one is still a name."""
    return name if _TYPE.fullmatch(name) and name.upper() not in RESERVED else print_name(name)


def _call(node: sx.Call) -> str:
    arguments = "*" if node.star else ("DISTINCT " if node.distinct else "") + _list(node.arguments)
    return f"{print_name(node.name)}{print_level(node.level)}({arguments})"


def _case(node: sx.Case) -> str:
    operand = f" {print_expression(node.operand)}" if node.operand is not None else ""
    branches = "".join(f" WHEN {print_expression(a)} THEN {print_expression(b)}" for a, b in node.branches)
    otherwise = f" ELSE {print_expression(node.otherwise)}" if node.otherwise is not None else ""
    return f"CASE{operand}{branches}{otherwise} END"


def _list(nodes: tuple[sx.Expression, ...]) -> str:
    return ", ".join(print_expression(node) for node in nodes)


# ------------------------------------------------------------------------------ queries


def print_query(node: sx.Query) -> str:
    """A query on one line."""
    match node:
        case sx.Select():
            return _select(node)
        case sx.Union(parts):
            return " UNION ALL ".join(print_query(part) for part in parts)
        case sx.Emitted(emit, query):
            return f"{emit}({print_query(query)})"
        case sx.SelectTags(objects, sources, where, with_tags):
            kind = "TAGGED OBJECTS" if objects else "TAGS"
            tail = _clause("WHERE", where) + (" WITH TAGS" if with_tags else "")
            return f"SELECT {kind} FROM {_sources(sources)}{tail}"


def _select(node: sx.Select) -> str:
    head = "SELECT " + (f"{node.emit} " if node.emit else "") + ("DISTINCT " if node.distinct else "")
    items = ", ".join(print_item(item) for item in node.items)
    group = f" GROUP BY {', '.join(_named(item) for item in node.group)}" if node.group else ""
    every = _every(node.every) if isinstance(node.every, Range) else ""
    above = f" ABOVE {node.above}" if node.above is not None else ""
    return (
        f"{head}{items}{_clause('WHERE', node.before)} FROM {_sources(node.sources)}{_clause('WHERE', node.where)}"
        f"{group}{every}{_clause('HAVING', node.having)}{above}{' WITH TAGS' if node.with_tags else ''}"
    )


def _every(window: Range) -> str:
    return f" EVERY {duration_text(window.width)} UPDATE {duration_text(window.slide or 0)}"


def _clause(word: str, condition: sx.Expression | None) -> str:
    return f" {word} {print_expression(condition)}" if condition is not None else ""


def print_item(item: sx.Item | sx.Star) -> str:
    """One entry of the SELECT list."""
    if isinstance(item, sx.Star):
        return "*" if item.qualifier is None else print_name(item.qualifier) + ".*"
    return _named(item)


def _named(item: sx.Item | sx.GroupItem) -> str:
    alias = f" AS {print_name(item.alias)}" if item.alias is not None else ""
    return print_expression(item.expression) + alias


def _sources(sources: tuple[sx.Source, ...]) -> str:
    parts = [_source(sources[0])]
    for source in sources[1:]:
        if source.condition is None:
            parts.append(f", {_source(source)}")
        else:
            parts.append(f" JOIN {_source(source)} ON {print_expression(source.condition)}")
    return "".join(parts)


def _source(source: sx.Source) -> str:
    table = source.table
    text = print_object(table) if isinstance(table, sx.Object) else f"({print_query(table)})"
    window = f" {print_window(source.window)}" if source.window else ""
    return text + window + (f" AS {print_name(source.alias)}" if source.alias is not None else "")


def print_object(node: sx.Object) -> str:
    """A name with its level where one is written."""
    return print_name(node.name) + print_level(node.level)


def print_window(clause: sx.WindowClause) -> str:
    """A window in its brackets."""
    condition = f" WHERE {print_expression(clause.condition)}" if clause.condition is not None else ""
    window = clause.window
    if isinstance(window, Rows):
        window = replace(window, partition=tuple(print_name(name) for name in window.partition))
    return f"[{window}{condition}]"
