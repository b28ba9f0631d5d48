"""DuckDB as the database of an engine: embedded, with as much memory as it is given, and a disk beyond it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any

import polars as pl

from sudare.engines.database import Files, Work, one_after_the_other, quoted, refuse_alike
from sudare.engines.private_folder import private_folder
from sudare.engines.sizes import free_memory, size_of
from sudare.errors import InputError, ParameterError
from sudare.interruptible import Worker
from sudare.tables.databases import without_secrets

KEPT = frozenset(
    "BOOLEAN TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT FLOAT DOUBLE DECIMAL VARCHAR ENUM DATE "
    "TIME TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS".split()
) | {"TIMESTAMP WITH TIME ZONE", '"NULL"'}
READ_PARQUET = "read_parquet("
MAX_NUMBERS = 100  # of rows with a fault, of which a few are told
BATCH = 2**20  # rows that are handed over at a time


def _close(connection: Any, remove: Callable[[], None]) -> None:
    connection.close()
    remove()


class DuckDB:
    """A database of its own in a private folder, which is gone with it."""

    name = "duckdb"
    sees_local_files = True
    works_here = ""  # there is nowhere else
    remote_files = (
        "DuckDB reads files from elsewhere with an extension, httpfs for https:// and s3://, azure for abfss:// (install it "
        "once: python -c \"import duckdb; duckdb.sql('INSTALL httpfs')\"), and takes credentials from CREATE PERSISTENT SECRET."
    )

    def __init__(self, memory: str | None = None) -> None:
        try:
            import duckdb
            import pyarrow as pa
        except ModuleNotFoundError:
            raise ParameterError(
                'The engine "duckdb" needs the package duckdb. Install it: pip install "sudare[duckdb]"'
            ) from None
        # What fails while rows are handed over is an error of Arrow's, or, as one of files is, of the system.
        self._errors: tuple[type[Exception], ...] = (duckdb.Error, pa.ArrowException, OSError)
        self._numbers, self._worker = count(), Worker()
        home, remove = private_folder("duckdb")
        self._connection = duckdb.connect(str(home / "rows.duckdb"))
        weakref.finalize(self, _close, self._connection, remove)
        self._execute(f"SET temp_directory = '{home / 'spilled'}'")
        self._execute("SET TimeZone = 'UTC'")
        self._execute("SET autoinstall_known_extensions = false")  # nothing is fetched that nobody asked for
        if memory is not None:
            try:
                self._execute(f"SET memory_limit = '{memory.replace(chr(39), '')}'")
            except InputError:
                raise ParameterError(
                    f"'memory' must be a size such as '2GB'. Got {memory!r} instead."
                ) from None

    @property
    def memory(self) -> int:
        """As many bytes as it may take itself, or a quarter of what is free, if that is less."""
        limit = self._execute("SELECT current_setting('memory_limit')").fetchall()[0][0]
        return min(size_of(limit), free_memory() // 4)

    @property
    def work_memory(self) -> int:
        """The same: the work is done here."""
        return self.memory

    def each_part(self, relation: str, parts: int, work: Work) -> Iterator[Files]:
        """Do the work for each part of a relation."""
        return one_after_the_other(self, relation, parts, work)

    def _execute(self, query: str) -> Any:
        return self._asked(lambda cursor: cursor.execute(query))

    def _asked(self, ask: Callable[[Any], Any]) -> Any:
        """Ask on a cursor of its own: a result may still be read while the next is asked for."""
        cursor = self._connection.cursor()
        cursor.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
        return self._done(cursor, lambda: ask(cursor))

    def _done(self, cursor: Any, work: Callable[[], Any]) -> Any:
        try:
            return self._worker.do(work, cursor.interrupt, cursor.query_progress)
        except self._errors as error:
            words = next(iter(str(error).strip().splitlines()), type(error).__name__)
        # Raised out here, it has nothing to do with the other error, whose words may have a secret in a URL.
        raise InputError(f"DuckDB: {without_secrets(words)}")

    def parquet(self, pattern: str) -> str:
        """Return the relation of one or several Parquet files."""
        files = pattern.replace("'", "''")
        return f"{READ_PARQUET}'{files}', hive_partitioning = false)"

    def keep(self, frames: Iterable[pl.DataFrame]) -> str:
        """Keep the rows of several frames, one after the other."""
        parts = iter(frames)
        name = self.upload(next(parts))
        for frame in parts:
            self._take(frame, f"INSERT INTO {name}")
        return name

    def rows(self, relation: str) -> int:
        """Return how many rows a relation has."""
        return int(self.frame(f"SELECT count(*) FROM {relation}").item())

    def types(self, relation: str) -> dict[str, pl.DataType]:
        """Return the columns of a relation, with their types."""
        return dict(self.frame(f"SELECT * FROM {relation} LIMIT 0").schema)

    def keys(self, relation: str) -> dict[str, str]:
        """Return what tells the values of each column apart."""
        rows = self._execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        return {name: self._key(name, type_) for name, type_, *_ in rows}

    def _key(self, name: str, type_: str) -> str:
        if type_.split("(")[0] not in KEPT:
            raise InputError(
                f"Column '{name}' is of the type {type_}, which the engine \"duckdb\" does not count. Cast it, or read it "
                'with engine="memory".'
            )
        # Numbers are told apart by their bits, and categories by their texts.
        by_text = type_ in ("FLOAT", "DOUBLE") or type_.startswith("ENUM")
        return f"CAST({quoted(name)} AS VARCHAR)" if by_text else quoted(name)

    def rows_with(self, relation: str, key: str, values: pl.Series) -> list[int]:
        """Return the numbers of the first rows with some values."""
        number, numbered = "rowid", relation
        if relation.startswith(READ_PARQUET):
            number, numbered = "file_row_number", f"{relation.removesuffix(')')}, file_row_number = true)"
        listed = self.upload(values.alias("listed").to_frame())
        rows = f"SELECT {number} AS number, {key} AS key FROM {numbered}"
        query = f"SELECT number FROM ({rows}) JOIN {listed} ON key IS NOT DISTINCT FROM listed ORDER BY number LIMIT {MAX_NUMBERS}"
        return self.frame(query)["number"].to_list()

    def frame(self, query: str) -> pl.DataFrame:
        """Return all rows that a query gives."""
        frames = list(self.batches(query))
        return pl.concat(frames)

    def batches(self, query: str) -> Iterator[pl.DataFrame]:
        """Return the rows that a query gives, some at a time."""
        cursor, reader = self._asked(lambda cursor: (cursor, cursor.sql(query).to_arrow_reader(BATCH)))
        none = True
        while (batch := self._done(cursor, lambda: next(reader, None))) is not None:
            none = False
            yield pl.DataFrame(batch)
        if none:
            yield pl.DataFrame(reader.schema.empty_table())

    def store(self, query: str) -> str:
        """Keep the rows that a query gives."""
        name = self._name()
        # Rows that are not ordered need not be held back until those before them are there.
        self._execute("SET preserve_insertion_order = false")
        try:
            self._execute(f"CREATE TABLE {name} AS {query}")
        finally:
            self._execute("RESET preserve_insertion_order")
        return name

    def drop(self, relation: str) -> None:
        """Forget the rows of a relation that was kept."""
        self._execute(f"DROP TABLE {relation}")

    def upload(self, frame: pl.DataFrame) -> str:
        """Keep a frame."""
        refuse_alike(frame.columns, self.name)
        name = self._name()
        self._take(frame, f"CREATE TABLE {name} AS")
        return name

    def _take(self, frame: pl.DataFrame, where: str) -> None:
        def take(cursor: Any) -> None:
            cursor.register("taken", frame.to_arrow())
            cursor.execute(f"{where} SELECT * FROM taken")
            cursor.unregister("taken")

        self._asked(take)

    def _name(self) -> str:
        return f"relation_{next(self._numbers)}"
