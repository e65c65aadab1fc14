"""The world of the examples: the case that docs/language.md declares, and what happens to statements in it."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from tests.docs.pages import blocks, page
from tidegate.case import build_case
from tidegate.errors import Problem
from tidegate.language.session import Sessions
from tidegate.log import first_catalog

ASKER = "S"


@cache
def declared() -> str:
    """The JSON text of the world: the first JSON block of the page."""
    return blocks("json", page("docs/language.md"))[0].text


def world() -> dict[str, Any]:
    """A fresh copy of the declared case."""
    value: dict[str, Any] = json.loads(declared())
    return value


def statements(text: str) -> list[str]:
    """The statements of a block; each ends with ``;`` at the end of a line."""
    return [part.strip() for part in re.split(r";[ \t]*(?:--[^\n]*)?$", text, flags=re.MULTILINE) if part.strip()]


def outcomes(text: str) -> list[tuple[str, Problem | None]]:
    """What each statement of a block comes to, one after the other in one session at the asker's level."""
    case = build_case(world())
    sessions = Sessions(first_catalog(case), case.users)
    level = case.lattice.level(ASKER)
    found: list[tuple[str, Problem | None]] = []
    for number, statement in enumerate(statements(text)):
        spoken = sessions.say(statement, level, None, f"example{number}")
        problems = [entry.problem for entry in spoken if entry.problem]
        found.append((statement, problems[0] if problems else None))
    return found
