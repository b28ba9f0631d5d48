"""The command `sudare check` names sensitive values that look alike."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.cli.check import MAX_GROUPS_SHOWN
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
