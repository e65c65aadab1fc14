"""docs/language.md: every text is what the page says it is, and every function is on the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cases.text_case import load
from tests.docs.pages import ROOT, Block, blocks, code, page, table
from tests.docs.world import outcomes
from tidegate.language.parser import parse
from tidegate.plan.functions import AGGREGATES, FUNCTIONS
from tidegate.plan.types import DECLARABLE
from tidegate.security.presets import PRESETS

PAGE = page("docs/language.md")
LATER = ("NOT_AVAILABLE_YET", "ADMINISTRATOR_ONLY")


def texts(kind: str) -> list[Block]:
    """The SQL blocks of all pages that are marked like this; "" for those that simply hold."""
    return [block for block in blocks("sql") if (block.info.split(" ")[1:2] or [""])[0] == kind]


@pytest.mark.parametrize("block", texts(""), ids=str)
def test_a_text_is_accepted(block: Block) -> None:
    refused = [(text, problem.draw()) for text, problem in outcomes(block.text) if problem]
    assert not refused


@pytest.mark.parametrize("block", texts("refused"), ids=str)
def test_a_text_is_refused_with_the_code_behind_the_fence(block: Block) -> None:
    code = block.info.split(" ")[2]
    assert {problem.code if problem else text for text, problem in outcomes(block.text)} == {code}


@pytest.mark.parametrize("block", texts("later"), ids=str)
def test_a_text_that_comes_later_is_understood_and_says_so(block: Block) -> None:
    for text, problem in outcomes(block.text):
        parse(text)
        assert problem, text
        assert problem.code in LATER, problem.draw()


def test_every_text_is_marked_in_a_known_way() -> None:
    assert len(texts("")) + len(texts("refused")) + len(texts("later")) == len(blocks("sql"))
    assert min(len(texts(kind)) for kind in ("", "refused", "later")) > 0


@pytest.mark.parametrize("block", [block for block in blocks("text") if block.info == "text case"], ids=str)
def test_a_case_gives_the_output_below_it(block: Block, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    path = tmp_path / "page.case"
    path.write_text(block.text, encoding="utf-8")
    case = load(path)
    if pytestconfig.getoption("--accept"):
        case.accept()
        whole = block.page.text.replace(block.text, path.read_text(encoding="utf-8"))
        block.page.path.write_text(whole, encoding="utf-8")
    else:
        assert case.output() == case.expected


def test_every_built_in_function_is_on_the_page_and_no_other() -> None:
    named = [name.partition("(")[0] for row in table(PAGE, "function") for name in code(row[0])]
    assert sorted(named) == sorted(FUNCTIONS)


def test_every_aggregate_is_on_the_page_and_no_other() -> None:
    named = {name.partition("(")[0] for row in table(PAGE, "aggregate") for name in code(row[0])}
    assert named == set(AGGREGATES)


def test_every_type_is_on_the_page_and_no_other() -> None:
    named = {name for row in table(PAGE, "type") for name in code(row[0])}
    assert named == {*DECLARABLE, "decimal(p,s)"}


def test_every_preset_is_on_its_page_with_its_order() -> None:
    rows = {code(row[0])[0]: code(row[1])[0] for row in table(page("docs/levels.md"), "preset")}
    assert rows == {name: preset.order for name, preset in PRESETS.items()}


def test_every_reserved_word_is_on_the_page() -> None:
    grammar = (ROOT / "src/tidegate/language/cql.lark").read_text(encoding="utf-8")
    words = re.search(r"^NAME: /\(\?!\(\?:([A-Z_|]+)\)", grammar, re.MULTILINE)
    assert words is not None
    section = PAGE.text.partition("Reserved words:")[2].partition("\n\n")[0]
    assert sorted(code(section)) == sorted(words[1].split("|"))


def test_every_rule_that_a_case_cites_can_be_looked_up() -> None:
    """Cases cite lines of the specification (Q-3, M-12a); the index says where each is explained."""
    heads = (path.read_text(encoding="utf-8").partition(":")[0] for path in (ROOT / "tests/cases").rglob("*.case"))
    cited = {name.rstrip("abcdefghij") for head in heads for name in re.findall(r"\b[A-Z]-\d+[a-z]?\b", head)}
    indexed = {name for row in table(page("docs/rules.md"), "rule") for name in code(row[0])}
    assert not cited - indexed
