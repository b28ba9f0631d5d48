"""The optimal PRAM beside the paper's own program: all pairs of constraints, given to a solver."""

from __future__ import annotations

import math
from pathlib import Path

import clarabel
import numpy as np
import pytest
from scipy import sparse

import sudare as sd

AGES = range(17, 91)


def age_histogram(folder: Path) -> np.ndarray:
    lines = (folder / "adult" / "adult.data").read_text().splitlines()
    ages = [int(line.split(",")[0]) for line in lines if line.strip()]
    assert len(ages) == 32561
    return np.array([ages.count(age) for age in AGES], dtype=float)


def all_pairs(v: np.ndarray, epsilon: float) -> np.ndarray:
    """Algorithm 1: minimise sum (v_i q_i - mean)^2 under the constraints of all pairs i != j.

    Every constraint is written as rows @ q <= bounds, divided by e^epsilon where that keeps the numbers near 1.
    """
    d, e = len(v), math.exp(epsilon)
    w = v / v.max()
    centred = w * (np.eye(d) - 1 / d)
    i, j = np.nonzero(~np.eye(d, dtype=bool))
    n = len(i)

    def rows(at_i: float, at_j: float) -> sparse.coo_matrix:
        values = np.concatenate([np.full(n, at_i), np.full(n, at_j)])
        places = (np.tile(np.arange(n), 2), np.concatenate([i, j]))
        return sparse.coo_matrix((values, places), shape=(n, d))

    left = [
        rows(-(d - 1) / e, -1.0),  # 1 - q_i <= e q_j / (d - 1)
        rows(1.0, 1 / (e * (d - 1))),  # q_j / (d - 1) <= e (1 - q_i)
        sparse.identity(d),
        -sparse.identity(d),
    ]
    right = [np.full(n, -(d - 1) / e), np.ones(n), np.ones(d), np.zeros(d)]
    if d > 2:
        left.append(rows(-1.0, 1 / e))  # q_j <= e q_i
        right.append(np.zeros(n))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(2 * centred.T @ centred)),
        np.zeros(d),
        sparse.csc_matrix(sparse.vstack(left)),
        np.concatenate(right),
        [clarabel.NonnegativeConeT(sum(map(len, right)))],
        settings,
    )
    return np.array(solver.solve().x)


def error(v: np.ndarray, q: np.ndarray) -> float:
    """||P v - v||, from the definition of P."""
    d = len(v)
    matrix = np.tile(q / (d - 1), (d, 1))
    np.fill_diagonal(matrix, 1 - q)
    return float(np.linalg.norm(matrix @ v - v))


def feasible(q: np.ndarray, epsilon: float) -> bool:
    """Look at all ratios of all pairs of columns, with nothing but room for rounding."""
    d, e = len(q), math.exp(epsilon) * (1 + 1e-11)
    apart = ~np.eye(d, dtype=bool)
    stay, go = (1 - q)[:, None], (q / (d - 1))[None, :]
    return bool(
        ((q >= 0) & (q <= 1)).all()
        and (stay <= e * go + 1e-15)[apart].all()
        and (go <= e * stay + 1e-15)[apart].all()
        and (d == 2 or q.max() <= e * q.min() + 1e-15)
    )


def assert_optimal(v: np.ndarray, epsilon: float) -> None:
    """No feasible matrix is better than the best one: it is enough that ours is feasible, and not above the solver's."""
    pram = sd.pram.optimal_pram(v, epsilon=epsilon)
    assert pram.epsilon <= epsilon * (1 + 1e-11)
    assert feasible(pram.leave, epsilon)
    assert pram.bias(v) == pytest.approx(error(v, pram.leave), abs=1e-9 * v.max())
    least = error(v, np.clip(all_pairs(v, epsilon), 0, 1))
    ours = error(v, pram.leave)
    assert ours <= least * (1 + 1e-6) + 1e-8 * v.max(), f"{v.tolist()} at {epsilon}: {ours} > {least}"


def histogram(rng: np.random.Generator, kind: str, d: int) -> np.ndarray:
    v = {
        "any": lambda: rng.integers(1, 1000, d),
        "zeros": lambda: rng.integers(0, 1000, d) * (rng.random(d) < 0.6),
        "ties": lambda: rng.integers(0, 4, d),
        "heavy": lambda: np.round(10 * rng.pareto(1, d)),
        "one huge": lambda: np.where(np.arange(d) == d // 2, 100_000, rng.integers(0, 50, d)),
        "equal": lambda: np.full(d, 7),
        "one only": lambda: np.where(np.arange(d) == d - 1, 50, 0),
    }[kind]()
    v = v.astype(float)
    v[0] += not v.any()
    return v


@pytest.mark.parametrize("cases", [6, pytest.param(24, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["any", "zeros", "ties", "heavy", "one huge", "equal", "one only"])
def test_no_feasible_matrix_is_better(kind: str, cases: int) -> None:
    rng = np.random.default_rng(len(kind))
    for case in range(cases):
        d = int(rng.integers(2, 7) if case % 2 else rng.integers(7, 61))
        epsilon = float(np.exp(rng.uniform(math.log(0.01), math.log(10))))
        assert_optimal(histogram(rng, kind, d), epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_no_feasible_matrix_is_better_for_few_values_and_a_small_epsilon(d: int) -> None:
    rng = np.random.default_rng(d)
    for _ in range(60):
        assert_optimal(histogram(rng, "any", d), float(np.exp(rng.uniform(math.log(0.01), math.log(0.5)))))


def test_the_best_q_need_not_rise_as_v_falls() -> None:
    """The rarest value is kept more, so that the second rarest, which weighs more, can be kept less."""
    v = np.array([497.0, 423.0, 145.0, 16.0])
    e = math.exp(0.055)
    low = 3 / (3 + e)  # q_1 = q_2 = q_4, by the constraint of the first two
    q = np.array([low, low, 1 - low / (3 * e), low])  # q_3 as large as the others let it be
    assert feasible(q, 0.055)
    assert sd.pram.optimal_pram(v, epsilon=0.055).bias(v) <= error(v, q) * (1 + 1e-9)


@pytest.mark.parametrize("d", [2, 3, 7, 30])
def test_where_the_error_can_be_zero_it_is_and_most_is_kept(d: int) -> None:
    """Lemma 3.13: q_i = t v_d / v_i leaves v as it is; the least t that all pairs allow is found by bisection."""
    rng = np.random.default_rng(d)
    exact = 0
    for _ in range(15):
        v = np.sort(rng.integers(70, 100, d)).astype(float)[::-1]
        epsilon = float(rng.uniform(0.1, 4))
        shape = v[-1] / v
        allowed = [t for t in np.linspace(0, 1, 401) if feasible(t * shape, epsilon)]
        if not allowed:
            continue
        exact += 1
        bad, good = max(allowed[0] - 1 / 400, 0.0), allowed[0]
        for _ in range(50):
            middle = (bad + good) / 2
            bad, good = (bad, middle) if feasible(middle * shape, epsilon) else (middle, good)
        pram = sd.pram.optimal_pram(v, epsilon=epsilon)
        assert pram.bias(v) <= 1e-12 * v.sum()
        assert pram.leave == pytest.approx(good * shape, rel=1e-9)
        if (
            math.exp(epsilon) <= d - 1 and d > 2
        ):  # the paper's t, before the second row's constraint is the stricter
            t = (d - 1) / math.exp(epsilon)
            t /= v[-1] / v[1] + t * v[-1] / v[0]
            assert good == pytest.approx(t, rel=1e-9)
    assert exact >= 4


@pytest.mark.parametrize(
    ("k", "conventional", "optimal"), [(2, 841.7, 736.4), (10, 1602.2, 1510.2), (100, 2340.7, 2290.9)]
)
def test_ages_of_adult(data_folder: Path, k: int, conventional: float, optimal: float) -> None:
    """Table 1, Case 3, to the printed digit; and the same optimum as all pairs give."""
    v = age_histogram(data_folder)
    old, new = sd.pram.conventional_pram(74, k=k, records=32561), sd.pram.optimal_pram(v, k=k)
    assert round(old.bias(v), 1) == conventional
    assert round(new.bias(v), 1) == optimal
    assert_optimal(v, 0.5 * math.log(32560 / (k - 1)))
    for pram in (old, new):
        assert pram.k(32561) == pytest.approx(k, rel=1e-9)
        assert pram.k(32561) == pytest.approx(1 + 32560 * math.exp(-2 * pram.epsilon), rel=1e-9)


def test_a_hundred_thousand_values() -> None:
    rng = np.random.default_rng(0)
    v = np.round(1000 * rng.pareto(1.2, 100_000))
    for epsilon in (0.1, 3.0, 9.0):
        old, new = (
            sd.pram.conventional_pram(len(v), epsilon=epsilon),
            sd.pram.optimal_pram(v, epsilon=epsilon),
        )
        assert new.epsilon <= epsilon * (1 + 1e-11)
        assert new.bias(v) <= old.bias(v)


def test_order_and_scale_do_not_matter() -> None:
    rng = np.random.default_rng(5)
    v = rng.integers(0, 300, 25).astype(float)
    order = rng.permutation(25)
    pram = sd.pram.optimal_pram(v, epsilon=1.3)
    assert sd.pram.optimal_pram(v[order], epsilon=1.3).bias(v[order]) == pytest.approx(pram.bias(v), rel=1e-9)
    assert sd.pram.optimal_pram(v * 1e6, epsilon=1.3).bias(v) == pytest.approx(pram.bias(v), rel=1e-9)


@pytest.mark.parametrize("wrong", [[], [0, 0], [1, -1], [1, math.nan], [1, math.inf], 3.0])
def test_refuses_what_is_no_histogram(wrong: list[float]) -> None:
    with pytest.raises(sd.ParameterError, match="'histogram' parameter of optimal_pram must be"):
        sd.pram.optimal_pram(wrong, epsilon=1.0)


def test_needs_one_of_epsilon_and_k() -> None:
    with pytest.raises(sd.ParameterError, match="either epsilon or k"):
        sd.pram.optimal_pram([1, 2])
    with pytest.raises(sd.ParameterError, match="either epsilon or k"):
        sd.pram.optimal_pram([1, 2], epsilon=1.0, k=2)
    with pytest.raises(sd.RequirementError, match="impossible for 3 records"):
        sd.pram.optimal_pram([1, 2], k=4)
