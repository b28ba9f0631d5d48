"""What a database does its own way, and what a hostile plan, table or file would make of it: nobody is published in a smaller crowd."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.plans.sql_dialects import DIALECTS, WRITTEN_FOR, is_plain

K3 = sd.KAnonymity(3)
Rows = list[tuple[Any, ...]]


def planned(values: list[Any], kind: str | None = "text") -> tuple[sd.Plan, sd.Schema]:
    """A plan by which three people of each value are published with their values as they are."""
    frame = pl.DataFrame({"v": values * 3, "ill": ["a"] * 3 * len(values)})
    schema = sd.Schema.from_roles(quasi=["v"], sensitive=["ill"], types={"v": kind} if kind else {})
    return sd.generalize(sd.read(frame, schema), K3, "mondrian").plan, schema


def smallest(rows: Rows) -> int:
    """The fewest rows that look alike to whoever reads them as texts."""
    return min(Counter(str(row[0]) for row in rows).values(), default=3)


@pytest.fixture(scope="module")
def postgres(postgres_url: str) -> Iterator[Any]:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection
        connection.execute("DROP TABLE IF EXISTS hostile")


def in_postgres(connection: Any, column: str, values: list[str], made: str) -> Rows:
    connection.execute(f"DROP TABLE IF EXISTS hostile; CREATE TABLE hostile (v {column}, ill text)")
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO hostile VALUES (%s, 'a')", [(own,) for own in values])
    return connection.execute(made.encode()).fetchall()  # type: ignore[no-any-return]


# -- What databases take for equal ---------------------------------------------------------------------


@pytest.mark.parametrize("column", ["VARCHAR COLLATE NOCASE", "VARCHAR COLLATE NOACCENT", "VARCHAR"])
@pytest.mark.parametrize("default", ["", "NOCASE"])
def test_a_collation_does_not_make_a_crowd_of_people_who_differ(column: str, default: str) -> None:
    plan, schema = planned(["Ayr", "Oban"])
    with duckdb.connect() as connection:
        connection.execute(f"PRAGMA default_collation='{default}'")
        connection.execute(f"CREATE TABLE people (v {column}, ill VARCHAR)")
        connection.execute("INSERT INTO people VALUES ('Ayr', 'a'), ('AYR', 'a'), ('Áyr', 'a')")
        assert connection.execute(sd.sql(plan, schema, unseen="suppress")).fetchall() == []
        connection.execute("INSERT INTO people VALUES ('Ayr', 'a'), ('Ayr', 'a')")
        rows = connection.execute(sd.sql(plan, schema, unseen="suppress")).fetchall()
        assert rows == [("Ayr", "a")] * 3


def test_nor_one_of_postgres(postgres: Any) -> None:
    postgres.execute(
        "CREATE COLLATION IF NOT EXISTS nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
    )
    plan, schema = planned(["Ayr", "Oban"])
    made = sd.sql(plan, schema, table="hostile", dialect="postgres", unseen="suppress")
    assert in_postgres(postgres, "text COLLATE nocase", ["Ayr", "AYR", "ayr"], made) == []
    assert in_postgres(postgres, "text COLLATE nocase", ["Ayr"] * 3 + ["ayr"], made) == [("Ayr", "a")] * 3


@pytest.mark.parametrize("column", ["numeric", "double precision", "real"])
def test_equal_numbers_with_several_texts_are_published_with_one(column: str, postgres: Any) -> None:
    plan, schema = planned([0.0, 1.0], "number")
    made = sd.sql(plan, schema, table="hostile", dialect="postgres")
    rows = in_postgres(postgres, column, ["1.0", "1.00", "1", "0", "-0.0", "0.000"], made)
    assert len(rows) == 6
    assert smallest(rows) == 3


def test_also_in_duckdb() -> None:
    plan, schema = planned([0.0, 1.0], "number")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people (v DOUBLE, ill VARCHAR)")
        connection.execute("INSERT INTO people VALUES (0.0, 'a'), (-0.0, 'a'), (0, 'a')")
        rows = connection.execute(sd.sql(plan, schema)).fetchall()
    assert [str(row[0]) for row in rows] == ["0.0"] * 3


# -- What stands in texts and names --------------------------------------------------------------------

HOSTILE = [
    "'; DROP TABLE hostile; --",
    "\\'; DROP TABLE hostile; --",
    "\\",
    "{{ env_var('HOME') }}",
    "${x}",
    ":name",
    "%s",
    "/* */",
    "a\nb",
    "\u2028",
    "`\"'",
    "$$",
    "&x",
]


@pytest.mark.parametrize("dialect", DIALECTS)
@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1), unique=True))
def test_no_text_with_a_sign_that_means_something_is_in_a_statement(dialect: Any, more: list[str]) -> None:
    texts = [own for own in {*HOSTILE, *more} if own == own.strip()]
    plan, schema = planned(texts)
    made = sd.sql(plan, schema, dialect=dialect)
    inside = made.split("'")[1::2]  # no literal has a quote in it, so these are all literals
    assert all(set(own) <= set(string.hexdigits) or is_plain(own) for own in inside)
    assert not any(own in made for own in HOSTILE if len(own) > 3)
    assert made.count("'") % 2 == 0


@pytest.mark.parametrize("quoting", ["on", "off"])
def test_postgres_may_read_backslashes_as_it_likes(quoting: str, postgres: Any) -> None:
    plan, schema = planned(HOSTILE)
    made = sd.sql(plan, schema, table="hostile", dialect="postgres")
    postgres.execute(f"SET standard_conforming_strings = {quoting}")
    try:
        rows = in_postgres(postgres, "text", HOSTILE * 3, made)
    finally:
        postgres.execute("RESET standard_conforming_strings")
    assert Counter(row[0] for row in rows) == dict.fromkeys(HOSTILE, 3)


def test_very_long_texts_and_names_are_themselves() -> None:
    longs = ["x" * 1_000_000 + "'", "x" * 1_000_000]
    plan, schema = planned(longs)
    with duckdb.connect() as connection:
        connection.register("people", pl.DataFrame({"v": longs * 3, "ill": ["a"] * 6}))
        rows = connection.execute(sd.sql(plan, schema)).fetchall()
    assert Counter(row[0] for row in rows) == dict.fromkeys(longs, 3)


def test_a_name_that_postgres_would_cut_is_refused() -> None:
    """Both names would be the same column there, which may be the one that must not be published."""
    frame = pl.DataFrame({"a": [1, 1, 1], "x" * 63 + "1": ["n"] * 3, "x" * 63 + "2": ["o"] * 3})
    schema = sd.Schema.from_roles(quasi=["a"], identifier=["x" * 63 + "1"], other=["x" * 63 + "2"])
    plan = sd.generalize(sd.read(frame, schema), K3, "mondrian").plan
    with pytest.raises(sd.InputError, match="cuts names after 63 bytes"):
        sd.sql(plan, schema, dialect="postgres")
    assert "x" * 63 + "2" in sd.sql(plan, schema, dialect="duckdb")


@pytest.mark.parametrize(
    "name", ["select", "order", "Group", "user", "column_0", "sudare_source", "own", "名"]
)
def test_words_of_sql_are_names_like_others(name: str, postgres: Any) -> None:
    frame = pl.DataFrame({name: [1, 2] * 3})
    schema = sd.Schema.from_roles(quasi=[name])
    plan = sd.generalize(sd.read(frame, schema), K3, "mondrian").plan
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA clinic")
        connection.register("given", frame)
        for table in (f'clinic."{name}"', f'"{name}_"'):
            connection.execute(f"CREATE TABLE {table} AS SELECT * FROM given")
            assert len(connection.execute(sd.sql(plan, schema, table=table)).fetchall()) == 6
    postgres.execute(
        f'CREATE TEMPORARY TABLE "{name}" AS SELECT 1 + n % 2 AS "{name}" FROM generate_series(1, 6) AS n'
    )
    made = sd.sql(plan, schema, table=f'"{name}"', dialect="postgres")
    assert len(postgres.execute(made.encode()).fetchall()) == 6


# -- Lists that are loaded -----------------------------------------------------------------------------


def survey() -> tuple[pl.DataFrame, sd.Schema, sd.Plan]:
    people = sd.datasets.health_survey(300).select("age", "sex", "diagnosis")
    schema = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["diagnosis"])
    return people, schema, sd.generalize(sd.read(people, schema), K3, "mondrian").plan


def _lists_of_another_statement(plan: sd.Plan, schema: sd.Schema, folder: Path) -> Path:
    sd.sql(plan, schema, table="clinic.people", lookup=folder / "others.parquet")
    return folder / "others.parquet"


def _with_a_leaf_twice(lists: pl.DataFrame) -> pl.DataFrame:
    """Put a leaf in the place of another one: who has it would be published twice, and counted twice."""
    first, second = lists.with_row_index("at").filter(pl.col("listing") == "leaves_0")["at"].head(2)
    others = ["seal", "entry"]
    doubled = pl.concat([lists[second].select(others), lists[first].drop(others)], how="horizontal")
    return pl.concat([lists[:second], doubled.select(lists.columns), lists[second + 1 :]])


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_every_database_knows_the_rows_that_were_loaded(
    dialect: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    texts = ["O'Brien", "a:b", ":", "", "\u7c3e", "-:", "+"] * 3
    frame = pl.DataFrame({"name": texts, "age": [3, -3, 0] * 7})
    levels = sd.Hierarchy.groups(dict.fromkeys(texts, "all"))
    schema = sd.Schema.from_roles(
        quasi=["name", "age"], types={"age": "integer"}, hierarchies={"name": levels}
    )
    plan = sd.generalize(sd.read(frame, schema), K3, "mondrian").plan
    made = sd.sql(plan, schema, dialect=dialect, lookup=tmp_path / "lists.parquet")  # type: ignore[arg-type]
    whole = pl.read_parquet(tmp_path / "lists.parquet")
    read = {"duckdb": _in_duckdb, "postgres": _in_postgres, "spark": _in_spark}[dialect]
    assert read(made, frame, whole, request) == 21
    assert read(made, frame, whole.with_columns(text=pl.col("text") + " "), request) == 0


def _in_duckdb(made: str, frame: pl.DataFrame, lists: pl.DataFrame, _: pytest.FixtureRequest) -> int:
    with duckdb.connect() as connection:
        connection.register("people", frame)
        connection.register("lists", lists)
        return len(connection.execute(made).fetchall())


def _in_postgres(made: str, frame: pl.DataFrame, lists: pl.DataFrame, request: pytest.FixtureRequest) -> int:
    postgres = request.getfixturevalue("postgres")
    for table, rows in (("people", frame), ("lists", lists)):
        types = ", ".join(f"{n} {'bigint' if t == pl.Int64 else 'text'}" for n, t in rows.schema.items())
        postgres.execute(f"DROP TABLE IF EXISTS pg_temp.{table}")
        postgres.execute(f"CREATE TEMPORARY TABLE {table} ({types})")
        for row in rows.rows():
            postgres.execute(f"INSERT INTO {table} VALUES ({', '.join(['%s'] * rows.width)})", row)
    return len(postgres.execute(made.encode()).fetchall())


def _in_spark(made: str, frame: pl.DataFrame, lists: pl.DataFrame, request: pytest.FixtureRequest) -> int:
    spark = request.getfixturevalue("spark")
    spark.createDataFrame(frame.to_arrow()).createOrReplaceTempView("people")
    spark.createDataFrame(lists.to_arrow()).createOrReplaceTempView("lists")
    return len(spark.sql(made).collect())


def test_lists_may_be_loaded_and_then_must_be_whole(tmp_path: Path) -> None:
    people, schema, plan = survey()
    made = sd.sql(plan, schema, table="clinic.people", lookup=tmp_path / "plan_lists.parquet")
    assert len(made) < len(sd.sql(plan, schema)) / 1.4
    loaded = pl.read_parquet(tmp_path / "plan_lists.parquet")
    assert (tmp_path / "plan_lists.parquet").stat().st_mode & 0o077 == 0  # it has the plan, and so values
    older = pl.read_parquet(_lists_of_another_statement(plan, schema, tmp_path))
    of_labels = pl.col("listing").str.starts_with("labels_")
    changed = {
        "as it was": (loaded, 300),
        "another label": (
            loaded.with_columns(text=pl.when(of_labels).then(pl.lit("x")).otherwise("text")),
            0,
        ),
        "another number": (loaded.with_columns(number_0=pl.col("number_0") + 1), 0),
        "a person twice": (_with_a_leaf_twice(loaded), 0),
        "beside that of another plan": (pl.concat([loaded, older]), 300),
        "twice": (pl.concat([loaded, loaded]), 0),
        "another": (older, 0),
        "in part": (loaded[:-1], 0),
        "one row instead of another": (pl.concat([loaded[:-1], loaded[:1]]), 0),
    }
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA clinic")
        connection.register("given", people)
        connection.execute("CREATE TABLE clinic.people AS SELECT * FROM given")
        inline = connection.execute(sd.sql(plan, schema, table="clinic.people")).fetchall()
        for how, (lists, rows) in changed.items():
            connection.register("lists", lists)
            connection.execute("CREATE OR REPLACE TABLE clinic.plan_lists AS SELECT * FROM lists")
            out = connection.execute(made).fetchall()
            assert len(out) == rows, how
            assert out in ([], inline)


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake"])
def test_what_is_too_long_for_a_warehouse_is_refused_with_a_way_out(
    dialect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, schema, plan = survey()
    made = sd.sql(plan, schema, dialect=dialect, lookup=tmp_path / "lists.parquet")  # type: ignore[arg-type]
    short = replace(WRITTEN_FOR[dialect], most_bytes=len(made.encode()) + 100)
    monkeypatch.setitem(WRITTEN_FOR, dialect, short)  # type: ignore[arg-type]
    with pytest.raises(sd.ParameterError, match=r"bytes, and .* takes .* Give lookup="):
        sd.sql(plan, schema, dialect=dialect)  # type: ignore[arg-type]
    assert len(sd.sql(plan, schema, dialect=dialect, lookup=tmp_path / "lists.parquet")) == len(made)  # type: ignore[arg-type]


def test_too_many_rows_for_a_list_are_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    _, schema, plan = survey()
    monkeypatch.setitem(WRITTEN_FOR, "snowflake", replace(WRITTEN_FOR["snowflake"], most_rows=5))  # type: ignore[arg-type]
    with pytest.raises(sd.ParameterError, match=r"too many for one statement in snowflake\. Give lookup="):
        sd.sql(plan, schema, dialect="snowflake")


@pytest.mark.parametrize("name", ["a b", "a;b", "1a", "a-b", 'a"b', "å"])
def test_a_file_of_lists_has_the_name_of_a_table(name: str, tmp_path: Path) -> None:
    _, schema, plan = survey()
    with pytest.raises(sd.ParameterError, match="must be a file whose name is that of a table"):
        sd.sql(plan, schema, lookup=tmp_path / f"{name}.parquet")
    assert not list(tmp_path.iterdir())
