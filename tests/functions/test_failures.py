"""Q-15, Q-9, N-9: however a function fails, the caller hears one of a few fixed sentences, and the host goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.functions.support import ONE, SHORT, SMALL, define, is_gone, values
from tidegate.errors import CODES, TidegateError
from tidegate.functions.failure import FunctionFailed, Reason
from tidegate.functions.host import FunctionHost

SECRET = "4711"
FORGE = """
import os
for descriptor in range(3, 64):
    try:
        os.write(descriptor, {bytes})
    except OSError:
        pass
os._exit(0)
return a
"""
FAILURES = {
    "raises": ("raise ValueError(f'secret {a}')\nreturn a", Reason.RAISED),
    "raises its own": (f"class Secret{SECRET}(Exception): pass\nraise Secret{SECRET}\nreturn a", Reason.RAISED),
    "raises while it is loaded": (f"raise ValueError({SECRET})\ndef f(a):\n    return a", Reason.RAISED),
    "leaves by sys.exit": (f"import sys\nsys.exit({SECRET})\nreturn a", Reason.RAISED),
    "recurses": ("def f(a):\n    return f(a)", Reason.RAISED),
    "overflows": ("a * (2 ** 62) * 4", Reason.RAISED),
    "divides by zero": ("a / 0", Reason.RAISED),
    "takes a column for a condition": ("a if a > 1 else 0", Reason.RAISED),
    "gives fractions": ("a * 0.5", Reason.WRONG_TYPE),
    "gives an object that lies": (
        "class Lie(list):\n    def __len__(self): raise SystemExit(4711)\nreturn Lie([1, 2, 3])",
        Reason.WRONG_TYPE,
    ),
    "gives too few": ("a[:-1]", Reason.WRONG_LENGTH),
    "gives too many": ("[1] * 4711", Reason.WRONG_LENGTH),
    "runs for ever": ("while True: pass\nreturn a", Reason.TOO_SLOW),
    "sleeps for ever": ("import signal\nwhile True: signal.pause()\nreturn a", Reason.TOO_SLOW),
    "uses up its processor time": (
        "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 99))\nwhile True: pass\nreturn a",
        Reason.TOO_SLOW,
    ),
    "eats memory at once": ("np.ones(10 ** 9)", Reason.TOO_MUCH_MEMORY),
    "eats memory bit by bit": ("x = []\nwhile True: x.append(bytearray(2 ** 20))\nreturn a", Reason.TOO_MUCH_MEMORY),
    "eats Arrow's memory": ("pa.nulls(10 ** 10, pa.int64())", Reason.TOO_MUCH_MEMORY),
    "leaves by os._exit": (f"import os\nos._exit({int(SECRET) % 256})\nreturn a", Reason.DIED),
    "crashes": ("import ctypes\nctypes.string_at(0)\nreturn a", Reason.DIED),
    "closes every descriptor": ("import os\nos.closerange(0, 1000)\nreturn a", Reason.DIED),
    "writes over the protocol": (FORGE.format(bytes="b'4711' * 100"), Reason.TOO_MUCH_MEMORY),
    "forges an answer": (FORGE.format(bytes="bytes([64, 0, 0, 0, 0, 0, 0, 0]) + b'4' * 64"), Reason.DIED),
    "is not Python": ("a +", Reason.UNUSABLE),
}
ENDLESS = ("runs for ever", "sleeps for ever")


@pytest.fixture(scope="module")
def host() -> Iterator[FunctionHost]:
    with FunctionHost(SMALL) as opened:
        yield opened


@pytest.mark.parametrize("case", FAILURES)
def test_a_function_that(case: str) -> None:
    """The name of the case completes the sentence; what is heard is the reason and nothing besides."""
    body, reason = FAILURES[case]
    with FunctionHost(SHORT if case in ENDLESS else SMALL) as host:
        with pytest.raises(FunctionFailed) as caught:
            values(host, define(body))
        pids = host.pids()
    error = caught.value
    assert error.reason is reason
    assert str(error) == reason.value
    assert error.args == (reason,)
    assert error.__cause__ is None
    assert error.__context__ is None
    assert all(is_gone(pid) for pid in pids)


def test_the_sentences_say_nothing_that_a_function_could_choose() -> None:
    assert all(not any(character.isdigit() or character in "{%" for character in reason.value) for reason in Reason)
    assert FunctionFailed.code in CODES
    assert issubclass(FunctionFailed, TidegateError)


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("raise ValueError", True),
        ("return 'x'", True),
        ("return a[:1]", True),
        ("os._exit(0)", False),
        ("np.ones(10 ** 9)", False),
        ("os.write(4, bytes([64] + [0] * 7) + b'4' * 64)", False),
    ],
)
def test_after_a_failure_the_next_call_is_answered(host: FunctionHost, body: str, kept: bool) -> None:
    """A failure takes nothing from the other functions, nor from the next call; an error need not cost a process."""
    guarded = define(f"import os\nif len(a) == 1:\n    return os.getpid()\n{body}")
    other = define("import os\nreturn os.getpid()")
    first, untouched = values(host, guarded, ONE[:1]), values(host, other)
    with pytest.raises(FunctionFailed):
        values(host, guarded)
    assert (values(host, guarded, ONE[:1]) == first) is kept
    assert values(host, other) == untouched
