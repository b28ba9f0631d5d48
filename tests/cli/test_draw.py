"""`sudare draw`: the file and the schema that it writes are read by every other command."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

import sudare as sd
from tests.cli.conftest import Run


def test_what_is_drawn_is_a_table_with_a_schema(run: Run) -> None:
    sd.datasets.health_survey(300).select("name", "age", "sex", "diagnosis").write_csv("people.csv")
    run("init", "people.csv")
    done = run("draw", "people.csv", "drawn.parquet", "--share", 0.5)
    assert done.code == 0, done.err
    assert "150 of 300 people were drawn at random: 150 rows" in done.out
    assert pl.read_parquet("drawn.parquet").height == 150
    asked = ["--schema", "drawn.toml"]
    assert "sampling fraction of 50.000%" in run("check", "drawn.parquet", *asked).out
    assert run("generalize", "drawn.parquet", "out", "-k", 3, *asked).code == 0
    holder = json.loads(Path("out/keep/holder.json").read_text(encoding="utf-8"))
    assert holder["sampling_fraction"] == 0.5
    assert run("verify", "out").code == 0
    again = run("draw", "people.csv", "drawn.parquet", "--people", 7)
    assert again.code == 2
    assert "exists already" in again.err
    told = json.loads(run("draw", "people.csv", "drawn.parquet", "--people", 7, "--force", "--json").out)
    assert (told["rows"], told["schema"]) == (7, "drawn.toml")
    assert told["sampling_fraction"] == 7 / 300


def test_what_cannot_be_drawn_ends_with_2(run: Run) -> None:
    pl.DataFrame({"age": [1, 2]}).write_csv("people.csv")
    run("init", "people.csv")
    for asked in ([], ["--share", 0.5, "--people", 1], ["--people", 3]):
        assert run("draw", "people.csv", "drawn.parquet", *asked).code == 2
    assert run("draw", "people.csv", "drawn.csv", "--share", 0.5).code == 2
    assert not Path("drawn.parquet").exists()


def test_what_is_read_is_never_written_over(run: Run) -> None:
    pl.DataFrame({"age": range(60)}).write_csv("people.csv")
    run("init", "people.csv")
    assert run("draw", "people.csv", "drawn.parquet", "--people", 50).code == 0
    before = Path("drawn.parquet").read_bytes(), Path("drawn.toml").read_bytes()
    again = run("draw", "drawn.parquet", "drawn.parquet", "--people", 3, "--schema", "drawn.toml", "--force")
    assert again.code == 2
    assert "is read, and would be written over" in again.err
    assert (Path("drawn.parquet").read_bytes(), Path("drawn.toml").read_bytes()) == before
