"""Options of every test run: how long, from which seed, and whether to accept new outputs.

A quick run always starts from the same seed, so that it says the same twice. A soak takes a
fresh seed and prints it; ``--seed`` brings it back.
"""

from __future__ import annotations

import gc
import os
import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped] # ships no types

QUICK_SEED = 1
SPARK = tuple(
    f"tests/{folder}"
    for folder in (
        "spark/",
        "live/",
        "faults/test_gate",
        "faults/test_signals",
        "sources/",
        "sinks/",
        "docs/test_readme_live",
    )
)
SOAK_VARIABLE = "TIDEGATE_SOAK"  # the environment, because settings are chosen while test files are imported


def examples(quick: int, long: int) -> int:
    """How many examples to try: ``quick`` every day, ``long`` in a soak.

    Usable while a test file is imported: ``@settings(max_examples=examples(200, 20_000))``.
    """
    return long if os.environ.get(SOAK_VARIABLE) else quick


def pytest_addoption(parser: pytest.Parser) -> None:
    """The three options."""
    group = parser.getgroup("tidegate")
    group.addoption("--accept", action="store_true", help="rewrite expected outputs")
    group.addoption("--soak", action="store_true", help="run the long versions, about an hour")
    group.addoption("--seed", type=int, help=f"seed of all random choices (default: {QUICK_SEED}; in a soak a new one)")


@pytest.hookimpl(tryfirst=True)  # before hypothesis reads its own option
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed and the scale once, before any test file is imported."""
    if config.option.seed is None:
        config.option.seed = getattr(config, "workerinput", {}).get("seed") or _new_seed(config.option.soak)
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(config.option.seed)
    os.environ[SOAK_VARIABLE] = "1" if config.option.soak else ""
    # no deadline: how fast a shared machine is says nothing about the code
    settings.register_profile("tidegate", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
    settings.load_profile("tidegate")


def _new_seed(soak: bool) -> int:
    return random.SystemRandom().randrange(1, 2**32) if soak else QUICK_SEED


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hand the seed to a worker process, which would otherwise choose its own."""
    node.workerinput["seed"] = node.config.option.seed


class OneSession(LoadScopeScheduling):  # type: ignore[misc] # see above
    """Sessions of Spark are dear: a worker process that has one runs all tests of a folder that use it.

    xdist's own groups do not do it: with pytest 9.2 the group that xdist 3.8 writes into a test's name is not read.
    """

    def _split_scope(self, nodeid: str) -> str:
        return next((folder for folder in SPARK if nodeid.startswith(folder)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneSession | None:
    """Whatever is not one of Spark's goes to whichever process is free."""
    return OneSession(config, log) if config.option.dist == "loadgroup" else None


LONGEST_TEST = 600
"""Seconds after which a test that hangs is ended, so that a run ends too; it measures nothing."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End what hangs, except in a soak, where a test may take an hour."""

    def give_up(*_: object) -> None:
        raise TimeoutError(f"{item.nodeid} hung for {LONGEST_TEST} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(0 if item.config.option.soak else LONGEST_TEST)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def pytest_report_header(config: pytest.Config) -> str:
    """The seed, as the options that bring it back."""
    return f"again: pytest{' --soak' if config.option.soak else ''} --seed {config.option.seed}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked ``soak`` unless this is one."""
    if not config.option.soak:
        for item in items:
            if item.get_closest_marker("soak"):
                item.add_marker(pytest.mark.skip(reason="runs only with --soak"))


def pytest_collection_finish() -> None:
    """What is loaded by now stays: looking through it for garbage again and again takes a twentieth of the time."""
    gc.collect()
    gc.freeze()


# ------------------------------------------------------------------------------ comparisons


@dataclass
class Tally:
    """Comparisons that a test has made."""

    compared: int = 0
    different: int = 0

    def count(self, same: bool) -> None:
        """One more."""
        self.compared += 1
        self.different += not same


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Iterator[Tally]:
    """For the last lines of the run: what was really compared, in whichever process, also by a test that fails."""
    made = Tally()
    yield made
    request.node.user_properties.append((Tally.__name__, [made.compared, made.different]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """How many comparisons there were, and the seed."""
    reports = [one for one in chain(*terminalreporter.stats.values()) if getattr(one, "when", None) == "teardown"]
    made = [value for report in reports for name, value in report.user_properties if name == Tally.__name__]
    if made:
        compared, different = map(sum, zip(*made, strict=True))
        terminalreporter.write_line(
            f"compared {compared:,} (queries, stream, cut), {different:,} differences; seed {config.option.seed}"
        )


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One session of Spark for all tests of a process."""
    from tidegate.engine.session import spark_session

    with spark_session(tmp_path_factory.mktemp("spark")) as session:
        yield session


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    """The seed of this run, for tests that draw their own examples."""
    chosen: int = pytestconfig.option.seed
    return chosen
