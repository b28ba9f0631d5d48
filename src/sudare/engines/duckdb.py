"""DuckDB as the database of an engine: embedded, with as much memory as it is given, and a disk beyond it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError, ParameterError

BATCH = 2**20  # rows that are handed over at a time


class DuckDB:
    """A database of its own in a private folder, which is gone with it."""

    def __init__(self, memory: str | None = None) -> None:
        try:
            import duckdb
        except ModuleNotFoundError:
            raise ParameterError(
                'The engine "duckdb" needs the package duckdb. Install it: pip install "sudare[duckdb]"'
            ) from None
        self._error: type[Exception] = duckdb.Error
        self._folder = tempfile.TemporaryDirectory(prefix="sudare-duckdb-")  # nobody else may read it
        self._numbers = count()
        home = Path(self._folder.name)
        self._connection = duckdb.connect(str(home / "rows.duckdb"))
        self._execute(f"SET temp_directory = '{home / 'spilled'}'")
        self._execute("SET preserve_insertion_order = false; SET TimeZone = 'UTC'; SET enable_progress_bar = false")
        if memory is not None:
            try:
                self._execute(f"SET memory_limit = '{memory.replace(chr(39), '')}'")
            except InputError:
                raise ParameterError(f"'memory' must be a size such as '2GB'. Got {memory!r} instead.") from None

    def _execute(self, query: str) -> Any:
        """Ask on a cursor of its own: a result may still be read while the next is asked for."""
        try:
            return self._connection.cursor().execute(query)
        except self._error as error:
            raise InputError(f"DuckDB: {str(error).strip().splitlines()[0]}") from None

    def columns(self, relation: str) -> dict[str, str]:
        """Return the columns of a relation, with their types."""
        return {name: dtype for name, dtype, *_ in self._execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()}

    def frame(self, query: str) -> pl.DataFrame:
        """Return all rows that a query gives."""
        frames = list(self.batches(query))
        return pl.concat(frames)

    def batches(self, query: str) -> Iterator[pl.DataFrame]:
        """Return the rows that a query gives, some at a time."""
        reader = self._connection.cursor().sql(query).to_arrow_reader(BATCH)
        none = True
        for batch in reader:
            none = False
            yield pl.DataFrame(batch)
        if none:
            yield pl.DataFrame(reader.schema.empty_table())

    def store(self, query: str) -> str:
        """Keep the rows that a query gives."""
        name = self._name()
        self._execute(f"CREATE TABLE {name} AS {query}")
        return name

    def upload(self, frame: pl.DataFrame) -> str:
        """Keep a frame."""
        name, cursor = self._name(), self._connection.cursor()
        cursor.register("uploaded", frame.to_arrow())
        cursor.execute(f"CREATE TABLE {name} AS SELECT * FROM uploaded")
        cursor.unregister("uploaded")
        return name

    def _name(self) -> str:
        return f"relation_{next(self._numbers)}"
