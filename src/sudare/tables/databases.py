"""Reading tables and queries from DuckDB, SQLite and PostgreSQL by their URL."""

from __future__ import annotations

import importlib.util
import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

from sudare.errors import InputError, MissingExtraError
from sudare.interruptible import Worker
from sudare.tables.text import listed

FETCH = 100_000  # rows taken from a cursor at a time
MIN_SECRET_LENGTH = 3  # signs; shorter ones are in every message


@dataclass(frozen=True)
class DatabaseUrl:
    """A database URL in its parts."""

    scheme: str
    user: str
    password: str
    host: str
    path: str
    options: dict[str, str]
    name: str
    """What may be shown and recorded: scheme, host, path and table. Nothing else is in it, so nothing secret is."""

    @classmethod
    def parse(cls, url: str) -> DatabaseUrl:
        """Take a URL apart by hand: passwords with / ? # or @ in them are common and must not leak.

        >>> DatabaseUrl.parse("postgresql://ann:x@y@host/db?sslpassword=z&table=people").name
        'postgresql://host/db?table=people'
        """
        scheme, rest = url.split("://", 1)
        scheme = scheme.lower()
        if re.search(r"\?\w+=.*@", re.split(r"[?&]query=", rest, maxsplit=1)[0]):
            raise InputError(
                f"{scheme}://...: an @ stands after an option, so the host cannot be told from a password. "
                "Write @ as %40 and ? as %3F in passwords and options."
            )
        match = re.search(r"[?&](table|query)=", rest)
        head, tail = (rest[: match.start()], rest[match.start() :]) if match else (rest, "")
        user_info, _, place = head.rpartition("@")
        user, _, password = user_info.partition(":")
        address, _, early = place.partition("?")
        host, slash, path = address.partition("/")
        joined = "&".join(part for part in (early, tail[1:]) if part)
        pairs = [pair.partition("=") for pair in re.split(r"&(?=\w+=)", joined) if pair]
        options = {key: value for key, _, value in pairs}
        return cls(
            scheme=scheme,
            user=unquote(user),
            password=unquote(password),
            host=unquote(host),
            path=unquote(path) if slash else "",
            options={key: unquote(value) for key, value in options.items()},
            name=f"{scheme}://{_until_odd_signs(address)}{_asked(options)}",
        )

    def refusal(self, who: str, error: Exception, query: str | None) -> InputError:
        """Say why a database refused, in one line and without what may be secret: its own words can repeat it."""
        words = next(iter(str(error).strip().splitlines()), type(error).__name__)
        literals = re.findall(r"'((?:[^']|'')+)'", query or "")
        for secret in sorted({self.password, *self.options.values(), *literals}, key=len, reverse=True):
            if len(secret) >= MIN_SECRET_LENGTH:
                words = words.replace(secret, "***")
        return InputError(f"{self.name}: {who} refused: {words.removesuffix('.')}.")


def _until_odd_signs(address: str) -> str:
    """Return a host and path up to a sign that neither has unless it is percent-encoded."""
    return re.split(r"[;#&\s]", address, maxsplit=1)[0]


def _asked(options: dict[str, str]) -> str:
    if "query" in options:
        return "?query"
    return f"?table={options['table']}" if "table" in options else ""


def is_url(source: str) -> bool:
    """Tell whether a source is a URL and not a file.

    >>> is_url("sqlite:///people.db?table=people"), is_url("people.csv")
    (True, False)
    """
    return "://" in source


def safe_name(source: str) -> str:
    """Return how a source may be shown: a path as it is, a URL without what may be secret in it.

    >>> safe_name("postgresql://ann:geheim@host/clinic?table=beds"), safe_name("people.csv")
    ('postgresql://host/clinic?table=beds', 'people.csv')
    """
    return DatabaseUrl.parse(source).name if is_url(source) else source


def without_secrets(words: str) -> str:
    """Return what somebody else's message says, without what may be secret in its URLs.

    >>> without_secrets("Cannot open https://ann:geheim@host/people.parquet?key=geheim today")
    'Cannot open https://host/people.parquet today'
    """
    return re.sub(r"\w[\w+.-]*://\S+", _shown, words)


def _shown(url: re.Match[str]) -> str:
    try:
        return safe_name(url[0])
    except InputError:
        return f"{url[0].partition('://')[0]}://..."


def refuse_taken(taken: Mapping[str, str | None], where: str, mark: str, *, force: bool) -> None:
    """Refuse to replace what is there, but with `force`; and never what does not have our mark."""
    if taken and not force:
        raise InputError(
            f"{where}: {listed(list(taken))} is there already. Nothing was written. Choose another name, or replace it "
            "with --force (in Python: force=True)."
        )
    if foreign := [name for name, own in taken.items() if own != mark]:
        raise InputError(
            f"{where}: {listed(foreign)} was not published by Sudare, and force does not replace it. Nothing was "
            "written. Choose another name, or remove it yourself."
        )


def read_database(url: str) -> tuple[pl.DataFrame, str]:
    """Read a table (`...?table=people`) or a query (`...?query=SELECT ...`).

    Returns the frame and the name by which the source may be shown. A file's path follows three slashes,
    an absolute one four: `sqlite:///people.db`, `duckdb:////data/people.duckdb`.
    """
    parts = DatabaseUrl.parse(url)
    options = dict(parts.options)
    table, query = options.pop("table", None), options.pop("query", None)
    if parts.scheme not in READERS:
        raise InputError(
            f"{parts.name}: '{parts.scheme}' is not a database that can be read. "
            "Give a sqlite://, duckdb:// or postgresql:// URL, or the path of a file. Parquet files elsewhere are read "
            'with engine="duckdb" or engine="spark".'
        )
    if table is not None and query is not None:
        raise InputError(f"{parts.name}: both a table and a query are named. Keep one.")
    return READERS[parts.scheme](replace(parts, options=options), table, query), parts.name


def _file(url: DatabaseUrl) -> Path:
    file = Path(url.path)
    if not file.is_file():
        raise InputError(f"{url.name}: there is no file '{file}'.")
    return file


def quoted(*names: str) -> str:
    """Write names as SQL does, whatever signs are in them.

    >>> quoted("clinic", 'the "new" beds')
    '"clinic"."the ""new"" beds"'
    """
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def _statement(table: str | None, query: str | None, tables: dict[str, str], name: str) -> str:
    """Return the SELECT to run; `tables` are by name, as SQL writes them. A database with one needs no name."""
    if query is not None:
        return query
    if table is None and len(tables) == 1:
        (table,) = tables
    there = f"There are {listed(list(tables))}." if tables else "There are none."
    if table is None:
        raise InputError(f"{name}: say which table to read: add ?table=NAME. {there}")
    if table not in tables:
        raise InputError(f"{name}: there is no table '{table}'. {there}")
    return f"SELECT * FROM {tables[table]}"


def _read_sqlite(url: DatabaseUrl, table: str | None, query: str | None) -> pl.DataFrame:
    try:
        with closing(sqlite3.connect(f"{_file(url).absolute().as_uri()}?mode=ro", uri=True)) as connection:
            listing = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY 1"
            )
            tables = {name: quoted(name) for (name,) in listing}
            return _fetched(connection.execute(_statement(table, query, tables, url.name)), url.name)
    except sqlite3.Error as error:
        raise url.refusal("SQLite", error, query) from None


def _read_duckdb(url: DatabaseUrl, table: str | None, query: str | None) -> pl.DataFrame:
    duckdb = load_extra("duckdb", "Reading DuckDB")
    try:
        with duckdb.connect(str(_file(url)), read_only=True) as connection:
            listing = connection.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1"
            ).fetchall()
            tables = {name: quoted(name) for (name,) in listing}
            statement = _statement(table, query, tables, url.name)
            rows = connection.sql(statement)
            if rows is None:
                raise InputError(f"{url.name}: the query gives no rows. Give a SELECT.")
            _check_names(rows.columns, url.name)
            fetch = partial(Worker().do, stop=connection.interrupt, percent=connection.query_progress)
            return pl.DataFrame(fetch(rows.to_arrow_table))
    except (duckdb.Error, pl.exceptions.PolarsError) as error:
        raise url.refusal("DuckDB", error, query) from None


def _read_postgres(url: DatabaseUrl, table: str | None, query: str | None) -> pl.DataFrame:
    psycopg = load_extra("psycopg", "Reading PostgreSQL", extra="postgres")
    try:
        with psycopg.connect(**postgres_arguments(url)) as connection:
            connection.read_only = True
            tables = _postgres_tables(connection) if query is None else {}
            statement = _statement(table, query, tables, url.name)
            with connection.cursor(name="sudare") as cursor:  # a server-side cursor: rows come in portions
                return _fetched(cursor.execute(statement), url.name)
    except (psycopg.Error, TypeError) as error:  # TypeError: an option that is none
        raise url.refusal("PostgreSQL", error, query) from None


def postgres_arguments(url: DatabaseUrl) -> dict[str, str]:
    """Return a URL's parts as psycopg takes them."""
    host, _, port = url.host.rpartition(":") if ":" in url.host else (url.host, "", "")
    given = {"user": url.user, "password": url.password, "host": host, "port": port, "dbname": url.path}
    return {key: value for key, value in given.items() if value} | url.options


def _postgres_tables(connection: Any) -> dict[str, str]:
    """List tables as schema.name, and those on the search path by their bare name."""
    rows = connection.execute(
        "SELECT table_schema, table_name, table_schema = ANY (current_schemas(false)) FROM information_schema.tables "
        "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"
    ).fetchall()
    return {table if bare else f"{schema}.{table}": quoted(schema, table) for schema, table, bare in rows}


READERS: dict[str, Callable[[DatabaseUrl, str | None, str | None], pl.DataFrame]] = {
    "sqlite": _read_sqlite,
    "duckdb": _read_duckdb,
    "postgresql": _read_postgres,
    "postgres": _read_postgres,
}


def _check_names(names: list[str], name: str) -> None:
    twice = sorted({column for column in names if names.count(column) > 1})
    if twice:
        raise InputError(f"{name}: the query gives two columns the name {listed(twice)}. Rename one with AS.")


def _fetched(cursor: Any, name: str) -> pl.DataFrame:
    names = [column[0] for column in cursor.description or ()]
    _check_names(names, name)
    kinds: list[set[type]] = [set() for _ in names]
    portions = []
    while rows := cursor.fetchmany(FETCH):
        for column, kind, values in zip(names, kinds, zip(*rows, strict=True), strict=True):
            kind.update(map(type, values))
            if len(kind - {type(None)}) > 1:
                mixed = " and ".join(sorted(k.__name__ for k in kind - {type(None)}))
                raise InputError(
                    f"{name}, column '{column}': it mixes {mixed}. Cast it to one type in a query."
                )
            if Decimal in kind and not all(value is None or value.is_finite() for value in values):
                raise InputError(
                    f"{name}, column '{column}': a decimal is not finite. Cast it to a float in a query."
                )
        try:
            portions.append(pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None))
        except (pl.exceptions.PolarsError, TypeError, ValueError, ArithmeticError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(
                f"{name}: a column cannot be read: {reason}. Cast it to another type in a query."
            ) from None
    if not portions:
        return pl.DataFrame(schema=dict.fromkeys(names, pl.Null))
    return pl.concat(portions, how="vertical_relaxed")


def need_extra(module: str, what: str, extra: str) -> None:
    """Refuse what needs an optional package that is not installed, without importing it."""
    if importlib.util.find_spec(module) is None:
        raise MissingExtraError(what, extra)


def load_extra(module: str, what: str, extra: str = "") -> Any:
    """Import an optional package, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(what, extra or module) from None
