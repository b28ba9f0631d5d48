"""The channel of weights beside its whole matrix, written out; and releases with more values than a matrix may have."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import sudare as sd
from sudare.attacks.chances import Chances
from sudare.attacks.randomized import _tells
from sudare.noise.keystream import Keystream
from sudare.plans.law import LawForm
from sudare.randomization.best import MAX_VALUES, of_very_many
from sudare.randomization.channel import MatrixChannel
from sudare.randomization.weights import WeightsChannel
from sudare.verification.recount_laws import _epsilon_and_spread

Array = np.ndarray[Any, Any]
FORM = {"how": "optimal", "epsilon": 1.0, "spread": 2.0, "values": ["a", "b"], "weights": [0.6, 0.4]}


def written_out(weights: Array, x: float) -> Array:
    d = len(weights)
    columns = np.tile(weights[:, None], (1, d)) * np.where(np.eye(d), x, 1.0)
    return np.asarray(columns / columns.sum(axis=0))


weights_of_some = st.lists(st.sampled_from([0.0, 0.05, 0.2, 0.7]), min_size=1, max_size=6).filter(any)


@settings(max_examples=60, deadline=None)
@given(weights_of_some, st.floats(1, 50))
def test_it_is_its_matrix_to_whoever_looks(given: list[float], x: float) -> None:
    """To the channel, the recount, the attack and the game, each of which computes on its own."""
    weights = np.array(given) / sum(given)
    channel, whole = WeightsChannel(weights, x), MatrixChannel(written_out(weights, x))
    values = [str(i) for i in range(len(weights))]
    form = LawForm.of("x", FORM | {"values": values, "weights": weights.tolist(), "ratio": x})
    promised = pytest.approx((whole.epsilon, whole.spread), abs=1e-9)
    assert np.abs(channel.expected(np.eye(len(weights))).T - whole.matrix).max() < 1e-12
    assert (channel.epsilon, channel.spread) == promised
    assert _epsilon_and_spread(form) == promised
    tells = _tells(form)
    assert (tells.epsilon, tells.spread) == promised
    rows = whole.matrix[whole.matrix.any(axis=1)]
    assert tells.after == pytest.approx(float((rows.max(axis=1) / rows.sum(axis=1)).max()))
    codes, chances = np.arange(len(weights)), Chances.of(form)
    assert np.exp(chances.likelihood(codes, codes[:, None])) == pytest.approx(whole.matrix)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(rows)
    apart = [[float(np.ptp(logs[:, u] - logs[:, v])) for v in codes] for u in codes]
    assert (chances.spread(codes[:, None], codes) >= np.array(apart) - 1e-9).all()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0.05, 1), min_size=2, max_size=6), st.floats(1.1, 50))
def test_it_is_undone_as_its_matrix_is(given: list[float], x: float) -> None:
    weights = np.array(given) / sum(given)
    channel, whole = WeightsChannel(weights, x), MatrixChannel(written_out(weights, x))
    counts = np.random.default_rng(0).random((2, len(weights)))
    for name in ("expected", "likelihoods", "inverse", "inverse_squares", "inverse_weights"):
        assert getattr(channel, name)(counts) == pytest.approx(getattr(whole, name)(counts), rel=1e-6)


def test_it_is_drawn_by_its_probabilities() -> None:
    weights, x, many = np.array([0.5, 0.3, 0.2, 0.0]), 3.0, 20_000
    channel = WeightsChannel(weights, x)
    for j in range(4):
        drawn = channel.sample(np.full(many, j, dtype=np.uint8), Keystream())
        counts = np.bincount(drawn, minlength=4)
        assert counts[3] == 0
        assert chisquare(counts[:3], many * written_out(weights, x)[:3, j]).pvalue > 1e-6


@pytest.mark.parametrize("of_k", [True, False])
def test_it_is_what_is_found_for_few_values(of_k: bool) -> None:
    rng = np.random.default_rng(0)
    for d in (2, 3, 7, 40):
        v = rng.integers(1, 1000, d).astype(np.float64)
        e = math.exp(rng.uniform(0.1, 2))
        asked = {"k": 1 + (v.sum() - 1) / e**2} if of_k else {"epsilon": math.log(e)}
        few: Any = sd.pram.optimal(v, **asked)  # type: ignore[arg-type]
        many = of_very_many(v / v.sum(), e, of_k=of_k)
        assert np.abs(many.expected(np.eye(d)).T - few.matrix).max() < 1e-7


@pytest.mark.usefixtures("reports")
@pytest.mark.parametrize("asked", [sd.PkAnonymity(5), sd.DifferentialPrivacy(5.0, per="record")], ids=str)
def test_more_values_than_a_matrix_may_have(asked: Any, tmp_path: Path) -> None:
    d = MAX_VALUES + 88
    values, share = [f"v{i:03}" for i in range(d)], 1 / np.arange(1, d + 1)
    people = pl.DataFrame({"a": np.random.default_rng(0).choice(values, 2000, p=share / share.sum())})
    schema = sd.Schema.from_roles(quasi=["a"], domains={"a": values}, missing="refuse")
    table = sd.read(people, schema)
    release = sd.randomize(table, asked, how={"a": "optimal"}, loss="record", priors={"a": 1e4 * share})
    assert isinstance(release.plan["a"].channel, WeightsChannel)
    out = release.write(tmp_path / "out")
    assert sd.verify(out).holds
    assert sd.attack(out).k == pytest.approx(release.certificate.measured["pk"])
    assert sd.attack(out, kind="pk_game").largest <= release.holder["attacks"]["output"]["pk_game"]["limit"]
    assert sd.reconstruct(out, "a").frame()["estimate"].sum() == pytest.approx(2000)
    opened = sd.Plan.open(release.plan.save(tmp_path / "plan"))
    assert opened.to_json() == release.plan.to_json()
    assert "given as public" in release.report


@pytest.mark.slow
def test_very_many_combinations(tmp_path: Path) -> None:
    """Where a plan is saved, their weights stand in a file of their own."""
    domains = {"a": [f"a{i}" for i in range(400)], "b": [f"b{i}" for i in range(300)]}
    rng = np.random.default_rng(0)
    people = pl.DataFrame({name: rng.choice(values[:20], 5000) for name, values in domains.items()})
    table = sd.read(people, sd.Schema.from_roles(quasi=["a", "b"], domains=domains, missing="refuse"))
    prior = 1 / np.outer(np.arange(1, 401), np.arange(1, 301))
    release = sd.randomize(
        table, sd.PkAnonymity(3), joint={"who": ["a", "b"]}, loss="record", priors={"who": prior}
    )
    assert isinstance(release.plan["who"].channel, WeightsChannel)
    assert sd.verify(release.write(tmp_path / "out")).holds
    folder = release.plan.save(tmp_path / "plan")
    assert (folder / "probabilities.parquet").exists()
    assert sd.Plan.open(folder).to_json() == release.plan.to_json()


@pytest.mark.parametrize(
    "change",
    [
        {"ratio": 0.5},
        {"ratio": math.inf},
        {"ratio": None},
        {"ratio": 2.0, "weights": [0.0, 0.0]},
        {"ratio": 2.0, "weights": [1.0]},
        {"ratio": 2.0, "weights": [2.0, 0.5]},
        {"ratio": 2.0, "weights": [-0.5, 0.5]},
        {"ratio": 2.0, "weights": [math.nan, 0.5]},
        {"ratio": 2.0, "weights": None},
        {"ratio": 2.0, "retention": [0.5, 0.5]},
    ],
    ids=str,
)
def test_a_law_of_weights_is_read_strictly(change: dict[str, Any]) -> None:
    assert LawForm.of("x", FORM | {"ratio": 2.0}).size == 2
    with pytest.raises(sd.InputError, match="law of 'x'"):
        LawForm.of("x", {key: value for key, value in (FORM | change).items() if value is not None})


def test_what_rows_without_use_hide_cannot_be_told_back() -> None:
    with pytest.raises(sd.ParameterError, match="cannot be told apart"):
        WeightsChannel([0.5, 0.5, 0.0], 2.0).inverse([1, 2, 3])
