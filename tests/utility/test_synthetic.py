"""Models that learn from synthetic rows."""

from __future__ import annotations

import sys
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.errors import MissingExtraError
from sudare.utility.synthetic import Scores, mean_scores, synthetic_scores


def people(n: int, seed: int, *, taught: bool = True) -> pl.DataFrame:
    """The ill are old, or live in Deal; unless nothing is taught."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(0, 100, n), rng.choice(["Ayr", "Bath", "Deal"], n)
    ill = (age > 70) | (town == "Deal") if taught else rng.random(n) < 0.5
    return pl.DataFrame({"age": age, "town": town, "ill": np.where(ill, "yes", "no")})


@pytest.mark.usefixtures("scikit_learn")
def test_what_rows_teach_is_learned() -> None:
    test = people(500, 2)
    good = synthetic_scores(people(800, 1), test, "ill", positive="yes")
    poor = synthetic_scores(people(800, 1, taught=False), test, "ill", positive="yes")
    assert {"logistic regression", "AdaBoost", "gradient boosting"} <= set(good)
    for name, scores in good.items():
        assert scores.auroc > 0.9, name
        assert scores.auprc > 0.9, name
        assert poor[name].auroc < 0.8, name
    assert good["gradient boosting"].auroc > 0.99


@pytest.mark.usefixtures("scikit_learn")
def test_missing_values_unseen_values_and_dates() -> None:
    train, test = people(300, 1), people(100, 2)
    train, test = (
        frame.with_columns(
            age=pl.when(pl.col("age") < 10).then(None).otherwise(pl.col("age")),
            town=pl.when(pl.col("age") > 90).then(None).otherwise(pl.col("town")),
            day=date(2020, 1, 1) + pl.col("age") * timedelta(days=1),
            none=pl.lit(None, dtype=pl.Float64),
        )
        for frame in (train, test)
    )
    unseen = test.with_columns(town=pl.col("town").replace("Ayr", "Exeter"))
    for scores in synthetic_scores(train, unseen, "ill", positive="yes").values():
        assert scores.auroc > 0.8


@pytest.mark.usefixtures("scikit_learn")
def test_one_class_or_nobody_teaches_nothing() -> None:
    test = people(100, 2)
    share = (test["ill"] == "yes").mean()
    for train in (people(100, 1).filter(ill="no"), test.clear()):
        for scores in synthetic_scores(train, test, "ill", positive="yes").values():
            assert scores == Scores(0.5, pytest.approx(share))


@pytest.mark.usefixtures("scikit_learn")
def test_what_cannot_be_is_refused() -> None:
    rows = people(50, 1)
    with pytest.raises(sd.ParameterError, match="Got 'maybe' instead; there are 'no', 'yes'"):
        synthetic_scores(rows, rows, "ill", positive="maybe")
    with pytest.raises(sd.InputError, match="among them 'ill'"):
        synthetic_scores(rows, rows.drop("age"), "ill", positive="yes")


def test_mean_over_models() -> None:
    assert mean_scores({"a": Scores(0.5, 0.2), "b": Scores(0.7, 0.4)}) == pytest.approx((0.6, 0.3))


def test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name == "sklearn" or name.startswith("sklearn.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'sudare\[classifier\]'"):
        synthetic_scores(people(9, 1), people(9, 2), "ill", positive="yes")
