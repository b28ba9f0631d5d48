"""A logistic regression from a randomized table, beside the one on the original and its variance by the whole matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.noise.keystream import Keystream
from sudare.plans.law import LawForm
from sudare.randomization.learn import learn_plan
from sudare.randomization.published import PublishedCounts
from sudare.randomization.regression import logistic
from sudare.verbs.randomize import apply_law

SCHEMA = sd.Schema.from_roles(
    quasi=["age", "sex"],
    sensitive=["ill"],
    bounds={"age": (20, 60)},
    domains={"sex": ["f", "m", "x"], "ill": ["no", "yes"]},
    missing="refuse",
)


def people(seed: int, n: int = 8000) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(20, 61, n), rng.choice(["f", "m", "x"], n, p=[0.4, 0.4, 0.2])
    logit = -3.0 + 0.05 * age + 0.8 * (sex == "m") - 0.5 * (sex == "x")
    ill = np.where(rng.random(n) < 1 / (1 + np.exp(-logit)), "yes", "no")
    return pl.DataFrame({"age": age, "sex": sex, "ill": ill})


def on_the_original(frame: pl.DataFrame) -> np.ndarray[Any, Any]:
    """Newton's method on the rows themselves."""
    sex = frame["sex"].to_numpy()
    x = np.column_stack([np.ones(len(sex)), frame["age"].to_numpy(), sex == "m", sex == "x"]).astype(float)
    y, b = (frame["ill"] == "yes").to_numpy().astype(float), np.zeros(4)
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ b))
        b += np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x, x.T @ (y - p))
    return b


def estimated(frame: pl.DataFrame, epsilon: float, seed: int) -> sd.Release:
    asked = sd.DifferentialPrivacy(epsilon, per="record")
    return sd.randomize(sd.read(frame, SCHEMA), asked, unsafe_seed=seed)


def test_without_noise_it_is_that_of_the_original() -> None:
    frame = people(0)
    regression = sd.reconstruct(estimated(frame, 120.0, 0), ["ill", "sex", "age"]).logistic(ill="yes")
    assert regression.terms == ["intercept", "sex: m", "sex: x", "age"]
    assert regression.coefficients == pytest.approx(on_the_original(frame)[[0, 2, 3, 1]], rel=0.02)


def covered(seeds: int, epsilon: float) -> None:
    frame = people(1)
    truth = on_the_original(frame)[[0, 1, 2, 3]]
    table = sd.read(frame, SCHEMA)
    plan = learn_plan(table, sd.DifferentialPrivacy(epsilon, per="record"), Keystream.unsafe(0))
    laws = {law.name: LawForm.of(law.name, law.to_json()) for law in plan.laws}
    found = []
    for seed in range(seeds):
        rows, _ = apply_law(plan, table, Keystream.unsafe(seed))
        found.append(logistic(PublishedCounts.of(rows, laws), "ill", "yes", ["age", "sex"]))
    estimates, errors = (
        np.array([getattr(one, what) for one in found]) for what in ("coefficients", "stderr")
    )
    inside = np.mean([(one.low <= truth) & (truth <= one.high) for one in found])
    asked = seeds * 4 / 3  # coefficients of one table are not independent
    assert abs(inside - 0.95) <= 4 * math.sqrt(0.05 * 0.95 / asked)
    assert errors.mean(axis=0) == pytest.approx(estimates.std(axis=0), rel=0.35)


def test_intervals_cover_as_often_as_they_say() -> None:
    covered(seeds=24, epsilon=12.0)


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say_in_many_tables() -> None:
    covered(seeds=400, epsilon=9.0)


def test_the_variance_by_the_whole_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of the parts' variances, record by record, as the definition has it."""
    from sudare.randomization import regression

    rng = np.random.default_rng(0)
    schema = sd.Schema.from_roles(
        quasi=["a"], sensitive=["y"], domains={"a": [0, 1, 2], "y": [0, 1]}, missing="refuse"
    )
    frame = pl.DataFrame({"a": rng.integers(0, 3, 500), "y": rng.integers(0, 2, 500)})
    plan = learn_plan(sd.read(frame, schema), sd.DifferentialPrivacy(4.0, per="record"), Keystream.unsafe(0))
    laws = {law.name: LawForm.of(law.name, law.to_json()) for law in plan.laws}
    output = PublishedCounts.of(frame, laws)
    parts = rng.normal(size=(6, 2))
    whole = np.kron(*(law.channel.expected(np.eye(law.channel.inputs)).T for law in plan.laws))
    of_output = np.linalg.inv(whole).T @ parts
    w = output.counts.ravel()
    n = np.linalg.inv(whole) @ w
    expected = (of_output.T * w) @ of_output - (parts.T * n) @ parts
    monkeypatch.setattr(regression._Equations, "parts", lambda self, b: parts)
    equations = regression._Equations(output, parts, parts[:, 0], n)
    assert equations.variance(np.zeros(2)) == pytest.approx(expected)


def test_what_cannot_be_regressed() -> None:
    frame = people(2, 500)
    estimate = sd.reconstruct(estimated(frame, 30.0, 1), ["age", "sex", "ill"])
    with pytest.raises(sd.InputError, match="'ill' has no value 'maybe'"):
        estimate.logistic(ill="maybe")
    with pytest.raises(sd.InputError, match="'age' has no value 30 that could be regressed"):
        estimate.logistic(age=30)
    with pytest.raises(sd.InputError, match="regression of 'pay' needs it and others"):
        estimate.logistic(pay=3)
    with pytest.raises(sd.ParameterError, match="one outcome"):
        estimate.logistic(ill="yes", sex="f")
    noisy = sd.reconstruct(estimated(frame, 0.05, 1), ["age", "sex", "ill"])
    with pytest.raises(sd.ParameterError, match="too noisy for this regression"):
        noisy.logistic(ill="yes")
