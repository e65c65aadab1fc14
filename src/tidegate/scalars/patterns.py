"""LIKE patterns as regular expressions.

Reads: nothing.  Read by: operators, reference.
"""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=256)
def like_pattern(pattern: str, escape: str | None) -> re.Pattern[str]:
    """``%`` is any text, ``_`` any character; after the escape character both are themselves."""
    parts: list[str] = []
    escaped = False
    for character in pattern:
        if not escaped and character == escape:
            escaped = True
            continue
        wild = {"%": ".*", "_": "."}.get(character)
        parts.append(re.escape(character) if escaped or wild is None else wild)
        escaped = False
    return re.compile("".join(parts), re.DOTALL)
