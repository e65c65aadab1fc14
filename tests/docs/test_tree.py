"""ARCHITECTURE.md: every file has its line, and every path on the page is true."""

from __future__ import annotations

import re

from tests.architecture.test_imports import ROWS
from tests.docs.pages import ROOT, page, pages

PAGE = page("ARCHITECTURE.md")
PACKAGE = ROOT / "src" / "tidegate"
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*|\w+\.(?:py|lark|md|json|toml))`")
NOT_YET = "no code yet"


def paths(text: str) -> set[str]:
    """What a text names as a file or folder."""
    return set(PATH.findall(text))


def exists(path: str) -> bool:
    """Whether a path is there, from the root or from the package."""
    return (ROOT / path).exists() or (PACKAGE / path).exists()


def test_every_source_file_has_its_line() -> None:
    files = [path for kind in ("*.py", "*.lark") for path in PACKAGE.rglob(kind) if path.name != "__init__.py"]
    missing = {str(path.relative_to(PACKAGE)) for path in files} - paths(PAGE.text)
    assert not missing


def test_every_path_exists_unless_the_page_says_that_it_has_no_code_yet() -> None:
    for line in PAGE.text.split("\n"):
        untrue = {path for path in paths(line) if exists(path) == (NOT_YET in line)}
        assert not untrue, line


def test_the_other_pages_name_only_files_that_exist() -> None:
    allowed = ("tests/cases/…",)
    for where in pages():
        missing = {path for path in paths(where.prose) if not exists(path)} if where.path != PAGE.path else set()
        assert not {path for path in missing if path not in allowed}, where.name


def test_the_rows_of_the_import_rule_are_those_of_the_test() -> None:
    shown = [line.strip() for line in PAGE.text.partition("```text rows\n")[2].partition("```")[0].split("\n") if line]
    assert [line.partition("  ")[0].strip() for line in shown] == list(ROWS)
