"""What `sudare generalize` says of utility, and how it is asked to predict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sudare as sd
from sudare.engines import sizes
from sudare.tables import parts
from tests.cli.conftest import Run


@pytest.fixture
def generalize(run: Run) -> Run:
    """Generalize a small survey, with further options."""
    sd.datasets.health_survey(300).select("name", "age", "sex", "diagnosis").write_csv("survey.csv")
    schema = sd.Schema.from_roles(identifier=["name"], quasi=["age", "sex"], sensitive=["diagnosis"])
    Path("sudare.toml").write_text(schema.to_toml())
    return lambda *options: run("generalize", "survey.csv", "out", "-k", 4, *options)


def test_summary_says_how_far_counts_are_off(generalize: Run) -> None:
    done = generalize()
    assert done.code == 0, done.err
    utility = json.loads(Path("out/keep/holder.json").read_text())["utility"]
    error = utility["query_error"]
    assert "random counts are off by" in done.out
    assert f"{error['median']:.1%} (median), {error['mean']:.1%} (mean)" in done.out
    assert "predicted right" not in done.out
    assert "prediction" not in utility


@pytest.mark.usefixtures("reports")
@pytest.mark.usefixtures("scikit_learn")
def test_predict_is_in_summary_record_and_report(generalize: Run) -> None:
    done = generalize("--predict", "diagnosis")
    assert done.code == 0, done.err
    prediction = json.loads(Path("out/keep/holder.json").read_text())["utility"]["prediction"]
    assert prediction["target"] == "diagnosis"
    assert prediction["tested"] == 90
    assert "diagnosis predicted right" in done.out
    assert (
        f"{prediction['published']:.1%} (original {prediction['original']:.1%}, guess {prediction['guess']:.1%})"
        in done.out
    )
    assert "Predicting diagnosis" in Path("out/keep/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("diagnoses", "there is no attribute 'diagnoses' (did you mean 'diagnosis'?)"),
        ("age", "The 'predict' parameter of generalize must be a sensitive or other attribute. Got 'age'"),
    ],
)
def test_what_cannot_be_predicted_ends_with_2(generalize: Run, target: str, message: str) -> None:
    done = generalize("--predict", target)
    assert done.code == 2
    assert message in done.err
    assert not Path("out").exists()


def test_help_says_what_predict_does(generalize: Run) -> None:
    assert "Also measure how well this sensitive or other attribute" in generalize("--help").out


def test_a_table_in_parts_is_written_as_csv_if_asked(
    generalize: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PART_ROWS", 200)
    in_parts = {"certificate.json", "data.00001.parquet", "data.00002.parquet"}
    for options, expected in (([], in_parts), (["--csv", "--force"], in_parts | {"data.csv"})):
        done = generalize(*options)
        assert done.code == 0, done.err
        assert {path.name for path in Path("out/hand-over").iterdir()} == expected


def test_another_engine_publishes_the_same(generalize: Run) -> None:
    assert generalize("--engine", "duckdb", "--memory", "1GB").code == 0
    by_duckdb = Path("out/hand-over/data.csv").read_bytes()
    assert generalize("--force").code == 0
    assert Path("out/hand-over/data.csv").read_bytes() == by_duckdb


@pytest.mark.parametrize("engine", ["oracle", "sc:/spark;token=geheim"])
def test_what_is_no_engine_ends_with_2_and_shows_no_secrets(generalize: Run, engine: str) -> None:
    done = generalize("--engine", engine)
    assert done.code == 2
    assert "or the URL of a Spark Connect server, such as 'sc://host:15002'" in done.err
    assert "geheim" not in done.err


def test_what_is_too_large_for_memory_is_said_beside_the_output(
    generalize: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Note" not in generalize().err
    small = Path("out/hand-over/data.csv").read_bytes()
    monkeypatch.setattr(sizes, "free_memory", lambda: 1000)
    large = generalize("--json", "--force")
    assert large.err.count("\n") == 1
    assert 'Note: it may need 0.0 GB of memory, and 0.0 GB are free: read with engine="duckdb"' in large.err
    assert json.loads(large.out)["folder"] == "out"
    assert Path("out/hand-over/data.csv").read_bytes() == small
