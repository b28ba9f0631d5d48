"""Ctrl-C ends a command wherever it is: one line, exit code 130, and nothing is left of what was not finished."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from sudare.engines import private_folder
from tests.conformance import people

SCHEMA = """[attributes]
name = {role = "identifier"}
age = {role = "quasi"}
town = {role = "quasi"}
illness = {role = "sensitive"}
note = {role = "other"}
"""

# Each stops where a run spends its time, says so, and waits there for the interrupt.
PLACES = {
    "a query": """
from sudare.engines.relational import Relational
def counts(self, names):
    waiting()
    return self._database.frame("SELECT count(*) FROM range(100000000000) WHERE range * 3 % 7 = 1")
Relational.counts = counts
""",
    "rows that a query hands over": """
from sudare.engines.relational import Relational
def counts(self, names):
    waiting()
    return self._database.frame("SELECT range AS r FROM range(10000000000) ORDER BY hash(range)")
Relational.counts = counts
""",
    "a part that is written": """
import time
from sudare.release import release
from sudare.tables import parts
parts.PART_ROWS = 16
own = release.write_parquet
def write_parquet(part, path):
    own(part, path)
    if path.name == "data.00002.parquet":
        waiting()
        time.sleep(60)
release.write_parquet = write_parquet
""",
    "a table in a warehouse": """
from sudare.release.to_duckdb import DuckDBTables
def counted(self, name, schema):
    waiting()
    yield self._execute("SELECT count(*) FROM range(100000000000) WHERE range * 3 % 7 = 1")
DuckDBTables.counted = counted
""",
    "a database that is read": """
from sudare.tables import databases
def statement(table, query, tables, name):
    waiting()
    return "SELECT range AS r FROM range(10000000000) ORDER BY hash(range)"
databases._statement = statement
""",
}
QUICK = ("a table in a warehouse",)
PROGRAM = """
import sys
def waiting():
    print("here", flush=True)
{}
from sudare.cli import main
main()
"""


@pytest.fixture
def started(tmp_path: Path) -> Path:
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / "sudare.toml").write_text(SCHEMA)
    (tmp_path / "temporary").mkdir()
    return tmp_path


def start(folder: Path, place: str, source: str, *options: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            PROGRAM.format(PLACES[place]),
            "generalize",
            source,
            "out",
            "-k",
            "3",
            *options,
        ],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder / "temporary")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n", process.communicate()[1]
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(
    "place", [pytest.param(place, marks=[] if place in QUICK else [pytest.mark.slow]) for place in PLACES]
)
def test_an_interrupt_ends_it_and_leaves_nothing(place: str, started: Path) -> None:
    source = "duckdb:///old.duckdb" if place == "a database that is read" else "people.csv"
    to = ["--to", "duckdb:///new.duckdb?table=people"] if place == "a table in a warehouse" else []
    with duckdb.connect(str(started / "old.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS age")
    process = start(started, place, source, "--engine", "duckdb", *to)
    assert list((started / "temporary").glob("sudare-duckdb-*"))  # people's data, and only for now
    time.sleep(0.3)  # into the query
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert (output, errors) == ("", "Stopped. What was not finished is not there.\n")
    assert list((started / "temporary").iterdir()) == []
    assert {path.name for path in started.iterdir()} == {
        "people.csv",
        "sudare.toml",
        "old.duckdb",
        "temporary",
    }


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_what_a_killed_run_left_is_removed_by_the_next(
    started: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = started / "temporary"
    killed = start(started, "a part that is written", "people.csv", "--engine", "duckdb")
    (left,) = temporary.glob("sudare-duckdb-*")
    monkeypatch.setattr(private_folder.tempfile, "tempdir", str(temporary))
    other, remove = private_folder.private_folder("duckdb")
    assert left.exists()  # its process lives
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)
    assert not (started / "out").exists()  # two of four parts were written
    (partial,) = started.glob(".out.partial-*")
    assert not list(partial.rglob("certificate.json"))
    _, remove_third = private_folder.private_folder("duckdb")
    assert not left.exists()
    assert other.exists()
    for done in (remove, remove_third):
        done()
    assert list(temporary.iterdir()) == []


def test_folders_of_others_and_links_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_folder.tempfile, "tempdir", str(tmp_path))
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / private_folder.LOCK).touch()
    (tmp_path / "sudare-duckdb-link").symlink_to(mine)
    (tmp_path / "sudare-duckdb-new").mkdir()  # not locked yet
    folder, remove = private_folder.private_folder("duckdb")
    assert (mine / private_folder.LOCK).exists()
    assert (tmp_path / "sudare-duckdb-new").exists()
    assert folder.stat().st_mode & 0o777 == 0o700
    remove()
    assert not folder.exists()
