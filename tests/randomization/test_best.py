"""The best matrices beside references that are written otherwise: all pairs of constraints, all corners, other starts."""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import Any

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

import sudare as sd
from sudare.randomization.best import Family
from sudare.randomization.channel import MatrixChannel
from sudare.randomization.methods import LOSSES, Loss
from sudare.randomization.reconstructable import error, slopes
from sudare.randomization.staircase import Histograms, least_distance
from sudare.randomization.under_k import root_weights, weighted

Array = np.ndarray[Any, Any]
COMPARED: list[Loss] = [loss for loss in LOSSES if loss != "published"]


def histogram(rng: np.random.Generator, d: int) -> Array:
    v = np.round(50 * rng.pareto(1.0, d)) * (rng.random(d) < 0.9)
    v[0] += 20
    return np.asarray(v)


def metric(rng: np.random.Generator, d: int) -> Array:
    table = rng.random((d, d)) * (1 - np.eye(d))
    return np.asarray(table)


def record_loss(channel: Any, v: Array, distances: Array) -> float:
    return float((channel.matrix * distances).sum(axis=0) @ v / v.sum())


def corners(low: Array, high: Array) -> list[Array]:
    """List the corners of a box cut by the sum of 1: all but one share are at an end."""
    found, d = [], len(low)
    for one in range(d):
        for ends in product((0, 1), repeat=d - 1):
            u = np.insert(np.where(ends, np.delete(high, one), np.delete(low, one)), one, 0.0)
            u[one] = 1 - u.sum()
            if low[one] - 1e-12 <= u[one] <= high[one] + 1e-12:
                found.append(u)
    return found


def all_pairs(distances: Array, histograms: list[Array], e: float) -> float:
    """Return the least t that is no less than u c(P), for all these histograms u, under P[i, j] <= e P[i, l] for all i, j, l."""
    d = len(distances)
    n = d * d + 1
    rows, limits = [], []
    for i, j, other in product(range(d), repeat=3):
        if j != other:
            row = np.zeros(n)
            row[i * d + j], row[i * d + other] = 1, -e
            rows.append(row)
            limits.append(0.0)
    for u in histograms:
        rows.append(np.append((distances * u).ravel(), -1.0))
        limits.append(0.0)
    sums = [np.append((np.arange(d * d) % d == j) * 1.0, 0.0) for j in range(d)]
    a = sparse.csc_matrix(np.vstack([sums, rows]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.ZeroConeT(d), clarabel.NonnegativeConeT(len(limits))]
    costs = np.append(np.zeros(d * d), 1.0)
    right = np.concatenate([np.ones(d), limits])
    solver = clarabel.DefaultSolver(sparse.csc_matrix((n, n)), costs, a, right, cones, settings)
    return float(solver.solve().x[-1])


@pytest.mark.parametrize("d", [2, 3, 4, 6, 9])
def test_no_matrix_within_epsilon_is_nearer(d: int) -> None:
    rng = np.random.default_rng(d)
    for distance in ("exact", "order", metric(rng, d), sd.pram.tree_distances(_tree(d))):
        v, epsilon = histogram(rng, d), float(rng.uniform(0.05, 4))
        apart = _distances(distance, d)
        best = sd.pram.optimal(v, epsilon=epsilon, distance=distance)
        assert best.epsilon <= epsilon * (1 + 1e-11)
        least = all_pairs(apart, [v / v.sum()], math.exp(epsilon))
        assert record_loss(best, v, apart) == pytest.approx(least, rel=1e-6, abs=1e-9)


def _distances(distance: Any, d: int) -> Array:
    if isinstance(distance, str):
        places = np.arange(d)
        return np.abs(places[:, None] - places) / (d - 1) if distance == "order" else 1 - np.eye(d)
    return np.asarray(distance)


def _tree(d: int) -> sd.Hierarchy:
    return sd.Hierarchy.from_rows([(f"v{i}", f"pair {i // 2}", "*") for i in range(d)])


@pytest.mark.parametrize("d", [2, 3, 5])
def test_no_matrix_is_nearer_for_the_worst_histogram(d: int) -> None:
    rng = np.random.default_rng(d)
    for distance in ("exact", "order"):
        v, epsilon, within = histogram(rng, d), float(rng.uniform(0.1, 3)), float(rng.uniform(1, 40))
        low, high = np.maximum(v - within, 0) / v.sum(), np.minimum(v + within, v.sum()) / v.sum()
        best = sd.pram.optimal(v, epsilon=epsilon, loss="worst case", distance=distance, within=within)
        assert best.epsilon <= epsilon * (1 + 1e-11)
        costs = (best.matrix * _distances(distance, d)).sum(axis=0)
        worst = max(float(u @ costs) for u in corners(low, high))
        least = all_pairs(_distances(distance, d), corners(low, high), math.exp(epsilon))
        assert worst == pytest.approx(least, rel=1e-6, abs=1e-9)


def test_for_any_histogram_randomized_response_is_best() -> None:
    best = sd.pram.optimal([9, 4, 1, 1], epsilon=1.2, loss="worst case")
    np.testing.assert_allclose(best.matrix, sd.pram.conventional_pram(4, epsilon=1.2).matrix, atol=1e-9)


@pytest.mark.parametrize("loss", COMPARED)
@pytest.mark.parametrize("asked", [{"epsilon": 0.7}, {"epsilon": 3.0}, {"k": 4}])
def test_a_general_matrix_is_never_worse_than_an_a_type_one(loss: Loss, asked: dict[str, float]) -> None:
    for d in (2, 3 if "k" in asked else 2) if loss == "reconstruction" else (2, 12):
        assert_never_worse(d, loss, asked)


@pytest.mark.slow
@pytest.mark.parametrize("loss", COMPARED)
def test_a_general_matrix_is_never_worse_than_an_a_type_one_on_many_histograms(loss: Loss) -> None:
    for d in (3, 4, 7, 20, 33):
        for asked in ({"epsilon": 0.2}, {"epsilon": 1.5}, {"epsilon": 5.0}, {"k": 2}, {"k": 9}):
            assert_never_worse(d, loss, asked)


def assert_never_worse(d: int, loss: Loss, asked: dict[str, float]) -> None:
    v = histogram(np.random.default_rng(d), d)
    families: tuple[Family, ...] = ("A", "general")
    a_type, general = (
        _loss(sd.pram.optimal(v, family=family, loss=loss, **asked), v, loss) for family in families
    )
    assert general <= a_type * (1 + 1e-9) + 1e-12


def _loss(channel: Any, v: Array, loss: Loss) -> float:
    if loss == "reconstruction":
        return error(channel.matrix, v / v.sum())
    costs = 1 - channel.matrix.diagonal()
    return float(costs.max() if loss == "worst case" else costs @ v / v.sum())


@pytest.mark.parametrize("d", [3, 8])
def test_the_a_type_one_is_the_best_of_its_kind(d: int) -> None:
    """Any A-type matrix that keeps epsilon, drawn at random, keeps fewer records."""
    rng, v = np.random.default_rng(d), np.arange(1.0, d + 1) ** 2
    best = sd.pram.optimal(v, epsilon=1.0, family="A")
    assert best.epsilon <= 1 + 1e-9
    tried = 0
    for leave in best.leave + rng.normal(0, 0.05, (2000, d)):
        pram = sd.pram.Pram(np.clip(leave, 0, 1))
        if pram.epsilon <= 1:
            tried += 1
            assert _loss(pram, v, "record") >= _loss(best, v, "record") - 1e-7
    assert tried >= 3


# -- under k -----------------------------------------------------------------------------------------


def won_at_most(matrix: Array, records: int) -> float:
    """Return the best bet that one record came out as one row, over all tables and outputs, by all assignments."""
    d, best = len(matrix), 0.0
    for table, rows in product(product(range(d), repeat=records), repeat=2):
        ways = [
            (order, math.prod(matrix[rows[order[i]], table[i]] for i in range(records)))
            for order in permutations(range(records))
        ]
        total = sum(chance for _, chance in ways)
        if total > 0:
            best = max(best, *(sum(c for o, c in ways if o[0] == j) / total for j in range(records)))
    return best


@pytest.mark.parametrize(("d", "records"), [(2, 3), (2, 4), (3, 3)])
def test_k_is_exactly_what_the_best_bet_wins(d: int, records: int) -> None:
    rng = np.random.default_rng(d)
    for _ in range(3):
        matrix = rng.random((d, d)) + 0.1
        channel = MatrixChannel(matrix / matrix.sum(axis=0))
        k = 1 + (records - 1) * math.exp(-channel.spread)
        assert won_at_most(channel.matrix, records) == pytest.approx(1 / k, rel=1e-9)


@pytest.mark.parametrize("d", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_no_matrix_of_that_k_keeps_more(d: int) -> None:
    """Other starts, other unknowns: the logarithms of all entries, under all quadruples."""
    rng = np.random.default_rng(d)
    v, x = rng.integers(1, 50, d).astype(float), 3.0
    records = int(v.sum())
    best = sd.pram.optimal(v, k=1 + (records - 1) / x**2)
    assert best.spread <= 2 * math.log(x) + 1e-12
    ours = _loss(best, v, "record")
    least = min(_searched(v, x, rng) for _ in range(6))
    assert ours <= least + 1e-6
    assert ours >= least - 1e-4  # the search comes near


def _searched(v: Array, x: float, rng: np.random.Generator) -> float:
    d = len(v)
    quadruples = [(a, b, u, w) for a, b, u, w in product(range(d), repeat=4) if a != b and u < w]

    def logs(z: Array) -> Array:
        y = z.reshape(d, d)
        return np.asarray(y - np.log(np.exp(y).sum(axis=0)))

    def room(z: Array) -> Array:
        y = logs(z)
        return np.array(
            [2 * math.log(x) - (y[a, u] + y[b, w] - y[a, w] - y[b, u]) for a, b, u, w in quadruples]
        )

    solution = minimize(
        lambda z: 1 - float(np.exp(logs(z)).diagonal() @ v) / v.sum(),
        (np.eye(d) * 0.5 + rng.normal(0, 0.3, (d, d))).ravel(),
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": room}],
        options={"maxiter": 300, "ftol": 1e-13},
    )
    return float(solution.fun) if room(solution.x).min() > -1e-9 else math.inf


def test_what_can_be_kept_under_k() -> None:
    """For any matrix of that spread, sum p / (x - (x - 1) p) <= 1; the weights of the best one reach 1."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        d = int(rng.integers(2, 6))
        matrix = rng.random((d, d)) ** 3 + 1e-3 + np.eye(d) * rng.random(d) * 5
        channel = MatrixChannel(matrix / matrix.sum(axis=0))
        x, p = math.exp(channel.spread / 2), channel.matrix.diagonal()
        assert (p / (x - (x - 1) * p)).sum() <= 1 + 1e-9
    share = np.array([0.6, 0.3, 0.09, 0.01])
    for x in (1.0, 1.5, 4.0, 100.0):
        weights = root_weights(share, x)
        assert weights.sum() == pytest.approx(1)
        p = weighted(weights, x, 1 - np.eye(4)).diagonal()
        assert (p / (x - (x - 1) * p)).sum() == pytest.approx(1)


@pytest.mark.parametrize("loss", ["record", "worst case"])
@pytest.mark.parametrize("distance", ["exact", "order"])
def test_k_itself_allows_more_than_its_epsilon(loss: Loss, distance: Any) -> None:
    v = np.array([70.0, 40, 20, 8, 2])
    records, apart = int(v.sum()), _distances(distance, 5)
    low, high = np.maximum(v - 5, 0) / records, (v + 5) / records
    options: dict[str, Any] = {"loss": loss, "distance": distance} | (
        {"within": 5} if loss != "record" else {}
    )
    by_k = sd.pram.optimal(v, k=5, **options)
    by_epsilon = sd.pram.optimal(v, epsilon=sd.PkAnonymity(5).epsilon(records), **options)
    assert 1 + (records - 1) * math.exp(-by_k.spread) >= 5 * (1 - 1e-11)

    def value(channel: Any) -> float:
        costs = (channel.matrix * apart).sum(axis=0)
        histograms = [v / records] if loss == "record" else corners(low, high)
        return max(float(u @ costs) for u in histograms)

    assert value(by_k) < value(by_epsilon) - 1e-4


# -- reconstruction ----------------------------------------------------------------------------------


def test_the_error_is_what_many_draws_have() -> None:
    v, rng = np.array([60, 30, 10]), np.random.default_rng(3)
    p = sd.pram.optimal(v, k=10, loss="reconstruction").matrix
    drawn = sum(rng.multinomial(count, p[:, j], size=20_000) for j, count in enumerate(v))
    off = drawn @ np.linalg.inv(p).T - v
    assert (off**2).sum(axis=1).mean() == pytest.approx(v.sum() * error(p, v / v.sum()), rel=0.03)
    step = np.zeros((3, 3))
    step[1, 2] = 1e-6
    change = (error(p + step, v / v.sum()) - error(p - step, v / v.sum())) / 2e-6
    assert slopes(p, v / v.sum())[1, 2] == pytest.approx(change, rel=1e-5)


@pytest.mark.parametrize("e", [1.4, 3.0, 10.0])
@pytest.mark.parametrize("d", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_no_other_start_finds_a_better_one(d: int, e: float) -> None:
    rng = np.random.default_rng(d)
    share = np.array([0.7, 0.2, 0.1][:d]) / sum([0.7, 0.2, 0.1][:d])
    best = sd.pram.optimal(100 * share, epsilon=math.log(e), loss="reconstruction")
    assert best.epsilon <= math.log(e) * (1 + 1e-11)
    ours = error(best.matrix, share)
    assert ours <= min(_least_error(share, e, rng) for _ in range(5)) * (1 + 1e-6)


def _least_error(share: Array, e: float, rng: np.random.Generator) -> float:
    d = len(share)

    def matrix(z: Array) -> Array:
        return z.reshape(d, d)

    pairs = [(i, j, m) for i, j, m in product(range(d), repeat=3) if j != m]
    start = (np.full((d, d), 1.0) + (e - 1) * np.eye(d)[rng.permutation(d)] * rng.random((d, d))).ravel()
    start = (start.reshape(d, d) / start.reshape(d, d).sum(axis=0)).ravel()
    solution = minimize(
        lambda z: math.log(min(error(matrix(z), share), 1e9)),
        start,
        method="SLSQP",
        bounds=[(1e-6, 1)] * (d * d),
        constraints=[
            {"type": "eq", "fun": lambda z: matrix(z).sum(axis=0) - 1},
            {
                "type": "ineq",
                "fun": lambda z: np.array([e * matrix(z)[i, j] - matrix(z)[i, m] for i, j, m in pairs]),
            },
        ],
        options={"maxiter": 200, "ftol": 1e-13},
    )
    p = matrix(solution.x)
    kept = abs(p.sum(axis=0) - 1).max() < 1e-9 and (p.max(axis=1) <= e * p.min(axis=1) * (1 + 1e-9)).all()
    return error(p, share) if kept else math.inf


def test_subsets_beat_randomized_response_where_epsilon_is_small() -> None:
    v = np.full(31, 10.0)
    subsets = sd.pram.optimal(v, epsilon=0.5, loss="reconstruction")
    share = v / v.sum()
    assert error(subsets.matrix, share) < 0.3 * error(
        sd.pram.conventional_pram(31, epsilon=0.5).matrix, share
    )


# -- the whole ---------------------------------------------------------------------------------------


def test_the_published_histogram_alone_collapses() -> None:
    v = np.array([60.0, 30, 10])
    collapsed = MatrixChannel(np.tile(v / v.sum(), (3, 1)).T)
    assert collapsed.epsilon == collapsed.spread == 0.0
    np.testing.assert_allclose(collapsed.expected(v), v)
    assert record_loss(collapsed, v, 1 - np.eye(3)) > record_loss(
        sd.pram.optimal(v, epsilon=0.0), v, 1 - np.eye(3)
    )
    with pytest.raises(sd.ParameterError, match=r"P = v 1\^T / N: it leaves v as it is, has epsilon 0"):
        sd.pram.optimal(v, epsilon=1.0, loss="published")
    same = sd.pram.optimal(v, epsilon=1.0, loss="published", family="A")
    np.testing.assert_array_equal(same.matrix, sd.pram.optimal_pram(v, epsilon=1.0).matrix)


@pytest.mark.parametrize("asked", [{"epsilon": 4.1}, {"k": 10}])
def test_as_many_values_as_ages(asked: dict[str, float]) -> None:
    v = np.round(900 * np.exp(-(((np.arange(74) - 20) / 18) ** 2) / 2))
    for distance in ("exact", "order"):
        best = sd.pram.optimal(v, distance=distance, **asked)
        a_type = sd.pram.optimal(v, distance=distance, family="A", **asked)
        apart = _distances(distance, 74)
        assert record_loss(best, v, apart) < record_loss(a_type, v, apart)


def test_rows_enter_only_if_they_pay_but_none_is_missed() -> None:
    """With more values than rows at the start, the same as with all rows at once."""
    rng = np.random.default_rng(7)
    d, e = 40, 8.0
    share = rng.random(d) ** 2
    share /= share.sum()
    apart = _distances("order", d)
    best = least_distance(apart, Histograms(share, share), e)
    again = least_distance(apart[::-1][:, ::-1], Histograms(share[::-1], share[::-1]), e)
    assert (best * apart).sum(axis=0) @ share == pytest.approx(
        (again * apart[::-1][:, ::-1]).sum(axis=0) @ share[::-1], rel=1e-9
    )


def test_one_value_and_no_budget() -> None:
    assert sd.pram.optimal([5], epsilon=1.0).matrix.tolist() == [[1.0]]
    constant = sd.pram.optimal([5, 9, 1], epsilon=0.0)
    assert constant.matrix.tolist() == [[0, 0, 0], [1, 1, 1], [0, 0, 0]]
    assert sd.pram.optimal([5, 9, 1], k=15).matrix.tolist() == constant.matrix.tolist()
    whole = sd.pram.optimal([5, 9, 1], epsilon=300.0)
    assert whole.matrix.diagonal().min() > 1 - 1e-9
    with pytest.raises(sd.ParameterError, match="epsilon = 0 all columns are alike"):
        sd.pram.optimal([5, 9, 1], epsilon=0.0, loss="reconstruction")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"family": "B"}, "'family' parameter of optimal must be one of"),
        ({"loss": "none"}, "'loss' parameter of optimal must be one of"),
        ({"distance": "near"}, "'distance' parameter of optimal must be one of"),
        ({"distance": [[0, 1], [1, 0]]}, "or 3 x 3 numbers of 0 or more"),
        ({"distance": 1 + np.eye(3)}, "with 0 from each value to itself"),
        ({"loss": "worst case", "within": -1}, "'within' parameter of optimal must be"),
        ({"k": 3}, "optimal needs either epsilon or k"),
    ],
)
def test_refuses_what_it_cannot_do(options: dict[str, Any], message: str) -> None:
    with pytest.raises(sd.ParameterError, match=message):
        sd.pram.optimal([5, 9, 1], epsilon=1.0, **options)


def test_too_many_values_are_refused() -> None:
    for options in (
        {"loss": "reconstruction"},
        {"loss": "worst case"},
        {"distance": "order"},
        {"family": "A"},
    ):
        with pytest.raises(sd.ParameterError, match="513 values are too many"):
            sd.pram.optimal(np.ones(513), epsilon=1.0, **options)  # type: ignore[arg-type]


def test_a_tree_knows_its_leaves() -> None:
    tree = _tree(4)
    assert sd.pram.tree_distances(tree, ["v3", "v2", "v0"]).tolist() == [[0, 0.5, 1], [0.5, 0, 1], [1, 1, 0]]
    with pytest.raises(sd.ParameterError, match="no leaf 'v9'"):
        sd.pram.tree_distances(tree, ["v9"])
