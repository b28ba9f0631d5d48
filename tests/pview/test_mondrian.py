import math
from fractions import Fraction

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.noise.keystream import Keystream
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.pview import _mondrian
from sudare.pview._aggregation import STEPS, aggregation_error, sensitivity, steps
from sudare.pview.account import Account
from sudare.pview.models import BlocksModel
from sudare.pview.mondrian import DPMondrian, learn_mondrian, spend
from sudare.pview.spending import Share
from sudare.tables.counts import Counts
from tests.pview.counted import counted

SHAPES = [(2,), (7,), (3, 1, 4), (5, 6), (2, 3, 2, 2), (1, 9), (40, 30)]


def account(epsilon=1.0, seed=1, delta=0.0):
    return Account(DifferentialPrivacy(epsilon, delta), Keystream.unsafe(seed))


def error(tensor):
    """AE as equation 5 has it."""
    return float(np.abs(tensor - tensor.mean()).sum())


def slow_cuts(tensor):
    """AE of both children of every cut, attribute by attribute."""
    return [
        tuple(error(half) for half in np.split(tensor, [v], axis=a))
        for a, size in enumerate(tensor.shape)
        for v in range(1, size)
    ]


def fast_cuts(tensor, low=None):
    cells = np.ascontiguousarray(np.argwhere(tensor > 0), dtype=np.int32)
    counts = tensor[tensor > 0]
    levels, ranks = np.unique(-counts, return_inverse=True)
    low = np.zeros(tensor.ndim, dtype=np.int64) if low is None else low
    high = low + np.array(tensor.shape) - 1
    room, tallies = np.empty((sum(tensor.shape), 2), np.int64), np.empty((2, levels.size + 1, 2), np.int64)
    left, right = np.empty(sum(tensor.shape)), np.empty(sum(tensor.shape))
    cells += low.astype(np.int32)
    _mondrian.cut_errors(cells, counts, ranks, -levels, low, high, room, tallies, left, right)
    n = sum(tensor.shape) - tensor.ndim
    return list(zip(left[:n].tolist(), right[:n].tolist(), strict=True))


def tensors(kinds=(0.05, 0.5, 1.0, 8.0, 300.0)):
    rng = np.random.default_rng(5)
    for shape in SHAPES:
        for mean in kinds:
            # Skewed, so that some children have a mean above 1 and others do not.
            yield rng.poisson(mean * rng.gamma(0.3, 3.0, shape)).astype(np.int64)


# -- Exactness ------------------------------------------------------------------------------------------


def test_all_cuts_have_the_errors_that_brute_force_finds():
    kinds = set()
    for tensor in tensors():
        low = np.arange(tensor.ndim)
        assert np.allclose(fast_cuts(tensor, low), slow_cuts(tensor), rtol=1e-12, atol=1e-9)
        kinds |= {
            half.mean() > 1
            for a in range(tensor.ndim)
            for half in np.array_split(tensor, 2, axis=a)
            if half.size
        }
    assert kinds == {True, False}


def test_the_error_of_a_block_is_that_of_brute_force():
    for tensor in tensors():
        fast = aggregation_error(tensor[tensor > 0], float(tensor.size))
        assert fast == pytest.approx(error(tensor), abs=1e-9)


def test_a_block_too_large_for_any_float_is_no_matter():
    assert aggregation_error(np.array([3, 1]), math.inf) == 8
    assert sensitivity(math.inf) == 2 * STEPS + 1


# -- Sensitivities --------------------------------------------------------------------------------------


def test_theorem_3_is_tight_and_holds_in_steps():
    for size in (2, 3, 5, 8):
        tight, largest = 2 * (1 - 1 / size), 0.0
        for tensor in (np.array(t) for t in np.ndindex(*[4] * min(size, 5))):
            x = np.concatenate([tensor, np.zeros(size - len(tensor), dtype=np.int64)])
            for j in range(size):
                more = x.copy()
                more[j] += 1
                largest = max(largest, abs(error(more) - error(x)))
                errors = [aggregation_error(y[y > 0], float(size)) for y in (x, more)]
                assert abs(np.diff([steps(e) for e in errors])[0]) <= sensitivity(float(size))
        assert largest == pytest.approx(tight)
        assert tight * STEPS <= sensitivity(float(size)) <= tight * STEPS + 2


def test_one_record_changes_the_score_of_a_cut_by_the_larger_child_s_sensitivity():
    rng = np.random.default_rng(3)
    largest = 0.0
    for _ in range(300):
        tensor = rng.integers(0, 3, (2, 4))
        more = tensor.copy()
        more[tuple(rng.integers(0, (2, 4)))] += 1
        change = np.abs(np.sum(slow_cuts(tensor), axis=1) - np.sum(slow_cuts(more), axis=1))
        largest = max(largest, change.max())
    assert largest == pytest.approx(2 * (1 - 1 / 6))  # the largest child has 2 x 3 cells


# -- Blocks ---------------------------------------------------------------------------------------------


def cover(blocks, sizes):
    table = np.zeros(sizes, dtype=int)
    for low, high in zip(blocks.low, blocks.high, strict=True):
        table[tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))] += 1
    return table


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("sizes", [(16,), (5, 1, 7), (1, 1), (2, 3, 4, 5), (30, 20)])
def test_blocks_cover_every_cell_once_and_spend_everything(sizes, delta):
    rng = np.random.default_rng(1)
    codes = (rng.random((2000, len(sizes))) ** 2 * sizes).astype(np.int32)
    budget = account(4.0, delta=delta)
    blocks = learn_mondrian(counted(codes, sizes), budget, DPMondrian())
    assert (cover(blocks, sizes) == 1).all()
    assert (blocks.deviations > 0).all()
    assert len(blocks.low) == len(blocks.high) == len(blocks)
    assert budget.remaining == 0
    assert abs(blocks.counts.sum() - 2000) < 20 * len(blocks)


def test_counts_are_raw_unless_a_projection_is_asked_for():
    counts = counted(np.random.default_rng(1).integers(0, 40, (300, 2), dtype=np.int32), (40, 40))
    raw, projected = (
        learn_mondrian(counts, account(0.5), DPMondrian(projection=asked)) for asked in (False, True)
    )
    assert (raw.counts == np.rint(raw.counts)).all()
    assert raw.counts.min() < 0 <= projected.counts.min()
    assert projected.counts.sum() == pytest.approx(raw.counts.sum())
    model = BlocksModel.of(raw, counts.sizes)
    assert model.counts(np.array([[0, 0]]), np.array([[39, 39]]))[0] == pytest.approx(raw.counts.sum())
    drawn = model.sample(20_000, np.random.default_rng(2))
    cells = np.bincount(drawn[:, 0], minlength=40) / 20_000
    shares = BlocksModel.of(projected, counts.sizes).table([0], {}) / projected.counts.sum()
    assert np.allclose(cells, shares, atol=0.02)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_without_a_budget_for_tests_every_block_is_cut_to_the_end(delta):
    counts = counted(np.random.default_rng(1).integers(0, 8, (500, 2), dtype=np.int32), (8, 8))
    budget = account(4.0, delta=delta)
    blocks = learn_mondrian(counts, budget, DPMondrian(gamma=0, beta=3))
    assert len(blocks) > 55  # nearly all single cells: 18 depths are enough for most
    assert budget.remaining == 0
    shallow = learn_mondrian(counts, account(4.0), DPMondrian(gamma=0, beta=0.5, theta=1e9))
    assert len(shallow) == 2 ** (3 - 1)  # kappa = 3


def test_without_a_budget_for_cuts_these_do_not_look():
    """All cuts are alike, so where the records lie must not matter; one root cut of 7, drawn often."""
    first = np.array([[0]] * 5000, dtype=np.int32)
    tables = [counted(first, (8,)), counted(first + 5, (8,))]
    for counts in tables:
        cut = DPMondrian(gamma=1, beta=0.6)  # kappa = 2: one cut
        ends = [learn_mondrian(counts, account(9.0, s), cut).high[:, 0].min() for s in range(700)]
        assert np.bincount(ends, minlength=7).min() > 60


def test_gamma_0_on_a_large_domain_is_refused_before_anything_is_spent():
    budget = account()
    with pytest.raises(
        ParameterError, match=r"would cut 1e\+08 blocks; 4,194,304 are the most\. Use a smaller beta"
    ):
        learn_mondrian(counted([], (100,) * 4), budget, DPMondrian(gamma=0))
    assert not budget.spent
    assert len(learn_mondrian(counted([], (100,) * 4), budget, DPMondrian(gamma=0, beta=0.1))) == 4


def test_nothing_is_bisected_as_well():
    blocks = learn_mondrian(counted([], (10, 10, 10)), account(), DPMondrian())
    assert (cover(blocks, (10, 10, 10)) == 1).all()


def test_an_unsafe_keystream_repeats_itself():
    codes = np.random.default_rng(0).integers(0, 9, (500, 3), dtype=np.int32)
    first, second = (
        learn_mondrian(counted(codes, (9, 9, 9)), account(seed=4), DPMondrian()) for _ in range(2)
    )
    assert all(np.array_equal(getattr(first, k), getattr(second, k)) for k in ("low", "high", "counts"))


def test_a_huge_domain_is_no_matter():
    rng = np.random.default_rng(0)
    for rows, axes, size in ((50, 12, 10**5), (20, 110, 1000)):  # no float holds the size of the second
        codes = rng.integers(0, 1000, (rows, axes), dtype=np.int32)
        blocks = learn_mondrian(counted(codes, [size] * axes), account(50.0), DPMondrian())
        assert blocks.counts.sum() > 0
        assert np.isfinite(blocks.counts).all()


def test_a_strong_signal_is_found():
    codes = np.repeat(np.array([[3, 0], [60, 7]], dtype=np.int32), 20_000, axis=0)
    blocks = learn_mondrian(counted(codes, (64, 8)), account(20.0), DPMondrian())
    own = blocks.counts[((blocks.low <= (3, 0)) & (blocks.high >= (3, 0))).all(axis=1)]
    assert abs(own[0] - 20_000) < 2_000


# -- Budget ---------------------------------------------------------------------------------------------


def test_every_path_spends_the_whole():
    budget = account(1.0)
    shares = spend((100, 100), budget, DPMondrian())
    assert shares.kappa == math.ceil(1.2 * math.log2(10**4)) == 16
    assert shares.converge == Fraction(81, 100) / 16
    assert shares.cut == Fraction(9, 100) / 16
    # Stopped by the k-th test: k tests, k - 1 cuts. At depth kappa, or as one cell: k - 1 of each.
    assert shares.left(3, tested=True) == 1 - 3 * shares.converge - 2 * shares.cut
    assert shares.left(16, tested=False) == Fraction(1, 10) + Fraction(9, 10) / 16
    assert budget.spent == [Share("tree", Fraction(9, 10)), Share("counts", Fraction(1, 10))]


@pytest.mark.parametrize(
    "wrong",
    [
        {"theta": -1},
        {"tree_share": Fraction(1)},
        {"gamma": 1.1},
        {"gamma": -0.1},
        {"beta": 0.0},
        {"beta": math.inf},
        {"projection": 1},
    ],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        DPMondrian(**wrong)


def test_codes_outside_the_domain_are_refused():
    def learn(codes, weights, sizes):
        names = tuple(map(str, range(len(sizes))))
        learn_mondrian(Counts(names, codes, weights, sizes), account(), DPMondrian())

    one = np.array([3])
    with pytest.raises(ParameterError, match="codes"):
        learn(np.full((1, 1), 4, dtype=np.int32), one, (4,))
    with pytest.raises(ParameterError, match="codes"):
        learn(np.zeros((1, 2), dtype=np.int32), one, (4,))
    with pytest.raises(ParameterError, match="sizes"):
        learn(np.zeros((1, 1), dtype=np.int32), one, (0,))
    for weights in (np.array([0]), np.array([1.5]), np.array([1, 1])):
        with pytest.raises(ParameterError, match="weights"):
            learn(np.zeros((1, 1), dtype=np.int32), weights, (4,))


def test_the_counts_stay_as_they_were():
    counts = counted(np.random.default_rng(0).integers(0, 9, (500, 3), dtype=np.int32), (9, 9, 9))
    codes, weights = counts.codes.copy(), counts.weights.copy()
    learn_mondrian(counts, account(20.0), DPMondrian())
    assert np.array_equal(counts.codes, codes)
    assert np.array_equal(counts.weights, weights)


def test_an_epsilon_that_leaves_nothing_per_depth_is_refused():
    with pytest.raises(ParameterError, match="larger epsilon"):
        learn_mondrian(counted(np.zeros((3, 120), dtype=np.int32), (100,) * 120), account(1e-6), DPMondrian())
