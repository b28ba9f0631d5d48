"""Spark as the database of an engine: rows stay on a cluster, or on this machine's cores.

The relational part is written once, in DuckDB's SQL, and sqlglot translates each query into Spark's. (Frames of narwhals would
be one relational part, too, but of Spark's they cannot be stored, nor be asked for in batches; SQL can be read, and tried by hand.)
Relations are tables of a schema of our own in Spark's catalog, which is gone with the object. They are really kept, not computed
again when somebody asks: what noise once said must never be said anew.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any

import polars as pl

from sudare.engines.database import Files, Work, one_after_the_other, quoted, refuse_alike
from sudare.engines.private_folder import private_folder
from sudare.engines.sizes import free_memory
from sudare.engines.spark_sessions import errors, is_local, local_session
from sudare.engines.spark_tasks import INSTALL, Executors, in_tasks, our_python, separate_keys
from sudare.engines.spark_words import (
    as_kept,
    in_utc,
    name_in_spark,
    refuse_uncountable,
    translated,
    type_in_spark,
)
from sudare.errors import InputError
from sudare.tables.databases import without_secrets

SMALL = 2**20
"""Bytes of a frame that travels along with the queries that name it, or of an answer that is remembered."""
SENT = 2**18  # rows that are handed to Spark at a time
BATCH = 2**20  # rows that Spark hands over at a time


class Spark:
    """A schema of its own in the catalog of a Spark session."""

    name = "spark"
    remote_files = (
        "Spark needs the connector of its file system (for s3a:// the package hadoop-aws, named in spark.jars.packages), and "
        "credentials in the session's configuration."
    )

    def __init__(self, session: Any = None, *, own: bool = False) -> None:
        """Without a session, take the one that is running, or start one on this machine; one of our `own` ends with us."""
        self._errors = errors()
        self._session = session or local_session()
        self._numbers = count()
        self._schema = f"sudare_{token_hex(8)}"
        self._uploaded: dict[str, dict[str, pl.DataType]] = {}
        self._views: list[str] = []
        self._answers: dict[str, pl.DataFrame] = {}
        self.sees_local_files = is_local(self._session)
        # A cluster shares its warehouse; on one machine nobody else may look into what is kept.
        home, remove = private_folder("spark") if self.sees_local_files else (None, None)
        weakref.finalize(self, _remove, self._session, self._schema, self._views, remove, own)
        with self._asking():
            self._session.sql(f"CREATE SCHEMA {self._schema}{_at(home)}")

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings(
                    "ignore", "PySpark does not yet fully support pandas"
                )  # it is not used
                yield
        except self._errors as error:
            raise InputError(f"Spark: {without_secrets(_words(error))}") from None

    @property
    def memory(self) -> int:
        """A quarter of what is free on this machine: what is learned at once is learned here, not on the cluster."""
        return free_memory() // 4

    # -- Work on parts --------------------------------------------------------------------------------

    @cached_property
    def _executors(self) -> Executors:
        try:
            with self._asking():
                return Executors.of(self._session)
        except InputError as error:
            return Executors(self.memory, str(error))

    @property
    def work_memory(self) -> int:
        """What a task may take."""
        return self._executors.memory

    @property
    def works_here(self) -> str:
        """What Spark's executors lack."""
        lacking = self._executors.lacking.removesuffix(".")
        return f"Spark's executors do not run Sudare ({lacking}). {INSTALL}" if lacking else ""

    def each_part(self, relation: str, parts: int, work: Work) -> Iterator[Files]:
        """Do the work for each part of a relation: a task for each, if the executors can. What they made is stored first."""
        if self._executors.lacking:
            yield from one_after_the_other(self, relation, parts, work)
            return
        name = self._name()
        with self._asking(), our_python(self._session):
            keys = self.upload(
                pl.DataFrame({"part": range(parts), "key": separate_keys(self._session, parts)})
            )
            rows = self._session.sql(
                translated(
                    f"SELECT r.*, k.key AS key FROM {relation} AS r JOIN {keys} AS k ON r.part = k.part"
                )
            )
            in_tasks(rows, parts, work).write.saveAsTable(name)
        for part in range(parts):
            pieces = self._asked(f"SELECT name, content FROM {name} WHERE part = {part} ORDER BY name, piece")
            files = pieces.group_by("name", maintain_order=True).agg("content")
            yield {file: b"".join(contents) for file, contents in files.iter_rows()}
        self.drop(name)

    # -- Asking ---------------------------------------------------------------------------------------

    def frame(self, query: str) -> pl.DataFrame:
        """Return all rows that a query gives."""
        answer = self._answers.get(query)
        if answer is None:
            answer = self._asked(query)
            self._remember(query, answer)
        return answer

    def _asked(self, query: str) -> pl.DataFrame:
        with self._asking():
            return pl.DataFrame(self._session.sql(translated(query)).toArrow())

    def batches(self, query: str) -> Iterator[pl.DataFrame]:
        """Return the rows that a query gives, some at a time, in their order.

        They are stored by batches first: so the query is run once, and no more than a batch is ever here, however rows are
        spread over partitions. (A row's number counts from the start of its partition, and partitions follow each other.)
        """
        if query in self._answers:
            yield self._answers[query]
            return
        name = self._name()
        with self._asking():
            rows = self._session.sql(translated(query))
            numbered = rows.selectExpr("*", "monotonically_increasing_id() AS number")
            batched = numbered.selectExpr("*", f"number DIV {BATCH} AS batch")
            batched.write.partitionBy("batch").saveAsTable(name)
        try:
            numbers = self._asked(f"SELECT DISTINCT batch FROM {name} ORDER BY batch")["batch"].to_list()
            for number in numbers or [0]:
                own = self._asked(f"SELECT * FROM {name} WHERE batch = {number} ORDER BY number")
                batch = own.drop("number", "batch")
                if len(numbers) == 1:
                    self._remember(query, batch)
                yield batch
        finally:
            with suppress(InputError):  # it goes with the schema at the latest
                self.drop(name)

    def _remember(self, query: str, answer: pl.DataFrame) -> None:
        """Remember a small answer: relations do not change, and a cluster takes long to answer even a small question again."""
        if answer.estimated_size() <= SMALL:
            self._answers[query] = answer

    def rows(self, relation: str) -> int:
        """Return how many rows a relation has."""
        return int(self.frame(f"SELECT count(*) FROM {relation}").item())

    def types(self, relation: str) -> dict[str, pl.DataType]:
        """Return the columns of a relation, with their types; those of a frame are what they were in it."""
        if relation in self._uploaded:
            return self._uploaded[relation]
        schema = self.frame(f"SELECT * FROM {relation} LIMIT 0").schema
        return {name: in_utc(dtype) for name, dtype in schema.items()}

    def keys(self, relation: str) -> dict[str, str]:
        """Return what tells the values of each column apart."""
        types = self.types(relation)
        for name, dtype in types.items():
            refuse_uncountable(name, dtype)
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
        self.run(f"CREATE TABLE {name} AS {translated(query)}")
        return name

    def run(self, statement: str) -> None:
        """Carry a statement of Spark's own SQL out."""
        with self._asking():
            self._session.sql(statement)

    def tables_in(self, schema: str) -> list[str]:
        """Return the tables and views of a schema of the session."""
        with self._asking():
            rows = self._session.sql(f"SHOW TABLES IN {name_in_spark(schema)}").collect()
        return [row["tableName"] for row in rows if not row["isTemporary"]]

    def comment_on(self, table: str) -> str | None:
        """Return the comment on a table of the session."""
        with self._asking():
            rows = self._session.sql(f"DESCRIBE TABLE EXTENDED {table}").collect()
        return next((row["data_type"] for row in reversed(rows) if row["col_name"] == "Comment"), None)

    def append(self, frame: pl.DataFrame, table: str) -> None:
        """Add rows to a table of the session."""
        for part in frame.iter_slices(SENT):
            with self._asking():
                self._sent(part).write.mode("append").saveAsTable(table)

    def keep(self, frames: Iterable[pl.DataFrame]) -> str:
        """Keep the rows of several frames, one after the other."""
        name = self._name()
        for frame in frames:
            self._uploaded.setdefault(name, dict(frame.schema))
            self.append(frame, name)
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
            rows = self._session.read.option("recursiveFileLookup", True).parquet(pattern)
            rows.createOrReplaceTempView(name)
        return name

    def drop(self, relation: str) -> None:
        """Forget the rows of a relation that was kept."""
        self.run(f"DROP TABLE {relation}")

    def snapshot(self, rows: Any) -> str:
        """Keep the rows of a Spark DataFrame as they are now: its sources may change, and it may draw lots."""
        refuse_alike(rows.columns, self.name)
        name = self._name()
        with self._asking():
            rows.write.saveAsTable(name)
        return name

    def _sent(self, frame: pl.DataFrame) -> Any:
        refuse_alike(frame.columns, self.name)
        plain = pl.DataFrame([as_kept(series) for series in frame])
        columns = [f"{name_in_spark(name)} {type_in_spark(dtype)}" for name, dtype in plain.schema.items()]
        return self._session.createDataFrame(plain.to_arrow(), schema=", ".join(columns))

    def _name(self) -> str:
        return f"{self._schema}.relation_{next(self._numbers)}"

    def _view(self) -> str:
        self._views.append(f"{self._schema}_{next(self._numbers)}")
        return self._views[-1]


def _at(home: Path | None) -> str:
    return f" LOCATION '{home.as_uri()}'" if home else ""  # quotes are written as %27 there


def _remove(
    session: Any, schema: str, views: list[str], remove: Callable[[], None] | None, own: bool
) -> None:
    with suppress(Exception):  # the session may be gone, and everything with it
        for view in views:
            session.catalog.dropTempView(view)
        session.sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        if own:
            session.stop()
    if remove:
        remove()


def _words(error: Exception) -> str:
    """Return the line of an error that says what is wrong; what Java raised comes after the name of a call."""
    lines = str(error).partition("JVM stacktrace")[0].strip().splitlines() or [type(error).__name__]
    if "An exception was thrown from the Python worker" in lines[0]:
        return lines[-1]
    called = lines[0].startswith("An error occurred while calling") and len(lines) > 1
    return lines[1].removeprefix(": ") if called else lines[0]
