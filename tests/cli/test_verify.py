"""`tidegate verify` and `tidegate log`: what a gate wrote down means what it answered."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.conftest import examples
from tests.engine.living import Living
from tests.laws.reference.cases import CaseWriter, Raw
from tests.laws.reference.running import chances, show
from tidegate.case import read_case
from tidegate.cli.main import cli
from tidegate.engine.caselog import read_case_log
from tidegate.engine.herd import path_name
from tidegate.engine.livelog import read_ticks
from tidegate.engine.results import Results
from tidegate.engine.verify import Span, expected_lines
from tidegate.security.declare import declare
from tidegate.security.lattice import Level
from tidegate.system.directory import GateDirectory, read_about

CASE: Raw = {
    "levels": "U < C < S",
    "streams": {"V": {"sid": "int", "wt": "double"}},
    "relations": {"R": {"schema": {"sid": "int"}, "rows": [{"level": "U", "sid": 1}, {"level": "S", "sid": 2}]}},
    "queries": [
        {"name": "low", "at": "C", "text": "SELECT SUM(wt) AS w FROM V [ROWS 2]"},
        {"name": "high one", "at": "S", "text": "SELECT V.sid FROM V [NOW], R WHERE V.sid = R.sid"},
        {"name": "kept out", "at": "S", "text": "SELECT stream, reason, row FROM QUARANTINE"},
    ],
    "input": [
        {"stream": "V", "time": 1.0, "level": "U", "row": {"sid": 1, "wt": 80.0}},
        {"stream": "V", "time": 2.0, "level": "S", "row": {"sid": 2, "wt": 90.5}},
        {"stream": "V", "time": 3.0, "level": "X", "row": {"sid": 3, "wt": 0.5}},
        {"stream": "V", "time": 3.0, "row": {"sid": 4, "wt": 0.5}},
        {"stream": "V", "level": "U", "row": {"sid": 5, "wt": 0.5}},
        {"stream": "V", "time": 4.0, "level": "C", "row": {"sid": 1, "wt": -0.0}},
    ],
}
NOT_IN_A_CASE = (
    {"stream": "V", "time": 4.0, "level": "U", "row": {"sid": "one", "wt": 1.0}},
    {"stream": "V", "time": 4.0, "level": "X", "row": {"sid": 6, "wt": 1e22}},  # a case would show it as 1E+22
)


def run(*arguments: str, given: str | None = None) -> Result:
    """Run the command."""
    return CliRunner().invoke(cli, list(arguments), input=given)


def live(directory: Path, raw: Raw, chance: Random) -> Path:
    """The directory of a gate that has lived through a case."""
    case = read_case(json.dumps(raw))
    home = GateDirectory(directory)
    home.agree({"levels": raw["levels"], "shards": 2, "processors": list(case.lattice.levels()), "began": 0})
    living = Living(directory, case, chance, tuple(case.lattice.levels()))
    living.drive()
    living.processors.close()
    living.shepherd.close()
    home.close()
    return directory


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gate that has lived through a small case."""
    return live(tmp_path_factory.mktemp("gates") / "gate", CASE, Random(1))


@pytest.fixture
def copy(gate: Path, tmp_path: Path) -> Path:
    """One to be damaged."""
    return Path(shutil.copytree(gate, tmp_path / "copy"))


def results_of(directory: Path, level: str) -> Results:
    """What a level answered."""
    lattice = declare(read_about(directory)["levels"])
    return Results(directory / "levels" / path_name(level) / "results", lattice)


def expected_by_query(directory: Path) -> dict[str, list[str]]:
    """What the reference says of a log, by the name of the query."""
    about = read_about(directory)
    always = {level: Span(-1, 1 << 62) for level in declare(about["levels"]).levels()}
    found: dict[str, list[str]] = {}
    for (_, name), lines in expected_lines(directory, about, always).items():
        found.setdefault(name, []).extend(map(without_place, lines))
    return {name: sorted(lines) for name, lines in found.items()}


def replayed_by_query(lines: list[str]) -> dict[str, list[str]]:
    """The same of what ``replay`` printed."""
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(json.loads(line)["query"], []).append(without_place(line))
    return {name: sorted(every) for name, every in found.items()}


def without_place(line: str) -> str:
    """A case has the name of a query inside its text, so the place of an error is further right."""
    value: dict[str, Any] = json.loads(line)
    if "error" not in value:
        return line
    value["error"].pop("place")
    return json.dumps(value)


# ------------------------------------------------------------------------------ verify


def test_a_gate_that_answered_what_its_log_means_is_equal_at_every_level(gate: Path) -> None:
    """Q-10."""
    result = run("verify", str(gate))
    assert (result.exit_code, result.stderr) == (0, "")
    rows = [line.split("│")[1:-1] for line in result.stdout.splitlines() if line.startswith("│")]
    assert [[cell.strip() for cell in row] for row in rows] == [["C", "1", "2", "equal"], ["S", "2", "6", "equal"]]


def test_the_first_line_that_differs_is_shown(copy: Path) -> None:
    results = results_of(copy, "C")
    serial = results.serials()[0]
    first, *_ = results.epochs(serial, -1)
    (results.directory / str(serial) / f"{first}.arrow").unlink()
    result = run("verify", str(copy))
    assert result.exit_code == 1
    assert "different in 1 of 1" in result.stdout
    assert result.stdout.splitlines()[-3:-1] == [
        'first difference: query "low" at level "C"',
        '  the log means: {"query": "low", "time": 1.0, "op": "+", "level": "U", "row": {"w": 80.0}}',
    ]


def test_results_that_were_dropped_by_age_are_not_missed(copy: Path) -> None:
    """Q-16."""
    results = results_of(copy, "C")
    results.forget(results.epochs(results.serials()[0], -1)[-1] + 1)
    result = run("verify", str(copy))
    assert result.exit_code == 0
    assert "older results were dropped by age" in " ".join(result.stdout.replace("│", " ").split())


def _no_segment(gate: Path) -> None:
    next(gate.glob("streams/*/segments/*.arrow")).unlink()


def _no_beginning(gate: Path) -> None:
    ticks = next(gate.glob("log/*.jsonl"))
    ticks.write_text("".join(ticks.read_text().splitlines(keepends=True)[1:]))


@pytest.mark.parametrize("command", ["verify", "log"])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda gate: (gate / "gate.json").unlink(), "is not the directory of a gate: it has no gate.json"),
        (shutil.rmtree, "is not the directory of a gate: it has no gate.json"),
        (_no_segment, "were dropped by age"),
        (_no_beginning, "the log begins at tick 1"),
    ],
)
def test_what_cannot_be_replayed_is_one_message(
    command: str, damage: Callable[[Path], None], message: str, copy: Path
) -> None:
    damage(copy)
    result = run(command, str(copy))
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert message in result.stderr


def test_nothing_is_written_while_a_gate_is_looked_at(copy: Path) -> None:
    """A line that the gate is just writing must not be cut off."""
    ticks = next(copy.glob("log/*.jsonl"))
    with ticks.open("ab") as file:
        file.write(b'{"number": 9')
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    assert [run(command, str(copy)).exit_code for command in ("verify", "log")] == [0, 0]
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


# ------------------------------------------------------------------------------ log


def test_a_log_is_a_case_that_answers_the_same(gate: Path) -> None:
    """Q-10; tuples without or with an unknown label, or without a time, are quarantined again."""
    written = run("log", str(gate))
    assert (written.exit_code, written.stderr) == (0, "")
    again = run("replay", "-", given=written.stdout)
    assert again.exit_code == 0
    found = replayed_by_query(again.stdout.splitlines())
    assert found == expected_by_query(gate)
    assert [json.loads(line)["row"]["reason"] for line in found["kept out"]] == ["unknown level", "no level", "no time"]


def test_what_a_case_cannot_reproduce_is_left_out_and_counted(tmp_path: Path) -> None:
    """Q-11: no tuple disappears without a word."""
    gate = live(tmp_path / "gate", {**CASE, "input": [*CASE["input"], *NOT_IN_A_CASE]}, Random(1))
    said = gate / "statements.jsonl"
    said.write_text(said.read_text().replace('"high":"S"', '"high":"C"'))  # as if the source might not have sent S
    written = run("log", str(gate))
    assert (
        written.stderr
        == f"{gate}: quarantined tuples left out: 1 forbidden level, 1 not as declared, 1 unknown level\n"
    )
    assert run("log", str(gate), "--as", "C").stderr == "", "of the quarantine nobody learns below the top"
    found = replayed_by_query(run("replay", "-", given=written.stdout).stdout.splitlines())
    expected = expected_by_query(gate)
    assert {**found, "kept out": []} == {**expected, "kept out": []}
    assert len(found["kept out"]) == len(expected["kept out"]) - 3


def test_late_tuples_that_were_kept_out_are_kept_out_again(tmp_path: Path) -> None:
    """Q-1: the tick before them is in the case."""
    late = {"stream": "V", "time": 0.5, "level": "U", "row": {"sid": 7, "wt": 1.0}}
    raw = {**CASE, "options": {"late": "quarantine"}, "input": [*CASE["input"], {"time": 5.0}, late]}
    gate = live(tmp_path / "gate", raw, Random(8))
    expected = expected_by_query(gate)
    assert '"reason": "late"' in "".join(expected["kept out"])
    assert replayed_by_query(run("replay", "-", given=run("log", str(gate)).stdout).stdout.splitlines()) == expected


@pytest.mark.parametrize("reader", ["U", "C", "S"])
def test_a_reader_gets_what_its_level_dominates(reader: str, gate: Path) -> None:
    """M-4: tuples, rows of relations, statements; the quarantine is the top's."""
    lattice = declare("U < C < S")
    written = run("log", str(gate), "--as", reader)
    case = json.loads(written.stdout)
    labels = [row["level"] for row in case["relations"]["R"]["rows"]]
    labels += [entry.get("level", entry.get("at")) for entry in case["input"] if len(entry) > 1]
    known = [label for label in labels if label in ("U", "C", "S")]
    assert all(lattice.dominates(Level(reader), Level(label)) for label in known)
    assert reader in known
    assert (len(known) == len(labels)) == (reader != "S")
    ticks = [entry for entry in case["input"] if entry.keys() == {"time"}]
    assert len(ticks) == len(read_ticks(gate)) + 1


def test_a_reader_of_no_level_is_misuse(gate: Path) -> None:
    result = run("log", str(gate), "--as", "c")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == 'tidegate: --as: "c" is not a level; did you mean "C"?\n'


def test_the_log_of_any_gate_is_a_case_that_answers_the_same(seed: int, tmp_path: Path) -> None:
    """Q-1, Q-10, Q-13: whatever was said and sent, with crashes; and for a reader, what replay shows that reader."""
    compared = 0
    for number, (name, chance) in enumerate(chances(seed, "log", examples(12, 500))):
        raw = CaseWriter(chance).case()
        gate = live(tmp_path / str(number), raw, chance)
        written = "\n".join(read_case_log(gate, read_about(gate)).lines())
        whole = run("replay", "-", given=written)
        assert whole.exit_code == 0, whole.stderr
        expected = expected_by_query(gate)
        assert replayed_by_query(whole.stdout.splitlines()) == expected, show(name, raw)
        reader = chance.choice(list(declare(raw["levels"]).levels()))
        share = run("replay", "-", given=run("log", str(gate), "--as", reader).stdout)
        assert share.stdout == run("replay", "-", "--as", reader, given=written).stdout, show(name, raw)
        compared += sum(map(len, expected.values()))
    assert compared > 100, "cases that answer little show little"
