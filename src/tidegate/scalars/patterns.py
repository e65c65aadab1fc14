"""LIKE patterns as regular expressions that cannot run away.

Reads: nothing.  Read by: operators, reference.
"""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=256)
def like_pattern(pattern: str, escape: str | None) -> re.Pattern[str]:
    """``%`` is any text, ``_`` any character; after the escape character both are themselves.

    Between two ``%`` the first place that fits is as good as any later one, so the search never comes back to it:
    without that, twenty ``%`` could take for ever on one row.
    """
    first, *rest = _pieces(pattern, escape)
    if not rest:
        return re.compile(first, re.DOTALL)
    middle = "".join(f"(?>.*?{piece})" for piece in rest[:-1] if piece)
    return re.compile(f"{first}{middle}.*{rest[-1]}", re.DOTALL)


def _pieces(pattern: str, escape: str | None) -> list[str]:
    """The parts between the ``%``, each as a regular expression of fixed length."""
    pieces = [""]
    escaped = False
    for character in pattern:
        if not escaped and character == escape:
            escaped = True
        elif not escaped and character == "%":
            pieces.append("")
        else:
            pieces[-1] += "." if character == "_" and not escaped else re.escape(character)
            escaped = False
    return pieces
