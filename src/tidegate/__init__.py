"""Continuous queries over labelled streams: a tuple moves only to where its level is dominated."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.system.clock import Clock as Clock
    from tidegate.system.gate import Gate as Gate


def __getattr__(name: str) -> object:
    """The names of the front door, loaded when they are asked for: importing an area must not load Spark."""
    if name == "Gate":
        from tidegate.system.gate import Gate

        return Gate
    if name == "Clock":
        from tidegate.system.clock import Clock

        return Clock
    raise AttributeError(f"module 'tidegate' has no attribute {name!r}")
