"""Tables that are written to a DuckDB file."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError
from sudare.interruptible import Worker
from sudare.tables.atomic import move
from sudare.tables.databases import DatabaseUrl, load_extra, quoted
from sudare.tables.runs import PublishedRows
from sudare.tables.text import listed

BATCH = 2**18  # rows that are counted again at a time


@contextmanager
def duckdb_tables(url: DatabaseUrl) -> Iterator[DuckDBTables]:
    """Open a DuckDB file; a new one has another name until something is published in it."""
    duckdb = load_extra("duckdb", "Writing to DuckDB")
    path = Path(url.path)
    if not path.parent.is_dir() or path.is_dir():
        raise InputError(f"{url.name}: {path} cannot be a DuckDB file: choose another place.")
    new = not path.exists()
    place = path.with_name(f".{path.name}.partial-{secrets.token_hex(4)}") if new else path
    try:
        with closing(duckdb.connect(str(place))) as connection:
            connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false; BEGIN")
            yield DuckDBTables(connection, place, path, url.name)
    except duckdb.Error as error:
        raise url.refusal("DuckDB", error, None) from None
    finally:
        if new:
            for rest in (place, place.with_name(f"{place.name}.wal")):
                rest.unlink(missing_ok=True)


class DuckDBTables:
    """The tables of a DuckDB file, within one transaction."""

    def __init__(self, connection: Any, place: Path, path: Path, name: str) -> None:
        self._connection, self._place, self._path, self._name = connection, place, path, name
        self._worker = Worker()

    def _done(self, work: Callable[[], Any]) -> Any:
        return self._worker.do(work, self._connection.interrupt, self._connection.query_progress)

    def _execute(self, query: str) -> Any:
        return self._done(lambda: self._connection.execute(query))

    def marks(self, names: Sequence[str]) -> dict[str, str | None]:
        """Return which names are taken, whatever their case, each with the comment on what has it."""
        there = self._execute(
            "SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = 'main' AND NOT temporary "
            "UNION ALL SELECT view_name, 'a view' FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal"
        ).fetchall()
        marks = {name.lower(): mark for name, mark in there}
        return {name: marks[name.lower()] for name in names if name.lower() in marks}

    def fill(self, rows: PublishedRows, schema: pl.Schema, mark: str) -> str:
        """Write rows, in their order, to a new table, and return its name."""
        self._refuse_alike(list(schema))
        name = f"sudare_{secrets.token_hex(8)}"
        self._take(schema.to_frame(), f"CREATE TABLE {name} AS")
        for part in rows.parts():
            for some in part.slices():
                self._take(some, f"INSERT INTO {name}")
        self._execute(f"COMMENT ON TABLE {name} IS '{mark}'")
        self._refuse_other_types(name, schema)
        return name

    def _refuse_other_types(self, name: str, schema: pl.Schema) -> None:
        if other := [column for column, dtype in schema.items() if isinstance(dtype, pl.Duration)]:
            raise self._no_type(other[0], schema)
        found = pl.DataFrame(self._connection.sql(f"SELECT * FROM {name} LIMIT 0").to_arrow_table()).schema
        if other := [column for column in schema if found[column] != schema[column]]:
            raise self._no_type(other[0], schema)

    def _no_type(self, column: str, schema: pl.Schema) -> InputError:
        return InputError(
            f"{self._name}: DuckDB has no type that keeps '{column}', which is {schema[column]}. Nothing was written there."
        )

    def _take(self, frame: pl.DataFrame, where: str) -> None:
        self._connection.register("sudare_frame", frame.to_arrow())
        self._execute(f"{where} SELECT * FROM sudare_frame")
        self._connection.unregister("sudare_frame")

    def _refuse_alike(self, names: list[str]) -> None:
        if alike := [name for name in names if sum(name.lower() == other.lower() for other in names) > 1]:
            raise InputError(f"{self._name}: DuckDB does not tell the columns {listed(alike)} apart.")

    def counted(self, name: str, schema: pl.Schema) -> Iterator[pl.DataFrame]:
        """Return the distinct rows of a table, with how often each is there."""
        keys = [
            f"CAST({quoted(c)} AS VARCHAR)" if dtype.is_float() else quoted(c) for c, dtype in schema.items()
        ]
        columns = ", ".join(f"{key} AS c{i}" for i, key in enumerate(keys))
        places = ", ".join(map(str, range(1, len(keys) + 1)))
        query = f"SELECT {columns}, count(*) AS weight FROM {name} GROUP BY {places}"
        reader = self._done(lambda: self._connection.sql(query).to_arrow_reader(BATCH))
        while (batch := self._done(lambda: next(reader, None))) is not None:
            yield pl.DataFrame(batch).cast({f"c{i}": dtype for i, dtype in enumerate(schema.values())})

    def publish(self, names: Mapping[str, str], replaced: Collection[str]) -> None:
        """Give tables their names, in place of what has these now; a new file gets its name then, too."""
        for name in replaced:
            self._execute(f"DROP TABLE {quoted(name)}")
        for own, name in names.items():
            self._execute(f"ALTER TABLE {own} RENAME TO {quoted(name)}")
        self._execute("COMMIT")
        if self._place != self._path:
            self._connection.close()
            if self._path.exists():
                raise InputError(f"{self._path} was made meanwhile. Nothing was written there.")
            move(self._place, self._path)
