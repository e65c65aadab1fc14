"""`tidegate explain`: the plan of each query, or why it has none."""

from __future__ import annotations

from click.testing import CliRunner, Result

from tests.cli.conftest import CASE, WriteCase
from tidegate.cli.main import cli

PLAN = """\
low at C
emit ISTREAM
└─ project w
   └─ aggregate SUM(wt)
      └─ window ROWS 2
         └─ scan Vitals@U
"""


def explain(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(cli, ["explain", *arguments])


def test_each_query_has_its_plan(write_case: WriteCase) -> None:
    """M-13, M-22: generate plan, with its graph."""
    result = explain(write_case())
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(f"{PLAN}\nhigh at S\n")
    assert result.stdout.count("emit ISTREAM") == len(CASE["queries"])


def test_one_query_by_name(write_case: WriteCase) -> None:
    assert explain(write_case(), "--query", "low").stdout == PLAN


def test_no_query_of_that_name_is_misuse(write_case: WriteCase) -> None:
    path = write_case()
    result = explain(path, "--query", "lo")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f'tidegate: {path}: no query is named "lo"; did you mean "low"?\n'


def test_a_name_unlike_all_others_is_answered_with_those_there_are(write_case: WriteCase) -> None:
    path, empty = write_case(), write_case("empty.json", queries=[])
    assert explain(path, "--query", "x").stderr.endswith('no query is named "x"; there are "low", "high"\n')
    assert explain(empty, "--query", "x").stderr.endswith('no query is named "x"; the case has none\n')


def test_a_query_without_a_plan_says_why_and_where(write_case: WriteCase) -> None:
    """Q-12: code, problem, place, hint."""
    bad = {"name": "bad", "at": "U", "text": "SELECT wtt FROM Vitals"}
    result = explain(write_case(queries=[bad, *CASE["queries"]]))
    assert (result.exit_code, result.stderr) == (1, "")
    assert "bad at U\nUNKNOWN_COLUMN:" in result.stdout
    assert "  line 1: SELECT wtt FROM Vitals\n                 ^^^\n" in result.stdout
    assert result.stdout.endswith("\n\n" + explain(write_case()).stdout)


def test_the_status_is_about_the_queries_that_are_shown(write_case: WriteCase) -> None:
    bad = {"name": "bad", "at": "U", "text": "SELECT wtt FROM Vitals"}
    path = write_case(queries=[bad, *CASE["queries"]])
    assert [explain(path, "--query", name).exit_code for name in ("bad", "low")] == [1, 0]


def test_a_case_without_queries_has_nothing_to_show(write_case: WriteCase) -> None:
    result = explain(write_case(queries=[]))
    assert (result.exit_code, result.output) == (0, "")


def test_a_derived_stream_is_explained_and_can_be_read(write_case: WriteCase) -> None:
    """Q-14: streams and their readers, in the order of the list."""
    stream = {"name": "heavy", "at": "C", "text": "CREATE STREAM heavy AS SELECT sid FROM Vitals WHERE wt > 90"}
    reader = {"name": "n", "at": "C", "text": "SELECT COUNT(*) AS n FROM heavy [ROWS 5]"}
    result = explain(write_case(queries=[stream, reader]))
    assert "heavy at C\nemit ISTREAM\n" in result.stdout
    assert "scan heavy@C\n" in result.stdout
