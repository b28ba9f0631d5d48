"""Rows that Spark holds: the same tables and releases as in memory."""

from __future__ import annotations

import datetime as dt
import gc
import importlib.util
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.engines import spark as spark_engine
from sudare.engines.spark import LOCAL, Spark
from tests.conftest import unavailable

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

SURVEY = sd.datasets.health_survey(300).select("age", "sex", "diagnosis")
SCHEMA = sd.Schema.from_roles(
    quasi=["age", "sex"],
    sensitive=["diagnosis"],
    bounds={"age": (0, 120)},
    domains={name: sorted(SURVEY[name].unique()) for name in ("sex", "diagnosis")},
)
ODD = 'a `b` "c".d\\'
SPECIAL = pl.DataFrame(
    {
        "float": [0.0, -0.0, float("nan"), None, 0.1, float("-inf")],
        "small": pl.Series([0.1, -0.0, None, 0.0, 3e38, 0.1], dtype=pl.Float32),
        "text": ['a"b', "it's", "", None, "ü\n2", "\\'; DROP TABLE x"],
        "day": [dt.date(1, 1, 1), None, dt.date(1582, 10, 10), dt.date(9999, 12, 31), None, dt.date(2000, 2, 29)],
        "time": [dt.datetime(2024, 3, 31, 2, 30, 0, 5), None, dt.datetime(1, 1, 1), None, None, None],
        "instant": pl.Series([dt.datetime(2024, 10, 27, hour, 30) for hour in (0, 1, 2, 3, 4, 5)]).dt.replace_time_zone("UTC"),
        "flag": [True, False, None, True, True, False],
        "unsigned": pl.Series([2**64 - 1, 0, 1, None, 1, 1], dtype=pl.UInt64),
        "enum": pl.Series(["x", "y", "x", None, "y", "x"], dtype=pl.Enum(["y", "x", "z"])),
        ODD: [1, 2, 3, None, 5, 5],
    }
)  # fmt: skip


def needs_spark() -> None:
    if importlib.util.find_spec("pyspark") is None:
        unavailable("pyspark is not installed: pip install 'sudare[spark]'")
    if shutil.which("java") is None:
        unavailable("no Java: install openjdk-17-jre-headless (apt-get)")


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    needs_spark()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    folder = tempfile.mkdtemp()
    own = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "Europe/Berlin",  # what is published must not depend on it
        "spark.local.dir": folder,
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
    }
    for name, value in (LOCAL | own).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def tables(session: Any) -> tuple[sd.Table, sd.Table]:
    return sd.read(SURVEY, SCHEMA), sd.read(SURVEY, SCHEMA, engine=session)


RELEASES: dict[str, Callable[[sd.Table], sd.Release]] = {
    "minimal": lambda table: sd.generalize(table, [sd.KAnonymity(3), sd.LDiversity(2)]),
    "mondrian": lambda table: sd.generalize(table, sd.KAnonymity(3), "mondrian"),
    "views": lambda table: sd.generalize_views(
        table, {"ages": ["age"], "sexes": ["sex"]}, sd.MultiViewDiversity(2)
    ),
}


@pytest.mark.parametrize("make", RELEASES.values(), ids=RELEASES)
def test_a_release_is_the_same(
    make: Callable[[sd.Table], sd.Release], tables: tuple[sd.Table, sd.Table]
) -> None:
    memory, spark = (make(table) for table in tables)
    assert list(memory.frames()) == list(spark.frames())
    for name, frame in memory.frames().items():
        assert frame.equals(spark.frames()[name])
    assert memory.certificate.measured == spark.certificate.measured


def test_a_law_is_the_same_given_the_same_seed(tables: tuple[sd.Table, sd.Table]) -> None:
    memory, spark = (sd.randomize(table, sd.PkAnonymity(4), unsafe_seed=1) for table in tables)
    assert memory.plan.to_json() == spark.plan.to_json()
    assert spark.frames()["data"].height == SURVEY.height


def test_noise_is_drawn_once(tables: tuple[sd.Table, sd.Table]) -> None:
    release = sd.randomize(tables[1], sd.PkAnonymity(4))
    assert release.frames()["data"].equals(release.frames()["data"])


def test_a_pview_is_the_same_given_the_same_seed(tables: tuple[sd.Table, sd.Table]) -> None:
    memory, spark = (sd.materialize(table, sd.DifferentialPrivacy(2.0), unsafe_seed=1) for table in tables)
    assert memory.model.frame().equals(spark.model.frame())


def test_the_digest_is_the_same(tables: tuple[sd.Table, sd.Table]) -> None:
    assert tables[0].digest() == tables[1].digest()


@pytest.mark.parametrize("kind", ["frame", "large frame", "parquet", "DataFrame"])
def test_special_values_are_told_apart_as_in_memory(
    kind: str, session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "it's people.parquet"
    SPECIAL.write_parquet(path)
    if kind == "large frame":
        monkeypatch.setattr(spark_engine, "SMALL", 0)
    if kind == "DataFrame":
        own = SPECIAL.drop("enum", "unsigned")  # Spark has no such types
        own.write_parquet(path)
        memory = sd.read(own)
        spark = sd.read(session.read.parquet(str(path)), engine="spark")
    else:
        source = path if kind == "parquet" else SPECIAL
        memory, spark = sd.read(source), sd.read(source, engine=session)
    for name in memory.columns:
        one, other = memory[name].values, spark[name].values
        assert one.dtype == other.dtype
        assert one.equals(other)  # NaN is itself here
        if one.dtype.is_float():  # and -0.0 is not 0.0
            assert np.signbit(one.to_numpy()).tolist() == np.signbit(other.to_numpy()).tolist()
        assert memory.counts([name]).weights.tolist() == spark.counts([name]).weights.tolist()
    assert memory.digest() == spark.digest()


def test_several_files_are_one_table(session: Any, tmp_path: Path) -> None:
    for part in range(3):
        folder = tmp_path / f"year={part}"  # says nothing about the columns
        folder.mkdir()
        SURVEY[100 * part : 100 * (part + 1)].write_parquet(folder / "people.parquet")
    table = sd.read(str(tmp_path / "*" / "*.parquet"), SCHEMA, engine=session)
    assert table.digest() == sd.read(SURVEY, SCHEMA).digest()
    with pytest.raises(sd.InputError, match="there is no such file"):
        sd.read(str(tmp_path / "nobody-*.parquet"), SCHEMA, engine=session)


def test_csv_files_are_the_same_table(session: Any, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    SURVEY.write_csv(path)
    assert sd.read(path, SCHEMA, engine=session).digest() == sd.read(path, SCHEMA).digest()


def test_batches_come_in_their_order(session: Any) -> None:
    database = Spark(session)
    relation = database.keep([pl.DataFrame({"x": part}) for part in (range(50, 100), range(50))])
    session.conf.set("spark.sql.adaptive.enabled", "false")  # which would put small partitions together
    try:
        batches = list(database.batches(f"SELECT x FROM {relation} ORDER BY x"))
    finally:
        session.conf.unset("spark.sql.adaptive.enabled")
    assert len(batches) == 2
    assert pl.concat(batches)["x"].to_list() == list(range(100))
    [empty] = database.batches(f"SELECT x FROM {relation} WHERE x < 0")
    assert empty.schema == {"x": pl.Int64}


def test_what_is_stored_is_not_computed_again(session: Any) -> None:
    database = Spark(session)
    stored = database.store(f"SELECT random() AS drawn FROM {database.upload(pl.DataFrame({'x': range(5)}))}")
    first, second = (database.frame(f"SELECT drawn FROM {stored} ORDER BY drawn") for _ in range(2))
    assert first.equals(second)
    assert first["drawn"].n_unique() == 5


def test_nobody_else_can_look_and_nothing_is_left(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gc.collect()

    def names() -> tuple[set[str], set[str]]:
        schemas, views = session.catalog.listDatabases(), session.catalog.listTables()
        return {schema.name for schema in schemas}, {view.name for view in views}

    before = names()
    database = Spark(session)
    database.store("SELECT 1 AS x")
    database.upload(pl.DataFrame({"x": [1]}))
    [home] = tmp_path.iterdir()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert list(home.rglob("*.parquet"))
    assert all(now > then for now, then in zip(names(), before, strict=True))
    del database
    gc.collect()
    assert not home.exists()
    assert names() == before


def test_a_snapshot_does_not_change_with_its_source(session: Any, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    SURVEY.write_parquet(path)
    table = sd.read(session.read.parquet(str(path)), SCHEMA, engine=session)
    SURVEY.head(7).write_parquet(path)
    assert len(table) == SURVEY.height


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pl.DataFrame({"Age": [1], "age": [2], "x": [3]}), "does not tell the columns 'Age', 'age' apart"),
        (pl.DataFrame({"x": [[1, 2]]}), "Column 'x' is of the type List"),
    ],
)
def test_what_spark_cannot_do_is_refused(session: Any, frame: pl.DataFrame, words: str) -> None:
    with pytest.raises(sd.InputError, match=words):
        sd.read(frame, engine=session)


def test_memory_is_the_sessions(session: Any) -> None:
    with pytest.raises(sd.ParameterError, match="the memory that its session was given"):
        sd.read(SURVEY, SCHEMA, engine=session, memory="2GB")


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    with pytest.raises(sd.ParameterError, match=r'pip install "sudare\[spark\]"'):
        sd.read(SURVEY, SCHEMA, engine="spark")


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_java_the_package_is_named(tmp_path: Path) -> None:
    needs_spark()
    code = """
import sudare as sd
try:
    sd.read(sd.datasets.health_survey(9), engine="spark")
except sd.ParameterError as error:
    print(error)
"""
    out = run(code, JAVA_HOME=str(tmp_path), TMPDIR=str(tmp_path))
    assert "needs Java 17 or later" in out
    assert "openjdk-17-jre-headless" in out
    assert not list(tmp_path.glob("sudare-spark-*"))


def test_a_session_of_our_own_leaves_nothing(tmp_path: Path) -> None:
    needs_spark()
    code = """
import sudare as sd
table = sd.read(sd.datasets.health_survey(50), engine="spark")
print(table.digest())
"""
    assert run(code, TMPDIR=str(tmp_path)).strip() == sd.read(sd.datasets.health_survey(50)).digest()
    assert not list(tmp_path.glob("sudare-spark-*"))


def test_separate_executors_publish_the_same(tmp_path: Path) -> None:
    needs_spark()
    code = f"""
import sudare as sd
from pyspark.sql import SparkSession
from sudare.engines.spark import LOCAL
builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.sql.shuffle.partitions", "2")
for name, value in LOCAL.items():
    builder = builder.config(name, value)
session = builder.config("spark.sql.warehouse.dir", {str(tmp_path / "warehouse")!r}).getOrCreate()
schema = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["diagnosis"])
people = sd.datasets.health_survey(300).select("age", "sex", "diagnosis")
memory, spark = (sd.generalize(sd.read(people, schema, engine=e), sd.KAnonymity(3)) for e in ("memory", session))
executors = len(session._jsc.sc().statusTracker().getExecutorInfos()) - 1  # without the driver
print(executors, memory.frames()["data"].equals(spark.frames()["data"]))
"""
    assert run(code).split() == ["2", "True"]
