"""How a session is set up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyspark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_workers_load_the_installed_pyspark(spark: SparkSession) -> None:
    """Not the archive of it, which each process would compile anew."""
    found = spark.sparkContext.parallelize([0], 1).map(lambda _: pyspark.__file__).collect()
    assert found == [pyspark.__file__]
