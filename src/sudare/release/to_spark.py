"""Tables that are written to the catalog of a Spark session.

Spark has no transactions over several tables: what is filled has a name that looks like nothing finished, and gets its own by
being renamed, at the very end.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import polars as pl

from sudare.engines.database import quoted, refuse_alike
from sudare.engines.spark import Spark
from sudare.engines.spark_sessions import connected_session, running_session
from sudare.engines.spark_words import name_in_spark, type_in_spark
from sudare.errors import InputError
from sudare.tables.databases import DatabaseUrl
from sudare.tables.runs import PublishedRows


@contextmanager
def spark_tables(url: DatabaseUrl) -> Iterator[SparkTables]:
    """Take the session that is running, or one of a Spark Connect server; what was not published when this ends is gone."""
    connects = url.scheme == "sc"
    session = connected_session(f"sc://{url.host}/{url.path}") if connects else running_session()
    tables = SparkTables(Spark(session, own=connects), url.options.get("schema", "default"), url.name)
    try:
        yield tables
    finally:
        tables.drop_unpublished()


class SparkTables:
    """The tables of one schema."""

    def __init__(self, spark: Spark, schema: str, name: str) -> None:
        self._spark, self._schema, self._name = spark, schema, name
        self._filled: set[str] = set()

    def _at(self, table: str) -> str:
        return f"{name_in_spark(self._schema)}.{name_in_spark(table)}"

    def marks(self, names: Sequence[str]) -> dict[str, str | None]:
        """Return which names are taken, whatever their case, each with the comment on what has it."""
        there = {name.lower() for name in self._spark.tables_in(self._schema)}
        return {name: self._spark.comment_on(self._at(name)) for name in names if name.lower() in there}

    def fill(self, rows: PublishedRows, schema: pl.Schema, mark: str) -> str:
        """Write rows to a new table, and return its name."""
        refuse_alike(list(schema), "spark")
        name = f"sudare_{secrets.token_hex(8)}"
        columns = ", ".join(
            f"{name_in_spark(column)} {self._type(column, dtype)}" for column, dtype in schema.items()
        )
        self._filled.add(name)
        self._spark.run(f"CREATE TABLE {self._at(name)} ({columns}) COMMENT '{mark}'")
        for part in rows.parts():
            for some in part.slices():
                self._spark.append(some, self._at(name))
        return name

    def _type(self, column: str, dtype: pl.DataType) -> str:
        type_ = type_in_spark(dtype)
        if type_ is None:
            raise InputError(
                f"{self._name}: Spark has no type that keeps '{column}', which is {dtype}. Nothing was written there."
            )
        return type_

    def counted(self, name: str, schema: pl.Schema) -> Iterator[pl.DataFrame]:
        """Return the distinct rows of a table, with how often each is there."""
        keys = [
            f"CAST({quoted(c)} AS VARCHAR)" if dtype.is_float() else quoted(c) for c, dtype in schema.items()
        ]
        named = ", ".join(f"{key} AS c{i}" for i, key in enumerate(keys))
        columns = ", ".join(f"c{i}" for i in range(len(keys)))
        rows = f"SELECT {named} FROM {quoted(self._schema)}.{quoted(name)}"
        for batch in self._spark.batches(
            f"SELECT {columns}, count(*) AS weight FROM ({rows}) GROUP BY {columns}"
        ):
            yield batch.cast({f"c{i}": dtype for i, dtype in enumerate(schema.values())})

    def publish(self, names: Mapping[str, str], replaced: Collection[str]) -> None:
        """Give tables their names; what has these now is put aside first, and dropped last."""
        aside = {name: f"sudare_{secrets.token_hex(8)}" for name in replaced}
        for name, old in aside.items():
            self._spark.run(f"ALTER TABLE {self._at(name)} RENAME TO {self._at(old)}")
            self._filled.add(old)
        for own, name in names.items():
            self._spark.run(f"ALTER TABLE {self._at(own)} RENAME TO {self._at(name)}")
            self._filled.discard(own)

    def drop_unpublished(self) -> None:
        """Drop what nobody is to see."""
        for name in self._filled:
            with suppress(InputError):  # it may be gone, or the session
                self._spark.run(f"DROP TABLE IF EXISTS {self._at(name)}")
