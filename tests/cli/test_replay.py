"""`tidegate replay`: answers on standard output, complaints on standard error, 0 or 2 (CASES.md)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.cli.conftest import CASE, HIGH, LOW, WriteCase
from tidegate.cli.main import cli
from tidegate.sharing.switches import SWITCHES

COMMAND = (sys.executable, "-c", "from tidegate.cli.main import main; main()")


def replay(*arguments: str, given: str | bytes | None = None) -> Result:
    """Run the command."""
    return CliRunner().invoke(cli, ["replay", *arguments], input=given)


def refused(result: Result) -> str:
    """The one message of a command that was misused."""
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr


def test_every_result_is_a_json_line_in_order(write_case: WriteCase) -> None:
    """CASES.md: step, then query in order of registration."""
    result = replay(write_case())
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [LOW, *HIGH]


def test_a_dash_is_standard_input() -> None:
    result = replay("-", given=json.dumps(CASE))
    assert (result.exit_code, result.stdout.splitlines()) == (0, [LOW, *HIGH])


@pytest.mark.parametrize("given", ["", "{", b"\xff\xfe"])
def test_malformed_standard_input_is_one_message(given: str | bytes) -> None:
    message = refused(replay("-", given=given))
    assert message.startswith("tidegate: -: ")
    assert message.count("\n") == 1


def test_several_files_carry_their_names(write_case: WriteCase) -> None:
    """CASES.md: with several files each line carries ``case``, first."""
    one, other = write_case("one.json"), write_case("other.json", queries=CASE["queries"][1:])
    lines = replay(one, other).stdout.splitlines()
    assert lines == [f'{{"case": "one.json", {line[1:]}' for line in (LOW, *HIGH)] + [
        f'{{"case": "other.json", {line[1:]}' for line in HIGH
    ]


def test_one_broken_file_stops_all_before_anything_is_printed(write_case: WriteCase) -> None:
    assert "broken.json" in refused(replay(write_case("good.json"), write_case("broken.json", levels="")))


@pytest.mark.parametrize(("reader", "lines"), [("U", []), ("C", [LOW]), ("S", [LOW, *HIGH])])
def test_a_reader_sees_the_streams_that_its_level_dominates(
    reader: str, lines: list[str], write_case: WriteCase
) -> None:
    """Q-6: by the level of the stream; ``low`` is C's although its rows are at U."""
    assert replay(write_case(), "--as", reader).stdout.splitlines() == lines


def test_a_reader_of_no_level_is_misuse(write_case: WriteCase) -> None:
    assert refused(replay(write_case(), "--as", "c")) == (
        'tidegate: --as: case.json: "c" is not a level; did you mean "C"?\n'
    )
    other = write_case("other.json", levels="U < C < S < TS")
    assert "case.json" in refused(replay(other, write_case(), "--as", "TS"))


def test_an_unknown_optimisation_is_misuse(write_case: WriteCase) -> None:
    message = refused(replay(write_case(), "--off", "sharing,speed"))
    known = ", ".join(SWITCHES)
    assert message == f'tidegate: --off: "speed" is not an optimisation; known: {known}\n'


@pytest.mark.parametrize(
    "options",
    [
        ["--off", "sharing"],
        ["--off", "sharing, prefilter"],
        ["--off", ""],
        ["--epoch", "1"],
        ["--micro-batch", "1"],
        ["--architecture", "trusted"],
        ["--engine", "reference"],
    ],
    ids=" ".join,
)
def test_no_option_changes_an_answer(options: list[str], write_case: WriteCase) -> None:
    """Q-10: the same answers, whatever runs them."""
    result = replay(write_case(), *options)
    assert (result.exit_code, result.stdout.splitlines()) == (0, [LOW, *HIGH])


def test_without_java_spark_says_what_to_do(write_case: WriteCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """The case is fine, the machine is not: status 1."""
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    result = replay(write_case(), "--engine", "spark")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--engine reference" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("options", [["--epoch", "0"], ["--epoch", "x"], ["--engine", "flink"], ["--nothing"], []])
def test_misuse_is_status_2(options: list[str], write_case: WriteCase) -> None:
    files = [write_case()] if options else []
    assert refused(replay(*files, *options))


# ------------------------------------------------------------------------------ the summary

LATE = [
    {"stream": "Vitals", "time": 5.0, "level": "U", "row": {"sid": 1, "wt": 1.0}},
    {"time": 6.0},
    {"stream": "Vitals", "time": 5.0, "level": "U", "row": {"sid": 1, "wt": 1.0}},
    {"time": 9.0},
]
SECRETS = [
    {"stream": "Vitals", "time": 5.0, "level": "S", "row": {"sid": 1, "wt": 1.0}},
    {"stream": "Vitals", "time": 7.0, "level": "U", "row": {"sid": "one", "wt": 1.0}},
    {"stream": "Vitals", "time": 7.0, "row": {"sid": 1, "wt": 1.0}},
]


BUSY = [*LATE[:3], *SECRETS, *LATE[3:]]
FIRST = '(first: input entry 5: attribute "sid": not a whole number, as int needs)'
QUIET = [LATE[0], LATE[3]]


@pytest.mark.parametrize("options", [[], ["--summary"], ["--as", "S"], ["--as", "S", "--summary"]], ids=" ".join)
def test_no_tuple_disappears_without_a_word(options: list[str], write_case: WriteCase) -> None:
    """Q-1, Q-11: late and quarantined tuples are counted on standard error, for everyone who may know of them."""
    result = replay(write_case(input=BUSY), *options)
    assert (result.exit_code, result.stderr) == (0, f"case.json: 2 quarantined {FIRST}, 2 late\n")
    assert all(json.loads(line) for line in result.stdout.splitlines())


def test_nothing_to_report_is_silence_unless_the_summary_is_asked_for(write_case: WriteCase) -> None:
    path = write_case(input=QUIET)
    assert replay(path).stderr == ""
    assert replay(path, "--summary").stderr == "case.json: 0 quarantined, 0 late\n"
    assert replay(path, "--summary", "--as", "C").stderr == "case.json: 0 late\n"


def test_the_first_of_the_quarantine_is_the_first_that_arrived(write_case: WriteCase) -> None:
    """Entries are counted as a reader of the file counts them, ticks and statements too, whatever their instants."""
    first = {"stream": "Vitals", "time": 9.0, "level": "U", "row": {"sid": 1, "wt": 1.0, "y\n": 2}}
    other = {"stream": "Vitals", "time": 2.0, "level": "U", "row": {}}
    statement = {"time": 1.0, "at": "U", "statement": "SHOW STREAMS"}
    result = replay(write_case(input=[{"time": 1.0}, statement, LATE[0], first, other]))
    assert result.stderr == 'case.json: 2 quarantined (first: input entry 4: undeclared attribute "y\\n"), 0 late\n'


def test_a_late_tuple_in_the_quarantine_counts_as_both(write_case: WriteCase) -> None:
    result = replay(write_case(input=LATE, options={"late": "quarantine"}))
    assert result.stderr == "case.json: 1 quarantined (first: input entry 3: late), 1 late\n"


def test_each_of_several_files_has_its_own_line(write_case: WriteCase) -> None:
    quiet, busy = write_case("quiet.json", input=QUIET), write_case("busy.json", input=LATE)
    assert replay(quiet, busy).stderr == "busy.json: 0 quarantined, 1 late\n"


@pytest.mark.parametrize("summary", [[], ["--summary"]], ids=["plain", "summary"])
@pytest.mark.parametrize("late", ["restamp", "quarantine"])
@pytest.mark.parametrize("reader", ["U", "C"])
def test_a_low_reader_is_told_nothing_of_what_is_above(
    reader: str, late: str, summary: list[str], write_case: WriteCase
) -> None:
    """Q-11: quarantine is at the top, late tuples count at their own level; both invisible below."""
    options = {"late": late}
    quiet = replay(write_case(input=LATE, options=options), *summary, "--as", reader)
    busy = replay(write_case(input=BUSY, options=options), *summary, "--as", reader)
    assert (busy.stdout, busy.stderr) == (quiet.stdout, quiet.stderr)
    assert quiet.stderr == "case.json: 1 late\n"


def test_a_low_reader_gets_no_line_for_secrets_alone(write_case: WriteCase) -> None:
    """Q-11: whether there is a line at all would tell, too. A reader beside the late tuple's level is told nothing."""
    secrets = write_case(input=[QUIET[0], {"time": 6.0}, *SECRETS, QUIET[1]])
    assert [replay(secrets, "--as", reader).stderr for reader in ("U", "C")] == ["", ""]
    diamond = "U < C, U < B, C < S, B < S"
    late = {"stream": "Vitals", "time": 5.0, "level": "B", "row": {"sid": 1, "wt": 1.0}}
    beside = write_case(levels=diamond, input=[QUIET[0], {"time": 6.0}, late, QUIET[1]])
    assert replay(beside, "--as", "C").stderr == ""
    assert replay(beside, "--as", "B").stderr == "case.json: 1 late\n"


# ------------------------------------------------------------------------------ as a program


def test_output_is_ascii_whatever_the_data(write_case: WriteCase) -> None:
    """CASES.md: equal to the byte on every terminal; a JSON reader gives the characters back."""
    tuples = [{"stream": "Names", "time": 1.0, "level": "U", "row": {"name": "Zoë ☂"}}]
    query = {"name": "größe", "at": "U", "text": "SELECT name FROM Names"}
    result = replay(write_case(streams={"Names": {"name": "string"}}, input=tuples, queries=[query]))
    assert result.stdout.isascii()
    assert json.loads(result.stdout)["row"] == {"name": "Zoë ☂"}


def test_a_failing_query_is_a_line_and_the_command_succeeds(write_case: WriteCase) -> None:
    """CASES.md: a refused or failed query prints its error, and the others go on."""
    bad = {"name": "bad", "at": "U", "text": "SELECT nothing FROM Vitals"}
    result = replay(write_case(queries=[bad, *CASE["queries"]]))
    first, *rest = result.stdout.splitlines()
    assert (result.exit_code, rest) == (0, [LOW, *HIGH])
    assert json.loads(first)["error"]["code"] == "UNKNOWN_COLUMN"
    assert list(json.loads(first)["error"]) == ["code", "problem", "place", "hint"]


def test_a_reader_that_goes_away_ends_the_command_quietly(write_case: WriteCase) -> None:
    row = {"sid": 1, "wt": 2.0}
    many = [{"stream": "Vitals", "time": n / 100, "level": "U", "row": row} for n in range(1, 4_000)]
    query = [{"name": "all", "at": "U", "text": "SELECT sid, wt FROM Vitals"}]
    path = write_case(input=many, queries=query)
    with subprocess.Popen([*COMMAND, "replay", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"query": "all"')
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_one_message(write_case: WriteCase) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, "replay", write_case()], stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"tidegate: standard output: No space left on device\n")


@pytest.mark.parametrize("engine", ["spark", "reference"])
@pytest.mark.parametrize("error", [ValueError, KeyError, OSError])
def test_whatever_breaks_inside_is_one_message_without_data(
    engine: str, error: type[Exception], write_case: WriteCase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Q-9: an exception may quote a value; its text goes into a file of its owner, not to the screen."""
    place, name = ("spark_session", "StreamingFailure") if engine == "spark" else ("replay", "ReferenceFailure")
    broken = type(name, (error,), {})

    def breaks(*_: object) -> None:
        raise broken("secret value 4711")

    monkeypatch.setattr(f"tidegate.cli.replay.{place}", breaks)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = replay("--engine", engine, write_case())
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith("tidegate: the ")
    assert f"failed ({name}); details, which may quote data: " in result.stderr
    assert "4711" not in result.stderr
    log = Path(result.stderr.strip().rpartition(" ")[2])
    assert "4711" in log.read_text(encoding="utf-8")
    assert log.stat().st_mode & 0o077 == 0


def test_want_of_memory_is_said_as_such(write_case: WriteCase, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("tidegate.cli.replay.replay", breaks)
    result = replay(write_case())
    assert (result.exit_code, result.stderr) == (
        1,
        "tidegate: the reference failed: it needs more memory than there is\n",
    )


def test_the_program_exits_2_for_a_malformed_case() -> None:
    done = subprocess.run([*COMMAND, "replay", "-"], input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b'tidegate: -: the case has no "levels"\n'


def test_standard_input_is_read_like_a_file() -> None:
    """The same bytes give the same answer, by name or on standard input: UTF-8, with a mark at its start or none."""
    case = b'{"levels": "U", "streams": {"S": {"x": "int"}}, "queries": [], "input": []}'
    for given, status in ((b"\xef\xbb\xbf" + case, 0), (case[:-1] + b', "users": {"\xff": "U"}}', 2)):
        done = subprocess.run([*COMMAND, "replay", "-"], input=given, capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (status, b"")
