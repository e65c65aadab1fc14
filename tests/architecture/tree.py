"""The source tree as data: which files there are, what they import, how long they are.

Everything here takes text or paths and gives facts; the rules stand in the test files.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "tidegate"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module: its full name, where it stands, and whether it is ``from … import``."""

    module: str
    line: int
    named: bool
    relative: bool = False

    @property
    def top(self) -> str:
        """The first part of the name: what must be installed."""
        return self.module.split(".")[0]

    @property
    def area(self) -> str | None:
        """The folder or file of tidegate that is imported, if it is one."""
        parts = self.module.split(".")
        return parts[1] if parts[0] == "tidegate" and len(parts) > 1 else None


@dataclass(frozen=True, slots=True)
class Source:
    """A Python file: the area it lives in, its path for people, its text."""

    area: str
    shown: str
    text: str

    @property
    def tree(self) -> ast.Module:
        """The parsed file."""
        return ast.parse(self.text, self.shown)


@cache
def package_sources() -> tuple[Source, ...]:
    """Every file of the package."""
    return tuple(_read(path, path.relative_to(PACKAGE).parts[0]) for path in sorted(PACKAGE.rglob("*.py")))


@cache
def other_sources() -> tuple[Source, ...]:
    """Every file of tests, benchmarks and scripts."""
    folders = ("tests", "benchmarks", "scripts")
    return tuple(_read(path, folder) for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))


def _read(path: Path, area: str) -> Source:
    return Source(area.removesuffix(".py"), str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))


def imports(node: ast.AST) -> Iterator[Import]:
    """Every import below a node, also those inside functions.

    >>> [(one.module, one.area) for one in imports(ast.parse("import os\\nfrom tidegate.plan.nodes import Scan"))]
    [('os', None), ('tidegate.plan.nodes', 'plan')]
    """
    for child in ast.walk(node):
        match child:
            case ast.Import(names=names):
                yield from (Import(name.name, child.lineno, named=False) for name in names)
            case ast.ImportFrom(module=module, level=level):
                yield Import(module or "", child.lineno, named=True, relative=level > 0)


def functions(node: ast.AST) -> Iterator[Function]:
    """Every function and method below a node."""
    return (child for child in ast.walk(node) if isinstance(child, Function))


def length(function: Function) -> int:
    """Lines from ``def`` to the end, without the docstring.

    >>> length(ast.parse("def f():\\n    '''Two\\n    lines.'''\\n    return 1").body[0])
    2
    """
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None
    docstring = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


def undocumented(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of each public class and function of a module, and of the module, without a docstring.

    Methods are left out: those of a grammar's transformer are named by the grammar and say no more.

    >>> list(undocumented(ast.parse("'''Here.'''\\ndef _a(): ...\\ndef b(): ...")))
    [(3, 'b')]
    """
    if tree.body and ast.get_docstring(tree) is None:
        yield 1, "the file itself"
    for node in tree.body:
        if isinstance(node, ast.ClassDef | Function) and not node.name.startswith("_") and not ast.get_docstring(node):
            yield node.lineno, node.name
