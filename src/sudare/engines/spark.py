"""Spark as the database of an engine: rows stay on a cluster, or on this machine's cores.

The relational part is written once, in DuckDB's SQL, and sqlglot translates each query into Spark's. (Frames of narwhals would
be one relational part, too, but of Spark's they cannot be stored, nor be asked for in batches; SQL can be read, and tried by hand.)
Relations are tables of a schema of our own in Spark's catalog, which is gone with the object. They are really kept, not computed
again when somebody asks: what noise once said must never be said anew.
"""

from __future__ import annotations

import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any

import polars as pl
import sqlglot
from sqlglot import exp

from sudare.engines.database import quoted
from sudare.errors import InputError, ParameterError
from sudare.tables.text import listed

NEEDS = 'The engine "spark" needs the package pyspark, 4 or later. Install it: pip install "sudare[spark]"'
TYPES: dict[pl.DataType, str] = {
    pl.Boolean(): "BOOLEAN",
    pl.Int8(): "TINYINT",
    pl.Int16(): "SMALLINT",
    pl.Int32(): "INT",
    pl.Int64(): "BIGINT",
    pl.Float32(): "FLOAT",
    pl.Float64(): "DOUBLE",
    pl.String(): "STRING",
    pl.Date(): "DATE",
    pl.Datetime("us"): "TIMESTAMP_NTZ",
    pl.Datetime("us", "UTC"): "TIMESTAMP",
}
"""What Spark has."""
WIDER: dict[pl.DataType, pl.DataType] = {
    pl.UInt8(): pl.Int16(),
    pl.UInt16(): pl.Int32(),
    pl.UInt32(): pl.Int64(),
}
SMALL = 2**20  # bytes of a frame that travels along with the queries that name it
BATCH = 2**18  # rows that are handed to Spark at a time
LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # errors are raised; a log would show values of people, too
}
"""How a session on this machine is started: nobody else can reach it."""


class Spark:
    """A schema of its own in the catalog of a Spark session."""

    def __init__(self, session: Any = None) -> None:
        """Without a session, take the one that is running, or start one on this machine."""
        try:
            from pyspark.errors import PySparkException
        except ModuleNotFoundError:
            raise ParameterError(NEEDS) from None
        self._error: type[Exception] = PySparkException
        self._session = session or _local_session(PySparkException)
        self._numbers = count()
        self._schema = f"sudare_{token_hex(8)}"
        self._uploaded: dict[str, dict[str, pl.DataType]] = {}
        self._views: list[str] = []
        # A cluster shares its warehouse; on one machine nobody else may look into what is kept.
        home = (
            _private_folder() if str(self._session.conf.get("spark.master", "")).startswith("local") else None
        )
        with self._asking():
            self._session.sql(f"CREATE SCHEMA {self._schema}{_at(home)}")
        weakref.finalize(self, _remove, self._session, self._schema, self._views, home)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings(
                    "ignore", "PySpark does not yet fully support pandas"
                )  # it is not used
                yield
        except self._error as error:
            raise InputError(f"Spark: {str(error).strip().splitlines()[0]}") from None

    # -- Asking ---------------------------------------------------------------------------------------

    def frame(self, query: str) -> pl.DataFrame:
        """Return all rows that a query gives."""
        with self._asking():
            return pl.DataFrame(self._session.sql(_translated(query)).toArrow())

    def batches(self, query: str) -> Iterator[pl.DataFrame]:
        """Return the rows that a query gives, some at a time, in their order: one partition after the other."""
        name = self._name()
        with self._asking():
            rows = self._session.sql(_translated(query)).selectExpr(
                "*", "monotonically_increasing_id() AS number", "spark_partition_id() AS partition"
            )
            rows.write.format("parquet").partitionBy("partition").saveAsTable(name)
        try:
            partitions = self.frame(f"SELECT DISTINCT partition FROM {name} ORDER BY partition")["partition"]
            for partition in partitions.to_list() or [0]:
                own = f"SELECT * FROM {name} WHERE partition = {partition} ORDER BY number"
                yield self.frame(own).drop("number", "partition")
        finally:
            self._session.sql(f"DROP TABLE {name}")

    def rows(self, relation: str) -> int:
        """Return how many rows a relation has."""
        return int(self.frame(f"SELECT count(*) FROM {relation}").item())

    def types(self, relation: str) -> dict[str, pl.DataType]:
        """Return the columns of a relation, with their types; those of a frame are what they were in it."""
        if relation in self._uploaded:
            return self._uploaded[relation]
        schema = self.frame(f"SELECT * FROM {relation} LIMIT 0").schema
        return {name: _in_utc(dtype) for name, dtype in schema.items()}

    def keys(self, relation: str) -> dict[str, str]:
        """Return what tells the values of each column apart."""
        types = self.types(relation)
        for name, dtype in types.items():
            _refuse(name, dtype)
        # To Spark -0.0 is 0.0; their texts differ.
        return {
            name: f"CAST({quoted(name)} AS VARCHAR)" if dtype.is_float() else quoted(name)
            for name, dtype in types.items()
        }

    def rows_with(self, relation: str, key: str, values: pl.Series) -> list[int]:
        """Return no rows: those of Spark have no numbers."""
        return []

    # -- Keeping --------------------------------------------------------------------------------------

    def store(self, query: str) -> str:
        """Keep the rows that a query gives."""
        name = self._name()
        with self._asking():
            self._session.sql(f"CREATE TABLE {name} USING parquet AS {_translated(query)}")
        return name

    def keep(self, frames: Iterable[pl.DataFrame]) -> str:
        """Keep the rows of several frames, one after the other."""
        name = self._name()
        for frame in frames:
            self._uploaded.setdefault(name, dict(frame.schema))
            for part in frame.iter_slices(BATCH):
                with self._asking():
                    self._sent(part).write.format("parquet").mode("append").saveAsTable(name)
        return name

    def upload(self, frame: pl.DataFrame) -> str:
        """Keep a frame. A small one travels along with the queries that name it: Spark need not read it each time."""
        if frame.estimated_size() > SMALL:
            return self.keep([frame])
        name = self._view()
        with self._asking():
            self._sent(frame).createOrReplaceTempView(name)
        self._uploaded[name] = dict(frame.schema)
        return name

    def parquet(self, pattern: str) -> str:
        """Return the relation of one or several Parquet files; names of folders say nothing about their columns."""
        name = self._view()
        with self._asking():
            self._session.read.option("recursiveFileLookup", True).parquet(pattern).createOrReplaceTempView(
                name
            )
        return name

    def snapshot(self, rows: Any) -> str:
        """Keep the rows of a Spark DataFrame as they are now: its sources may change, and it may draw lots."""
        _refuse_alike(rows.columns)
        name = self._name()
        with self._asking():
            rows.write.format("parquet").saveAsTable(name)
        return name

    def _sent(self, frame: pl.DataFrame) -> Any:
        _refuse_alike(frame.columns)
        plain = pl.DataFrame([_plain(series) for series in frame])
        columns = [f"{_name_in_spark(name)} {_type_in_spark(dtype)}" for name, dtype in plain.schema.items()]
        return self._session.createDataFrame(plain.to_arrow(), schema=", ".join(columns))

    def _name(self) -> str:
        return f"{self._schema}.relation_{next(self._numbers)}"

    def _view(self) -> str:
        self._views.append(f"{self._schema}_{next(self._numbers)}")
        return self._views[-1]


def is_spark(thing: Any, kind: str) -> bool:
    """Tell whether something is a SparkSession or DataFrame of Spark; one of Spark Connect is, too.

    >>> is_spark(pl.DataFrame(), "DataFrame")
    False
    """
    return any(c.__name__ == kind and c.__module__.startswith("pyspark.sql") for c in type(thing).__mro__)


# -- Sessions ------------------------------------------------------------------------------------------


def _local_session(error: type[Exception]) -> Any:
    from pyspark.sql import SparkSession

    if running := SparkSession.getActiveSession():
        return running
    home = _private_folder()  # Spark lets everybody read what it spills
    folders = {"spark.local.dir": str(home / "spilled"), "spark.sql.warehouse.dir": str(home / "warehouse")}
    builder = SparkSession.builder.master("local[*]").appName("sudare")
    for name, value in (LOCAL | folders).items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except error:
        shutil.rmtree(home)
        raise ParameterError(
            'The engine "spark" needs Java 17 or later, and Spark did not start with the one that is here, if any. '
            "Install it (Debian: apt-get install openjdk-17-jre-headless), or name it in JAVA_HOME."
        ) from None
    weakref.finalize(session, shutil.rmtree, home, ignore_errors=True)
    return session


def _private_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="sudare-spark-"))  # nobody else may look into it


def _at(home: Path | None) -> str:
    return f" LOCATION {exp.Literal.string(home.as_uri()).sql('spark')}" if home else ""


def _remove(session: Any, schema: str, views: list[str], home: Path | None) -> None:
    with suppress(Exception):  # the session may be gone, and everything with it
        for view in views:
            session.catalog.dropTempView(view)
        session.sql(f"DROP SCHEMA {schema} CASCADE")
    if home:
        shutil.rmtree(home, ignore_errors=True)


# -- Translating ---------------------------------------------------------------------------------------


def _translated(query: str) -> str:
    """Write a query of DuckDB's as Spark does.

    >>> print(_translated('SELECT CAST("a`b" AS VARCHAR) AS key FROM people'))
    SELECT CAST(`a``b` AS STRING) AS `key` FROM `people`
    """
    [translated] = sqlglot.transpile(query, read="duckdb", write="spark", identify=True)
    return translated


def _name_in_spark(name: str) -> str:
    return str(exp.to_identifier(name, quoted=True).sql("spark"))


def _type_in_spark(dtype: pl.DataType) -> str:
    return f"DECIMAL({dtype.precision}, {dtype.scale})" if isinstance(dtype, pl.Decimal) else TYPES[dtype]


def _plain(series: pl.Series) -> pl.Series:
    """Return a column in a type that Spark has, in which different values stay different."""
    dtype = series.dtype
    _refuse(series.name, dtype)
    if dtype in TYPES or isinstance(dtype, pl.Decimal):
        return series
    if dtype in WIDER:
        return series.cast(WIDER[dtype])
    return series.to_physical() if dtype.is_temporal() else series.cast(pl.String)


def _in_utc(dtype: pl.DataType) -> pl.DataType:
    """Return a type in which an instant does not depend on the session's time zone."""
    return pl.Datetime("us", "UTC") if isinstance(dtype, pl.Datetime) and dtype.time_zone else dtype


def _refuse(name: str, dtype: pl.DataType) -> None:
    if dtype.is_nested() or isinstance(dtype, pl.Object | pl.Binary):
        raise InputError(
            f"Column '{name}' is of the type {dtype}, which the engine \"spark\" does not count. Keep one number, date or "
            "text per cell."
        )


def _refuse_alike(names: list[str]) -> None:
    lower = [name.lower() for name in names]
    if alike := [name for name in names if lower.count(name.lower()) > 1]:
        raise InputError(
            f"Spark does not tell the columns {listed(alike)} apart. Rename them, or read them with another engine."
        )
