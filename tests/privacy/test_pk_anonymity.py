"""Pk-anonymity from its definition, and the theorems on what noise can give it, by numbers."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

import sudare as sd
from sudare.privacy.differential_privacy import PrivacyLoss
from sudare.privacy.pk_anonymity import Spread, k_of, spread_for


def spread_of(matrix: np.ndarray) -> float:
    """The largest ln(A[u, a] A[v, b] / (A[v, a] A[u, b])), by numpy: one row per input, one column per output."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(matrix)
        ratios = logs[:, None, :] - logs[None, :, :]
    ratios[np.isnan(ratios)] = 0.0
    return float((ratios.max(axis=2) - ratios.min(axis=2)).max())


def k_of_matrix(matrix: np.ndarray, records: int) -> float:
    return 1 + (records - 1) * math.exp(-spread_of(matrix))


def best_guess(matrix: np.ndarray, records: int) -> float:
    """With which probability the first person's record is found, at worst: all tables, outputs and orders of rows."""
    inputs, outputs = matrix.shape
    worst = 0.0
    for table in product(range(inputs), repeat=records):
        for out in product(range(outputs), repeat=records):
            at = np.zeros(records)
            for order in permutations(range(records)):  # person i's row is put at order[i]
                at[order[0]] += math.prod(matrix[table[i], out[order[i]]] for i in range(records))
            worst = max(worst, at.max() / at.sum())
    return worst


@pytest.mark.parametrize("seed", range(4))
def test_theorem_4_1_is_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs, outputs, records = [(2, 2, 4), (3, 2, 3), (2, 3, 3), (3, 3, 3)][seed]
    matrix = rng.dirichlet(np.ones(outputs), inputs)
    k = k_of(spread_of(matrix), records)
    assert best_guess(matrix, records) == pytest.approx(1 / k, rel=1e-9)


def noisy(width: float, density: stats.rv_continuous, cells: int = 61) -> np.ndarray:
    """Inputs spread over [0, width], outputs in cells over all that can come out."""
    reach = min(density.ppf(1 - 1e-15), 1e6)
    edges = np.concatenate(
        [[-np.inf], np.linspace(-reach, width + reach, 20 * cells), [np.inf]],
    )
    inputs = np.linspace(0, width, cells)
    # Tails by the survival function: a difference of two numbers near 1 would be 0.
    below, above = density.cdf(edges - inputs[:, None]), density.sf(edges - inputs[:, None])
    left, right = np.diff(below, axis=1), -np.diff(above, axis=1)
    return np.where(edges[:-1] - inputs[:, None] < 0, left, right)


@pytest.mark.parametrize(("width", "scale"), [(1.0, 0.5), (1.0, 2.0), (30.0, 10.0)])
def test_laplace_noise_within_bounds(width: float, scale: float) -> None:
    k = k_of_matrix(noisy(width, stats.laplace(scale=scale)), 10_000)
    assert k == pytest.approx(1 + 9_999 * math.exp(-2 * width / scale), rel=1e-6)


def test_laplace_noise_without_bounds_gives_k_1() -> None:
    """Theorem 5.1: as the bounds go apart, k falls to 1."""
    ks = [k_of_matrix(noisy(width, stats.laplace()), 1000) for width in (1.0, 4.0, 8.0, 15.0)]
    assert ks == sorted(ks, reverse=True)
    assert ks[-1] < 1.001


@pytest.mark.parametrize("scale", [0.5, 1.0, 100.0])
def test_uniform_noise_gives_k_1(scale: float) -> None:
    """Theorem 5.2: near the ends, only some inputs can have come out."""
    assert k_of_matrix(noisy(1.0, stats.uniform(-scale, 2 * scale)), 1000) == 1.0


def test_normal_noise_gives_k_1() -> None:
    """Theorem 5.3: the farther out one looks, the larger the ratios; there is no least one."""
    inputs = np.array([0.0, 1.0])
    ks = []
    for reach in (2, 5, 10, 30):
        out = np.linspace(-reach, 1 + reach, 200)
        density = np.exp(-((out - inputs[:, None]) ** 2) / 2)
        ks.append(k_of_matrix(density, 1000))
    assert ks == sorted(ks, reverse=True)
    assert ks[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("sizes", [(2,), (7,), (2, 5)])
@pytest.mark.parametrize("rho", [0.1, 0.7])
def test_categories(sizes: tuple[int, ...], rho: float) -> None:
    whole, factor = np.ones((1, 1)), 1.0
    for size in sizes:
        whole = np.kron(whole, rho * np.eye(size) + (1 - rho) / size)
        factor *= ((1 - rho) / (1 + (size - 1) * rho)) ** 2
    assert k_of_matrix(whole, 500) == pytest.approx(1 + 499 * factor)


@pytest.mark.parametrize("k", [1.001, 2, 17.5, 999])
def test_spread_and_epsilon_give_k_back(k: float) -> None:
    asked = sd.PkAnonymity(k)
    assert k_of(asked.spread(1000), 1000) == pytest.approx(k)
    assert asked.epsilon(1000) == pytest.approx(0.5 * math.log(999 / (k - 1)))
    assert asked.measure(Spread(asked.spread(1000), 1000)).holds
    assert not asked.measure(Spread(asked.spread(1000) * 1.001, 1000)).holds
    assert asked.measure(Spread(asked.spread(1000), 1000)).value == pytest.approx(k)


def test_the_ends() -> None:
    assert spread_for(1, 1000) == math.inf
    assert spread_for(1000, 1000) == 0.0
    assert spread_for(1, 1) == math.inf
    assert (k_of(math.inf, 1000), k_of(0.0, 1)) == (1.0, 1.0)
    with pytest.raises(sd.RequirementError, match="k = 1001 is impossible for 1,000 records"):
        sd.PkAnonymity(1001).spread(1000)


@pytest.mark.parametrize("k", [0, 0.99, -1, math.nan, math.inf, "2", True, None])
def test_refuses_what_k_cannot_be(k: object) -> None:
    with pytest.raises(sd.ParameterError, match="The 'k' parameter of PkAnonymity must be"):
        sd.PkAnonymity(k)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": -1}, {"epsilon": math.nan}, {"epsilon": 1, "delta": 2}, {"epsilon": 1, "per": "person"}],
)
def test_refuses_what_differential_privacy_cannot_be(wrong: dict[str, object]) -> None:
    with pytest.raises(sd.ParameterError, match="parameter of DifferentialPrivacy must be"):
        sd.DifferentialPrivacy(**wrong)  # type: ignore[arg-type]


def test_differential_privacy_measures() -> None:
    asked = sd.DifferentialPrivacy(1.0, per="record")
    assert asked.measure(PrivacyLoss(1.0)).holds
    assert not asked.measure(PrivacyLoss(1.001)).holds
    assert not asked.measure(PrivacyLoss(0.5, delta=1e-9)).holds
    assert sd.DifferentialPrivacy(1.0, delta=1e-6).measure(PrivacyLoss(1.0, delta=1e-6)).holds
    assert (
        str(sd.DifferentialPrivacy(1.0, delta=1e-6)) == "differential privacy with epsilon = 1, delta = 1e-06"
    )
