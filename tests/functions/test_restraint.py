"""Q-15: what foreign code finds itself in, and that nothing of it stays behind."""

from __future__ import annotations

import errno
import os
import platform
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tests.functions.support import SMALL, comes_true, define, is_alive, is_gone, script, values
from tidegate.functions.failure import FunctionFailed
from tidegate.functions.host import FunctionHost
from tidegate.functions.process import ENVIRONMENT, START

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fence is the kernel's")
filtered = pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="no filter for this machine")


@pytest.fixture(scope="module")
def host() -> Iterator[FunctionHost]:
    with FunctionHost(SMALL) as opened:
        yield opened


LOOK = define("import os, sys, resource\ndef f(a):\n    return repr(eval(a[0].as_py()))", "string", returns="string")
TRY = """
import os, socket, subprocess
try:
    eval(a[0].as_py())
except OSError as error:
    return error.errno
return 0
"""
ATTEMPT = define(TRY, "string")


def looked_up(host: FunctionHost, expression: str) -> object:
    """What an expression gives inside the child."""
    return eval(str(values(host, LOOK, pa.array([expression]))[0]))


def test_the_environment_is_not_the_parents(host: FunctionHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "4711")
    assert looked_up(host, "dict(os.environ)") == ENVIRONMENT


def test_its_folder_is_empty_and_nothing_can_be_made_in_it(host: FunctionHost) -> None:
    assert looked_up(host, "os.listdir()") == []
    assert looked_up(host, "os.path.exists(os.readlink('/proc/self/cwd'))") is False
    assert values(host, ATTEMPT, pa.array(["open('x', 'w')"])) == [errno.ENOENT]


def test_nothing_can_be_written_to_a_file(host: FunctionHost, tmp_path: Path) -> None:
    write = f"os.write(os.open({str(tmp_path / 'x')!r}, os.O_CREAT | os.O_WRONLY), b'x')"
    assert values(host, ATTEMPT, pa.array([write])) == [errno.EFBIG]


def test_it_holds_no_descriptor_but_its_pipes(host: FunctionHost) -> None:
    with open(os.devnull) as inherited:
        os.set_inheritable(inherited.fileno(), True)
        links = looked_up(
            host, "[os.readlink(f'/proc/self/fd/{n}') for n in range(64) if os.path.exists(f'/proc/self/fd/{n}')]"
        )
    assert isinstance(links, list)
    assert links[:3] == [os.devnull] * 3
    assert [link.split(":")[0] for link in links[3:]] == ["pipe", "pipe"]


def test_printing_and_reading_do_not_touch_the_protocol(host: FunctionHost) -> None:
    body = """
import os, sys
print('x' * 100_000)
sys.stdout.write('4711'); sys.stdout.flush()
os.write(1, b'4711')
sys.stderr.write('4711')
assert sys.stdin.read() == '' and os.read(0, 10) == b''
return a
"""
    noisy = define(body)
    assert values(host, noisy) == values(host, noisy) == [1, 2, 3]


def test_the_rest_of_tidegate_is_out_of_reach(host: FunctionHost) -> None:
    loaded = looked_up(host, "sorted(name for name in sys.modules if name.startswith('tidegate'))")
    assert isinstance(loaded, list)
    assert all(name == "tidegate" or name.startswith("tidegate.functions") for name in loaded)
    with pytest.raises(FunctionFailed):
        values(host, define("import tidegate.errors\nreturn a"))


def test_sets_and_time_zones_are_the_same_in_every_child(host: FunctionHost) -> None:
    """Q-10: a restart must not change a result."""
    expression = "(hash('abc'), list({'a', 'b', 'c', 'd'}), __import__('time').tzname)"
    before = looked_up(host, expression)
    host.forget(LOOK)
    assert looked_up(host, expression) == before


def test_limits_are_set(host: FunctionHost) -> None:
    limits = looked_up(host, "[resource.getrlimit(n)[1] for n in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE)]")
    assert limits == [0, 0]
    assert looked_up(host, "resource.getrlimit(resource.RLIMIT_NOFILE)") == (64, 64)


@filtered
@pytest.mark.parametrize(
    "attempt",
    [
        "os.fork()",
        "os.posix_spawn('/bin/sleep', ['sleep', '60'], {})",
        "subprocess.Popen(['/bin/sleep', '60']).pid",
        "os.execv('/bin/sleep', ['sleep', '60'])",
        "os.setsid()",
        "os.setpgid(0, 0)",
        "os.kill(os.getppid(), 0)",
        "socket.socket().fileno()",
        "socket.socketpair()[0].fileno()",
    ],
)
def test_the_kernel_refuses(host: FunctionHost, attempt: str) -> None:
    """EPERM from the filter, also for the administrator, whom RLIMIT_NPROC would not stop."""
    assert values(host, ATTEMPT, pa.array([attempt])) == [errno.EPERM]


def test_threads_work_because_arrow_needs_them(host: FunctionHost) -> None:
    body = "t = pa.table({'a': a}).group_by('a').aggregate([('a', 'sum')]).sort_by('a')\nreturn t['a_sum']"
    assert values(host, define(body)) == [1, 2, 3]


def test_a_sleeping_grandchild_dies_with_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Second line of defence: without the filter, the whole group is killed."""
    monkeypatch.setattr("tidegate.functions.process.START", START.replace("restrain(int(sys.argv[2]))", "(0, 1)"))
    body = "import os, time\npid = os.fork()\nif not pid:\n    time.sleep(600)\nreturn pid"
    with FunctionHost(SMALL) as fresh:
        (grandchild, *_) = values(fresh, define(body))
        pids = (*fresh.pids(), grandchild)
        assert all(map(is_alive, pids))
    assert all(map(is_gone, pids))


@filtered
def test_a_function_that_forks_leaves_no_process_behind(host: FunctionHost) -> None:
    before = children_of(os.getpid())
    with FunctionHost(SMALL) as fresh, pytest.raises(FunctionFailed):
        values(fresh, define("import os, time\nif not os.fork():\n    time.sleep(600)\nreturn a"))
    assert children_of(os.getpid()) == before


def children_of(pid: int) -> set[str]:
    """The processes that a process has started and that still run."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return {child for task in tasks for child in task.read_text(encoding="ascii").split() if is_alive(int(child))}


def ticks(pid: int) -> int:
    """The processor time that a process has used, as the kernel counts it."""
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[11])


LONELY = """
import sys
import pyarrow as pa
from tidegate.functions.definition import FunctionDefinition
from tidegate.functions.host import FunctionHost
from tidegate.functions.limits import Limits
column = pa.array([1], pa.int64())
host = FunctionHost(Limits(seconds=1000.0))  # the limit is not what ends them
host.call(FunctionDefinition("idle", (("a", "bigint"),), "bigint", "a"), [column], 1)
busy = FunctionDefinition("busy", (("a", "bigint"),), "bigint", "while len(a) > 1: pass\\nreturn a")
host.call(busy, [column], 1)
print(*host.pids(), flush=True)
host.call(busy, [pa.array([1, 2], pa.int64())], 2)
"""


def test_no_child_outlives_a_parent_that_is_killed() -> None:
    parent = script(LONELY)
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2
    assert comes_true(lambda: ticks(pids[1]) > ticks(pids[0]) + 10)  # one waits for a call, one computes
    os.kill(parent.pid, signal.SIGKILL)
    parent.communicate()
    assert all(map(is_gone, pids))
