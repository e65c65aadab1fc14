"""A Spark session of our own: local, quiet, with state in RocksDB.

Reads: errors.  Read by: engine, cli.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17
STATE_STORE = "spark.sql.streaming.stateStore"
CHECKPOINTING = "org.apache.spark.sql.execution.streaming.checkpointing"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",
    f"{STATE_STORE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    # a change is logged, not a copy of the whole store: a third less for a small micro-batch (decision 7)
    f"{STATE_STORE}.rocksdb.changelogCheckpointing.enabled": "true",
    f"{STATE_STORE}.rocksdb.trackTotalNumberOfRows": "false",
    "spark.sql.streaming.minBatchesToRetain": "2",
    # Spark's own choice starts a process, readlink, for every file: 0.09 CPU s of a micro-batch (decision 7)
    "spark.sql.streaming.checkpointFileManagerClass": f"{CHECKPOINTING}.FileSystemBasedCheckpointFileManager",
    # old changes of the state are dropped in this rhythm: by default a minute's worth stays
    f"{STATE_STORE}.maintenanceInterval": "15s",
}
RUNTIME = {
    name: value
    for name, value in SETTINGS.items()
    if name.startswith("spark.sql.") and not name.startswith("spark.sql.warehouse")
}
"""What a streaming query of ours needs and what may be set while Spark runs."""
SOCKETS = "spark.python.unix.domain.socket.enabled"
LONGEST_FOLDER = 60
"""Letters of a directory in which a socket can have a name: the kernel allows 107 for both."""
JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""The JVM schedules and keeps state, and computes little: the quick compiler and the small collector cost it less."""


@contextmanager
def spark_session(work: Path, cores: int = 2) -> Iterator[SparkSession]:
    """A session whose files lie below a directory; its own words go to ``spark.log`` there."""
    _check_java()
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    words = Path(__file__).with_name("log4j2.properties").as_uri()
    builder = SparkSession.builder.master(f"local[{cores},4]").appName("tidegate")  # a dying worker is tried again
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    builder = builder.config(SOCKETS, str(len(os.fsencode(work)) <= LONGEST_FOLDER).lower())
    builder = builder.config("spark.local.dir", str(work)).config("spark.sql.warehouse.dir", str(work / "warehouse"))
    options = f"{JVM} -Dlog4j2.configurationFile={words} -Djava.io.tmpdir={work} -Dderby.system.home={work}"
    with _errors_to(work / "spark.log"), _home(work / "spark"):
        spark = builder.config("spark.driver.extraJavaOptions", options).getOrCreate()
    try:
        yield spark
    finally:
        _stop(spark)


def _stop(spark: SparkSession) -> None:
    """Stop Spark, or clear away what is left of one whose process has died: the next session starts a new one."""
    with warnings.catch_warnings(action="ignore"):
        try:
            spark.stop()
        except Exception:
            if not has_ended(spark):
                raise
            _bury(spark)


def _bury(spark: SparkSession) -> None:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    spark.sparkContext.stop()
    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.shutdown()
        if gateway.proc is not None:
            gateway.proc.wait()
            gateway.proc.stdin.close()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def has_ended(spark: SparkSession) -> bool:
    """Whether Spark was stopped, or its process has died."""
    try:
        return bool(spark.sparkContext._jsc.sc().isStopped())
    except Exception:  # noqa: BLE001 - whatever it is, Spark does not answer
        return True


def process_of(spark: SparkSession) -> int:
    """The process that Spark runs in."""
    assert spark._jvm is not None
    return int(spark._jvm.java.lang.ProcessHandle.current().pid())


@contextmanager
def without_farewells() -> Iterator[None]:
    """Stopping a streaming query interrupts its micro-batch, of which py4j logs a page; that is no error."""
    logger = logging.getLogger("py4j.clientserver")

    def silence(_: logging.LogRecord) -> bool:  # one of its own for each: two gates may be stopped at the same time
        return False

    logger.addFilter(silence)
    try:
        yield
    finally:
        logger.removeFilter(silence)


CANCELLED = ("SPARK_JOB_CANCELLED", "java.lang.InterruptedException")
FAREWELL = "py4j.protocol.Py4JJavaError: An error occurred while calling a micro-batch: java.lang.InterruptedException"


@contextmanager
def short_farewell() -> Iterator[None]:
    """Around what a micro-batch runs: where it is cancelled, it says so in few words.

    Spark compares the words of whatever ends a stopped query with a pattern, to see whether the stop did it; a Java
    trace is too long for that and ends in a StackOverflowError, which Spark prints on a thousand lines. These fit.
    """
    try:
        yield
    except Exception as error:
        if any(word in str(error) for word in CANCELLED):
            raise RuntimeError(FAREWELL) from None
        raise


def own_session(spark: SparkSession) -> SparkSession:
    """A session beside somebody's own, in the same application: what we need to set is set only there."""
    from pyspark.sql import SparkSession

    if not isinstance(spark, SparkSession):
        raise EngineError(
            f"a gate needs a SparkSession, not {type(spark).__name__}: SparkSession.builder.getOrCreate()"
        )
    session = spark.newSession()
    for name, value in RUNTIME.items():
        session.conf.set(name, value)
    return session


@contextmanager
def _errors_to(path: Path) -> Iterator[None]:
    """The JVM inherits standard error when it starts, and keeps it."""
    sys.stderr.flush()
    ours = os.dup(2)
    try:
        with path.open("ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)


@contextmanager
def _home(place: Path) -> Iterator[None]:
    """Start the JVM in a home without Spark's archive of PySpark, unless the user has chosen a home.

    Spark would put the archive before the installed package, and what is in an archive is compiled by each process that
    loads it: 0.4 s for each of the two or more that a streaming query starts.
    """
    import pyspark

    if "SPARK_HOME" in os.environ:
        yield
        return
    if not place.exists():
        place.mkdir()
        for part in ("bin", "jars"):
            (place / part).symlink_to(Path(pyspark.__file__).parent / part)
    os.environ["SPARK_HOME"] = str(place)
    try:
        yield
    finally:
        del os.environ["SPARK_HOME"]


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java")
    hint = "install Java 17 or newer (Debian: apt-get install openjdk-17-jre-headless), or use --engine reference"
    if java is None or not Path(java).exists():
        where = f"JAVA_HOME is {home}, where there is no bin/java" if home else "there is no java on the PATH"
        raise EngineError(f"Spark needs Java: {where}; {hint}")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = said.partition('version "')[2].partition('"')[0]
    major = version.partition(".")[0]
    if not major.isdigit() or int(major) < OLDEST_JAVA:
        raise EngineError(f"Spark needs Java 17 or newer, and {java} is {version or 'unknown'}; {hint}")
