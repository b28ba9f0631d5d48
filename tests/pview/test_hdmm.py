import json
import math
from itertools import combinations, product

import numpy as np
import pytest

import sudare as sd
from sudare.errors import InputError, ParameterError
from sudare.noise.keystream import Keystream
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.pview.account import Account
from sudare.pview.hdmm import (
    MAX_CHANGE,
    Hdmm,
    along_all,
    expected_variance,
    learn_hdmm,
    members,
    optimise,
    strategies_for,
)
from sudare.pview.models import CellsModel
from sudare.pview.p_identity import (
    PIdentity,
    _error_and_slope,
    best_sums,
    error,
    gram,
    in_whole_numbers,
    queries,
)
from tests.pview.counted import counted

BOTH = pytest.mark.parametrize("pure", [True, False], ids=["pure", "rho"])


def account(epsilon=1.0, seed=1, delta=0.0):
    return Account(DifferentialPrivacy(epsilon, delta), Keystream.unsafe(seed))


def asked_of(kind, n):
    """The queries of a kind, one row each, by brute force."""
    if kind == "cells":
        return np.eye(n)
    if kind == "total":
        return np.ones((1, n))
    ends = [(0, b) for b in range(n)] if kind == "prefixes" else combinations(range(n + 1), 2)
    if kind == "prefixes":
        return np.array([[j <= b for j in range(n)] for _, b in ends], dtype=float)
    return np.array([[a <= j < b for j in range(n)] for a, b in ends], dtype=float)


# -- One attribute --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["cells", "total", "prefixes", "ranges"])
def test_gram_matrices_are_those_of_all_queries(kind):
    for n in (1, 2, 7):
        rows = asked_of(kind, n)
        assert np.array_equal(gram(kind, n), rows.T @ rows)
        assert queries(kind, n) == len(rows)


def test_the_gram_matrix_of_random_ranges_is_their_mean():
    n, mean = 5, np.zeros((5, 5))
    for width in range(1, n + 1):
        for start in range(n - width + 1):
            inside = (np.arange(n) >= start) & (np.arange(n) < start + width)
            mean += np.outer(inside, inside) / (n * (n - width + 1))
    assert np.allclose(gram("random ranges", n), mean)


@BOTH
def test_the_error_is_that_of_the_whole_matrix_and_its_slope_is_right(pure):
    rng = np.random.default_rng(1)
    theta, wanted = rng.random((2, 6)), gram("ranges", 6)
    rows = np.vstack([np.eye(6), theta])
    rows = rows / (rows.sum(axis=0) if pure else np.linalg.norm(rows, axis=0))
    now, slope = _error_and_slope(theta, wanted, pure)
    assert now == pytest.approx(np.trace(np.linalg.inv(rows.T @ rows) @ wanted))
    for at in np.ndindex(theta.shape):
        step = np.zeros_like(theta)
        step[at] = 1e-6
        ahead, behind = (error(theta + s * step, wanted, pure=pure) for s in (1, -1))
        assert slope[at] == pytest.approx((ahead - behind) / 2e-6, rel=1e-4, abs=1e-5)


@BOTH
@pytest.mark.parametrize("kind", ["ranges", "prefixes"])
def test_sums_beat_the_cells_alone_on_long_attributes(kind, pure):
    wanted = gram(kind, 100)
    gain = math.sqrt(np.trace(wanted) / error(best_sums(wanted, pure=pure), wanted, pure=pure))
    assert gain > (1.2 if pure else 1.5)
    assert error(best_sums(np.eye(20), pure=pure), np.eye(20), pure=pure) <= 20


@BOTH
def test_rounded_strategies_are_never_worse_than_cells_and_change_as_they_say(pure):
    for n, most in ((2, 64), (10, 4), (40, 16)):
        wanted = gram("ranges", n)
        found = in_whole_numbers(best_sums(wanted, pure=pure), wanted, most, pure=pure)
        assert found.own.min() >= 1
        assert found.sums.min(initial=0) >= 0
        assert found.change(pure=pure) <= most
        noise = found.change(pure=pure) ** (2 if pure else 1)
        assert noise * (found.covariance * wanted).sum() <= np.trace(wanted) + 1e-6


# -- Several --------------------------------------------------------------------------------------------


@BOTH
def test_the_implicit_error_is_that_of_the_kronecker_product(pure):
    sizes = (3, 2, 4)
    wanted = [gram(kind, n) for kind, n in zip(("ranges", "cells", "prefixes"), sizes, strict=True)]
    queries_of = [asked_of(kind, n) for kind, n in zip(("ranges", "cells", "prefixes"), sizes, strict=True)]
    rng = np.random.default_rng(2)
    thetas, sets = [rng.random((1, n)) for n in sizes], members(3, 2)
    rows = np.ones((1, 1))
    for theta in thetas:
        own = np.vstack([np.eye(theta.shape[1]), theta])
        rows = np.kron(rows, own / (own.sum(axis=0) if pure else np.linalg.norm(own, axis=0)))
    covariance, variance = np.linalg.inv(rows.T @ rows), 0.0
    for chosen in sets:
        w = np.ones((1, 1))
        for a, inside in enumerate(chosen):
            w = np.kron(w, queries_of[a] if inside else np.ones((1, sizes[a])))
        variance += np.trace(w @ covariance @ w.T)
    assert expected_variance(thetas, wanted, sets, pure=pure) == pytest.approx(variance)
    best = optimise(wanted, sets, pure=pure)
    alone = [np.zeros((1, n)) for n in sizes]
    assert expected_variance(best, wanted, sets, pure=pure) <= expected_variance(
        alone, wanted, sets, pure=pure
    )


@BOTH
def test_one_record_changes_what_is_measured_by_no_more_than_is_said(pure):
    sizes = (20, 3, 17)
    chosen = strategies_for(sizes, ("ranges", "cells", "ranges"), 2, pure=pure)
    change = math.prod(one.change(pure=pure) for one in chosen)
    assert change <= MAX_CHANGE[pure]
    assert any(len(one.sums) for one in chosen)
    largest = 0
    for cell in product(*map(range, sizes)):
        one = np.zeros(sizes, dtype=np.int64)
        one[cell] = 1
        moved = along_all(one, [own.rows for own in chosen])
        largest = max(largest, int((np.abs(moved) if pure else moved**2).sum()))
    assert largest == change


def test_the_kronecker_product_is_the_matrix():
    rng = np.random.default_rng(3)
    matrices = [rng.integers(0, 4, (n + 1, n)) for n in (2, 3, 2)]
    table = rng.integers(0, 9, (2, 3, 2))
    whole = np.kron(np.kron(matrices[0], matrices[1]), matrices[2]) @ table.ravel()
    assert np.array_equal(along_all(table, matrices).ravel(), whole)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_errors_are_those_of_many_runs(delta):
    codes = (np.random.default_rng(2).random((3000, 2)) ** 2 * (24, 5)).astype(np.int32)
    counts = counted(codes, (24, 5))
    low, high = np.array([[0, 0], [3, 1], [5, 2], [0, 0]]), np.array([[23, 4], [14, 1], [5, 2], [11, 4]])
    true = [((codes >= a) & (codes <= b)).all(axis=1).sum() for a, b in zip(low, high, strict=True)]
    runs = [learn_hdmm(counts, ["random ranges", "cells"], 2, account(0.5, s, delta)) for s in range(250)]
    off = np.array([run.counts(low, high) for run in runs]) - true
    assert runs[0].strategies is not None
    assert len(runs[0].strategies[0].sums) > 0
    assert np.allclose(off.std(axis=0), runs[0].errors(low, high), rtol=0.2)
    assert (np.abs(off.mean(axis=0)) < 4 * runs[0].errors(low, high) / math.sqrt(250)).all()


def test_without_noise_worth_the_name_the_cells_are_found():
    codes = np.random.default_rng(1).integers(0, (16, 3, 7), (5000, 3), dtype=np.int32)
    budget = account(1e6)
    cells = learn_hdmm(counted(codes, (16, 3, 7)), ["ranges"] * 3, 3, budget)
    true = np.zeros((16, 3, 7))
    np.add.at(true, tuple(codes.T), 1)
    assert np.abs(cells.table - true).max() < 1e-6
    assert budget.remaining == 0


# -- Files, and what is refused -------------------------------------------------------------------------


def test_strategies_are_saved_with_the_cells():
    cells = learn_hdmm(counted(np.zeros((9, 2), dtype=np.int32), (40, 3)), ["ranges", "cells"], 1, account())
    model = CellsModel(cells)
    again = CellsModel.from_frame(model.frame(), (40, 3), json.loads(json.dumps(model.extras())))
    low, high = np.array([[2, 0], [0, 0]]), np.array([[30, 1], [39, 2]])
    assert np.array_equal(again.errors(low, high), model.errors(low, high))
    assert again.errors(low, high)[1] < math.sqrt(120) * cells.deviation


@pytest.mark.parametrize(
    "forged",
    [
        [],
        [{"own": [1, 1], "sums": []}] * 2,
        [{"own": [1, 0, 1], "sums": []}],
        [{"own": [1, 1, 1], "sums": [[1, 1]]}],
        [{"own": [1, 1, -1], "sums": []}],
        [{"own": [1, 1, 2**21], "sums": []}],
        [{"own": [1.5, 1, 1], "sums": []}],
        [{"own": [1, 1, 1]}],
        [{"own": [1, 1, 1], "sums": [], "more": 1}],
        "cells",
    ],
)
def test_forged_strategies_are_refused(forged):
    model = CellsModel(learn_hdmm(counted(np.zeros((9, 1), dtype=np.int32), (3,)), ["cells"], 1, account()))
    with pytest.raises(InputError):
        CellsModel.from_frame(model.frame(), (3,), model.extras() | {"strategies": forged})


def test_buckets_and_strategies_do_not_go_together():
    model = CellsModel(learn_hdmm(counted(np.zeros((9, 1), dtype=np.int32), (3,)), ["cells"], 1, account()))
    frame = model.frame().with_columns(bucket=np.arange(3, dtype=np.int32))
    with pytest.raises(InputError, match="one of them only"):
        CellsModel.from_frame(frame, (3,), model.extras())


def test_what_it_cannot_do_is_refused():
    with pytest.raises(ParameterError, match="10,000,000 cells at most"):
        learn_hdmm(counted(np.zeros((1, 3), dtype=np.int32), (1000,) * 3), ["ranges"] * 3, 2, account())
    with pytest.raises(ParameterError, match=r"1,024 cells at most, and '0' has 5,000\. Use wider bins"):
        learn_hdmm(counted(np.zeros((1, 1), dtype=np.int32), (5000,)), ["ranges"], 1, account())
    for wrong in ({"ways": 0}, {"ways": 1.5}, {"asked": "cubes"}):
        with pytest.raises(ParameterError, match=f"'{next(iter(wrong))}' parameter of hdmm"):
            Hdmm(**wrong)


def test_attributes_without_an_order_are_asked_for_single_values():
    import polars as pl

    schema = sd.Schema.from_roles(
        quasi=["town", "age"], domains={"town": [f"t{i}" for i in range(40)]}, bounds={"age": (0, 39)}, missing="refuse"
    )  # fmt: skip
    table = sd.read(pl.DataFrame({"town": ["t1"] * 50, "age": [3] * 50}), schema)
    model = sd.materialize(table, sd.DifferentialPrivacy(1.0), sd.methods.Hdmm(ways=2), unsafe_seed=1).model
    town, age = model.cells.strategies
    assert len(age.sums) > len(town.sums)


def test_a_strategy_solves_what_it_measured():
    own = PIdentity(np.array([2, 1, 3]), np.array([[1, 1, 0], [0, 2, 1]]))
    x = np.array([[4, 0], [7, 1], [5, 9]])
    assert np.allclose(own.solve(own.rows @ x), x)
