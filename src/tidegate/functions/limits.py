"""What a user function may use up.

Reads: nothing.  Read by: functions.
"""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one call.

    ``memory_bytes`` is address space beyond what the interpreter with Arrow and NumPy takes (0.3 GiB), so that the same
    number means the same with the next version of them. ``seconds`` is time in which the function could run: a pause of
    the whole processor, as between its slots, does not count.
    """

    memory_bytes: int = 512 * MEBIBYTE
    seconds: float = 10.0


DEFAULT = Limits()
