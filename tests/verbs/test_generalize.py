"""What `generalize` says of utility, in the certificate and in the report."""

from __future__ import annotations

import datetime as dt
import sys
from dataclasses import asdict

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.errors import MissingExtraError
from sudare.generalization.problem import Problem
from sudare.utility.classifier import classifier_scores
from sudare.utility.queries import query_error
from tests.by_row import outcome, tuple_of
from tests.conformance import SCHEMA, people


@pytest.fixture(scope="module")
def table() -> sd.Table:
    return sd.read(people(200), SCHEMA)


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused must be refused before the table is reduced to a problem."""
    monkeypatch.delattr(Problem, "of")


@pytest.fixture(scope="module")
def release(table: sd.Table, scikit_learn: None) -> sd.Release:
    return sd.generalize(table, sd.KAnonymity(5), suppress=0.05, predict="illness")


def test_query_error_is_that_of_what_is_published(table: sd.Table) -> None:
    release = sd.generalize(table, sd.KAnonymity(9))
    error = query_error(release.plan.locate(table).outcome())
    assert release.holder["utility"]["query_error"] == asdict(error)
    assert error.queries == 1000
    assert error.mean > 0


def test_query_error_counts_those_who_are_left_out(table: sd.Table) -> None:
    release = sd.generalize(table, sd.KAnonymity(9), "full-domain", suppress=0.1)
    located = release.plan.locate(table)
    blocks = located.block_of[tuple_of(table, located.counts)]
    kept = blocks >= 0
    assert 0 < (~kept).sum() <= 20
    by_row = outcome(located.table, located.levels[np.maximum(blocks, 0)], kept)
    error = query_error(by_row)
    assert release.holder["utility"]["query_error"] == pytest.approx(asdict(error))


def test_counts_are_exact_where_nothing_changes(table: sd.Table) -> None:
    utility = sd.generalize(table, sd.KAnonymity(1)).holder["utility"]
    assert utility["query_error"]["mean"] == pytest.approx(0, abs=1e-12)


@pytest.mark.usefixtures("scikit_learn")
@pytest.mark.parametrize("target", ["illness", "note"])
def test_prediction_is_that_of_what_is_published(table: sd.Table, target: str) -> None:
    release = sd.generalize(table, sd.KAnonymity(9), predict=target)
    located = release.plan.locate(table).with_column(target)
    scores = classifier_scores(located.outcome(), target=target)
    assert release.holder["utility"]["prediction"] == asdict(scores)
    assert scores.target == target


@pytest.mark.usefixtures("reports")
def test_nothing_is_predicted_unasked(table: sd.Table) -> None:
    release = sd.generalize(table, sd.KAnonymity(5))
    assert "prediction" not in release.holder["utility"]
    assert "Predicting" not in release.report


@pytest.mark.usefixtures("reports")
def test_report_says_how_far_counts_are_off_and_what_can_be_predicted(release: sd.Release) -> None:
    utility = release.holder["utility"]
    counts, scores = utility["query_error"], utility["prediction"]
    section = release.report.partition("What it cost")[2].partition("<h2>")[0]
    assert "Of 1,000 random counts" in section
    assert f"half are off by <b>{counts['median']:.1%}</b> or less" in section
    assert f"on average they are off by {counts['mean']:.1%}" in section
    assert "Predicting illness" in section
    assert f"asked about {scores['tested']:,} original records" in section
    bars = section.partition("Predicting illness")[2]
    assert [f">{scores[kind]:.1%}<" in bars for kind in ("original", "published", "guess")] == [True] * 3


@pytest.mark.usefixtures("reports")
@pytest.mark.usefixtures("scikit_learn")
def test_report_escapes_what_is_predicted() -> None:
    schema = sd.Schema.from_roles(quasi=["age"], other=["<i>"])
    table = sd.read(pl.DataFrame({"age": [1, 1, 2, 2] * 5, "<i>": ["a", "b"] * 10}), schema)
    report = sd.generalize(table, sd.KAnonymity(2), predict="<i>").report
    assert "Predicting &lt;i&gt;" in report
    assert "Predicting <i>" not in report


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("predict", "error", "message"),
    [
        ("ilness", sd.InputError, r"there is no attribute 'ilness' \(did you mean 'illness'\?\)"),
        (
            "age",
            sd.ParameterError,
            "The 'predict' parameter of generalize must be a sensitive or other attribute. "
            "Got 'age', which is quasi, instead.",
        ),
        ("name", sd.ParameterError, "Got 'name', which is identifier, instead."),
    ],
)
def test_what_cannot_be_predicted_is_refused_first(
    table: sd.Table, predict: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        sd.generalize(table, sd.KAnonymity(5), predict=predict)


def wages(values: int) -> sd.Table:
    schema = sd.Schema.from_roles(quasi=["age"], other=["wage"])
    return sd.read(pl.DataFrame({"age": [1] * values, "wage": range(values)}), schema)


@pytest.mark.usefixtures("no_work")
def test_more_than_a_hundred_values_are_refused_first() -> None:
    message = r"The 'predict' parameter of generalize must .* 100 values or fewer. Got 'wage', which has 101, instead"
    with pytest.raises(sd.ParameterError, match=message):
        sd.generalize(wages(101), sd.KAnonymity(5), predict="wage")


@pytest.mark.usefixtures("scikit_learn")
def test_a_hundred_values_are_predicted() -> None:
    release = sd.generalize(wages(100), sd.KAnonymity(5), predict="wage")
    assert release.holder["utility"]["prediction"]["tested"] == 30


@pytest.mark.usefixtures("no_work")
def test_a_missing_part_is_refused_first(table: sd.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(sys.modules, "sklearn.linear_model", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install 'sudare\[classifier\]'"):
        sd.generalize(table, sd.KAnonymity(5), predict="illness")


def test_durations_can_be_quasi() -> None:
    """polars writes no texts of durations, by which blocks are recounted and attacked."""
    stays = pl.Series([dt.timedelta(days=day % 4) for day in range(40)])
    frame = pl.DataFrame({"stay": stays, "illness": ["flu", "cold"] * 20})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["stay"], sensitive=["illness"]))
    release = sd.generalize(table, sd.KAnonymity(8))
    assert release.certificate.measured["k"] == 10
