"""Rows that a Spark Connect server holds: a client without Java publishes the same."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sudare as sd
from sudare.engines.relational import Relational
from sudare.plans.regions import RegionsPlan
from tests.conformance import people
from tests.conftest import unavailable
from tests.engines.test_spark import SPECIAL
from tests.spark import SMALL, needs_spark
from tests.test_conformance import EVERY, ON_OTHERS, RANDOM, SCHEMA

pytestmark = pytest.mark.slow
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
TOKEN = "geheim-s3cret"


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def is_open(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The URL of a Spark Connect server of our own, which asks for a token."""
    needs_spark()
    if importlib.util.find_spec("grpc") is None:
        unavailable("no client of Spark Connect: pip install 'sudare[spark]'")
    import pyspark

    home, port = Path(pyspark.__file__).parent, free_port()
    with tempfile.TemporaryDirectory(prefix="sudare-test-connect-") as folder:
        conf = SMALL | {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
            "spark.connect.authenticate.token": TOKEN,
            "spark.local.dir": folder,
            "spark.sql.warehouse.dir": f"{folder}/warehouse",
        }
        options = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
        server = subprocess.Popen(
            [
                home / "bin" / "spark-submit",
                "--master",
                "local[1]",
                *options,
                "--class",
                SERVER,
                "spark-internal",
            ],
            cwd=folder,
            env=os.environ | {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            while not is_open(port):
                assert server.poll() is None, "the server ended"
                time.sleep(0.2)
            yield f"sc://localhost:{port}/;token={TOKEN}"  # to any other host a token is sent by TLS alone
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


@pytest.fixture(scope="module")
def table(url: str) -> sd.Table:
    return sd.read(people(), SCHEMA, engine=url)


@pytest.mark.parametrize("name", ON_OTHERS)
def test_a_release_is_the_same(name: str, table: sd.Table, tmp_path: Path) -> None:
    for folder, own in {"memory": sd.read(people(), SCHEMA), "connect": table}.items():
        EVERY[name](own).write(tmp_path / folder)
    assert sd.verify(tmp_path / "connect").holds
    for file in (tmp_path / "memory" / "hand-over").iterdir():
        other = tmp_path / "connect" / "hand-over" / file.name
        assert other.exists()
        if file.name == "law.json" or (file.suffix == ".parquet" and name not in RANDOM):
            assert other.read_bytes() == file.read_bytes()
    for file in tmp_path.glob("connect/*/*"):
        assert TOKEN.encode() not in file.read_bytes()


def test_special_values_are_told_apart_as_in_memory(url: str) -> None:
    memory, own = sd.read(SPECIAL), sd.read(SPECIAL, engine=url)
    for name in memory.columns:
        assert memory[name].values.dtype == own[name].values.dtype
        assert memory[name].values.equals(own[name].values)
    assert memory.digest() == own.digest()


def test_paths_are_the_servers(url: str, tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "people.parquet")
    table = sd.read(tmp_path / "people.parquet", SCHEMA, engine=url)
    assert table.digest() == sd.read(people(), SCHEMA).digest()
    with pytest.raises(sd.InputError, match="PATH_NOT_FOUND"):
        sd.read(tmp_path / "nobody.parquet", SCHEMA, engine=url)


def test_a_session_and_its_frames_can_be_given(url: str) -> None:
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(url).create()
    frame = session.createDataFrame(people().to_arrow())
    tables: list[Any] = [sd.read(frame, SCHEMA, engine="spark"), sd.read(people(), SCHEMA, engine=session)]
    assert {table.digest() for table in tables} == {sd.read(people(), SCHEMA).digest()}
    del tables
    names = [row.namespace for row in session.sql("SHOW SCHEMAS").collect()]
    assert session.range(3).count() == 3  # it is the caller's, and still runs
    assert len([name for name in names if name.startswith("sudare_")]) <= 1  # of the table above
    session.stop()


def test_regions_are_learned_by_the_servers_tasks(
    table: sd.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Relational, "max_tuples", 30)
    here = sd.generalize(sd.read(people(), SCHEMA, engine="duckdb"), sd.KAnonymity(3))
    there = sd.generalize(table, sd.KAnonymity(3))
    assert isinstance(there.plan, RegionsPlan)
    assert there.holder["warnings"] == here.holder["warnings"] == []
    plans = [plan.save(tmp_path / name) for name, plan in {"a": here.plan, "b": there.plan}.items()]
    files = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in plans]
    assert files[0] == files[1]
    assert there.frame().equals(here.frame())


@pytest.mark.parametrize("wrong", ["another-token", TOKEN[:-1]])
def test_a_wrong_token_is_refused_and_not_shown(url: str, wrong: str) -> None:
    with pytest.raises(
        sd.InputError, match=r"sc://localhost:\d+: the Spark Connect server does not answer"
    ) as error:
        sd.read(pl.DataFrame({"x": [1]}), engine=url.replace(TOKEN, wrong))
    assert wrong not in str(error.value)
