"""Rows that Spark holds: the same tables and releases as in memory."""

from __future__ import annotations

import datetime as dt
import gc
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.engines import spark as spark_engine
from sudare.engines.spark import Spark
from sudare.tables import parts
from tests.spark import needs_spark, run

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


@pytest.mark.slow
def test_noise_is_drawn_once(spark: Any) -> None:
    noise = np.random.default_rng()
    database = Spark(spark)
    drawn = database.keep(pl.DataFrame({"x": noise.random(50)}) for _ in range(2))
    first, second = (database.frame(f"SELECT x FROM {drawn} ORDER BY {by}")["x"] for by in ("x", "1"))
    assert first.equals(second)
    assert first.n_unique() == 100


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        "frame",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("large frame", "parquet", "DataFrame")),
    ],
)
def test_special_values_are_told_apart_as_in_memory(
    kind: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "it's people.parquet"
    SPECIAL.write_parquet(path)
    if kind == "large frame":
        monkeypatch.setattr(spark_engine, "SMALL", 0)
    if kind == "DataFrame":
        plain = SPECIAL.drop("enum", "unsigned")  # Spark has no such types
        plain.write_parquet(path)
        memory = sd.read(plain)
        own = sd.read(spark.read.parquet(str(path)), engine="spark")
    else:
        source = path if kind == "parquet" else SPECIAL
        memory, own = sd.read(source), sd.read(source, engine=spark)
    for name in memory.columns:
        one, other = memory[name].values, own[name].values
        assert one.dtype == other.dtype
        assert one.equals(other)  # NaN is itself here
        if one.dtype.is_float():  # and -0.0 is not 0.0
            assert np.signbit(one.to_numpy()).tolist() == np.signbit(other.to_numpy()).tolist()
    assert memory.digest() == own.digest()


def test_several_files_are_one_table(spark: Any, tmp_path: Path) -> None:
    for part in range(3):
        folder = tmp_path / f"year={part}"  # says nothing about the columns
        folder.mkdir()
        SURVEY[100 * part : 100 * (part + 1)].write_parquet(folder / "people.parquet")
    pattern = f"{tmp_path.as_uri()}/*/*.parquet"  # of which Spark itself tells what they are
    table = sd.read(pattern, SCHEMA, engine=spark)
    assert (table.digest(), table.name) == (sd.read(SURVEY, SCHEMA).digest(), pattern)
    with pytest.raises(sd.InputError, match="there is no such file"):
        sd.read(str(tmp_path / "nobody-*.parquet"), SCHEMA, engine=spark)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("file:///nobody/people.parquet", r"^file:///nobody/people.parquet: Spark: \[PATH_NOT_FOUND\]"),
        ("s3a://ann:geheim@bucket/people.parquet", "^s3a://bucket/people.parquet: Spark: .*hadoop-aws"),
    ],
)
def test_what_cannot_be_read_from_elsewhere_is_said(spark: Any, url: str, words: str) -> None:
    with pytest.raises(sd.InputError, match=words) as error:
        sd.read(url, SCHEMA, engine=spark)
    assert "geheim" not in str(error.value)


@pytest.mark.parametrize("engine", ["oracle", "sc:/host;token=geheim", 7])
def test_what_is_no_engine_is_refused_without_its_secrets(engine: Any) -> None:
    with pytest.raises(sd.ParameterError, match="must be one of 'memory', 'duckdb'") as error:
        sd.read(SURVEY, SCHEMA, engine=engine)
    assert "geheim" not in str(error.value)


@pytest.mark.slow
def test_csv_files_are_the_same_table(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    SURVEY.write_csv(path)
    assert sd.read(path, SCHEMA, engine=spark).digest() == sd.read(path, SCHEMA).digest()


def test_rows_stay_where_they_are_and_are_written_in_parts(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = SURVEY.unique(maintain_order=True).head(20)
    people = pl.concat([*[few[:18]] * 20, few[18:]]).with_row_index("number")
    people.write_parquet(tmp_path / "people.parquet")
    schema = sd.Schema.from_roles(identifier=["number"], quasi=["age", "sex"], sensitive=["diagnosis"])
    heights, really = [], Spark._asked

    def asked(self: Spark, query: str) -> pl.DataFrame:
        answer = really(self, query)
        heights.append(answer.height)
        return answer

    monkeypatch.setattr(Spark, "_asked", asked)
    monkeypatch.setattr(parts, "PART_ROWS", 150)
    for engine in ("memory", spark):
        table = sd.read(tmp_path / "people.parquet", schema, engine=engine)
        release = sd.generalize(table, sd.KAnonymity(5))
        release.write(tmp_path / type(engine).__name__)
    files = sorted((tmp_path / "str" / "hand-over").glob("data.*"))
    assert [file.name for file in files] == [f"data.0000{i}.parquet" for i in (1, 2, 3)]
    for file in files:
        assert (tmp_path / type(spark).__name__ / "hand-over" / file.name).read_bytes() == file.read_bytes()
    assert 0 < max(heights) < 2 * few.height


def test_batches_come_in_their_order(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_engine, "BATCH", 32)
    database = Spark(spark)
    relation = database.keep([pl.DataFrame({"x": part}) for part in (range(50, 100), range(50))])
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    try:
        batches = list(database.batches(f"SELECT x FROM {relation} ORDER BY x"))
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "1")
    assert len(batches) > 100 // 32
    assert max(batch.height for batch in batches) == 32
    assert pl.concat(batches)["x"].to_list() == list(range(100))
    [empty] = database.batches(f"SELECT x FROM {relation} WHERE x < 0")
    assert empty.schema == {"x": pl.Int64}


def test_what_is_stored_is_not_computed_again(spark: Any) -> None:
    database = Spark(spark)
    stored = database.store(f"SELECT random() AS drawn FROM {database.upload(pl.DataFrame({'x': range(5)}))}")
    first, second = (database.frame(f"SELECT drawn FROM {stored} ORDER BY {by}") for by in ("drawn", "1"))
    assert first.equals(second)
    assert first["drawn"].n_unique() == 5


def test_a_small_answer_is_remembered(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Spark(spark)
    query = "SELECT random() AS drawn ORDER BY drawn"
    assert database.frame(query).equals(database.frame(query))
    assert pl.concat(database.batches(query)).equals(database.frame(query))
    monkeypatch.setattr(spark_engine, "SMALL", 0)
    large = "SELECT random() AS drawn"
    assert not database.frame(large).equals(database.frame(large))


def test_nobody_else_can_look_and_nothing_is_left(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gc.collect()

    def names() -> tuple[set[str], set[str]]:
        schemas, views = spark.sql("SHOW SCHEMAS").collect(), spark.sql("SHOW TABLES").collect()
        return {schema.namespace for schema in schemas}, {view.tableName for view in views}

    before = names()
    database = Spark(spark)
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


def test_a_snapshot_does_not_change_with_its_source(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    SURVEY.write_parquet(path)
    table = sd.read(spark.read.parquet(str(path)), SCHEMA, engine=spark)
    SURVEY.head(7).write_parquet(path)
    assert len(table) == SURVEY.height


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pl.DataFrame({"Age": [1], "age": [2], "x": [3]}), "does not tell the columns 'Age', 'age' apart"),
        (pl.DataFrame({"x": [[1, 2]]}), "Column 'x' is of the type List"),
    ],
)
def test_what_spark_cannot_do_is_refused(spark: Any, frame: pl.DataFrame, words: str) -> None:
    with pytest.raises(sd.InputError, match=words):
        sd.read(frame, engine=spark)


def test_memory_is_the_sessions(spark: Any) -> None:
    with pytest.raises(sd.ParameterError, match="the memory that its session was given"):
        sd.read(SURVEY, SCHEMA, engine=spark, memory="2GB")


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    with pytest.raises(sd.ParameterError, match=r'pip install "sudare\[spark\]"'):
        sd.read(SURVEY, SCHEMA, engine="spark")


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


@pytest.mark.slow
def test_a_session_of_our_own_leaves_nothing(tmp_path: Path) -> None:
    needs_spark()
    code = """
import sudare as sd
table = sd.read(sd.datasets.health_survey(50), engine="spark")
print(table.digest())
"""
    assert run(code, TMPDIR=str(tmp_path)).strip() == sd.read(sd.datasets.health_survey(50)).digest()
    assert not list(tmp_path.glob("sudare-spark-*"))
