"""The Spark session of `tests/spark`, in the same process as those tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.conftest import spark

__all__ = ["spark"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What uses the session runs where it is; the rest runs anywhere."""
    for item in items:
        if Path(__file__).parent in item.path.parents and "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("spark"))
