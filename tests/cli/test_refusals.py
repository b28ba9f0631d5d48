"""What would fail after the work is refused before it: before the table is read, or anything is made."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import sudare as sd
from tests.cli.conftest import Run

WRITING = {
    "generalize": ["-k", 2],
    "generalize-views": ["--view", "a=age", "-l", 2],
    "materialize": ["--epsilon", 1],
    "publish": ["-l", 2],
    "randomize": ["--pk", 2],
}


@pytest.fixture
def schema(run: Run) -> Path:
    """A schema of a table that is not there: a command that tries to read it says so, and nothing else."""
    roles = sd.Schema.from_roles(quasi=["age"], sensitive=["illness"], bounds={"age": (0, 120)})
    Path("sudare.toml").write_text(roles.to_toml())
    return Path("sudare.toml")


def refused(run: Run, *arguments: object) -> str:
    before = sorted(Path().rglob("*"))
    done = run(*arguments)
    assert done.code == 2, done.out
    assert "there is no such file" not in done.err  # the table was not looked for
    assert "Traceback" not in done.err
    assert sorted(Path().rglob("*")) == before
    return done.err


@pytest.mark.parametrize("command", WRITING)
class TestOutput:
    def test_that_exists(self, run: Run, schema: Path, command: str) -> None:
        Path("out").mkdir()
        error = refused(run, command, "none.csv", "out", *WRITING[command])
        assert "out exists already. Nothing was written." in error
        assert "--force" in error

    def test_that_is_not_ours(self, run: Run, schema: Path, command: str) -> None:
        Path("out").mkdir()
        error = refused(run, command, "none.csv", "out", *WRITING[command], "--force")
        assert "so it is not ours, and force does not replace it" in error

    def test_in_a_file(self, run: Run, schema: Path, command: str) -> None:
        error = refused(run, command, "none.csv", schema / "deep" / "out", *WRITING[command])
        assert "sudare.toml is not a folder. Nothing was written." in error

    def test_where_one_may_not_write(
        self, run: Run, schema: Path, command: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)  # root may write
        error = refused(run, command, "none.csv", "new/out", *WRITING[command])
        assert "you may not write in" in error

    def test_ledger_that_is_none(self, run: Run, schema: Path, command: str) -> None:
        error = refused(run, command, "none.csv", "out", *WRITING[command], "--ledger", schema)
        assert "is not a" in error

    def test_ledger_in_no_folder(self, run: Run, schema: Path, command: str) -> None:
        error = refused(run, command, "none.csv", "out", *WRITING[command], "--ledger", "none/releases.db")
        assert "none" in error

    def test_receiver_without_a_ledger(self, run: Run, schema: Path, command: str) -> None:
        error = refused(run, command, "none.csv", "out", *WRITING[command], "--receiver", "me")
        assert "Give --ledger too" in error

    def test_else_the_table_is_read(self, run: Run, schema: Path, command: str) -> None:
        done = run(command, "none.csv", "out", *WRITING[command])
        assert "there is no such file" in done.err


@pytest.mark.parametrize(
    ("missing", "extra", "arguments"),
    [
        ("sklearn", "classifier", ["generalize", "none.csv", "out", "-k", 2, "--predict", "illness"]),
        ("resvg_py", "plots", ["assess", "none.csv", "--plots", "plots"]),
        ("duckdb", "duckdb", ["generalize", "duckdb:///none.duckdb?table=t", "out", "-k", 2]),
        ("psycopg", "postgres", ["generalize", "postgresql://nobody@nowhere/none?table=t", "out", "-k", 2]),
        ("duckdb", "duckdb", ["publish", "none", "--to", "none.duckdb"]),
        ("psycopg", "postgres", ["publish", "none", "--to", "postgresql://nobody@nowhere/none"]),
    ],
)
def test_an_extra_that_is_not_installed(
    run: Run,
    schema: Path,
    monkeypatch: pytest.MonkeyPatch,
    missing: str,
    extra: str,
    arguments: list[object],
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert f"pip install 'sudare[{extra}]'" in refused(run, *arguments)


def test_a_gpu_that_is_not_there(run: Run, schema: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "pip install 'sudare[gpu]'" in refused(run, "assess", "none.csv", "--device", "gpu")


def test_python_refuses_a_missing_gpu_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(sd.SudareError, match=r"sudare\[gpu\]"):
        sd.assess(None, device="gpu")  # type: ignore[arg-type]


def test_pages_and_schemas_that_cannot_be_written(run: Run, schema: Path) -> None:
    assert "there is no folder none" in refused(run, "init", "none.csv", "--schema", "none/sudare.toml")
    assert "there is no folder none" in refused(run, "assess", "none.csv", "--report", "none/page.html")
    assert "is not a folder" in refused(run, "assess", "none.csv", "--plots", schema / "plots")


def test_the_demo_is_refused_before_it_writes_its_table(run: Run) -> None:
    Path("demo-output/release").mkdir(parents=True)
    assert "exists already" in refused(run, "demo")
