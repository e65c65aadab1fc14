"""Calls: built-in functions, user functions, and the places where an aggregate may not stand.

Reads: errors, catalog, plan, language.  Read by: bind_expression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.catalog import FUNCTION, UserDefined
from tidegate.errors import QueryError
from tidegate.language import syntax as sx
from tidegate.language.coerce import adapt_literals, widen
from tidegate.plan import expressions as ex
from tidegate.plan.functions import AGGREGATES, FUNCTIONS
from tidegate.plan.types import Type, common_type, parse_type
from tidegate.text import did_you_mean

if TYPE_CHECKING:
    from tidegate.language.bind_expression import ExpressionBinder

FREQUENT = "FREQUENT"


def bind_call(binder: ExpressionBinder, node: sx.Call) -> ex.Expression:
    """A call of a built-in or of a user's function."""
    name = node.name.upper()
    if name in AGGREGATES or name == FREQUENT:
        raise QueryError("AGGREGATE_NOT_ALLOWED", f"{name} cannot stand here", node.span,
                         "aggregates stand in SELECT and HAVING, and not inside each other")  # fmt: skip
    if node.star or node.distinct:
        raise QueryError("WRONG_ARGUMENTS", f"only aggregates take {'*' if node.star else 'DISTINCT'}", node.span)
    if name in FUNCTIONS and node.level is None:
        return _built_in(name, node, [binder.bind(argument) for argument in node.arguments])
    return _user_function(binder, node)


def _built_in(name: str, node: sx.Call, arguments: list[ex.Expression]) -> ex.Expression:
    arguments = adapt_literals(arguments) if name in ("COALESCE", "NULLIF", "MOD") else arguments
    signature = FUNCTIONS[name](tuple(argument.type for argument in arguments))
    if signature is None:
        given = ", ".join(str(argument.type) for argument in arguments)
        raise QueryError("WRONG_ARGUMENTS", f"{name} does not take ({given})", node.span)
    wanted, result = signature
    widened = tuple(widen(argument, kind) for argument, kind in zip(arguments, wanted, strict=True))
    return ex.Function(name, widened, type=result, span=node.span)


def _user_function(binder: ExpressionBinder, node: sx.Call) -> ex.Expression:
    context = binder.context
    try:
        found = context.catalog.find((FUNCTION,), node.name, context.asker, node.level, node.span)
    except QueryError as error:
        if error.code == "UNKNOWN_FUNCTION" and not error.hint:
            error.hint = did_you_mean(node.name, [*FUNCTIONS, *AGGREGATES])
        raise
    assert isinstance(found, UserDefined)
    arguments = [binder.bind(argument) for argument in node.arguments]
    wanted = [_declared(type_name) for _, type_name in found.parameters]
    fits = len(arguments) == len(wanted) and all(
        common_type(argument.type, kind) == kind for argument, kind in zip(arguments, wanted, strict=True)
    )
    if not fits:
        raise QueryError("WRONG_ARGUMENTS", f"{found.name} takes ({', '.join(map(str, wanted))})", node.span)
    widened = tuple(widen(argument, kind) for argument, kind in zip(arguments, wanted, strict=True))
    return ex.UserFunction(found.name, found.level, found.parameters, found.returns, found.body, widened,
                           type=_declared(found.returns), span=node.span)  # fmt: skip


def _declared(type_name: str) -> Type:
    kind = parse_type(type_name)
    assert kind is not None, type_name
    return kind
