"""What synthetic rows teach: models that learned from them, tested on real rows that nobody has learned from.

Needs scikit-learn, an optional part: pip install 'sudare[classifier]'. XGBoost takes part if it is installed.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError, MissingExtraError, ParameterError
from sudare.tables.text import listed, shown

ITERATIONS = 500
Floats = NDArray[np.float64]


class Scores(NamedTuple):
    """How well a model ranks held-out real rows; a coin has 0.5 and the share of positives."""

    auroc: float
    auprc: float


def synthetic_scores(
    train: pl.DataFrame, test: pl.DataFrame, target: str, *, positive: Any, seed: int = 0
) -> dict[str, Scores]:
    """Learn from `train` whether `target` is `positive`; return each model's AUROC and AUPRC on `test`.

    The models are a logistic regression, AdaBoost, gradient boosting (scikit-learn's histogram form) and, if it is
    installed, XGBoost, all as they come. Numbers go in as they are, dates as numbers, other attributes as one indicator
    per value of `train`. If `train` has one class only, nothing was learned: 0.5 and the share of positives.

    >>> rows = pl.DataFrame({"sex": ["f", "m"] * 50, "ill": ["no", "yes"] * 50})
    >>> synthetic_scores(rows, rows, "ill", positive="yes")["logistic regression"]     # doctest: +SKIP
    Scores(auroc=1.0, auprc=1.0)
    """
    models = _models(seed)
    if train.columns != test.columns or target not in train.columns:
        raise InputError(
            f"Rows to learn from and to test on need the same attributes, among them '{target}'."
        )
    wanted = [_positive(frame[target], positive) for frame in (train, test)]
    if wanted[1].all() or not wanted[1].any():
        raise ParameterError(
            f"The 'positive' parameter of synthetic_scores must be a value that some held-out rows have in '{target}', and some "
            f"have not. Got {shown(positive)} instead; there are {listed([str(v) for v in test[target].unique().sort().to_list()])}."
        )
    seen, known = _features(train.drop(target), test.drop(target))
    if len(seen) == 0 or wanted[0].all() or not wanted[0].any():
        return dict.fromkeys(models, Scores(0.5, float(wanted[1].mean())))
    return {name: _scores(make(), seen, wanted[0], known, wanted[1]) for name, make in models.items()}


def mean_scores(scores: Mapping[str, Scores]) -> Scores:
    """Return the mean over the models.

    >>> mean_scores({"a": Scores(0.5, 0.25), "b": Scores(1.0, 0.75)})
    Scores(auroc=0.75, auprc=0.5)
    """
    auroc, auprc = np.mean([*scores.values()], axis=0).tolist()
    return Scores(auroc, auprc)


def _models(seed: int) -> dict[str, Callable[[], Any]]:
    try:
        ensemble, linear, pipeline, scale = (
            importlib.import_module(f"sklearn.{name}")
            for name in ("ensemble", "linear_model", "pipeline", "preprocessing")
        )
    except ImportError:
        raise MissingExtraError("The score of synthetic rows", "classifier") from None
    models: dict[str, Callable[[], Any]] = {
        "logistic regression": lambda: pipeline.make_pipeline(
            scale.StandardScaler(), linear.LogisticRegression(max_iter=ITERATIONS)
        ),
        "AdaBoost": lambda: ensemble.AdaBoostClassifier(random_state=seed),
        "gradient boosting": lambda: ensemble.HistGradientBoostingClassifier(random_state=seed),
    }
    if importlib.util.find_spec("xgboost") is not None:
        boost = importlib.import_module("xgboost")
        models["XGBoost"] = lambda: boost.XGBClassifier(random_state=seed)
    return models


def _positive(values: pl.Series, positive: Any) -> NDArray[np.bool_]:
    return np.array([value == positive for value in values.to_list()], dtype=bool)


def _features(train: pl.DataFrame, test: pl.DataFrame) -> tuple[Floats, Floats]:
    """Return both frames as numbers: missing ones are the mean of `train`, other values are indicators."""
    seen, known = [], []
    for name, column in zip(train.columns, train.iter_columns(), strict=True):
        if column.dtype.is_numeric() or column.dtype.is_temporal():
            own, other = (_numbers(values) for values in (column, test[name]))
            usual = float(np.nanmean(own)) if np.isfinite(own).any() else 0.0
            seen.append(np.nan_to_num(own, nan=usual)[:, None])
            known.append(np.nan_to_num(other, nan=usual)[:, None])
        else:
            values = column.unique().sort()
            seen.append(_indicators(column, values))
            known.append(_indicators(test[name].cast(column.dtype), values))
    return np.hstack(seen), np.hstack(known)


def _numbers(values: pl.Series) -> Floats:
    plain = values.to_physical() if values.dtype.is_temporal() else values
    return plain.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _indicators(column: pl.Series, values: pl.Series) -> Floats:
    indicators = np.zeros((len(column), len(values)))
    for i, value in enumerate(values):
        indicators[:, i] = column.eq_missing(value).to_numpy()
    return indicators


def _scores(
    model: Any, seen: Floats, classes: NDArray[np.bool_], known: Floats, truth: NDArray[np.bool_]
) -> Scores:
    metrics, pools = importlib.import_module("sklearn.metrics"), importlib.import_module("threadpoolctl")
    # Threads that wait for each other make small models slower, and on a busy machine many times so.
    with warnings.catch_warnings(), pools.threadpool_limits(1):
        warnings.simplefilter("ignore")  # that it could be polished further
        model.fit(seen, classes)
        likely = model.predict_proba(known)[:, 1]
    return Scores(
        float(metrics.roc_auc_score(truth, likely)), float(metrics.average_precision_score(truth, likely))
    )
