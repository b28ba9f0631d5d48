"""Rows that are also written to a warehouse: the published ones, recounted there, whole or not at all."""

from __future__ import annotations

import datetime as dt
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import polars as pl
import pytest
from typer.testing import CliRunner

import sudare as sd
from sudare.cli.app import app
from sudare.engines.sources import Asked, frame_of
from sudare.release import to_duckdb, to_postgres, warehouses
from sudare.tables.runs import Runs
from tests.conformance import SCHEMA, people
from tests.conftest import PASSWORD

Rows = list[tuple[object, ...]]
NAMES = ["people_k5", 'the "new" table', "'; DROP TABLE x; --", "select", "a.b", "Ünïcode 簾", "%s {} %(a)s"]


class Warehouse:
    """A warehouse, and how tests look into it."""

    def __init__(self, url: str, rows: Callable[[str], Rows]) -> None:
        self.url, self._rows = url, rows

    def at(self, table: str) -> str:
        sign = "&" if "?" in self.url else "?"
        return f"{self.url}{sign}table={quote(table)}"

    def rows(self, table: str) -> Rows:
        name = table.replace('"', '""')
        return self._rows(f'SELECT * FROM "{name}"')

    def tables(self) -> set[str]:
        query = "SELECT table_name FROM information_schema.tables WHERE table_schema IN ('main', 'public')"
        return {str(name) for (name,) in self._rows(query)}

    def execute(self, query: str) -> None:
        self._rows(query)


@pytest.fixture(params=["duckdb", "postgresql"])
def warehouse(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Warehouse]:
    if request.param == "duckdb":
        path = tmp_path / "people.duckdb"

        def ask(query: str) -> Rows:
            with duckdb.connect(str(path)) as connection:
                connection.execute("SET TimeZone = 'UTC'")
                found = connection.execute(query)
                return found.fetchall() if found.description else []

        yield Warehouse(f"duckdb:///{path}", ask)
        return
    psycopg = pytest.importorskip("psycopg")
    url = request.getfixturevalue("pviews_url")

    def ask_server(query: str) -> Rows:
        with psycopg.connect(url) as connection:
            connection.execute("SET TIME ZONE 'UTC'")
            found = connection.execute(query.encode())
            return found.fetchall() if found.description else []  # type: ignore[no-any-return]

    yield Warehouse(url, ask_server)


@pytest.fixture(scope="module")
def release() -> sd.Release:
    return sd.generalize(sd.read(people(), SCHEMA), sd.KAnonymity(3))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in NAMES[1:3] else [pytest.mark.slow]) for name in NAMES]
)
def test_the_published_rows_are_there_in_their_order(
    name: str, warehouse: Warehouse, release: sd.Release, tmp_path: Path
) -> None:
    release.write(tmp_path / "out", to=warehouse.at(name))
    assert warehouse.tables() == {name}
    assert warehouse.rows(name) == release.frame().rows()
    assert sd.verify(tmp_path / "out").holds
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []


def test_each_view_has_a_table_of_its_own(warehouse: Warehouse, tmp_path: Path) -> None:
    release = sd.generalize_views(
        sd.read(people(), SCHEMA), {"ages": ["age"], "towns": ["town"]}, sd.MultiViewDiversity(2)
    )
    release.write(tmp_path / "out", to=warehouse.at("people"))
    assert warehouse.tables() == {"people_ages", "people_towns"}
    for view, frame in release.frames().items():
        assert warehouse.rows(f"people_{view}") == frame.rows()


ZONE = dt.UTC
TYPED = pl.DataFrame(
    {
        "float": [0.0, -0.0, 0.1, None, 1e300, float("inf")],
        "small": pl.Series([0.1, -0.0, None, 3.4e38, 1e-30, 2.0], dtype=pl.Float32),
        "text": ["", None, "\\.", '"', "a,b\n'c'", "\\N"],
        "flag": [True, False, None, True, True, False],
        "tiny": pl.Series([-128, 127, None, 0, 1, 2], dtype=pl.Int8),
        "large": [2**63 - 1, -(2**63), None, 0, 1, 2],
        "larger": pl.Series([2**64 - 1, 0, None, 1, 2, 3], dtype=pl.UInt64),
        "day": [dt.date(1, 1, 1), dt.date(9999, 12, 31), None, dt.date(2000, 2, 29), None, None],
        "when": [dt.datetime(1900, 1, 1, 1, 2, 3, 4), dt.datetime(9999, 1, 1), None, None, None, None],
        "zoned": pl.Series([dt.datetime(2020, 7, 1, 1, 2, 3, 4, ZONE), *[None] * 5], dtype=pl.Datetime("us", "UTC")),
        "money": pl.Series([Decimal("1.10"), None, Decimal("-0.05"), *[Decimal("0.00")] * 3], dtype=pl.Decimal(10, 2)),
        "time": [dt.time(0), dt.time(23, 59, 59, 999999), None, None, None, None],
    }
)  # fmt: skip


def test_types_and_values_stay_as_they_are(warehouse: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    TYPED.write_parquet(path)
    target = warehouses.Target.parse(warehouse.at("typed"))
    with target.staging(force=False) as staging:
        staging.stage(tmp_path)
        staging.publish()
    found = sd.read(warehouse.at("typed")).frame()
    assert found.columns == TYPED.columns
    for name in TYPED.columns:
        same = found[name].cast(TYPED[name].dtype)
        assert same.equals(TYPED[name]), name
        if TYPED[name].dtype.is_float():
            assert [str(value) for value in same] == [str(value) for value in TYPED[name]]  # -0.0 is not 0.0
    if warehouse.url.startswith("duckdb"):
        found, _ = frame_of(warehouse.at("typed"), Asked())  # in the types that the database has
        assert found.drop("zoned").schema == TYPED.drop("zoned").schema  # it is read in this machine's zone


@pytest.mark.parametrize("column", [pl.Series("gap", [dt.timedelta(days=1)]), pl.Series("raw", [b"x"])])
def test_types_that_it_does_not_keep_are_refused(
    column: pl.Series, warehouse: Warehouse, tmp_path: Path
) -> None:
    column.to_frame().write_parquet(tmp_path / "data.parquet")
    target = warehouses.Target.parse(warehouse.at("typed"))
    keeps = column.name == "raw" and warehouse.url.startswith("duckdb")
    refused = nullcontext() if keeps else pytest.raises(sd.InputError, match="no type")
    with refused, target.staging(force=False) as staging:
        staging.stage(tmp_path)
        staging.publish()
    assert len(warehouse.tables()) == keeps


def test_what_is_there_is_refused_before_the_work_and_replaced_by_force(
    warehouse: Warehouse, release: sd.Release, tmp_path: Path
) -> None:
    to = warehouse.at("people")
    release.write(tmp_path / "one", to=to)
    with pytest.raises(sd.InputError, match=r"'people' is there already\. Nothing was written") as refused:
        release.write(tmp_path / "two", to=to)
    assert PASSWORD not in str(refused.value)
    assert not (tmp_path / "two").exists()
    other = sd.generalize(sd.read(people(40, 1), SCHEMA), sd.KAnonymity(5))
    other.write(tmp_path / "one", to=to, force=True)
    assert warehouse.rows("people") == other.frame().rows()
    assert warehouse.tables() == {"people"}


@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_what_is_not_ours_is_never_replaced(
    kind: str, warehouse: Warehouse, release: sd.Release, tmp_path: Path
) -> None:
    warehouse.execute(f"CREATE {kind} people AS SELECT 1 AS a")
    with pytest.raises(sd.InputError, match="'people' was not published by Sudare"):
        release.write(tmp_path / "out", to=warehouse.at("people"), force=True)
    assert warehouse.rows("people") == [(1,)]
    assert not (tmp_path / "out").exists()


def test_rows_that_are_not_those_that_were_verified_are_not_published(
    warehouse: Warehouse, release: sd.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for writer in (to_duckdb.DuckDBTables, to_postgres.PostgresTables):
        fill = writer.fill
        monkeypatch.setattr(
            writer,
            "fill",
            lambda self, rows, schema, mark, fill=fill: fill(self, Runs.of(rows.frame()[1:]), schema, mark),
        )
    with pytest.raises(sd.RequirementError, match="does not have the rows that were verified"):
        release.write(tmp_path / "out", to=warehouse.at("people"))
    assert not (tmp_path / "out").exists()
    assert warehouse.tables() == set()


KILLED = """
import os, pickle, signal, sys
from sudare.release import release, warehouses, to_duckdb, to_postgres
release.Release.report = ""  # nobody looks at it
step, release, folder, to = sys.argv[1:]
def die(*given):
    os.kill(os.getpid(), signal.SIGKILL)
if step == "before the recount":
    warehouses.multiset_of = die
else:
    for writer in (to_duckdb.DuckDBTables, to_postgres.PostgresTables):
        own = writer.publish
        def publish(self, names, replaced, own=own):
            self._connection = Dying(self._connection)
            own(self, names, replaced)
        writer.publish = publish
class Dying:
    def __init__(self, connection):
        self.connection = connection
    def execute(self, query):
        if query == "COMMIT":
            die()
        return self.connection.execute(query)
    def __getattr__(self, name):
        return getattr(self.connection, name)
    commit = die
pickle.load(open(release, "rb")).write(folder, to=to, force=True)
"""


@pytest.mark.parametrize(
    "step", ["before it is committed", pytest.param("before the recount", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "there",
    [pytest.param(False, id="new", marks=pytest.mark.slow), pytest.param(True, id="in place of another")],
)
def test_a_killed_run_leaves_the_tables_as_they_were(
    there: bool, step: str, warehouse: Warehouse, release: sd.Release, tmp_path: Path
) -> None:
    to, before = warehouse.at("people"), set[str]()
    if there:
        sd.generalize(sd.read(people(40, 1), SCHEMA), sd.KAnonymity(5)).write(tmp_path / "old", to=to)
        before = {"people"}
    assert release.holder  # which is made here, and not where it would take longer
    (tmp_path / "release").write_bytes(pickle.dumps(release))
    command = [sys.executable, "-c", KILLED, step, str(tmp_path / "release"), str(tmp_path / "out"), to]
    done = subprocess.run(command, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    if not there and "duckdb" in to:
        assert not (tmp_path / "people.duckdb").exists()
        return
    assert warehouse.tables() == before
    assert len(warehouse.rows("people")) == 40 if there else True
    assert (tmp_path / "out").exists() == (step == "before it is committed")


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("people.duckdb", "--to must be a URL"),
        ("sqlite:///people.db?table=a", "cannot be written to 'sqlite'"),
        ("duckdb:///people.duckdb", "say which table to write"),
        ("duckdb:///people.duckdb?query=SELECT 1", "say which table to write"),
        ("duckdb:////nowhere/people.duckdb?table=a", "choose another place"),
        ("postgresql://ann:geheim@/nowhere?host=/nowhere&table=a", "PostgreSQL refused"),
        ("postgresql://ann:geheim@/nowhere?host=/nowhere&table=" + "a" * 64, "PostgreSQL refused"),
    ],
)
def test_targets_that_cannot_be_are_refused(to: str, said: str, release: sd.Release, tmp_path: Path) -> None:
    with pytest.raises(sd.InputError, match=said) as refused:
        release.write(tmp_path / "out", to=to)
    assert "geheim" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_commands_write_to_a_table_too(warehouse: Warehouse, tmp_path: Path) -> None:
    source, schema = tmp_path / "people.csv", tmp_path / "sudare.toml"
    people().write_csv(source)
    schema.write_text(
        '[attributes]\nname = {role = "identifier"}\nage = {role = "quasi", bounds = [0, 99], type = "integer"}\n'
        'town = {role = "quasi", domain = ["Ayr", "Bath", "Cork", "Deal"]}\n'
        'illness = {role = "sensitive", domain = ["flu", "HIV", "cancer"]}\nnote = {role = "other"}\n'
    )
    runner, shared = CliRunner(), ["--schema", str(schema)]
    commands = {
        "generalize": ["-k", "3"],
        "generalize-views": ["--view", "a=age", "--view", "t=town", "-l", "2"],
        "randomize": ["--pk", "4"],
        "publish": ["-l", "2", "--accept", "lower l"],
    }
    for command, options in commands.items():
        to = warehouse.at(command.replace("-", "_"))
        given = [command, str(source), str(tmp_path / command), *options, *shared, "--to", to]
        done = runner.invoke(app, given, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        assert "Its rows are in" in done.output
        assert PASSWORD not in done.output
        with pytest.raises(sd.InputError, match="is there already"):
            runner.invoke(app, [*given[:2], str(tmp_path / "other"), *given[3:]], catch_exceptions=False)
    applied = ["apply", str(tmp_path / "generalize"), str(source), str(tmp_path / "applied"), *shared]
    done = runner.invoke(app, [*applied, "--to", warehouse.at("applied")], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    views = {"generalize_views_a", "generalize_views_t"}
    assert warehouse.tables() == {"generalize", "randomize", "publish", "applied", *views}
    assert warehouse.rows("applied") == warehouse.rows("generalize")


@pytest.mark.slow
def test_a_running_spark_session_keeps_a_table(spark: Any, release: sd.Release, tmp_path: Path) -> None:
    spark.sql("CREATE SCHEMA IF NOT EXISTS clinic")
    spark.sql("CREATE TABLE IF NOT EXISTS clinic.beds AS SELECT 1 AS x")

    def there() -> set[str]:
        return {row["tableName"] for row in spark.sql("SHOW TABLES IN clinic").collect()}

    to = "spark://?schema=clinic&table={}".format
    release.write(tmp_path / "one", to=to("people_k3"))
    rows = pl.DataFrame(spark.table("clinic.people_k3").toArrow())
    assert rows.sort(rows.columns).equals(release.frame().cast(rows.schema).sort(rows.columns))
    with pytest.raises(sd.InputError, match="'People_K3' is there already"):
        release.write(tmp_path / "two", to=to("People_K3"))
    with pytest.raises(sd.InputError, match="'beds' was not published by Sudare"):
        release.write(tmp_path / "two", to=to("beds"), force=True)
    release.write(tmp_path / "two", to=to("people_k3"), force=True)
    assert spark.table("clinic.people_k3").count() == release.frame().height
    with pytest.raises(RuntimeError, match="stopped"):
        release.write(tmp_path / "three", to=to("other"), ledger=Stopped())  # type: ignore[arg-type]
    assert there() == {"beds", "people_k3"}
    spark.sql("DROP SCHEMA clinic CASCADE")


class Stopped:
    """A ledger that stops a release when its table was filled, and has no name yet."""

    def record(self, *_: object) -> None:
        raise RuntimeError("stopped")


def test_without_a_running_session_spark_keeps_no_table(
    release: sd.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = pytest.importorskip("pyspark.sql")
    monkeypatch.setattr(sql.SparkSession, "getActiveSession", lambda: None)
    with pytest.raises(sd.InputError, match="there is no running Spark session"):
        release.write(tmp_path / "out", to="spark://?table=people")
