"""Strategies for ranges, the sides of tables, non-negative tables, and tilted weights: against plain twins and brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from sudare.pview.nonnegative import nearest
from sudare.pview.probe import apart
from sudare.pview.sides import Belief, change_of, measured, plain_side, side, solved
from sudare.pview.strategies import Strategy, strategy
from sudare.pview.tilting import tilt
from tests.pview.counted import counted

EVERY = list(product([2, 3, 7, 40], [True, False], [True, False]))


def dense(own: Strategy) -> np.ndarray:
    return np.eye(own.cells, dtype=np.int64) if own.rows is None else own.rows


@pytest.mark.parametrize(("cells", "ordered", "pure"), EVERY)
def test_one_record_changes_the_sums_by_what_is_said(cells: int, ordered: bool, pure: bool) -> None:
    own = strategy(cells, ordered=ordered, pure=pure)
    record = np.eye(cells, dtype=np.int64)
    changes = [own.measure(one) for one in record]
    sizes = [np.abs(c).sum() if pure else (c**2).sum() for c in changes]
    assert max(sizes) == own.change
    assert all(c.dtype == np.int64 for c in changes)  # whole numbers, for which exact noise is drawn


@pytest.mark.parametrize(("cells", "ordered", "pure"), EVERY)
def test_a_table_is_solved_from_its_sums_and_ranges_vary_as_is_said(
    cells: int, ordered: bool, pure: bool
) -> None:
    own, rng = strategy(cells, ordered=ordered, pure=pure), np.random.default_rng(1)
    counts = rng.integers(0, 100, cells)
    back = own.solve(own.measure(counts))
    back = back + (counts.sum() - back.sum()) / cells  # of a difference alone, the total is not known
    assert back == pytest.approx(counts, abs=1e-6)
    noise = own.solve(rng.normal(size=(own.sums, 20_000)))
    gram = own.gram if own.knows_total else own.gram + 1.0
    weights = np.linalg.solve(gram, np.ones(cells))
    noise = noise - np.outer(weights / weights.sum(), noise.sum(axis=0))  # the best given the sum of all
    upto = np.vstack([np.zeros((1, noise.shape[1])), noise.cumsum(axis=0)])
    for width in {1, cells // 2, cells - 1} - {0}:
        seen = np.mean((upto[width:] - upto[:-width]) ** 2)
        assert seen == pytest.approx(own.by_width[width - 1], rel=0.05)
    assert own.by_width[-1] == pytest.approx(0, abs=1e-6 * max(own.by_width.max(), 1e-300))


@pytest.mark.parametrize("cells", [8, 16, 100])
def test_ranges_err_less_than_by_cells_and_hardly_more_than_is_possible(cells: int) -> None:
    own, plain = strategy(cells, ordered=True, pure=False), Strategy(cells, None, pure=False)
    assert own.range_variance < plain.range_variance * {8: 0.8, 16: 0.66, 100: 0.28}[cells]
    if cells == 8:  # the best Gram matrix with a diagonal of 1 at most, by a plain search

        def mean_variance(flat: np.ndarray) -> float:
            root = flat.reshape(cells, cells)
            return Strategy(cells, root / np.sqrt((root**2).sum(axis=0).max()), pure=False).by_width.mean()

        start = own.rows / np.sqrt(own.change)  # type: ignore[operator]
        best = minimize(mean_variance, start.ravel(), method="L-BFGS-B", options={"maxiter": 60}).fun
        assert own.range_variance < 1.03 * best


@pytest.mark.parametrize("pure", [True, False])
def test_a_product_changes_by_the_product_and_is_solved_side_by_side(pure: bool) -> None:
    rng = np.random.default_rng(2)
    sides = [side(4, ordered=True, pure=pure), side(3, ordered=False, pure=pure), plain_side(2, ordered=False, pure=pure)]  # fmt: skip
    table = rng.integers(0, 50, (4, 3, 2))
    by_hand = np.einsum("ia,jb,kc,abc->ijk", *(dense(own.strategy) for own in sides), table)
    assert np.array_equal(measured(sides, table), by_hand)
    assert solved(sides, by_hand.astype(float)) == pytest.approx(table, abs=1e-6)
    sizes = []
    for cell in np.ndindex(table.shape):
        one = np.zeros_like(table)
        one[cell] = 1
        change = measured(sides, one)
        sizes.append(np.abs(change).sum() if pure else (change**2).sum())
    assert max(sizes) == change_of(sides)


@pytest.mark.parametrize("pure", [True, False])
def test_noise_is_not_believed_and_a_difference_is(pure: bool) -> None:
    rng = np.random.default_rng(1)
    sides = [side(12, ordered=True, pure=pure), side(9, ordered=False, pure=pure)]
    noise, expected = rng.normal(0, 5, (12, 9)), np.full((12, 9), 600.0)
    sums = measured(sides, expected)
    assert Belief.of(sides, expected, sums + noise, 25.0).trust[1:, 1:].mean() < 0.35
    true = np.outer(np.linspace(-1, 1, 12), np.linspace(-1, 1, 9) ** 3) * 500
    off = measured(sides, true) + noise * np.sqrt(change_of(sides))
    belief = Belief.of(sides, expected, sums + off, 25.0 * change_of(sides))
    plain = solved(sides, off)
    inner = belief.difference - true
    # Of this smooth difference the waves alone would leave 0.55 without a delta; cells believed beside them cost some of that.
    assert (inner**2).sum() < (0.85 if pure else 0.6) * ((plain - true) ** 2).sum()
    seen, left = belief.miss(0, 1)
    assert left < seen
    assert (belief.trust[0] == 0).all()  # margins are known better from tables of one attribute


def test_what_two_sides_miss_is_that_of_their_own_table() -> None:
    rng = np.random.default_rng(3)
    sides = [plain_side(n, ordered=True, pure=True) for n in (4, 3, 2)]
    table = rng.normal(0, 30, (4, 3, 2))
    none = np.zeros_like(table)
    whole = Belief.of(sides, none, table, 0.0)
    pair = Belief.of(sides[:2], none.sum(axis=2), table.sum(axis=2), 0.0)
    assert whole.miss(0, 1)[0] == pytest.approx(pair.miss(0, 1)[0])


def test_the_nearest_table_is_the_best_of_all() -> None:
    rng = np.random.default_rng(4)
    for cells in (2, 3, 6):
        for _ in range(30):
            root = rng.normal(size=(cells, cells)) + np.eye(cells)
            metric, counts, total = root @ root.T + 0.1 * np.eye(cells), rng.normal(3, 6, cells), 10.0
            own = nearest(counts, metric, total)
            assert (own >= 0).all()
            assert own.sum() == pytest.approx(total)

            def distance(x: np.ndarray, metric: np.ndarray = metric, counts: np.ndarray = counts) -> float:
                return float((x - counts) @ metric @ (x - counts))

            others = rng.dirichlet(np.ones(cells), 300) * total
            mixed = 0.9 * own + 0.1 * others
            assert min(distance(x) for x in [*others, *mixed]) >= distance(own) - 1e-6
    assert nearest(np.array([1.0, -2.0]), np.eye(2), 0.0).tolist() == [0, 0]


def test_tilted_weights_agree_where_raking_never_does() -> None:
    """One attribute follows from another, and their noisy tables contradict each other."""
    rng = np.random.default_rng(5)
    first = rng.integers(0, 4, 2000)
    points = np.stack([first, first // 2, rng.integers(0, 3, 2000)]).astype(np.int32)
    tables = [np.array([600.0, 400, 500, 500]), np.array([1040.0, 960]), np.array([900.0, 600, 500])]
    out = tilt(points, np.ones(2000), tables, [np.eye(4), np.eye(2), np.eye(3)])
    margins = [np.bincount(own, out, len(table)) for own, table in zip(points, tables, strict=True)]
    assert margins[2] == pytest.approx(tables[2], abs=1)
    assert 1000 < margins[1][0] < 1040  # in between
    assert margins[0].reshape(2, 2).sum(axis=1) == pytest.approx(margins[1])
    agree = [tables[0], np.array([1000.0, 1000]), tables[2]]
    out = tilt(points, np.ones(2000), agree, [np.eye(4), np.eye(2), np.eye(3)])
    for own, table in zip(points, agree, strict=True):
        assert np.bincount(own, out, len(table)) == pytest.approx(table, rel=1e-3)


def test_one_record_moves_the_distance_from_independence_by_one_at_most() -> None:
    rng, most = np.random.default_rng(6), 0.0
    for _ in range(300):
        sizes = rng.integers(1, 5, rng.integers(2, 4)).tolist()
        codes = np.stack([rng.integers(0, s, 8) for s in sizes], axis=1)
        codes = codes[: rng.integers(1, 9)].astype(np.int32)
        more = np.vstack([codes, [[rng.integers(0, s) for s in sizes]]]).astype(np.int32)
        most = max(most, abs(apart(counted(codes, sizes)) - apart(counted(more, sizes))))
    assert 0.1 < most <= 1
    # Two that are the same and rare: a record of theirs moves it by nearly as much.
    many = np.repeat([[0, 0]], 5000, axis=0).astype(np.int32)
    one = np.vstack([many, [[1, 1]]]).astype(np.int32)
    assert apart(counted(one, [2, 2])) - apart(counted(many, [2, 2])) == pytest.approx(1, abs=1e-3)
