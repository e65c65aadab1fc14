"""tidegate: continuous queries over labelled streams; a tuple moves only to where its level is dominated."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.errors import EngineError as EngineError
    from tidegate.errors import QueryError as QueryError
    from tidegate.errors import SourceError as SourceError
    from tidegate.errors import TidegateError as TidegateError
    from tidegate.sinks.callback import CallbackSink as CallbackSink
    from tidegate.sinks.console import ConsoleSink as ConsoleSink
    from tidegate.sinks.parquet import ParquetSink as ParquetSink
    from tidegate.sources.directory import directory as directory
    from tidegate.sources.generator import generator as generator
    from tidegate.system.clock import Clock as Clock
    from tidegate.system.gate import Gate as Gate
    from tidegate.system.session import Suspended as Suspended

_HOMES = {
    "CallbackSink": "sinks.callback",
    "Clock": "system.clock",
    "ConsoleSink": "sinks.console",
    "EngineError": "errors",
    "Gate": "system.gate",
    "ParquetSink": "sinks.parquet",
    "QueryError": "errors",
    "SourceError": "errors",
    "Suspended": "system.session",
    "TidegateError": "errors",
    "directory": "sources.directory",
    "generator": "sources.generator",
}


def __getattr__(name: str) -> object:
    """The names of the front door, loaded when they are asked for: importing an area must not load Spark."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tidegate' has no attribute {name!r}")
    return getattr(import_module(f"tidegate.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """What there is, for whoever looks."""
    return sorted(_HOMES)
