"""Reading tables and queries from DuckDB, SQLite and PostgreSQL by their URL."""

from __future__ import annotations

import contextlib
import importlib
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

import polars as pl

from sudare.errors import InputError, MissingExtraError
from sudare.tables.text import listed

SCHEMES = ("sqlite", "duckdb", "postgresql", "postgres")
FETCH = 100_000  # rows taken from a cursor at a time


def is_database_url(source: str) -> bool:
    """Tell whether a source names a database.

    >>> is_database_url("sqlite:///people.db?table=people"), is_database_url("people.csv")
    (True, False)
    """
    return source.split("://")[0] in SCHEMES and "://" in source


def read_database(url: str) -> tuple[pl.DataFrame, str]:
    """Read a table (`...?table=people`) or a query (`...?query=SELECT ...`).

    Returns the frame and the source's name without a password. A file's path follows three slashes,
    an absolute one four: `sqlite:///people.db`, `duckdb:////data/people.duckdb`.
    """
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    table, query = options.pop("table", None), options.pop("query", None)
    name = _public_name(url)
    if table is not None and query is not None:
        raise InputError(f"{name}: both a table and a query are named. Keep one.")
    if parts.scheme == "sqlite":
        return _read_sqlite(_file(parts.path, name), table, query, name), name
    if parts.scheme == "duckdb":
        return _read_duckdb(_file(parts.path, name), table, query, name), name
    server = urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(options), ""))
    return _read_postgres(server, table, query, name), name


def _public_name(url: str) -> str:
    """Leave the password out of everything that is shown or recorded."""
    parts = urlsplit(url)
    host = parts.netloc.rsplit("@", 1)
    if len(host) == 2:
        host[0] = host[0].split(":", 1)[0]
    return unquote(urlunsplit(parts._replace(netloc="@".join(host))))


def _file(path: str, name: str) -> Path:
    file = Path(unquote(path.removeprefix("/")))
    if not file.is_file():
        raise InputError(f"{name}: there is no file '{file}'.")
    return file


def _quoted(table: str) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in table.split("."))


def _statement(table: str | None, query: str | None, tables: list[str], name: str) -> str:
    """Return the SELECT to run; a database with one table needs no name."""
    if query is not None:
        return query
    if table is None and len(tables) == 1:
        table = tables[0]
    if table is None:
        raise InputError(
            f"{name}: say which table to read: add ?table=NAME. There are {listed(tables) or 'none'}."
        )
    if table not in tables:
        raise InputError(f"{name}: there is no table '{table}'. There are {listed(tables) or 'none'}.")
    return f"SELECT * FROM {_quoted(table)}"


def _read_sqlite(file: Path, table: str | None, query: str | None, name: str) -> pl.DataFrame:
    try:
        with contextlib.closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        ) as connection:
            tables = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY 1"
            )
            statement = _statement(table, query, [row[0] for row in tables], name)
            return _fetched(connection.execute(statement), name)
    except sqlite3.Error as error:
        raise InputError(f"{name}: SQLite refused: {error}.") from None


def _read_duckdb(file: Path, table: str | None, query: str | None, name: str) -> pl.DataFrame:
    duckdb = _extra("duckdb", "Reading DuckDB")
    try:
        with duckdb.connect(str(file), read_only=True) as connection:
            tables = connection.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1"
            ).fetchall()
            statement = _statement(table, query, [row[0] for row in tables], name)
            return pl.DataFrame(connection.execute(statement).to_arrow_table())
    except duckdb.Error as error:
        raise InputError(f"{name}: DuckDB refused: {error}.") from None


def _read_postgres(server: str, table: str | None, query: str | None, name: str) -> pl.DataFrame:
    psycopg = _extra("psycopg", "Reading PostgreSQL", extra="postgres")
    try:
        with psycopg.connect(server) as connection:
            connection.read_only = True
            statement = query or _statement(table, query, _postgres_tables(connection), name)
            with connection.cursor(name="sudare") as cursor:  # a server-side cursor: rows come in portions
                cursor.itersize = FETCH
                return _fetched(cursor.execute(statement), name)
    except psycopg.Error as error:
        raise InputError(f"{name}: PostgreSQL refused: {str(error).strip()}.") from None


def _postgres_tables(connection: Any) -> list[str]:
    """List tables by name, and by schema.name; those on the search path by their bare name too."""
    rows = connection.execute(
        "SELECT table_schema, table_name, table_schema = ANY (current_schemas(false)) FROM information_schema.tables "
        "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"
    ).fetchall()
    return [table if bare else f"{schema}.{table}" for schema, table, bare in rows]


def _fetched(cursor: Any, name: str) -> pl.DataFrame:
    names = [column[0] for column in cursor.description or ()]
    if len(set(names)) < len(names):
        twice = sorted({column for column in names if names.count(column) > 1})
        raise InputError(f"{name}: the query gives two columns the name {listed(twice)}. Rename one with AS.")
    portions = []
    while rows := cursor.fetchmany(FETCH):
        try:
            portions.append(
                pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None, strict=True)
            )
        except (pl.exceptions.PolarsError, TypeError, OverflowError) as error:
            raise InputError(
                f"{name}: a column mixes values of different types: {error}. Cast it in a query."
            ) from None
    if not portions:
        return pl.DataFrame(schema=dict.fromkeys(names, pl.Null))
    return pl.concat(portions, how="vertical_relaxed")


def _extra(module: str, what: str, extra: str = "") -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(what, extra or module) from None
