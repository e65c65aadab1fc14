"""What the child gives up before it sees foreign code.

It dies with its parent, hides the pipes, can write no file, and on Linux (x86-64, ARM64) a system call filter takes
away new processes, programs, sockets, signals and the memory of others: so nothing can outlive the child, whoever it
runs as. Threads stay, because Arrow waits for ever for one that it cannot start. RLIMIT_NPROC is not used: it counts
all that the user runs, so a call would fail or not by what else is going on.

This is a fence around mistakes and mischief of one level. Levels are kept apart by the isolation of their processors.

Reads: nothing.  Read by: process (by name), child.
"""

from __future__ import annotations

import ctypes
import errno
import math
import os
import platform
import resource
import sys
import time

MOST_DESCRIPTORS = 64

_DIE_WITH_PARENT, _NO_NEW_PRIVILEGES, _SET_FILTER, _FILTER_MODE = 1, 38, 22, 2  # of prctl(2)
_KILL_SIGNAL = 9
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_SET, _JUMP_IF_ABOVE, _RETURN = 0x20, 0x15, 0x45, 0x25, 0x06
_NUMBER_AT, _MACHINE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_THREAD_FLAG = 0x00010000
_LARGEST_NUMBER = 0x3FFFFFFF  # above are the calls of another interface (x32) that would pass by the list
_CLONE3 = 435  # its flags are out of a filter's sight; refused as unknown, the C library takes clone instead

# machine: its number, that of clone, and those refused: fork vfork execve execveat setsid setpgid kill tkill tgkill
# pidfd_send_signal ptrace process_vm_readv process_vm_writev pidfd_getfd socket socketpair io_uring_setup
_MACHINES: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "x86_64": (0xC000003E, 56, (57, 58, 59, 322, 112, 109, 62, 200, 234, 424, 101, 310, 311, 438, 41, 53, 425)),
    "aarch64": (0xC00000B7, 220, (221, 281, 157, 154, 129, 130, 131, 424, 117, 270, 271, 438, 198, 199, 425)),
}


def restrain(parent: int) -> tuple[int, int]:
    """Give up everything that a row-wise function does not need; the two descriptors of the protocol are left."""
    if sys.platform == "linux":
        _prctl(_DIE_WITH_PARENT, _KILL_SIGNAL)
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)
    descriptors = _hide_pipes()
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, MOST_DESCRIPTORS),
    ):
        _limit(limit, value)
    if sys.platform == "linux" and platform.machine() in _MACHINES:
        _forbid(*_MACHINES[platform.machine()])
    return descriptors


def grant_memory(size: int) -> None:
    """Allow this much address space beyond what is taken now."""
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as sizes:
            taken = int(sizes.read().split()[0]) * resource.getpagesize()
        _limit(resource.RLIMIT_AS, taken + size)


def grant_seconds(seconds: float) -> None:
    """Allow this much processor time from now on; the host's own clock ends a call that does not compute."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = math.ceil(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def _hide_pipes() -> tuple[int, int]:
    """Move the protocol away from where reading and printing would find it."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return requests, answers


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("value", ctypes.c_uint))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(_Instruction)))


def _filter(machine: int, clone: int, refused: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    """The filter as instructions: code, lines to skip if so, lines to skip if not, value."""
    refuse = (_RETURN, 0, 0, _REFUSE | errno.EPERM)
    lines = [(_LOAD, 0, 0, _MACHINE_AT), (_JUMP_IF_EQUAL, 1, 0, machine), refuse, (_LOAD, 0, 0, _NUMBER_AT)]
    lines += [(_JUMP_IF_ABOVE, 0, 1, _LARGEST_NUMBER), refuse]
    lines += [(_JUMP_IF_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _REFUSE | errno.ENOSYS)]
    for number in refused:
        lines += [(_JUMP_IF_EQUAL, 0, 1, number), refuse]
    lines += [
        (_JUMP_IF_EQUAL, 0, 3, clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_JUMP_IF_SET, 1, 0, _THREAD_FLAG),
        refuse,
    ]
    return [*lines, (_RETURN, 0, 0, _ALLOW)]


def _forbid(machine: int, clone: int, refused: tuple[int, ...]) -> None:
    lines = _filter(machine, clone, refused)
    instructions = (_Instruction * len(lines))(*(_Instruction(*line) for line in lines))
    program = _Program(len(lines), instructions)
    _prctl(_NO_NEW_PRIVILEGES, 1)
    _prctl(_SET_FILTER, _FILTER_MODE, ctypes.addressof(program))


def _prctl(option: int, *arguments: int) -> None:
    """Ask the kernel; a refusal ends the child, because a fence that is not there must not seem to be."""
    padded = [ctypes.c_ulong(argument) for argument in (*arguments, 0, 0, 0, 0)[:4]]
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(option, *padded) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
