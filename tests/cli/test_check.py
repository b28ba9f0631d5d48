"""The command `sudare check` names sensitive values that look alike."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.cli.check import MAX_GROUPS_SHOWN
from sudare.engines.duckdb import DuckDB
from tests.cli.conftest import Run

SCHEMA = sd.Schema.from_roles(quasi=["age"], sensitive=["illness", "pay"], other=["note"])


@pytest.fixture
def people(tmp_path: Path) -> Path:
    (tmp_path / "sudare.toml").write_text(SCHEMA.to_toml())
    frame = pl.DataFrame(
        {
            "age": [20, 30, 40, 50],
            "illness": ["HIV", "HIV ", "[/x]flu", "[/X]flu"],
            "pay": [1.0, 1.5, 2.0, 2.5],
            "note": ["a", "A", "b", "B"],
        }
    )
    frame.write_parquet(tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def test_lookalike_values_are_named(run: Run, people: Path) -> None:
    result = run("check", people)
    assert result.code == 0, result.err
    assert (
        "Warning: the values 'HIV', 'HIV ' of illness look alike. l-diversity counts them as 2 values"
        in result.out
    )
    assert "the values '[/X]flu', '[/x]flu' of illness look alike" in result.out
    assert result.out.count("Warning") == 2  # who cares about notes


def test_lookalike_values_for_machines(run: Run, people: Path) -> None:
    groups = json.loads(run("check", people, "--json").out)["lookalikes"]
    assert groups == [
        {"column": "illness", "values": ["HIV", "HIV "]},
        {"column": "illness", "values": ["[/X]flu", "[/x]flu"]},
    ]


def test_a_table_without_any(run: Run, people: Path) -> None:
    pl.read_parquet(people).with_columns(illness=pl.lit("flu")).write_parquet(people)
    assert "Warning" not in run("check", people).out
    assert json.loads(run("check", people, "--json").out)["lookalikes"] == []


def test_not_all_of_very_many(run: Run, people: Path) -> None:
    values = [f"{text}{i}" for i in range(50) for text in ("a", "A")]
    frame = pl.DataFrame({"age": 1, "illness": values, "pay": 1.0, "note": "x"})
    frame.write_parquet(people)
    assert len(json.loads(run("check", people, "--json").out)["lookalikes"]) == MAX_GROUPS_SHOWN


@pytest.mark.parametrize("command", [["check"], ["count", "age", "note"], ["init", "--force"]])
def test_every_engine_says_the_same(command: list[str], run: Run, people: Path) -> None:
    name, *options = command
    said = []
    for engine in ("memory", "duckdb"):
        done = run(name, str(people), *options, "--engine", engine, "--json")
        assert done.code == 0, done.err
        said.append((json.loads(done.out), Path("sudare.toml").read_text()))
    assert said[0] == said[1]


def test_very_many_values_are_left_in_the_database(
    run: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb")
    monkeypatch.setattr("sudare.cli.check.MAX_LOOKED_AT", 3)
    fetched = []
    frame = DuckDB.frame

    def noted(self: DuckDB, query: str) -> pl.DataFrame:
        fetched.append(frame(self, query))
        return fetched[-1]

    monkeypatch.setattr(DuckDB, "frame", noted)
    columns = json.loads(run("check", people, "--engine", "duckdb", "--json").out)["columns"]
    assert [column["distinct"] for column in columns] == [4, 4, 4, 4]
    assert [column["missing"] for column in columns] == [
        0,
        0,
        0,
        None,
    ]  # of what is declared, all is looked at
    texts = [set(own[name]) for own in fetched for name in own.columns if own[name].dtype == pl.String]
    assert {"HIV", "HIV ", "[/x]flu", "[/X]flu"} in texts
    assert not any("a" in own for own in texts)
    shown = run("check", people, "--engine", "duckdb").out
    assert "Note: the values of note were counted, and not looked at." in shown
    monkeypatch.setattr("sudare.cli.check.MAX_LOOKED_AT", 4)
    columns = json.loads(run("check", people, "--engine", "duckdb", "--json").out)["columns"]
    assert [column["missing"] for column in columns] == [0] * 4


def test_rows_of_persons_with_several_are_not_called_people(run: Run, tmp_path: Path) -> None:
    pl.DataFrame({"pid": [1, 1, 2], "age": [20, 30, 30]}).write_csv(tmp_path / "visits.csv")
    (tmp_path / "sudare.toml").write_text(sd.Schema.from_roles(person="pid", quasi=["age"]).to_toml())
    assert (
        "1 of 3 rows are the only ones with their quasi values." in run("check", tmp_path / "visits.csv").out
    )
