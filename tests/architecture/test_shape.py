"""Sizes and docstrings: every file can be read in one sitting, every function without scrolling."""

from __future__ import annotations

import ast

from tests.architecture.tree import functions, length, other_sources, package_sources, undocumented

LONGEST_FILE = 400
LONGEST_FUNCTION = 40
LARGEST_TRUSTED = 2_500
EVERY_SOURCE = (*package_sources(), *other_sources())


def test_no_file_is_longer_than_400_lines() -> None:
    found = {source.shown: lines for source in EVERY_SOURCE if (lines := source.text.count("\n")) > LONGEST_FILE}
    assert not found


def test_no_function_is_longer_than_40_lines() -> None:
    found = [
        f"{source.shown}:{function.lineno}: {function.name} has {length(function)} lines"
        for source in EVERY_SOURCE
        for function in functions(source.tree)
        if length(function) > LONGEST_FUNCTION
    ]
    assert not found, "\n".join(found)


def test_every_public_class_and_function_has_a_docstring() -> None:
    found = [
        f"{source.shown}:{line}: {name}" for source in package_sources() for line, name in undocumented(source.tree)
    ]
    assert not found, "\n".join(found)


def test_what_decides_flow_stays_small_enough_to_review() -> None:
    lines = sum(source.text.count("\n") for source in package_sources() if source.area in ("security", "gates"))
    assert lines <= LARGEST_TRUSTED


def test_a_docstring_does_not_count_as_length_but_everything_else_does() -> None:
    text = 'def f():\n    """One.\n\n    Two.\n    """\n    # why\n    return [\n        1,\n    ]\n'
    assert [length(function) for function in functions(ast.parse(text))] == [5]


def test_private_names_and_methods_need_no_docstring() -> None:
    text = '"""Here."""\nclass A:\n    """Here."""\n    def method(self): ...\ndef _b(): ...\nclass C: ...\n'
    assert list(undocumented(ast.parse(text))) == [(6, "C")]
