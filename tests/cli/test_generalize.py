"""What `sudare generalize` says of utility, and how it is asked to predict."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

import sudare as sd
from sudare.cli import main
from tests.conftest import unavailable


class Result(NamedTuple):
    code: int
    out: str
    err: str


Generalize = Callable[..., Result]


@pytest.fixture
def scikit_learn() -> None:
    if find_spec("sklearn") is None:
        unavailable("scikit-learn is not installed: pip install 'sudare[classifier]'")


@pytest.fixture
def generalize(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Generalize:
    """Generalize a small survey in a folder of its own, with further options; lines are not wrapped."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    sd.datasets.health_survey(300).select("name", "age", "sex", "diagnosis").write_csv("survey.csv")
    schema = sd.Schema.from_roles(identifier=["name"], quasi=["age", "sex"], sensitive=["diagnosis"])
    Path("sudare.toml").write_text(schema.to_toml())

    def call(*options: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["sudare", "generalize", "survey.csv", "out", "-k", "4", *options])
        with pytest.raises(SystemExit) as stopped:
            main()
        return Result(int(stopped.value.code or 0), *capsys.readouterr())

    return call


def test_summary_says_how_far_counts_are_off(generalize: Generalize) -> None:
    done = generalize()
    assert done.code == 0, done.err
    utility = json.loads(Path("out/certificate.json").read_text())["utility"]
    found = utility["query_error"]
    assert "random counts are off by" in done.out
    assert f"{found['median']:.1%} (median), {found['mean']:.1%} (mean)" in done.out
    assert "predicted right" not in done.out
    assert "prediction" not in utility


@pytest.mark.usefixtures("scikit_learn")
def test_predict_is_in_summary_certificate_and_report(generalize: Generalize) -> None:
    done = generalize("--predict", "diagnosis")
    assert done.code == 0, done.err
    found = json.loads(Path("out/certificate.json").read_text())["utility"]["prediction"]
    assert found["target"] == "diagnosis"
    assert found["tested"] == 90
    assert "diagnosis predicted right" in done.out
    assert (
        f"{found['published']:.1%} (original {found['original']:.1%}, guess {found['guess']:.1%})" in done.out
    )
    assert "Predicting diagnosis" in Path("out/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("diagnoses", "there is no attribute 'diagnoses' (did you mean 'diagnosis'?)"),
        ("age", "The 'predict' parameter of generalize must be a sensitive or other attribute. Got 'age'"),
    ],
)
def test_what_cannot_be_predicted_ends_with_2(generalize: Generalize, target: str, message: str) -> None:
    done = generalize("--predict", target)
    assert done.code == 2
    assert message in done.err
    assert not Path("out").exists()


def test_help_says_what_predict_does(generalize: Generalize) -> None:
    assert "Also measure how well this sensitive or other attribute" in generalize("--help").out
