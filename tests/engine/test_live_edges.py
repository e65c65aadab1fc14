"""Edges of a live gate: odd labels, taken names, retention beside a standing clock."""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.engine.living import Living
from tidegate.case import StatementEntry, read_case
from tidegate.engine.broken import Broken
from tidegate.engine.epochs import schema_json
from tidegate.engine.herd import segments_of
from tidegate.engine.live import STREAM, Line
from tidegate.engine.segments import segment_schema, write_segment
from tidegate.engine.verify import verify
from tidegate.errors import EngineError
from tidegate.gates.admit import QUARANTINE
from tidegate.security.lattice import Level
from tidegate.system.binding import Binding

SECOND = 1_000_000


@pytest.fixture
def living(tmp_path: Path) -> Living:
    """A gate over one stream, with a query at C."""
    raw = {"levels": "U < C < S", "streams": {"V": {"a": "int"}}}
    case = read_case(json.dumps(raw))
    found = Living(tmp_path / "gate", case, Random(1), tuple(case.lattice.levels()))
    found.say(StatementEntry(Level("C"), "SELECT a FROM V [ROWS 2]", name="q"))
    return found


def put(living: Living, number: int, labels: pa.Array, instant: int | None, broken: Broken | None = None) -> None:
    """One segment with a tuple for each label."""
    schema = living.case.streams["V"]
    columns = [
        pa.array([1] * len(labels)),
        labels,
        pa.array([instant] * len(labels)),
        pa.array([broken and broken.to_text()] * len(labels), pa.string()),
    ]
    wanted = segment_schema(schema)
    table = pa.table([column.cast(one.type) for column, one in zip(columns, wanted, strict=True)], schema=wanted)
    place = segments_of(living.directory, "V")
    place.mkdir(parents=True, exist_ok=True)
    write_segment(table, place / f"{number}.arrow")


def finish(living: Living) -> None:
    """Answer what waits, and compare with the log."""
    for level, epochs in living.processors.waiting.items():
        living.processors._run(level, epochs)
        epochs.clear()
    assert verify(living.directory, {"levels": living.case.levels}).differing == {}
    living.processors.close()
    living.shepherd.close()


def test_a_label_that_is_no_text_is_quarantined(living: Living) -> None:
    """Q-11: it ends nothing, now or after a restart."""
    broken = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 3], np.int32).tobytes()), pa.py_buffer(b"U\xff\xfe")]
    )
    put(living, 0, broken, SECOND)
    living.shepherd.tick(2 * SECOND, 2 * SECOND)
    assert living.shepherd.herd.counted.quarantined == 1
    living.crash()
    finish(living)


def test_labels_that_name_one_level_are_counted_together(living: Living) -> None:
    """Q-1: late tuples are counted at their level, however it is written."""
    living.shepherd.tick(5 * SECOND, 5 * SECOND)
    put(living, 0, pa.array(["U", " U", "U "]), SECOND)
    living.shepherd.tick(6 * SECOND, 6 * SECOND)
    assert living.shepherd.herd.counted.late == {"U": 3}
    finish(living)


@pytest.mark.parametrize("level", ["U", "C", "S"])
def test_a_declared_name_is_one_that_nobody_has(living: Living, level: str) -> None:
    """Q-14: a declaration would change what was said before; the gate goes on."""
    living.say(StatementEntry(Level(level), "CREATE STREAM Orders AS SELECT a FROM V [NOW]"))
    terms = {"low": "U", "high": "S", "late": "restamp", "skew": 0}
    told = {"schema": schema_json(living.case.streams["V"]), "terms": terms, "timed": True, "delay": 0}
    for name in ("ORDERS", QUARANTINE):
        with pytest.raises(EngineError, match="exists already"):
            living.desk.declare(Line(STREAM, Level("U"), {"name": name, **told}))
    put(living, 0, pa.array(["U"]), SECOND)
    living.shepherd.tick(2 * SECOND, 2 * SECOND)
    finish(living)


def test_retention_keeps_what_a_restart_needs(living: Living) -> None:
    """The clock stands, everything is old, and the last tick can still be carried out again."""
    put(living, 0, pa.array(["U"]), SECOND)
    living.shepherd.tick(2 * SECOND, 2 * SECOND)
    assert not living.shepherd.tick(2 * SECOND, 2 * SECOND)
    living.shepherd.forget(time.time() + 60, 10 * SECOND)
    living.crash()
    finish(living)


def test_a_record_that_was_not_decoded_is_shown_with_its_attribute_its_file_and_its_line(living: Living) -> None:
    """Q-11: also where the source labels everything and has no time for a record that it could not read."""
    broken = Broken('attribute "a": does not fit int', "C;secret", "monday.csv", 7)
    put(living, 0, pa.array(["C", None]), None, broken)
    living.say(StatementEntry(Level("S"), "SELECT reason, row FROM QUARANTINE", name="kept out"))
    living.shepherd.tick(2 * SECOND, 2 * SECOND)
    living.shepherd.tick(3 * SECOND, 3 * SECOND)
    epoch = living.processors.waiting[Level("S")][0]
    batch = epoch.tuples[QUARANTINE].to_pydict()
    assert set(batch["reason"]) == {'not as declared: attribute "a": does not fit int'}
    assert json.loads(batch["row"][0]) == {"file": "monday.csv", "line": 7, "record": "C;secret"}
    finish(living)


def test_tuples_that_are_older_than_the_gate_are_told_of_once(living: Living, caplog: pytest.LogCaptureFixture) -> None:
    """Q-1: they are late, which who asks the past will not have meant; late ones of today are no news."""
    living.shepherd.herd.began = 10 * SECOND
    living.shepherd.tick(20 * SECOND, 20 * SECOND)
    put(living, 0, pa.array(["U", "S"]), 15 * SECOND)
    living.shepherd.tick(21 * SECOND, 21 * SECOND)
    assert not living.shepherd.herd.old.get("V")
    put(living, 1, pa.array(["U", "S", "no such level"]), 9 * SECOND)
    put(living, 2, pa.array(["U"]), None)
    living.shepherd.tick(22 * SECOND, 22 * SECOND)
    assert living.shepherd.herd.old == {"V": 2}
    source: Any = None
    binding = Binding("V", source, None, (Level("U"), Level("S")), 2.0, 10.0, "restamp")
    for count in (0, 2, 4):
        binding.note_old(count)
    (said,) = (record.getMessage() for record in caplog.records)
    assert said.startswith('stream "V": 2 tuples are older than the gate, so they are late and were stamped anew; ')
    assert said.endswith("give the gate a clock that begins there: Gate(…, clock=tidegate.Clock(start))")
    finish(living)
