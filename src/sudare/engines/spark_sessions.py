"""Sessions of Spark: the caller's own, one on this machine, or one of a Spark Connect server."""

from __future__ import annotations

import re
import weakref
from typing import Any

from sudare.engines.private_folder import private_folder
from sudare.errors import InputError, ParameterError

CONNECT = "sc://"
FIRST_TRIES = 5  # about 17 s; once it has answered, a server is waited for up to ten minutes
NEEDS = 'needs the package pyspark, 4 or later. Install it: pip install "sudare[spark]"'
LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # errors are raised; a log would show values of people, too
}
"""How a session on this machine is started: nobody else can reach it."""


def errors() -> tuple[type[Exception], ...]:
    """Return what Spark raises, if it is installed."""
    try:
        from pyspark.errors import PySparkException
    except ModuleNotFoundError:
        raise ParameterError(f'The engine "spark" {NEEDS}') from None
    try:
        from py4j.protocol import Py4JError
    except ModuleNotFoundError:  # a client of Spark Connect alone
        return (PySparkException,)
    return PySparkException, Py4JError


def is_spark(thing: Any, kind: str) -> bool:
    """Tell whether something is a SparkSession or DataFrame of Spark; one of Spark Connect is, too.

    >>> is_spark(None, "DataFrame")
    False
    """
    return any(c.__name__ == kind and c.__module__.startswith("pyspark.sql") for c in type(thing).__mro__)


def is_local(session: Any) -> bool:
    """Tell whether a session works on this machine, with its files. Where a Spark Connect server has its own, we cannot see."""
    connected = any(c.__module__.startswith("pyspark.sql.connect") for c in type(session).__mro__)
    return not connected and str(session.conf.get("spark.master", "")).startswith("local")


def local_session() -> Any:
    """Return the session that is running, or start one on this machine."""
    raised = errors()
    from pyspark.sql import SparkSession

    if running := SparkSession.getActiveSession():
        return running
    home, remove = private_folder("spark")  # Spark lets everybody read what it spills
    folders = {"spark.local.dir": str(home / "spilled"), "spark.sql.warehouse.dir": str(home / "warehouse")}
    builder = SparkSession.builder.master("local[*]").appName("sudare")
    for name, value in (LOCAL | folders).items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except raised:
        remove()
        raise ParameterError(
            'The engine "spark" needs Java 17 or later, and Spark did not start with the one that is here, if any. '
            "Install it (Debian: apt-get install openjdk-17-jre-headless), or name it in JAVA_HOME."
        ) from None
    weakref.finalize(session, remove)
    return session


def running_session() -> Any:
    """Return the session that is running; a new one on this machine would take its tables with it."""
    errors()
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is None:
        raise InputError(
            "spark://: there is no running Spark session whose catalog could keep the table. Make one first, or name a Spark "
            'Connect server: "sc://host:15002/?table=people".'
        )
    return running


def connected_session(url: str) -> Any:
    """Return a new session of a Spark Connect server; what its URL says besides the host may be secret."""
    raised = errors()
    try:
        from pyspark.sql.connect.client.retries import DefaultPolicy
        from pyspark.sql.connect.session import SparkSession
    except ImportError:
        raise ParameterError(f"{safe_engine(url)}: Spark Connect {NEEDS}") from None
    try:
        session = SparkSession.builder.remote(url).create()
        patient = session.client.get_retry_policies()
        session.client.set_retry_policies([DefaultPolicy(max_retries=FIRST_TRIES)])
        session.version  # noqa: B018 (it asks the server)
        session.client.set_retry_policies(patient)
    except raised as error:
        condition = getattr(error, "getCondition", lambda: None)() or type(error).__name__
        raise InputError(
            f"{safe_engine(url)}: the Spark Connect server does not answer ({condition}). Is the URL like "
            "sc://host:15002, does the server run, and does it take the token? To hosts other than localhost, a token goes by TLS."
        ) from None
    return session


def safe_engine(engine: str) -> str:
    """Return what may be shown of the text that names an engine: of a URL its scheme and host.

    >>> safe_engine("sc://spark.example:15002/;token=geheim"), safe_engine("sc:/ann:geheim@spark"), safe_engine("oracle")
    ('sc://spark.example:15002', 'spark', 'oracle')
    """
    host = re.split(r"[;?#]", engine.removeprefix(CONNECT).rpartition("@")[2], maxsplit=1)[0].rstrip("/")
    return CONNECT + host if engine.startswith(CONNECT) else host
