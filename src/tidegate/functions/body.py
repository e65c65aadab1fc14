"""The body of a user function: from text to code that binds one callable.

Three forms are accepted: an expression (``a * 2.0 + b``), statements with ``return``, and a source that defines a
function of the same name. Arrow arrays understand few of Python's operators, and ``==`` compares them as a whole, so
operators are rewritten to calls of ``operators.operate``: ``2 * a``, ``a % 2 == 0`` and ``0 < a < 9`` work row by row.
An array as a condition (``if a > 1``) would be true by its length and is an error instead. ``+=`` and the like are left
as they are.

Reads: nothing.  Read by: definition, host, child (for the names).
"""

from __future__ import annotations

import ast
import keyword
import textwrap
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import TypeVar

# No source can spell these, so none can take them away.
FUNCTION, OPERATE, COMPARE, TRUTH = "<function>", "<operate>", "<compare>", "<truth>"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_Tested = TypeVar("_Tested", ast.If, ast.While, ast.IfExp, ast.Assert)


@dataclass(frozen=True, slots=True)
class BodyProblem:
    """Why a body cannot be a function, and the line of the body (counted from 1) that shows it."""

    problem: str
    line: int


def compile_body(name: str, parameters: Sequence[str], body: str) -> CodeType | BodyProblem:
    """Code that, when run, binds ``FUNCTION`` to the callable; nothing of the body runs here."""
    unusable = [each for each in parameters if not each.isidentifier() or keyword.iskeyword(each)]
    if unusable:
        return BodyProblem(f'parameter "{unusable[0]}" cannot be a name in Python', 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a dubious comparison is the author's business
            return _compile(name, [unicodedata.normalize("NFKC", each) for each in parameters], body)
    except SyntaxError as error:
        return BodyProblem(f"not Python: {error.msg}", max(1, error.lineno or 1))
    except ValueError:  # such as a zero byte
        return BodyProblem("not Python: a character that no source may contain", 1)
    except (RecursionError, MemoryError, OverflowError):
        return BodyProblem("the body nests too deeply", 1)


def _compile(name: str, parameters: list[str], body: str) -> CodeType | BodyProblem:
    module = ast.parse(textwrap.dedent(body))
    if not module.body:
        return BodyProblem("the body is empty", 1)
    defined = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == name]
    if not defined:
        problem = _wrap(name, parameters, module)
    else:
        problem = _refuse_arguments(defined[-1], len(parameters))
        module.body.append(ast.Assign([_named(FUNCTION, ast.Store())], _named(name)))
    rewritten = ast.fix_missing_locations(_Rewriting().visit(module))
    return problem or compile(rewritten, "<function>", "exec", dont_inherit=True)


def _wrap(name: str, parameters: list[str], module: ast.Module) -> BodyProblem | None:
    """Make the statements of a module the inside of a function."""
    statements = module.body
    if len(statements) == 1 and isinstance(statements[0], ast.Expr):
        statements = [ast.copy_location(ast.Return(statements[0].value), statements[0])]
    every = [ast.arg(each) for each in parameters]
    arguments = ast.arguments(posonlyargs=[], args=every, kwonlyargs=[], kw_defaults=[], defaults=[])
    module.body = [ast.FunctionDef(FUNCTION, arguments, statements, decorator_list=[], lineno=1, col_offset=0)]
    if not _returns(statements):
        return BodyProblem(f'nothing is returned: write "return" or define a function named "{name}"', 1)
    return None


def _returns(nodes: Iterable[ast.AST]) -> bool:
    """True if one of the nodes returns from the function they stand in."""
    return any(
        isinstance(node, ast.Return) or (not isinstance(node, _SCOPES) and _returns(ast.iter_child_nodes(node)))
        for node in nodes
    )


def _refuse_arguments(function: ast.FunctionDef, given: int) -> BodyProblem | None:
    arguments = function.args
    most = len(arguments.posonlyargs) + len(arguments.args)
    keywords = any(default is None for default in arguments.kw_defaults)
    if most - len(arguments.defaults) <= given and (given <= most or arguments.vararg) and not keywords:
        return None
    return BodyProblem(f'"{function.name}" cannot be called with {given} arguments', function.lineno)


def _named(name: str, context: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(name, context or ast.Load())


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_named(name), list(arguments), [])


def _symbol(operation: ast.AST) -> ast.Constant:
    return ast.Constant(type(operation).__name__)


class _Rewriting(ast.NodeTransformer):
    """Operators and conditions as calls that know Arrow."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            return node
        return ast.copy_location(_call(OPERATE, _symbol(node.op), node.left, node.right), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            node.operand = _call(TRUTH, node.operand)
        elif not isinstance(node.operand, ast.Constant):
            return ast.copy_location(_call(OPERATE, _symbol(node.op), node.operand), node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if not all(isinstance(operation, _COMPARISONS) for operation in node.ops):
            return node  # "is" and "in" have no meaning row by row
        symbols = ast.Tuple([_symbol(operation) for operation in node.ops], ast.Load())
        return ast.copy_location(_call(COMPARE, symbols, node.left, *node.comparators), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        node.values = [_call(TRUTH, value) for value in node.values]
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        node.ifs = [_call(TRUTH, condition) for condition in node.ifs]
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.MatchValue:
        return node  # the values of patterns are literals and must stay so

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.MatchMapping:
        node.patterns = [self.visit(pattern) for pattern in node.patterns]
        return node

    def _tested(self, node: _Tested) -> _Tested:
        self.generic_visit(node)
        node.test = _call(TRUTH, node.test)
        return node

    visit_If = visit_While = visit_IfExp = visit_Assert = _tested  # noqa: N815 - named by ast
