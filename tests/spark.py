"""Spark for tests: one small session for all of them, since each starts a Java machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sudare.engines.spark_sessions import LOCAL
from tests.conftest import unavailable

JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
SMALL = LOCAL | {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    # A few rows are counted long before generated code, or code that is compiled well or looked through, pays off.
    "spark.driver.extraJavaOptions": JAVA,
    "spark.executor.extraJavaOptions": JAVA,
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""A session that takes little time for few rows."""


def needs_spark() -> None:
    if importlib.util.find_spec("pyspark") is None:
        unavailable("pyspark is not installed: pip install 'sudare[spark]'")
    if shutil.which("java") is None:
        unavailable("no Java: install openjdk-17-jre-headless (apt-get)")


@contextmanager
def running(master: str, conf: Mapping[str, str]) -> Iterator[Any]:
    """A session that leaves nothing behind."""
    needs_spark()
    from pyspark.sql import SparkSession

    folder = tempfile.mkdtemp(prefix="sudare-test-spark-")
    builder = SparkSession.builder.master(master)
    own = {"spark.local.dir": folder, "spark.sql.warehouse.dir": f"{folder}/warehouse"}
    for name, value in {**conf, **own}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()
        shutil.rmtree(folder, ignore_errors=True)


def run(code: str, **environment: str) -> str:
    """Run code in a process of its own; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
