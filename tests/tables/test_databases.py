from __future__ import annotations

import contextlib
import datetime as dt
import sqlite3
import traceback
from decimal import Decimal
from pathlib import Path
from urllib.parse import quote

import duckdb
import polars as pl
import psycopg
import pytest

import sudare as sd
from sudare import InputError, Schema
from sudare.errors import MissingExtraError
from sudare.tables import databases

PEOPLE = [("Ann", 30), ("Bob", None), ("O'Hara, 東京 😀", -4)]


def rows(url: str) -> list[tuple]:
    return sd.read(url).frame().rows()


# -- SQLite ----------------------------------------------------------------------------------------


def sqlite_url(folder: Path, script: str, name: str = "people.db") -> str:
    path = folder / name
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return f"sqlite:///{quote(str(path))}"


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    url = sqlite_url(tmp_path, "CREATE TABLE people (name TEXT, age INTEGER)")
    with contextlib.closing(sqlite3.connect(tmp_path / "people.db")) as connection:
        connection.executemany("INSERT INTO people VALUES (?, ?)", PEOPLE)
        connection.commit()
    return url


def test_sqlite_table_query_and_only_table(sqlite: str) -> None:
    assert rows(f"{sqlite}?table=people") == PEOPLE
    assert rows(sqlite) == PEOPLE
    assert rows(f"{sqlite}?query=SELECT name FROM people WHERE age > 0") == [("Ann",)]


def test_a_relative_path_follows_three_slashes(sqlite: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert rows("sqlite:///people.db?table=people") == PEOPLE


@pytest.mark.parametrize("name", ["two words.db", "ümlaut+&#.db", "100%.db"])
def test_file_names_with_signs(tmp_path: Path, name: str) -> None:
    url = sqlite_url(tmp_path, "CREATE TABLE t (x); INSERT INTO t VALUES (1)", name)
    assert rows(url) == [(1,)]


@pytest.mark.parametrize("table", ["two words", "with.dot", 'with"quote', "select", "東京"])
def test_table_names_with_signs(tmp_path: Path, table: str) -> None:
    quoted = '"' + table.replace('"', '""') + '"'
    url = sqlite_url(tmp_path, f"CREATE TABLE {quoted} (x); INSERT INTO {quoted} VALUES (1)")
    assert rows(f"{url}?table={quote(table)}") == [(1,)]


def test_views_are_read_like_tables(tmp_path: Path) -> None:
    script = "CREATE TABLE t (x); INSERT INTO t VALUES (1), (2); CREATE VIEW v AS SELECT x FROM t WHERE x > 1"
    assert rows(f"{sqlite_url(tmp_path, script)}?table=v") == [(2,)]


@pytest.mark.parametrize("expression", ["30 + 1", "7 & 3", "'#1'", "'100%'", "'a;b'", "'ä'"])
def test_a_query_with_its_signs_percent_encoded(sqlite: str, expression: str) -> None:
    expected = {"30 + 1": 31, "7 & 3": 3}.get(expression, expression.strip("'"))
    query = quote(f"SELECT {expression} AS x FROM people LIMIT 1")
    assert rows(f"{sqlite}?query={query}") == [(expected,)]


def test_a_plus_sign_in_a_query_is_not_dropped(sqlite: str) -> None:
    assert rows(f"{sqlite}?query=SELECT age+age FROM people WHERE age = 30") == [(60,)]


def test_the_name_of_a_source_is_its_url(sqlite: str) -> None:
    assert sd.read(f"{sqlite}?table=people").source.name == f"{sqlite}?table=people"


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("?table=poeple", "there is no table 'poeple'. There are 'people', 'visits'"),
        ("", r"say which table to read: add \?table=NAME. There are 'people', 'visits'"),
        ("?table=people&query=SELECT 1", "both a table and a query are named"),
        ("?query=SELEC 1", "SQLite refused: near \"SELEC\""),
        ("?query=SELECT nme FROM people", "SQLite refused: no such column: nme"),
        ("?query=SELECT name, age AS name FROM people", "two columns the name 'name'. Rename one with AS"),
        ("?table=visits", "the table is empty"),
        ("?query=DELETE FROM people", "SQLite refused: attempt to write a readonly database"),
        ("?query=SELECT x'00ff' AS b", "column 'b': a cell holds Binary"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_from_sqlite(sqlite: str, tmp_path: Path, rest: str, message: str) -> None:
    sqlite_url(tmp_path, "CREATE TABLE visits (day)")
    with pytest.raises(InputError, match=message) as refused:
        sd.read(sqlite + rest)
    assert "people.db" in str(refused.value)


def test_reading_leaves_the_database_as_it_was(sqlite: str) -> None:
    with pytest.raises(InputError):
        sd.read(f"{sqlite}?query=DELETE FROM people RETURNING name")
    assert rows(sqlite) == PEOPLE


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_database_file_that_is_not_there(tmp_path: Path, scheme: str) -> None:
    with pytest.raises(InputError, match=r"there is no file '.*no\.db'"):
        sd.read(f"{scheme}:///{tmp_path}/no.db?table=t")
    assert not (tmp_path / "no.db").exists()


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_file_that_is_no_database(tmp_path: Path, scheme: str) -> None:
    (tmp_path / "text.db").write_text("no database " * 1000)
    with pytest.raises(InputError, match=r"text\.db.*: (SQLite|DuckDB) refused"):
        sd.read(f"{scheme}:///{tmp_path}/text.db?table=t")


@pytest.mark.parametrize("fetch", [1, 2, 3, 100_000])
@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ("(1), (2), (3)", pl.Int64),
        ("(NULL), (NULL), (3)", pl.Int64),
        ("(1.5), (NULL), (2.0)", pl.Float64),
        ("('a'), (NULL), ('b')", pl.String),
    ],
)
def test_types_do_not_depend_on_the_portions_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fetch: int, values: str, dtype: pl.DataType
) -> None:
    monkeypatch.setattr(databases, "FETCH", fetch)
    url = sqlite_url(tmp_path, f"CREATE TABLE t (x); INSERT INTO t VALUES {values}")
    frame = sd.read(url).frame()
    assert frame.schema["x"] == dtype
    assert len(frame) == 3


@pytest.mark.parametrize("fetch", [1, 100_000])
@pytest.mark.parametrize("values", ["(1), ('1')", "('a'), (2)", "(1), (x'00')", "(9007199254740993), (0.5)"])
def test_a_column_that_mixes_types_is_refused_and_not_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fetch: int, values: str
) -> None:
    monkeypatch.setattr(databases, "FETCH", fetch)
    url = sqlite_url(tmp_path, f"CREATE TABLE t (x); INSERT INTO t VALUES {values}")
    with pytest.raises(InputError, match=r"column|mixes"):
        sd.read(url)


def test_texts_of_a_database_become_dates_where_the_schema_says_so(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path, "CREATE TABLE t (day TEXT); INSERT INTO t VALUES ('2024-01-31'), (NULL)")
    schema = Schema.from_roles(quasi=["day"], types={"day": "date"})
    assert sd.read(url, schema).frame().rows() == [(dt.date(2024, 1, 31),), (None,)]


# -- DuckDB ----------------------------------------------------------------------------------------


@pytest.fixture
def duck(tmp_path: Path) -> str:
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute("CREATE TABLE people (name VARCHAR, age INTEGER)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", PEOPLE)
        connection.execute("CREATE TABLE visits (day DATE)")
    return f"duckdb:///{tmp_path}/people.duckdb"


def test_duckdb_table_and_query(duck: str) -> None:
    assert rows(f"{duck}?table=people") == PEOPLE
    assert rows(f"{duck}?query=SELECT name FROM people WHERE age > 0") == [("Ann",)]


def test_duckdb_types(duck: str) -> None:
    query = (
        "SELECT DATE '2024-01-31' AS d, TIMESTAMP '2024-01-31 10:30:00' AS t, 1.50::DECIMAL(10,2) AS m, "
        "18446744073709551615::UBIGINT AS u, true AS b, 0.5::DOUBLE AS f, TIME '10:30:00' AS c"
    )
    expected = (
        dt.date(2024, 1, 31), dt.datetime(2024, 1, 31, 10, 30), Decimal("1.50"), 2**64 - 1, True, 0.5, dt.time(10, 30),
    )  # fmt: skip
    assert rows(f"{duck}?query={quote(query)}") == [expected]


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("?table=poeple", "there is no table 'poeple'. There are 'people', 'visits'"),
        ("", r"say which table to read: add \?table=NAME"),
        ("?query=SELEC 1", "DuckDB refused: "),
        ("?table=visits", "the table is empty"),
        ("?query=DELETE FROM people", "DuckDB refused: .*read-only"),
        ("?query=SELECT name, age AS name FROM people", "two columns the name 'name'. Rename one with AS"),
        ("?query=SELECT [1, 2] AS x", r"column 'x': a cell holds List\(Int32\)"),
        ("?query=SELECT INTERVAL 1 MONTH AS x", "DuckDB refused: .*interval"),
        ("?query=SELECT DATE 'infinity' AS x", "x"),
    ],
)
def test_what_cannot_be_read_from_duckdb(duck: str, rest: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        sd.read(duck + rest)
    assert "people.duckdb" in str(refused.value)


def test_a_missing_extra_is_named(duck: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_module(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(databases.importlib, "import_module", no_module)
    with pytest.raises(MissingExtraError, match=r"Reading DuckDB .* pip install 'sudare\[duckdb\]'"):
        sd.read(f"{duck}?table=people")
    with pytest.raises(MissingExtraError, match=r"Reading PostgreSQL .* pip install 'sudare\[postgres\]'"):
        sd.read("postgresql://localhost/db?table=people")


# -- PostgreSQL ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def postgres(postgres_url: str) -> str:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE people (name TEXT, age INTEGER)")
        connection.cursor().executemany("INSERT INTO people VALUES (%s, %s)", PEOPLE)
        connection.execute("CREATE TABLE visits (day DATE)")
        connection.execute("CREATE SCHEMA clinic")
        connection.execute("CREATE TABLE clinic.beds (n INTEGER)")
        connection.execute("INSERT INTO clinic.beds VALUES (7)")
        connection.execute("CREATE SEQUENCE tickets")
        connection.execute('CREATE TABLE "Odd.Name" (x INTEGER)')
        connection.execute('INSERT INTO "Odd.Name" VALUES (1)')
    return postgres_url


@pytest.mark.parametrize("fetch", [1, 2, 100_000])
def test_postgresql_table_and_query(postgres: str, monkeypatch: pytest.MonkeyPatch, fetch: int) -> None:
    monkeypatch.setattr(databases, "FETCH", fetch)
    assert rows(f"{postgres}&table=people") == PEOPLE
    assert rows(f"{postgres}&query=SELECT name FROM people WHERE name LIKE 'A%'") == [("Ann",)]
    assert rows(f"{postgres.replace('postgresql:', 'postgres:')}&table=people") == PEOPLE


@pytest.mark.parametrize(("table", "value"), [("clinic.beds", 7), ("Odd.Name", 1)])
def test_postgresql_tables_with_dots(postgres: str, table: str, value: int) -> None:
    assert rows(f"{postgres}&table={table}") == [(value,)]


def test_postgresql_types(postgres: str) -> None:
    query = (
        "SELECT DATE '2024-01-31' AS d, TIMESTAMP '2024-01-31 10:30' AS t, 1.50::NUMERIC AS m, 2::BIGINT AS i, "
        "true AS b, 0.5::REAL AS f, TIME '10:30' AS c, '1 day'::INTERVAL AS v, 'x'::CHAR(1) AS k "
        "UNION ALL SELECT NULL, NULL, 22.125, NULL, NULL, NULL, NULL, NULL, NULL"
    )
    first, second = rows(f"{postgres}&query={quote(query)}")
    assert first == (
        dt.date(2024, 1, 31), dt.datetime(2024, 1, 31, 10, 30), Decimal("1.50"), 2, True, 0.5, dt.time(10, 30),
        dt.timedelta(days=1), "x",
    )  # fmt: skip
    assert second == (None, None, Decimal("22.125"), *[None] * 6)


def test_postgresql_times_with_a_zone_keep_their_moment(postgres: str) -> None:
    query = quote("SELECT TIMESTAMPTZ '2024-01-31 10:30+09' AS t")
    assert rows(f"{postgres}&query={query}") == [(dt.datetime(2024, 1, 31, 1, 30, tzinfo=dt.UTC),)]


def test_options_of_the_connection_reach_the_server(postgres: str) -> None:
    options = quote("-c work_mem=5MB -c statement_timeout=7s")
    query = "SELECT current_setting('work_mem') AS m, current_setting('statement_timeout') AS t"
    assert rows(f"{postgres}&options={options}&query={query}") == [("5MB", "7s")]


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("&table=poeple", "there is no table 'poeple'. There are .*'people', 'visits'"),
        ("", r"say which table to read: add \?table=NAME. There are .*'clinic.beds'"),
        ("&query=SELEC 1", 'PostgreSQL refused: syntax error at or near "SELEC"'),
        ("&query=SELECT 1/0 AS x", "PostgreSQL refused: division by zero"),
        ("&table=visits", "the table is empty"),
        ("&query=DROP TABLE people", "PostgreSQL refused"),
        ("&query=SELECT name, age AS name FROM people", "two columns the name 'name'. Rename one with AS"),
        ("&query=SELECT ARRAY[1] AS x", r"column 'x': a cell holds List\(Int64\)"),
        ("&query=SELECT '{}'::JSON AS x", "column 'x': a cell holds"),
        ("&query=SELECT DATE 'infinity' AS x", "PostgreSQL refused: date too large"),
        ("&query=SELECT 'NaN'::NUMERIC AS x", "x"),
        ("&table=people&connect_timeoutt=1", "PostgreSQL refused: .*connect_timeoutt"),
    ],
)
def test_what_cannot_be_read_from_postgresql(postgres: str, rest: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        sd.read(postgres + rest)
    assert str(refused.value).startswith("postgresql://")


def test_a_query_cannot_change_a_postgresql_database(postgres: str) -> None:
    with pytest.raises(InputError, match=r"PostgreSQL refused: .* read-only transaction"):
        sd.read(f"{postgres}&query=SELECT nextval('tickets') AS x")
    with pytest.raises(InputError, match="PostgreSQL refused"):
        sd.read(f"{postgres}&query=WITH gone AS (DELETE FROM people RETURNING name) SELECT name FROM gone")
    assert rows(f"{postgres}&table=people") == PEOPLE


# -- passwords -------------------------------------------------------------------------------------


def test_the_password_is_in_no_name(postgres: str) -> None:
    password = postgres.split(":")[2].split("@")[0]
    table = sd.read(f"{postgres}&table=people")
    assert password not in table.source.name + repr(table) + table.source.where(0)
    with pytest.raises(InputError) as refused:
        sd.read(f"{postgres}&table=poeple")
    assert password not in str(refused.value)


def test_a_wrong_password_is_not_shown(postgres: str) -> None:
    password = postgres.split(":")[2].split("@")[0]
    with pytest.raises(InputError, match=r"PostgreSQL refused: .*password authentication failed") as refused:
        sd.read(postgres.replace(password, "hushhush") + "&table=people")
    assert "hushhush" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:hush@127.0.0.1:1/db?table=people",
        "postgresql://ann:x@hush@127.0.0.1:1/db?table=people",
        "postgresql://ann:hu:hush@127.0.0.1:1/db?table=people",
        "postgresql://ann@127.0.0.1:1/db?table=people&password=hush",
        "postgresql://ann@127.0.0.1:1/db?password=hush&table=people",
        "postgresql://ann:hush/x@127.0.0.1:1/db?table=people",
        "postgresql://ann:hush#x@127.0.0.1:1/db?table=people",
        "postgresql://ann:hush?x@127.0.0.1:1/db?table=people",
        "postgresql://ann:hush[x@127.0.0.1:1/db?table=people",
        "postgresql://ann:hush@127.0.0.1:1/db?tabel=people",
        "postgresql://ann:hush@127.0.0.1:port/db?table=people",
        "PostgreSQL://ann:hush@127.0.0.1:1/db?table=people",
        "postgresql+psycopg://ann:hush@127.0.0.1:1/db?table=people",
        "mysql://ann:hush@127.0.0.1:1/db?table=people",
    ],
)
def test_no_error_shows_a_password(url: str) -> None:
    with pytest.raises(InputError) as refused:
        sd.read(url)
    assert "hush" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("postgresql://ann:hush@host:5432/db?table=people", "postgresql://host:5432/db?table=people"),
        ("postgresql://host/db?sslpassword=hush&table=people", "postgresql://host/db?table=people"),
        ("postgresql://host/db?table=people&options=-c%20hush&passfile=hush", "postgresql://host/db?table=people"),
        ("PostgreSQL://host/db?query=SELECT * FROM t WHERE ssn = 'hush'", "postgresql://host/db?query"),
        ("postgresql://host/db?query=SELECT 1&password=hush", "postgresql://host/db?query"),
        ("postgresql://host/db?query=SELECT 'a@b.hush'", "postgresql://host/db?query"),
        ("postgresql://ann:hush@host/db;password=hush?table=t", "postgresql://host/db?table=t"),
        ("duckdb:///data/people.duckdb?key=hush&table=t", "duckdb:///data/people.duckdb?table=t"),
        ("sqlite:////data/people.db", "sqlite:////data/people.db"),
    ],
)  # fmt: skip
def test_the_name_has_only_what_is_allowed_in_it(url: str, name: str) -> None:
    assert databases.DatabaseUrl.parse(url).name == name


@pytest.mark.parametrize(
    "rest",
    [
        "host/db?password=hush@hush&table=t",
        "ann@host/db?password=hush@hush&table=t",
        "ann:hush?k=hush@host/db?table=t",
        "ann:hush?table=hush@host/db",
    ],
)
def test_where_the_host_cannot_be_told_from_a_password_nothing_is_shown(rest: str) -> None:
    with pytest.raises(InputError, match=r"^postgresql://\.\.\.: an @ stands after an option") as refused:
        sd.read(f"postgresql://{rest}")
    assert "hush" not in str(refused.value)


def test_a_refusal_repeats_neither_options_nor_the_literals_of_a_query(sqlite: str) -> None:
    with pytest.raises(InputError, match="SQLite refused: no such column") as refused:
        sd.read(f"{sqlite}?query=SELECT [the-hush] FROM people WHERE name = 'the-hush'")
    assert "hush" not in str(refused.value)
    url = databases.DatabaseUrl.parse("postgresql://ann:pw-hush@host/db?sslpassword=key-hush&table=t")
    told = url.refusal(
        "PostgreSQL", ValueError("bad password=pw-hush sslpassword=key-hush\nLINE 1: hush"), None
    )
    assert str(told) == "postgresql://host/db?table=t: PostgreSQL refused: bad password=*** sslpassword=***."
