import itertools
from fractions import Fraction

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.noise._chacha import tap
from sudare.noise.keystream import Keystream
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.pview import _dawa
from sudare.pview._aggregation import STEPS, sensitivity
from sudare.pview.account import Account
from sudare.pview.dawa import along_curve, deviations, learn_dawa, noise_of_costs
from tests.pview.counted import counted


def account(epsilon=1.0, seed=1, delta=0.0):
    return Account(DifferentialPrivacy(epsilon, delta), Keystream.unsafe(seed))


def deviation(x):
    return float(np.abs(x - x.mean()).sum())


@pytest.mark.parametrize("mean", [0.1, 1.0, 30.0])
def test_the_deviation_of_every_interval_is_that_of_brute_force(mean):
    rng = np.random.default_rng(1)
    counts = rng.poisson(mean * rng.gamma(0.3, 3.0, 37))
    errors = deviations(counts)
    assert errors.shape == (6, 37)
    for l, i in np.ndindex(errors.shape):
        start = i + 1 - 2**l
        expected = deviation(counts[start : i + 1]) if start >= 0 else np.inf
        assert errors[l, i] == pytest.approx(expected, abs=1e-9)


def test_one_record_changes_a_deviation_by_its_sensitivity_both_ways():
    changes = []
    for x in itertools.product(range(4), repeat=4):
        for j in range(4):
            more = np.array(x)
            more[j] += 1
            changes.append(deviation(more) - deviation(np.array(x)))
    # Both ways, so that two partitions can come nearer by twice that.
    assert max(changes) == pytest.approx(1.5)
    assert min(changes) == pytest.approx(-1.5)
    assert 1.5 * STEPS <= sensitivity(4.0) <= 1.5 * STEPS + 2


def partitions(n):
    """All partitions of n cells into intervals whose lengths are powers of two, as their beginnings from the last."""
    if n == 0:
        yield ()
    length = 1
    while length <= n:
        for rest in partitions(n - length):
            yield (n - length, *rest)
        length *= 2


def test_the_cheapest_partition_is_that_of_brute_force():
    rng = np.random.default_rng(2)
    none = np.zeros(4, dtype=np.uint64) + np.uint64(1)  # noise of about one step, and costs far apart
    for _ in range(20):
        errors = deviations(rng.integers(0, 50, 9))
        each = int(rng.integers(0, 30)) * STEPS + 50
        begins = _dawa.cheapest(tap(np.arange(8, dtype=np.uint32), np.uint64(0)), errors, none, each)

        def cost(begins, errors=errors, each=each):
            ends = (9, *begins[:-1])
            lengths = [(e - b).bit_length() - 1 for b, e in zip(begins, ends, strict=True)]
            return sum(errors[l, e - 1] * STEPS + each for l, e in zip(lengths, ends, strict=True))

        assert cost(tuple(begins.tolist())) <= min(cost(p) for p in partitions(9)) + 200


def test_noise_is_that_of_the_bucket_and_of_the_longest():
    budget = account(2.0)
    scales, each = noise_of_costs(8, budget, budget.whole / 4, 3 * budget.whole / 4)
    longest = 2 * STEPS * (1 - 1 / 8)
    for l, scale in enumerate(scales.tolist()):
        needed = (2 * STEPS * (1 - 2.0**-l) + longest) / 0.5
        assert needed <= scale <= needed + 10
    assert each > STEPS / 1.5


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("sizes", [(1,), (50,), (13, 40), (1, 7), (5, 3, 9), (2, 3, 2, 4, 1)])
def test_buckets_cover_the_domain_and_everything_is_spent(sizes, delta):
    rng = np.random.default_rng(1)
    codes = (rng.random((3000, len(sizes))) ** 3 * sizes).astype(np.int32)
    budget = account(2.0, delta=delta)
    cells = learn_dawa(counted(codes, sizes), budget)
    assert cells.table.shape == cells.bucket.shape == sizes
    assert set(cells.bucket.ravel().tolist()) == set(range(cells.bucket.max() + 1))
    for bucket in range(cells.bucket.max() + 1):
        inside = along_curve(sizes)[np.isin(along_curve(sizes), np.flatnonzero(cells.bucket == bucket))]
        places = np.flatnonzero(np.isin(along_curve(sizes), inside))
        assert np.ptp(places) == len(places) - 1
        assert np.ptp(cells.table[cells.bucket == bucket]) == 0
    assert budget.remaining == 0
    assert abs(cells.table.sum() - 3000) < 600


def test_even_counts_end_in_few_buckets_and_a_step_is_found():
    counts = np.repeat([0, 100_000], [64, 64])
    codes = np.repeat(np.arange(128, dtype=np.int32), counts)[:, None]
    cells = learn_dawa(counted(codes, (128,)), account(1.0))
    assert cells.bucket.max() < 20
    assert cells.table[:64].sum() < 200
    assert cells.errors(np.array([[0]]), np.array([[127]]))[0] < 5 * cells.deviation


@pytest.mark.parametrize("sizes", [(8, 8), (5, 3), (1, 6), (16, 16)])
def test_the_curve_visits_every_cell_once(sizes):
    order = along_curve(sizes)
    assert sorted(order.tolist()) == list(range(sizes[0] * sizes[1]))
    if sizes[0] == sizes[1]:  # a square of a power of two: every step goes to a neighbour
        x, y = np.divmod(order, sizes[1])
        assert (np.abs(np.diff(x)) + np.abs(np.diff(y)) == 1).all()


def test_the_cells_of_many_attributes_keep_their_places():
    codes = np.random.default_rng(0).integers(0, (5, 6, 7), (9000, 3), dtype=np.int32)
    cells = learn_dawa(counted(codes, (5, 6, 7)), account(1000.0))
    true = np.zeros((5, 6, 7))
    np.add.at(true, tuple(codes.T), 1)
    assert np.abs(cells.table - true).max() < 25
    assert np.abs(cells.table.sum(axis=2) - true.sum(axis=2)).max() < 40


def test_the_same_seed_gives_the_same():
    codes = np.random.default_rng(0).integers(0, 9, (500, 2), dtype=np.int32)
    first, second = (learn_dawa(counted(codes, (9, 9)), account(seed=4)).table for _ in range(2))
    assert np.array_equal(first, second)


def test_what_it_cannot_do_is_refused():
    with pytest.raises(ParameterError, match="cells at most"):
        learn_dawa(counted(np.zeros((1, 2), dtype=np.int32), (2000, 2000)), account())
    with pytest.raises(ParameterError, match="partition_share"):
        learn_dawa(counted(np.zeros((1, 1), dtype=np.int32), (4,)), account(), partition_share=1)
    with pytest.raises(ParameterError, match="larger epsilon"):
        learn_dawa(
            counted(np.zeros((1, 1), dtype=np.int32), (4,)), account(1e-6), partition_share=Fraction(1, 10**4)
        )
