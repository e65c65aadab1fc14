"""`tidegate function check`: exit 0 for functions that Q-15 allows, 1 for others, 2 for malformed cases."""

from __future__ import annotations

from click.testing import CliRunner, Result

from tests.cli.conftest import WriteCase
from tidegate.cli.main import cli

TWICE = "CREATE FUNCTION twice(a double) RETURNS double AS 'return pc.multiply(a, 2.0)'"
CENTRED = "CREATE FUNCTION centred(a double) RETURNS double AS 'return pc.subtract(a, pc.mean(a))'"


def check(*arguments: str) -> Result:
    """Run the command on few rows."""
    return CliRunner().invoke(cli, ["function", "check", *arguments, "--rows", "20"])


def test_a_sound_function_passes(write_case: WriteCase) -> None:
    result = check(write_case(functions=[TWICE]))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "twice: deterministic and row-wise on the rows tried\n"


def test_a_function_that_looks_at_other_rows_fails(write_case: WriteCase) -> None:
    """Q-15: row-wise; its answers would depend on the batches."""
    result = check(write_case(functions=[TWICE, {"at": "C", "text": CENTRED}]))
    assert result.exit_code == 1
    first, second = result.stdout.splitlines()
    assert first.startswith("twice: deterministic")
    assert second.startswith("centred: not row-wise")


def test_a_case_without_functions_is_misuse(write_case: WriteCase) -> None:
    path = write_case()
    result = check(path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f'tidegate: {path}: the case has no "functions"\n'


def test_a_function_that_is_refused_is_malformed_input(write_case: WriteCase) -> None:
    result = check(write_case(functions=["CREATE FUNCTION f(a double) RETURNS level AS 'return a'"]))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "LEVEL_NOT_ASSIGNABLE" in result.stderr
    assert "Traceback" not in result.stderr
