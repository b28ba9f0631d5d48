"""The method of pairs: what it spends, what it may look at, how near it comes, and whether its errors tell."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.noise.keystream import Keystream
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.pview import _pairs
from sudare.pview.account import Account
from sudare.pview.allocation import FOR_PROBE, allocate, ones_needed, strategies_for, total_share
from sudare.pview.cloud import Cloud
from sudare.pview.emphasis import Emphasis
from sudare.pview.grouped_counts import all_pairs, weighed
from sudare.pview.grouped_tables import MISFIT_SENSITIVITY, fit, misfit
from sudare.pview.noisy_counts import project
from sudare.pview.one_ways import group_values, settle_cells
from sudare.pview.pairs import learn_pairs
from tests.pview.counted import counted

PURE, GAUSSIAN = DifferentialPrivacy(1.0), DifferentialPrivacy(1.0, 1e-9)


def account_of(epsilon: float = 1.0, delta: float = 0.0, seed: int = 1) -> Account:
    return Account(DifferentialPrivacy(epsilon, delta), Keystream.unsafe(seed))


def random_codes(n: int, sizes: list[int], seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, s, n) for s in sizes], axis=1).astype(np.int32)


def learned(codes: np.ndarray, sizes: list[int], account: Account, points: int = 3000) -> Cloud:
    return learn_pairs(counted(codes, sizes), [a % 2 == 0 for a in range(len(sizes))], account, points=points)


# -- What any cloud keeps to ------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0.0, 1e-9])
@pytest.mark.parametrize(
    ("n", "sizes", "epsilon"),
    [
        (0, [5], 1.0),
        (0, [4, 3], 1.0),
        (1, [3, 1, 4], 1.0),
        (50, [1, 1], 1.0),
        (2000, [1, 7, 3], 1.0),
        (2000, [1000, 2, 30], 10.0),
        (3000, [6] * 8, 0.05),
        (3000, [6] * 8, 100.0),
        (100, [20] * 4, 0.02),
    ],
)
def test_any_cloud_keeps_to_its_domain_its_total_and_its_budget(
    n: int, sizes: list[int], epsilon: float, delta: float
) -> None:
    account = account_of(epsilon, delta)
    cloud = learned(random_codes(n, sizes), sizes, account)
    assert account.remaining == 0
    assert cloud.points.shape == (3000, len(sizes))
    assert cloud.points.dtype == np.int32
    assert (cloud.points < np.array(sizes)).all()
    assert (cloud.weights >= 0).all()
    assert cloud.weights.sum() == pytest.approx(cloud.total, abs=1e-6)
    low, high = np.zeros((1, len(sizes)), dtype=int), np.array([sizes]) - 1
    assert cloud.counts(low, high)[0] == pytest.approx(cloud.total, abs=1e-6)
    assert 0 < cloud.errors(low, high)[0] < np.inf
    assert abs(cloud.total - n) < 8 * cloud.errors(low, high)[0] + 1


@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_every_choice_and_every_table_is_paid_for_once(delta: float) -> None:
    account = account_of(5.0, delta)
    codes = np.repeat(random_codes(5000, [8] * 3), 2, axis=1)  # there is something to find
    learned(codes, [8] * 6, account)
    kinds = [share.kind for share in account.spent]
    pairs = [share.attributes for share in account.spent if share.kind in ("pair", "set")]
    assert len(set(map(frozenset, pairs))) == len(pairs) >= 5
    chosen = sum(
        len(own) - 1 for own in pairs
    )  # and, without a delta, that nothing more is worth a place in a table
    assert chosen <= kinds.count("choice") <= chosen + (delta == 0) * len(pairs)
    assert [share.attributes for share in account.spent if share.kind == "table"] == [
        (str(a),) for a in range(6)
    ]
    assert kinds.count("probe") == (delta == 0)
    assert len(kinds) == 1 + (delta == 0) + 6 + len(pairs) + kinds.count("choice")
    assert sum((share.amount for share in account.spent), Fraction(0)) == account.whole


def test_the_same_seed_gives_the_same_cloud_and_another_another() -> None:
    codes, sizes = random_codes(4000, [9, 5, 30]), [9, 5, 30]
    one, same, other = (learned(codes, sizes, account_of(seed=s)) for s in (1, 1, 2))
    assert np.array_equal(one.points, same.points)
    assert np.array_equal(one.weights, same.weights)
    assert not np.array_equal(one.weights, other.weights)


@pytest.mark.parametrize("promise", [PURE, GAUSSIAN])
@pytest.mark.parametrize("attributes", [1, 2, 15, 50])
def test_an_allocation_stays_within_the_budget_and_grows_with_the_records(
    promise: DifferentialPrivacy, attributes: int
) -> None:
    sizes = [2 + a % 7 for a in range(attributes)]
    plans = []
    for n in (-5.0, 0.0, 200.0, 1e4, 1e5, 1e6, 1e7):
        account = Account(promise, Keystream.unsafe(1))
        own = strategies_for(sizes, [True] * attributes, account, Fraction(1, 4))
        total = account.spend("total", total_share(own, account.pure)) / account.whole
        probe = account.spend("probe", FOR_PROBE) / account.whole if account.pure else Fraction(0)
        plan = allocate(
            account, own, n, (n / 10, 1.0) if account.pure else None, Emphasis.even([True] * attributes)
        )
        assert total + probe + plan.ones + plan.pairs * (plan.choices + plan.tables) + plan.of_triples == 1
        assert plan.pairs == 0 or plan.ones + total == Fraction(ones_needed(own, account.pure), 256)
        assert plan.pairs <= attributes * (attributes - 1) // 2
        # With rho, and only where all pairs are measured anyway.
        assert plan.triples == 0 or (not account.pure and plan.pairs == attributes * (attributes - 1) // 2)
        assert plan.triples <= plan.pairs / 8
        assert 1 <= plan.bins <= 40
        plans.append(plan)
    assert [p.pairs for p in plans] == sorted(p.pairs for p in plans)
    assert plans[0].pairs == 0
    assert (plans[-1].pairs > 0) == (attributes > 1)


def test_attributes_that_have_nothing_to_do_with_each_other_are_not_paired() -> None:
    """Without a delta, a small part of the budget tells that pairs are not worth theirs."""
    sizes, paired = [10, 6, 20], 0
    for seed in range(8):
        account = account_of(0.5, seed=seed)
        learned(random_codes(20_000, sizes, seed), sizes, account)
        paired += any(share.kind == "choice" for share in account.spent)
    assert paired <= 3
    same = np.repeat(random_codes(20_000, [10]), 3, axis=1)
    learned(same, [10, 10, 10], account := account_of(0.5))
    assert [share.kind for share in account.spent].count("choice") >= 2


# -- What a record can change -----------------------------------------------------------------------


@settings(max_examples=200)
@given(st.data())
def test_a_record_changes_a_misfit_by_no_more_than_is_claimed(data: Any) -> None:
    seed = data.draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    bins = rng.integers(1, 5, 3)
    pairs, cells = all_pairs(3), 16
    groups = np.stack([rng.integers(0, b, 12) for b in bins]).astype(np.uint8)
    model = rng.exponential(rng.choice([0.01, 1.0, 1e6]), (3, cells))
    model[rng.random(model.shape) < 0.3] = 0
    scores = misfit(weighed(groups, np.ones(12), pairs, bins, cells).astype(np.int64), model)
    one_less = groups[:, 1:].copy()
    fewer = misfit(weighed(one_less, np.ones(11), pairs, bins, cells).astype(np.int64), model)
    # Exactly: no rounding of floats hides a larger change.
    assert np.abs(scores - fewer).max() <= MISFIT_SENSITIVITY


def test_the_claimed_sensitivity_is_reached() -> None:
    none, one = np.zeros((1, 4), dtype=np.int64), np.array([[1, 0, 0, 0]])
    assert abs(misfit(one, np.zeros((1, 4))) - misfit(none, np.zeros((1, 4)))) == MISFIT_SENSITIVITY


class Instead:
    """Noise that, added to counts, puts others in their place."""

    def __init__(self, counts: np.ndarray) -> None:
        self.counts = counts

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        assert ufunc is np.add
        return self.counts

    def reshape(self, shape: Any) -> Instead:
        return Instead(self.counts.reshape(shape))


class Scripted(Account):
    """An account that answers the same whatever the data: noise is such that it comes out so, and so are choices."""

    def noise(self, size: int, part: Fraction, change: int = 1) -> Any:
        rng = np.random.default_rng(len(self.spent))
        return Instead(rng.integers(0, 3000, size) if size > 1 else np.array([30_000]))

    def choose(self, scores: Any, sensitivity: float, part: Fraction) -> int:
        assert sensitivity == MISFIT_SENSITIVITY
        return len(scores) // 2


@pytest.mark.parametrize(
    ("promise", "sizes"),
    [(PURE, [3, 4, 2, 5]), (GAUSSIAN, [3, 4, 2, 5]), (DifferentialPrivacy(3.0, 1e-9), [3, 4, 2, 5, 3, 2])],
)
def test_what_comes_out_depends_on_what_was_measured_alone(
    promise: DifferentialPrivacy, sizes: list[int]
) -> None:
    tables = random_codes(3000, sizes, 1), random_codes(2500, sizes, 2)
    accounts = [Scripted(promise, Keystream.unsafe(3)) for _ in tables]
    one, other = (learned(codes, sizes, own) for codes, own in zip(tables, accounts, strict=True))
    assert accounts[0].spent == accounts[1].spent
    assert any(share.kind in ("pair", "set") for share in accounts[0].spent)
    triples = [share for share in accounts[0].spent if share.kind == "set" and promise.delta]
    assert bool(triples) == (len(sizes) > 4)
    assert one.total == other.total
    for a, b in ((one.points, other.points), (one.weights, other.weights), (one.leftover, other.leftover)):
        assert np.array_equal(a, b)


class Sure(Account):
    """An account whose choices are the best ones."""

    def choose(self, scores: Any, sensitivity: float, part: Fraction) -> int:
        return int(np.argmax(scores))


def test_what_is_not_worth_it_gets_no_place_in_a_table_of_others() -> None:
    """The first two attributes are the same, and others have nothing to do with them: with these, a table would have more noise."""
    sizes, several = [4, 4, 3, 2], 0
    rows = np.array([[a, a, b, c] for a in range(4) for b in range(3) for c in range(2)] * 800)
    for seed in range(6):
        account = Sure(PURE, Keystream.unsafe(seed))
        learned(rows, sizes, account)
        first = next(share for share in account.spent if share.kind in ("pair", "set"))
        assert {"0", "1"} <= set(first.attributes)
        several += len(first.attributes) > 2
    assert several <= 2


# -- The parts --------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(st.lists(st.integers(-50, 200), min_size=1, max_size=12), st.floats(0, 500))
def test_the_simplex_is_reached_at_its_nearest_point(cells: list[int], total: float) -> None:
    table = np.array(cells)
    projected = project(table, total)
    assert (projected >= 0).all()
    assert projected.sum() == pytest.approx(total, abs=1e-6)
    rng = np.random.default_rng(len(cells))
    others = rng.dirichlet(np.ones(len(cells)), 50) * total
    assert (((others - table) ** 2).sum(axis=1) >= ((projected - table) ** 2).sum() - 1e-6).all()


def test_full_cells_do_not_pay_for_empty_ones() -> None:
    rng, misses = np.random.default_rng(1), []
    for _ in range(50):
        table = rng.laplace(0, 10, 200).astype(np.int64)
        table[:3] += 2000
        settled = settle_cells(table, 6000.0, 14.0), project(table, 6000.0)
        assert settled[0].sum() == pytest.approx(6000)
        misses.append([abs(f[:3].sum() - 6000) for f in settled])
    assert np.mean(misses, axis=0)[0] < np.mean(misses, axis=0)[1] / 1.5


def test_groups_are_ranges_or_the_frequent_ones_alone() -> None:
    table = np.array([1.0, 50, 2, 40, 3, 1, 1, 2])
    assert group_values(table, 3, ordered=False).tolist() == [2, 0, 2, 1, 2, 2, 2, 2]
    ranges = group_values(table, 4, ordered=True)
    assert (np.diff(ranges.astype(int)) >= 0).all()
    assert set(ranges.tolist()) == set(range(ranges.max() + 1))
    assert group_values(table, 8, ordered=True).tolist() == list(range(8))
    assert group_values(np.zeros(9), 3, ordered=True).max() < 3


def test_fitted_tables_have_their_margins() -> None:
    rows, columns = np.array([3.0, 7.0]), np.array([1.0, 4.0, 5.0])
    fitted = fit(np.random.default_rng(1).random((2, 3)) + 0.1, [rows, columns])
    assert fitted.sum(axis=1) == pytest.approx(rows, rel=1e-6)
    assert fitted.sum(axis=0) == pytest.approx(columns, rel=1e-6)


def test_kernels_do_as_their_plain_twins() -> None:
    rng = np.random.default_rng(1)
    bins, pairs = np.array([3, 5, 2]), all_pairs(3)
    groups = np.stack([rng.integers(0, b, 200) for b in bins]).astype(np.uint8)
    weights = rng.random(200)
    counts, sums = (weighed(groups, own, pairs, bins, 15) for own in (np.ones(len(weights)), weights))
    for p, (i, j) in enumerate(pairs):
        keys = groups[i].astype(int) * bins[j] + groups[j]
        assert counts[p].tolist() == np.bincount(keys, minlength=15).tolist()
        assert sums[p] == pytest.approx(np.bincount(keys, weights, 15))
    keys = groups[1].astype(np.int32) * 2 + groups[2]
    target = rng.random(10) * 50
    _pairs.rake(weights, keys, target, 1e-9)
    assert np.bincount(keys, weights, 10) == pytest.approx(target, rel=1e-6)


def test_draws_keep_to_their_shares_within_one() -> None:
    rng = np.random.default_rng(1)
    given_groups = rng.integers(0, 3, 1000).astype(np.uint8)
    shares = rng.dirichlet(np.ones(6), 3)
    out = np.empty(1000, dtype=np.int32)
    _pairs.draw_given(given_groups, rng.permutation(1000), np.cumsum(shares, axis=1), rng.random(3), out)
    for g in range(3):
        drawn = np.bincount(out[given_groups == g], minlength=6)
        assert np.abs(drawn - shares[g] * drawn.sum()).max() <= 1 + 1e-9


def test_a_cloud_is_the_same_from_its_columns() -> None:
    cloud = learned(random_codes(4000, [9, 300]), [9, 300], account_of())
    extras = json.loads(json.dumps(cloud.extras()))
    again = Cloud.from_frame(cloud.frame(), (9, 300), extras)
    low, high = np.array([[0, 0], [2, 17]]), np.array([[8, 299], [5, 99]])
    assert again.counts(low, high).tolist() == cloud.counts(low, high).tolist()
    assert again.errors(low, high).tolist() == cloud.errors(low, high).tolist()


# -- Real data --------------------------------------------------------------------------------------

BOUNDS = {"age": (17, 74), "education-num": (1, 16), "hours-per-week": (1, 99)}
NUMBERS = [*BOUNDS, "fnlwgt", "capital-gain", "capital-loss"]
COLUMNS = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
    "capital-loss hours-per-week native-country income"
).split()


@pytest.fixture(scope="module")
def adult(data_folder: Path) -> tuple[np.ndarray, list[int], list[bool]]:
    parts = [
        pl.read_csv(
            data_folder / "adult" / name,
            has_header=False,
            new_columns=COLUMNS,
            infer_schema=False,
            truncate_ragged_lines=True,
            skip_rows=skip,
        )
        for name, skip in (("adult.data", 0), ("adult.test", 1))
    ]
    frame = pl.concat(parts).drop_nulls().with_columns(pl.all().str.strip_chars().str.strip_chars_end("."))
    columns, sizes = [], []
    for name in COLUMNS:
        if name in BOUNDS:
            first, size = BOUNDS[name]
            columns.append(frame[name].cast(pl.Int64).to_numpy() - first)
            sizes.append(size)
        elif name in NUMBERS:
            x = frame[name].cast(pl.Float64).to_numpy()
            columns.append(np.minimum((x - x.min()) / (x.max() - x.min()) * 100, 99).astype(int))
            sizes.append(100)
        else:
            columns.append(frame[name].rank("dense").to_numpy().astype(int) - 1)
            sizes.append(int(columns[-1].max()) + 1)
    return np.stack(columns, axis=1).astype(np.int32), sizes, [name in NUMBERS for name in COLUMNS]


def ranges(sizes: list[int], attributes: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    low, high = np.zeros((n, len(sizes)), dtype=np.int64), np.tile(np.array(sizes) - 1, (n, 1))
    for q in range(n):
        for a in rng.choice(len(sizes), attributes, replace=False):
            width = rng.integers(1, sizes[a] + 1)
            low[q, a] = rng.integers(0, sizes[a] - width + 1)
            high[q, a] = low[q, a] + width - 1
    return low, high


def plain_counts(codes: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    out, most = np.empty(len(low)), high.max(axis=0)
    for q in range(len(low)):
        within = np.ones(len(codes), dtype=bool)
        for a in np.flatnonzero((low[q] > 0) | (high[q] < most)):
            within &= (codes[:, a] >= low[q, a]) & (codes[:, a] <= high[q, a])
        out[q] = within.sum()
    return out


@pytest.mark.slow
def test_adult_is_far_better_than_independent_attributes_and_its_errors_cover(adult: Any) -> None:
    codes, sizes, ordered = adult
    misses: dict[int, list[float]] = {k: [] for k in (1, 2, 3, 4)}
    covered, widths = [], []
    for seed in range(2):
        cloud = learn_pairs(counted(codes, sizes), ordered, account_of(seed=seed))
        for k, squares in misses.items():
            low, high = ranges(sizes, k, 200, seed * 10 + k)
            true, answers = plain_counts(codes, low, high), cloud.counts(low, high)
            errors = cloud.errors(low, high)
            squares.extend((answers - true) ** 2)
            covered.append(np.mean(np.abs(answers - true) <= 1.96 * errors + 0.5))
            widths.append(np.sqrt(np.mean(errors**2) / np.mean((answers - true) ** 2)))
            if k == 2 and seed == 0:  # even one-way tables without any noise are worse by far
                shares = [
                    np.concatenate([[0], np.cumsum(np.bincount(codes[:, a], minlength=s))]) / len(codes)
                    for a, s in enumerate(sizes)
                ]
                product = np.prod([c[high[:, a] + 1] - c[low[:, a]] for a, c in enumerate(shares)], axis=0)
                independent = np.sqrt(np.mean((product * len(codes) - true) ** 2))
                assert np.sqrt(np.mean(squares)) < independent / 2.5
    for k, most in ((1, 150), (2, 240), (3, 240), (4, 240)):
        assert np.sqrt(np.mean(misses[k])) < most, k
    assert np.mean(covered) > 0.94
    assert min(covered) > 0.85
    assert max(widths) < 4
