"""The import rule: the tree reads from top to bottom, and what decides flow stays small and alone."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.architecture.tree import Function, Import, Source, imports, package_sources

# Each row may import the rows above it. Areas of one row do not import each other.
ROWS = (
    "text",
    "errors",
    "security",
    "plan",
    "values",
    "scalars",
    "functions",
    "gates",
    "catalog",
    "case",
    "log",
    "sharing",
    "language",
    "optimizer",
    "operators",
    "reference",
    "placement",
    "engine",
    "sources sinks",
    "processors",
    "system",
    "evidence",
    "cli",
)
RANK = {area: row for row, areas in enumerate(ROWS) for area in areas.split()}
FRONT = ("__init__", "__main__")  # the package itself: may name everything, but see the last test
SPARK_AREAS = ("engine", "sources", "sinks")
HEAVY = ("pyarrow", "lark", "pyspark")

Rule = Callable[[Source, Import], bool]


def points_down(source: Source, one: Import) -> bool:
    """An import of a later row, of a neighbour in the same row, or of an area that has no row."""
    if one.area is None or one.area == source.area or source.area in FRONT:
        return False
    return RANK.get(one.area, len(ROWS)) >= RANK.get(source.area, len(ROWS))


def is_written_differently(source: Source, one: Import) -> bool:
    """An import of our own that is not ``from tidegate.area import name``."""
    ours = one.relative or one.top == "tidegate"
    return ours and (one.relative or not one.named or one.area is None)


def leaves_the_standard_library(source: Source, one: Import) -> bool:
    """An import in ``security`` of anything but the standard library, texts and errors."""
    allowed = (
        one.area in ("text", "errors", "security") if one.top == "tidegate" else one.top in sys.stdlib_module_names
    )
    return source.area == "security" and not allowed


def weighs_on_the_trusted(source: Source, one: Import) -> bool:
    """An import of Arrow, the parser or Spark where flow is decided."""
    return source.area in ("security", "gates") and one.top in HEAVY


def brings_spark(source: Source, one: Import) -> bool:
    """An import of Spark outside its home."""
    return one.top == "pyspark" and source.area not in SPARK_AREAS


RULES: tuple[Rule, ...] = (
    points_down,
    is_written_differently,
    leaves_the_standard_library,
    weighs_on_the_trusted,
    brings_spark,
)


def offences(rule: Rule, source: Source) -> Iterator[str]:
    """The imports of a file that break a rule, as lines for people."""
    for one in imports(source.tree):
        if rule(source, one):
            yield f"{source.shown}:{one.line}: {one.module}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_no_import_breaks(rule: Rule) -> None:
    found = [line for source in package_sources() for line in offences(rule, source)]
    assert not found, "\n".join([f"not allowed ({rule.__doc__})", *found])


@pytest.mark.parametrize(
    ("rule", "area", "text"),
    [
        (points_down, "security", "from tidegate.plan.nodes import Scan"),
        (points_down, "sources", "from tidegate.sinks.files import write"),
        (points_down, "plan", "def late():\n    from tidegate.language.binder import bind"),
        (points_down, "cli", "from tidegate.nowhere import thing"),
        (is_written_differently, "plan", "import tidegate.text"),
        (is_written_differently, "plan", "from tidegate import text"),
        (is_written_differently, "plan", "from .nodes import Scan"),
        (is_written_differently, "plan", "from . import nodes"),
        (leaves_the_standard_library, "security", "import numpy"),
        (leaves_the_standard_library, "security", "from tidegate.catalog import Catalog"),
        (weighs_on_the_trusted, "gates", "import pyarrow.compute as pc"),
        (weighs_on_the_trusted, "gates", "from lark import Lark"),
        (brings_spark, "operators", "from pyspark.sql import DataFrame"),
    ],
)
def test_the_rule_finds(rule: Rule, area: str, text: str) -> None:
    assert list(offences(rule, Source(area, "sample.py", text)))


@pytest.mark.parametrize(
    ("area", "text"),
    [
        ("gates", "from tidegate.security.flow import may_read\nfrom tidegate.gates.audit import note"),
        ("security", "import json\nfrom collections.abc import Mapping\nfrom tidegate.errors import Refusal"),
        ("engine", "from pyspark.sql import DataFrame\nimport pyarrow as pa"),
        ("__main__", "from tidegate.cli.main import main"),
        ("__init__", "from importlib.metadata import version"),
    ],
)
def test_no_rule_minds(area: str, text: str) -> None:
    assert not [line for rule in RULES for line in offences(rule, Source(area, "sample.py", text))]


def test_every_area_has_its_row() -> None:
    strangers = {source.area for source in package_sources()} - set(RANK) - set(FRONT)
    assert not strangers, f"add to ROWS, in the place where the design has them: {sorted(strangers)}"


def for_types(node: ast.stmt) -> bool:
    """``if TYPE_CHECKING:`` never runs."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def test_the_package_itself_loads_nothing() -> None:
    """Importing any area runs ``tidegate/__init__.py``: what it loads would be in every trusted process."""
    front = [source for source in package_sources() if source.shown == "src/tidegate/__init__.py"]
    statements = [
        node for source in front for node in source.tree.body if not isinstance(node, Function) and not for_types(node)
    ]
    loaded = {one.top for node in statements for one in imports(node)} - set(sys.stdlib_module_names)
    assert not loaded, f"import inside a function (__getattr__) instead: {sorted(loaded)}"
