"""`tidegate share`: JSON on standard output, one clear message on malformed input."""

from __future__ import annotations

import json

from click.testing import CliRunner, Result

from tests.cli.conftest import CASE, WriteCase
from tidegate.cli.main import cli


def share(*arguments: str, given: str | None = None) -> Result:
    """Run the command."""
    return CliRunner().invoke(cli, ["share", *arguments], input=given)


def test_queries_of_two_levels_share_nothing_and_each_level_has_its_plan(write_case: WriteCase) -> None:
    """M-15."""
    result = share(write_case())
    assert (result.exit_code, result.stderr) == (0, "")
    told = json.loads(result.stdout)
    cells = {(a, b): cell["class"] for a, row in told["matrix"].items() for b, cell in row.items()}
    assert cells == {
        ("low", "low"): "complete",
        ("low", "high"): "none",
        ("high", "low"): "none",
        ("high", "high"): "complete",
    }
    assert [block.split("\n")[0] for block in told["plan"].split("\n\n")] == ["level C", "level S"]


def test_a_case_is_read_from_standard_input() -> None:
    assert share("-", given=json.dumps(CASE)).stdout.startswith('{"matrix": {\n  "low": {"low": {"class": "complete"')


def test_a_case_without_queries_has_nothing_to_share(write_case: WriteCase) -> None:
    result = share(write_case(queries=[]))
    assert (result.exit_code, json.loads(result.stdout)) == (0, {"matrix": {}, "plan": ""})


def test_streams_and_functions_are_there_to_be_read_and_do_not_count(write_case: WriteCase) -> None:
    stream = {"name": "heavy", "at": "C", "text": "CREATE STREAM heavy AS SELECT sid FROM Vitals WHERE wt > 90"}
    reader = {"name": "n", "at": "C", "text": "SELECT COUNT(*) AS n FROM heavy [ROWS 5]"}
    function = "CREATE FUNCTION f(a double) RETURNS double AS 'a'"
    result = share(write_case(queries=[stream, reader], functions=[function]))
    assert list(json.loads(result.stdout)["matrix"]) == ["n"]


def test_statements_while_the_case_runs_do_not_count(write_case: WriteCase) -> None:
    entry = {"time": 1.0, "at": "C", "statement": "CREATE QUERY late AS SELECT sid FROM Vitals"}
    assert list(json.loads(share(write_case(input=[entry])).stdout)["matrix"]) == ["low", "high"]


def refused(result: Result) -> str:
    """The one message of malformed input."""
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_malformed_input_is_one_message_and_status_2(write_case: WriteCase) -> None:
    assert "No such file" in refused(share("nowhere.json"))
    assert refused(share("-", given="{")).startswith("tidegate: -: ")
    bad = {"name": "bad", "at": "U", "text": "SELECT wtt FROM Vitals"}
    path = write_case(queries=[bad])
    assert refused(share(path)) == (
        f'tidegate: {path}: query "bad" is refused: UNKNOWN_COLUMN: column "wtt" does not exist\n'
    )
