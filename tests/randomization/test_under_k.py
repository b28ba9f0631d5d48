"""The nearest matrices under k itself, where changes do not cost the same, and for the worst of several histograms."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import sudare as sd
from sudare.randomization.beyond_stairs import beyond_stairs
from sudare.randomization.staircase import Histograms
from sudare.randomization.under_k import least_distance_under_k, root_weights, weighted

Array = np.ndarray[Any, Any]


def spread(matrix: Array) -> float:
    """The largest sum of two log ratios, by all pairs of rows and of columns."""
    logs = np.log(matrix[matrix.max(axis=1) > 0])
    columns = range(matrix.shape[1])
    return max(float(np.ptp(logs[:, u] - logs[:, w])) for u, w in product(columns, columns))


def worst(matrix: Array, distances: Array, among: Histograms) -> float:
    costs = (matrix * distances).sum(axis=0)
    return float(costs @ among.worst(costs))


def near(rng: np.random.Generator, d: int) -> Histograms:
    share = rng.dirichlet(np.ones(d))
    return Histograms(np.maximum(share - rng.random(d) / 5, 0.0), np.minimum(share + rng.random(d) / 5, 1.0))


@pytest.mark.parametrize("d", [2, 3, 8, 74])
def test_the_worst_histogram_is_the_flattest_if_every_change_costs_the_same(d: int) -> None:
    """No histogram is worse for the best matrix of the flattest one, than which that one has no better."""
    rng = np.random.default_rng(d)
    for _ in range(20 if d < 10 else 3):
        among, x, distances = near(rng, d), math.exp(rng.uniform(0.01, 4)), 1 - np.eye(d)
        u = among.flattest()
        assert u.sum() == pytest.approx(1)
        assert (among.low - 1e-12 <= u).all()
        assert (u <= among.high + 1e-12).all()
        matrix = least_distance_under_k(distances, among, x)
        assert matrix == pytest.approx(weighted(root_weights(u, x), x, distances))
        assert worst(matrix, distances, among) == pytest.approx(
            float((matrix * distances).sum(axis=0) @ u), abs=1e-12
        )
        assert spread(matrix) <= 2 * math.log(x) + 1e-9


def test_two_values_are_randomized_as_well_as_can_be() -> None:
    """There (1 - a)(1 - b) <= x^2 a b is all that k asks, and one unknown is left to look for."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        share, x = rng.dirichlet([1, 1]), math.exp(rng.uniform(0.2, 2.5))
        distances = np.array([[0.0, rng.random()], [rng.random(), 0.0]])
        a = np.concatenate([np.linspace(0, 1, 400_001), np.geomspace(1e-9, 1, 400_001)])
        b = (1 - a) / ((1 - a) + x * x * a)
        least = float((share[0] * distances[1, 0] * a + share[1] * distances[0, 1] * b).min())
        among = Histograms(share, share)
        found = worst(least_distance_under_k(distances, among, x), distances, among)
        assert found == pytest.approx(least, abs=1e-6)


def test_rows_need_no_stairs() -> None:
    """The three rows of the module's example are of spread 2 ln x, and in no common factor of x."""
    x = 3.0
    logs = 2 * math.log(x) * np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0]])
    assert spread(np.exp(logs)) == pytest.approx(2 * math.log(x))
    levels = np.linspace(-3, 3, 61) * math.log(x)
    within = min(np.ptp(logs + np.array([a, b, 0.0]), axis=1).max() for a, b in product(levels, levels))
    assert within > 1.3 * math.log(x)


@pytest.mark.parametrize("known", [True, False])
def test_steps_beyond_stairs_keep_k_and_never_lead_up(known: bool) -> None:
    rng = np.random.default_rng(int(known))
    for d in (3, 4):
        share, x = rng.dirichlet(np.ones(d)), math.exp(rng.uniform(0.3, 2))
        among = Histograms(share, share) if known else near(rng, d)
        distances = rng.random((d, d)) * (1 - np.eye(d))
        start = weighted(root_weights(share, x), x, distances)
        found = beyond_stairs(start, distances, among, x)
        assert found.sum(axis=0) == pytest.approx(np.ones(d))
        assert spread(found) <= 2 * math.log(x) + 1e-9
        assert worst(found, distances, among) <= worst(start, distances, among) + 1e-7


def test_no_other_search_finds_a_much_better_one() -> None:
    assert_as_good_as_another_search(3, cases=1, starts=2)


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 3, 4])
def test_no_other_search_finds_a_much_better_one_in_many_cases(d: int) -> None:
    assert_as_good_as_another_search(d, cases=8, starts=6)


def assert_as_good_as_another_search(d: int, cases: int, starts: int) -> None:
    rng = np.random.default_rng(d)
    for _ in range(cases):
        v, distances = rng.integers(1, 100, d), rng.random((d, d)) * (1 - np.eye(d))
        k = 1 + (v.sum() - 1) * math.exp(-rng.uniform(0.5, 5))
        matrix: Array = sd.pram.optimal(v, k=k, distance=distances).matrix
        assert 1 + (v.sum() - 1) * math.exp(-spread(matrix)) >= k * (1 - 1e-9)
        cost = float((matrix * distances).sum(axis=0) @ v / v.sum())
        assert cost <= 1.01 * _by_whole_matrices(v / v.sum(), distances, (v.sum() - 1) / (k - 1), starts, rng)


def _by_whole_matrices(
    share: Array, distances: Array, ratio: float, starts: int, rng: np.random.Generator
) -> float:
    """Search among all entries, under the ratios of all pairs of columns and of rows."""
    d, reach = len(share), math.log(ratio)
    pairs = [(u, w) for u in range(d) for w in range(u)]

    def room(z: Array) -> Array:
        logs = np.log(np.maximum(z.reshape(d, d), 1e-12))
        ways = [logs[:, u] - logs[:, w] for u, w in pairs]
        return np.concatenate([(reach - (way[:, None] - way)).ravel() for way in ways])

    least, costs = math.inf, (distances * share).ravel()
    for _ in range(starts):
        start = rng.dirichlet(3 * np.ones(d), d).T
        found = minimize(
            lambda z: costs @ z, start.ravel(), jac=lambda z: costs, method="SLSQP", bounds=[(1e-9, 1)] * d**2,
            constraints=[
                {"type": "eq", "fun": lambda z: z.reshape(d, d).sum(axis=0) - 1},
                {"type": "ineq", "fun": room},
            ],
            options={"maxiter": 300},
        )  # fmt: skip
        sums = np.abs(found.x.reshape(d, d).sum(axis=0) - 1).max()
        if sums < 1e-6 and room(found.x).min() > -1e-6:
            least = min(least, float(found.fun))
    return least
