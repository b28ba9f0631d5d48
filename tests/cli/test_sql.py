"""`sudare sql`: a plan as a statement on standard output, and what it publishes."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

import sudare as sd
from sudare.cli.app import app

RUN = CliRunner()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    people = sd.datasets.health_survey(300).select("name", "age", "sex", "diagnosis")
    schema = sd.Schema.from_roles(identifier=["name"], quasi=["age", "sex"], sensitive=["diagnosis"])
    Path("sudare.toml").write_text(schema.to_toml(), encoding="utf-8")
    people.write_csv("people.csv")
    sd.generalize(sd.read("people.csv", schema), sd.KAnonymity(5), "full-domain").plan.save("plan")
    return tmp_path


def test_the_statement_publishes_what_apply_does(folder: Path) -> None:
    done = RUN.invoke(app, ["sql", "plan", "--table", "read_by_us"])
    assert done.exit_code == 0, done.output
    assert "It publishes nothing unless it has 5-anonymity" in done.stderr
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE read_by_us AS SELECT * FROM 'people.csv'")
        rows = connection.execute(done.stdout).fetchall()
    release = sd.apply(sd.Plan.open("plan"), sd.read("people.csv", "sudare.toml")).frame()
    assert sorted(rows, key=str) == sorted(release.select("age", "sex", "diagnosis").rows(), key=str)


def test_as_json(folder: Path) -> None:
    done = RUN.invoke(app, ["sql", "plan", "--dialect", "postgres", "--json"])
    data = json.loads(done.stdout)
    assert data["dialect"] == "postgres"
    assert data["sql"] == sd.sql(sd.Plan.open("plan"), sd.Schema.from_toml("sudare.toml"), dialect="postgres")


def test_other_dialects_are_refused(folder: Path) -> None:
    assert RUN.invoke(app, ["sql", "plan", "--dialect", "oracle"]).exit_code == 2
