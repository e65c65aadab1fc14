"""Whatever is asked: what the asker may not see changes nothing of the answer (Q-12, Q-14)."""

from __future__ import annotations

from random import Random

from tests.conftest import examples
from tests.language.test_execute import LOOKING
from tests.language.world import DEFINED, LEVELS, OUTSIDE, seen_from, world
from tests.laws.language.mutations import NAMES, TOKEN, Mutations
from tests.laws.language.test_bad_text import GOLDEN
from tidegate.catalog import Catalog
from tidegate.errors import QueryError
from tidegate.language.execute import execute
from tidegate.language.parser import parse
from tidegate.language.statements import Statement
from tidegate.security.lattice import Level
from tidegate.security.subject import Subject

ASKED = examples(3_000, 60_000)
RIGHT = (*LOOKING, *(text for _, text in DEFINED))
SECRETS = [
    name for _, _, name, _ in OUTSIDE
] + "Ambush scout Wreck beacon Periscope warhead armour sonar decrypt".split()


def answer(statement: Statement, text: str, level: Level, catalog: Catalog) -> object:
    try:
        outcome = execute(statement, catalog, Subject(None, level), 1_000)
    except QueryError as error:
        return str(error.within(text))
    return outcome.begun, outcome.ended, outcome.shown


def with_a_name_exchanged(text: str, random: Random) -> str:
    """The same text with other streams, functions and queries in it."""
    known = {*NAMES, *SECRETS, "sid", "truck", "net", "depth"}
    return "".join(
        random.choice(SECRETS) if part in known and random.random() < 0.5 else part for part in TOKEN.findall(text)
    )


def test_a_world_without_the_higher_levels_gives_the_same_answers(seed: int) -> None:
    random = Random(seed)
    mutations = Mutations(random, (*GOLDEN.texts, *RIGHT * 5))
    views = {level: seen_from(world(), level) for level in LEVELS}
    asked = 0
    for _ in range(ASKED):
        text = with_a_name_exchanged(mutations.text() if random.random() < 0.5 else random.choice(RIGHT), random)
        try:
            statement = parse(text)
        except QueryError:
            continue
        asked += 1
        for level, view in views.items():
            assert answer(statement, text, level, world()) == answer(statement, text, level, view), (seed, level, text)
    assert asked > ASKED / 4
