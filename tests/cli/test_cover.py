"""``tidegate cover``: one line of JSON, or exit 2 with one message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tidegate.cli.cover import cover_command

FIGURE_3 = "111110\n110000\n110000\n011000\n000011\n000011\n"


def run(*arguments: str, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cover_command, arguments, input=given)


def answer(*arguments: str, given: str | bytes | None = None) -> dict[str, object]:
    """What is printed, without the time that it took."""
    result = run(*arguments, given=given)
    assert (result.exit_code, result.stderr) == (0, "")
    found: dict[str, object] = json.loads(result.stdout)
    seconds = found.pop("seconds")
    assert isinstance(seconds, float)
    assert seconds >= 0
    return found


@pytest.mark.parametrize("how", [[], ["--paper"], ["--budget", "4"], ["--budget", "99"]])
def test_figure_3_is_printed_as_the_paper_has_it(how: list[str], tmp_path: Path) -> None:
    """P-6: from a file, from standard input, and as the argument itself."""
    file = tmp_path / "figure_3"
    file.write_text(FIGURE_3)
    printed = {
        "bits": 4,
        "composites": [[1], [2, 3], [4], [5, 6]],
        "signatures": ["1100", "1110", "1010", "1000", "1001", "0001"],
    }
    assert answer(*how, str(file)) == printed
    assert answer(*how, "-", given=f"\ufeff{FIGURE_3}") == printed
    assert answer(*how, FIGURE_3) == printed


def test_the_keys_are_in_the_order_of_the_specification() -> None:
    assert list(json.loads(run("10\n11").stdout)) == ["bits", "composites", "signatures", "seconds"]


def test_a_budget_leaves_the_first_bits() -> None:
    """P-7."""
    assert answer(FIGURE_3, "--budget", "1") == {
        "bits": 1,
        "composites": [[1, 2, 3]],
        "signatures": ["1", "1", "0", "0", "0", "0"],
    }
    assert answer(FIGURE_3, "--budget", "0") == {"bits": 0, "composites": [], "signatures": [""] * 6}


@pytest.mark.parametrize("how", [[], ["--paper"]])
def test_selectivities_change_which_bits_are_first(how: list[str], tmp_path: Path) -> None:
    """P-7."""
    file = tmp_path / "selectivities"
    file.write_text("0.01 0.5 0.5 0.5 0.5 0.5")
    assert answer(FIGURE_3, "--budget", "1", "--selectivity", str(file), *how)["composites"] == [[1]]
    assert answer(FIGURE_3, "--budget", "1", "--selectivity", "-", *how, given="[0.01, 1, 1, 1, 1, 1]")[
        "composites"
    ] == [[1]]


@pytest.mark.parametrize(
    ("arguments", "given", "message"),
    [
        (["-"], "", "the matrix is empty"),
        ([""], None, "the matrix is empty"),
        (["-"], "110\n10\n", "line 2 has 2 of 0 and 1, but line 1 has 3"),
        (["-"], "110\n1x0\n", 'line 2: "x" is neither 0 nor 1'),
        (["-"], b"1\xff", "-: not UTF-8 text"),
        (["nowhere"], None, "nowhere: No such file or directory"),
        (["."], None, ".: Is a directory"),
        (["a\0b"], None, "a\\x00b: not the name of a file"),
        (["10", "--budget", "-1"], None, '--budget: "-1" is not a number of bits, 0 or more'),
        (["10", "--budget", "few"], None, '--budget: "few" is not a number of bits, 0 or more'),
        (["10", "--budget", "1.5"], None, '--budget: "1.5" is not a number of bits, 0 or more'),
        (["10", "--selectivity", "nowhere"], None, "nowhere: No such file or directory"),
        (["10", "--selectivity", "-"], "0.5 0.5", "selectivities: 2 given for 1 predicates"),
        (["10", "--selectivity", "-"], "2", "selectivity 1 is 2; it is a share, from 0 to 1"),
        (["10", "--selectivity", "-"], "half", 'selectivity 1 is not a number: "half"'),
        (["-", "--selectivity", "-"], "10", "the matrix and the selectivities cannot both be on standard input"),
    ],
)
def test_malformed_input_ends_with_status_2_and_one_message(
    arguments: list[str], given: str | bytes | None, message: str
) -> None:
    result = run(*arguments, given=given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"tidegate: {message}")
    assert result.stderr.count("\n") == 1


def test_a_matrix_that_is_too_much_for_the_literal_algorithm_says_so() -> None:
    matrix = "11\n" * 30
    assert answer(matrix)["bits"] == 1
    result = run(matrix, "--paper")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "tidegate: the matrix has more than 50,000 rectangles, too many for the literal algorithm; leave out --paper\n"
    )
