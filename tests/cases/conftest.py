"""Collects `*.case` files: each is a test of its own, run by the reference."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.cases.text_case import TextCase, load
from tidegate.errors import CaseError


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> pytest.Collector | None:
    if file_path.suffix == ".case":
        return CaseFile.from_parent(parent, path=file_path)
    return None


class CaseFile(pytest.File):
    """One file, one test."""

    def collect(self) -> Iterator[pytest.Item]:
        yield CaseItem.from_parent(self, name=self.path.stem)


class Different(Exception):
    """The output is not the expected one."""


class CaseItem(pytest.Item):
    """Runs a case and compares every line; with --accept the expectation is rewritten instead."""

    def runtest(self) -> None:
        case = load(self.path)
        assert case.ids
        if "malformed" in case.sections:
            self.check_refusal(case)
        elif self.config.getoption("--accept"):
            case.accept()
        else:
            self.check_output(case)

    def check_refusal(self, case: TextCase) -> None:
        with pytest.raises(CaseError) as caught:
            list(case.output())
        missing = [words for words in case.sections["malformed"] if words.strip() not in str(caught.value)]
        if missing:
            raise Different(f"the message is: {caught.value}\nit lacks: {missing}")

    def check_output(self, case: TextCase) -> None:
        actual = case.output()
        if actual != case.expected:
            raise Different("\n".join(unified_diff(case.expected, actual, "expected", "actual", lineterm="", n=2)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        if isinstance(excinfo.value, Different):
            return f"{self.path}\n{excinfo.value}"
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"case {self.name}"
