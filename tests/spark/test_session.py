"""How a session is set up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from tidegate.engine.quiet import ALWAYS, STOPPING, Quiet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_workers_load_the_installed_pyspark(spark: SparkSession) -> None:
    """Not the archive of it, which each process would compile anew."""
    found = spark.sparkContext.parallelize([0], 1).map(lambda _: pyspark.__file__).collect()
    assert found == [pyspark.__file__]


def test_only_what_a_gate_makes_spark_say_is_left_out_and_only_meanwhile(spark: SparkSession) -> None:
    assert spark._jvm is not None
    log4j = spark._jvm.org.apache.logging.log4j
    logger = log4j.LogManager.getLogger("org.apache.spark.sql.execution.streaming.Some")
    words = ("Disabling AQE since AQE is not supported in stateful workloads.", "Something of the user's")

    def say(when: str) -> None:
        for word in words:
            logger.error(" ".join((word, when)))

    with Quiet(spark, ALWAYS), Quiet(spark, STOPPING):
        say("meanwhile")
    say("afterwards")
    said = (Path(spark.conf.get("spark.local.dir") or "") / "spark.log").read_text()
    assert [f"{word} {when}" in said for when in ("meanwhile", "afterwards") for word in words] == [
        False, True, True, True,
    ]  # fmt: skip
