"""Numbers and lists on the pages that stand in the code too."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from tests.docs.pages import ROOT, Page, code, page, pages, table
from tidegate.functions.failure import Reason
from tidegate.functions.host import ROWS_PER_PIECE
from tidegate.functions.limits import DEFAULT, MEBIBYTE
from tidegate.functions.process import ENVIRONMENT
from tidegate.gates.admit import LONGEST_NAME, Refused, admit
from tidegate.language.build import LONGEST_DURATION, MOST_ROWS
from tidegate.language.parser import DEEPEST_TREE, LONGEST_TEXT
from tidegate.plan.conjuncts import MOST_CONJUNCTS
from tidegate.plan.schema import Field
from tidegate.plan.types import DOUBLE, INT
from tidegate.plan.windows import DAY
from tidegate.security.declare import declare
from tidegate.sharing.prefilter import MOST_WANTED
from tidegate.sharing.switches import SWITCHES


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("SECURITY.md", f"{DEFAULT.memory_bytes // MEBIBYTE} MiB"),
        ("SECURITY.md", f"{DEFAULT.seconds:.0f} s for a call"),
        ("SECURITY.md", f"{LONGEST_TEXT:,} characters, {DEEPEST_TREE} deep"),
        ("docs/language.md", f"{DEFAULT.memory_bytes // MEBIBYTE} MiB and {DEFAULT.seconds:.0f} s for a call"),
        ("docs/language.md", f"{LONGEST_TEXT:,} characters and nests at most {DEEPEST_TREE} deep"),
        ("docs/language.md", f"at most {MOST_ROWS:,} rows"),
        ("docs/language.md", f"at most {LONGEST_DURATION // DAY:,} days"),
        ("docs/decisions/0002-multiply-out-only-what-cannot-fail.md", f"up to {MOST_CONJUNCTS} conjuncts"),
        ("docs/decisions/0005-functions-in-a-child-process.md", f"at most {ROWS_PER_PIECE:,} rows"),
    ],
)
def test_a_limit_on_a_page_is_the_limit_in_the_code(name: str, words: str) -> None:
    assert words in " ".join(page(name).text.split())


def test_the_child_has_six_variables_and_eight_reasons_as_the_pages_say() -> None:
    text = page("SECURITY.md").text
    assert (len(ENVIRONMENT), "six fixed variables" in text) == (6, True)
    assert (len(Reason), "one of eight reasons" in text) == (8, True)


def test_the_reasons_of_the_quarantine_on_the_page_are_those_of_the_gate() -> None:
    """Q-11: one tuple for each reason."""
    row: dict[str, object] = {"sid": 1, "wt": 1}
    entry = {"level": "U", "time": 1, "row": row}
    bad: list[dict[str, object]] = [
        *({**entry, "level": level} for level in (None, "X")),
        *({**entry, "time": time} for time in (None, "noon", -1, Decimal("0.0000001"))),
        *({**entry, "row": given} for given in (None, {**row, "y": 1}, {**row, "y": 1, "z": 2, "u": 3}, {})),
        *({**entry, "row": {**row, **given}} for given in ({"sid": 2**31}, {"wt": "x"})),
    ]
    schema, lattice = (Field("sid", INT), Field("wt", DOUBLE)), declare("U < S")
    given = [decision.reason for one in bad if isinstance(decision := admit(one, schema, lattice), Refused)]
    shown = [reason for line in table(page("docs/cases.md"), "wrong") for reason in code(line[1])]
    assert [*given, "late"] == shown
    assert f"cut to {LONGEST_NAME} characters" in page("docs/cases.md").text


def test_the_glossary_is_in_alphabetical_order_and_has_each_word_once() -> None:
    words = [row[0].casefold() for row in table(page("GLOSSARY.md"), "word")]
    assert words == sorted(set(words))


def test_the_changelog_begins_with_the_version_of_the_package() -> None:
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None
    assert re.findall(r"^## (\S+),", page("CHANGELOG.md").text, re.MULTILINE)[0] == version[1]


DECISIONS = [where for where in pages() if re.match(r"docs/decisions/\d", where.name)]


@pytest.mark.parametrize("where", DECISIONS, ids=lambda where: where.name)
def test_a_decision_has_its_number_and_five_headings(where: Page) -> None:
    assert where.text.startswith(f"# {int(where.path.name[:4])}. ")
    assert re.findall(r"^\*\*([A-Z][a-z ]+)\.\*\*", where.text, re.MULTILINE) == [
        "Context",
        "Decision",
        "Price",
        "Instead of",
        "Revisit",
    ]


def test_the_switches_of_the_page_are_those_of_the_code() -> None:
    rows = table(page("docs/sharing.md"), "name")
    assert {code(name)[0]: text for name, text in rows} == SWITCHES


def test_the_share_from_which_all_rows_are_taken_is_on_the_page() -> None:
    """P-14."""
    assert MOST_WANTED == 0.5
    assert "more than half of the rows" in page("docs/prefilter.md").text
