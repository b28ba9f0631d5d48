"""Whether the methods keep their epsilon, by what their outputs tell; and whether such a test would notice if not."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from numba import njit

from sudare.noise._chacha import tap
from sudare.noise.keystream import Keystream
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.pview import _dawa, _mondrian, grouped_tables, probe
from sudare.pview._aggregation import STEPS
from sudare.pview.account import Account
from sudare.pview.allocation import Allocation
from sudare.pview.baselines import learn_identity, noisy_histograms
from sudare.pview.dawa import deviations, noise_of_costs
from sudare.pview.emphasis import Emphasis
from sudare.pview.grouped_tables import MISFIT_SENSITIVITY, GroupedTables, misfit
from sudare.pview.hdmm import along_all, strategies_for
from sudare.pview.mondrian import DPMondrian, perturb, spend, strengths
from sudare.pview.one_ways import OneWays
from sudare.pview.privbayes import R_SENSITIVITY, dependence
from sudare.pview.probe import apart
from sudare.pview.sides import change_of, measured, side
from sudare.pview.strategies import strategy
from sudare.pview.triples import choice_of_triples
from tests.pview.audit import audit, joined, labels_of
from tests.pview.counted import counted

RUNS = 200_000


def account(promise, seed, times=1):
    """Return an account; one that gives out its budget several times is broken, and to be caught."""
    made = Account(promise, Keystream.unsafe(seed))
    made.whole *= times
    return made


def pure_and_gaussian(epsilon, delta=1e-2, slow=()):
    gaussian = pytest.param(DifferentialPrivacy(epsilon, delta), marks=slow)
    promises = [DifferentialPrivacy(epsilon), gaussian]
    return pytest.mark.parametrize("promise", promises, ids=["pure", "gaussian"])


def with_one_more(table, target):
    """Number two neighbouring tables of counts."""
    more = table.copy()
    more[target] += 1
    return enumerate((table, more))


def share_spent(promise, first, second):
    """Return how much of the promised epsilon the audit finds. Above 1, the promise is broken."""
    return audit(first, second, delta=promise.delta) / promise.epsilon


def bins(counts):
    """Noisy counts, those far out in one label each."""
    return np.clip(np.rint(counts), -12, 24).astype(np.int64)


# -- The tool -------------------------------------------------------------------------------------------


def laplace_runs(value, epsilon, seed):
    return [value + account(DifferentialPrivacy(epsilon), seed).noise(RUNS, Fraction(str(epsilon)))]


def test_the_audit_nearly_finds_a_known_epsilon_and_never_more():
    for epsilon in (0.3, 1.0, 2.0):
        measured = audit(laplace_runs(0, epsilon, 1), laplace_runs(1, epsilon, 2))
        assert 0.85 * epsilon < measured <= epsilon


def test_the_audit_finds_nothing_where_there_is_nothing():
    assert audit(laplace_runs(0, 1.0, 1), laplace_runs(0, 1.0, 2)) <= 0.01


def test_the_audit_catches_noise_that_is_too_small():
    assert audit(laplace_runs(0, 1.2, 1), laplace_runs(1, 1.2, 2)) > 1.0


def test_a_delta_excuses_as_much():
    # A bit that gives the table away once in a hundred runs.
    rng = np.random.default_rng(1)
    first, second = (np.where(rng.random(RUNS) < 0.01, table, 7) for table in (0, 1))
    assert audit([first], [second]) > 3
    assert audit([first], [second], delta=0.012) <= 0.01


def test_any_mechanism_can_be_run_one_by_one():
    def run(table, seed):
        return (table, seed % 2)

    assert len(set(labels_of(run, 3, 10).tolist())) == 2


# -- DP-Mondrian ----------------------------------------------------------------------------------------


@njit(cache=True)
def forest(
    source, cells, counts, ranks, levels, sizes, kappa, theta, converge, cut, target, runs
):  # pragma: no cover
    """Grow many trees. For each: the number of blocks, a label of all, and the facts and a label of the target's block."""
    trees, d = np.empty((runs, 6), dtype=np.int64), sizes.size
    for r in range(runs):
        blocks = _mondrian.grow(source, cells, counts, ranks, levels, sizes, kappa, theta, converge, cut)
        tree = 0
        for b in range(len(blocks)):
            box, inside = 0, True
            for a in range(d):
                low, high = blocks[b, a], blocks[b, d + a]
                box = 1000 * box + 30 * low + high + 1
                inside &= low <= target[a] <= high
            tree = tree * 1_000_003 + box
            if inside:
                trees[r, 2] = box
                for fact in range(3):
                    trees[r, 3 + fact] = blocks[b, 2 * d + fact]
        trees[r, 0], trees[r, 1] = len(blocks), tree
    return trees


def mondrian_runs(table, target, promise, seed, *, theta, tree_share, beta, gamma, slip=1.0, times=1):
    """Run the method as `learn_mondrian` does, but for the last step, which uses nothing but the noisy counts."""
    budget = account(promise, seed, times)
    shares = spend(table.shape, budget, DPMondrian(theta, tree_share, beta, gamma))
    converge, cut = strengths(shares, budget)
    counts = table[table > 0]
    levels, ranks = np.unique(-counts, return_inverse=True)
    trees = forest(
        tap(np.arange(8, dtype=np.uint32) + np.uint32(seed), np.uint64(0)),
        np.ascontiguousarray(np.argwhere(table > 0), dtype=np.int32),
        counts,
        ranks,
        -levels,
        np.array(table.shape),
        shares.kappa,
        int(theta * STEPS),
        np.uint64(slip * converge),
        cut,
        np.array(target),
        RUNS,
    )
    blocks, tree, box, depth, tested = (trees[:, i] for i in (0, 1, 2, 4, 5))
    noisy = bins(perturb(trees[:, 3:], shares, budget)[0])
    return [
        blocks == 1,
        blocks,
        tree,
        box,
        noisy,
        joined(box, noisy),
        joined(depth, tested, noisy),
        joined(tree, noisy),
    ]


SETTINGS = {"theta": 0.0, "tree_share": Fraction(9, 10), "beta": 1.2, "gamma": 0.9}
TABLES = [
    (np.zeros((2, 3), dtype=np.int64), (1, 2)),
    (np.array([[3, 0, 0], [0, 1, 0]]), (0, 0)),
    (np.array([1, 1, 1, 0, 1, 1]), (3,)),
]


def mondrian_pair(table, target, promise, **change):
    tables = with_one_more(table, target)
    return [mondrian_runs(x, target, promise, s, **SETTINGS | change) for s, x in tables]


@pytest.mark.slow
@pure_and_gaussian(1.5)
@pytest.mark.parametrize(
    "change",
    [
        {},
        pytest.param({"theta": 2.0, "gamma": 0.99}, marks=pytest.mark.slow),
        *(pytest.param({"gamma": gamma}, marks=pytest.mark.slow) for gamma in (0, 0.1, 1)),
    ],
)
@pytest.mark.parametrize(
    ("table", "target"), [TABLES[0], *(pytest.param(*table, marks=pytest.mark.slow) for table in TABLES[1:3])]
)
def test_mondrian_keeps_its_promise(table, target, change, promise):
    assert 0.15 < share_spent(promise, *mondrian_pair(table, target, promise, **change)) <= 1


LONG = {"theta": 2.0, "tree_share": Fraction(99, 100), "beta": 1.0, "gamma": 0.99}


@pytest.mark.parametrize(("slip", "kept"), [(1.0, True), (2.0, False)])
def test_the_paper_s_printed_noise_is_caught(slip, kept):
    # Lap(1/epsilon_conv), where Delta_AE is nearly 2, is as if epsilon_conv were twice as much.
    promise, table = DifferentialPrivacy(2.0), np.zeros(16, dtype=np.int64)
    spent = share_spent(promise, *mondrian_pair(table, (5,), promise, **LONG, slip=slip))
    assert spent <= 1 if kept else spent > 1.25


# -- Identity and independent histograms: many runs at once, as parts of one large domain --------------------


def repeated(codes, sizes):
    """Give every run values of its own."""
    shift = np.arange(RUNS)[:, None, None] * sizes
    return (codes + shift).reshape(-1, len(sizes)).astype(np.int32)


def identity_runs(counts, promise, seed, times=1):
    codes = np.repeat(np.arange(len(counts)), counts)
    runs = np.repeat(np.arange(RUNS), len(codes))
    both = np.stack([runs, np.tile(codes, RUNS)], axis=1).astype(np.int32)
    noisy = bins(learn_identity(counted(both, (RUNS, len(counts))), account(promise, seed, times)).table)
    return [noisy[:, 0], joined(*noisy.T)]


def identity_pair(promise, times=1):
    return [identity_runs(x, promise, s, times) for s, x in with_one_more(np.array([2, 0, 1]), 0)]


@pure_and_gaussian(1.0)
def test_identity_keeps_its_promise(promise):
    least = 0.6 if promise.delta else 0.8
    assert least < share_spent(promise, *identity_pair(promise)) <= 1


def independent_runs(codes, sizes, promise, seed, times=1):
    budget = account(promise, seed, times)
    histograms, _ = noisy_histograms(counted(repeated(codes, sizes), [RUNS * s for s in sizes]), budget)
    assert budget.remaining == 0
    first, second = (bins(h.reshape(RUNS, -1)) for h in histograms)
    return [first[:, 0], joined(first[:, 0], second[:, 1]), joined(first[:, 0], first[:, 1], second[:, 1])]


def independent_pair(promise, times=1):
    codes = np.array([[0, 1], [0, 0], [1, 1], [1, 2]])
    return [independent_runs(x, (2, 3), promise, s, times) for s, x in enumerate((codes[1:], codes))]


@pure_and_gaussian(1.5, slow=[pytest.mark.slow])
def test_independent_histograms_keep_their_promise(promise):
    assert 0.6 < share_spent(promise, *independent_pair(promise)) <= 1


# -- DAWA -----------------------------------------------------------------------------------------------


@njit(cache=True)
def dawa_partitions(source, errors, scales, each, counts, target, runs):  # pragma: no cover
    """For each run: a label of the partition, and where the target's bucket begins, its length and its sum."""
    partitions = np.empty((runs, 4), dtype=np.int64)
    for r in range(runs):
        begins = _dawa.cheapest(source, errors, scales, each)
        partitions[r, 0], end = 0, counts.size
        for begin in begins:
            partitions[r, 0] |= 1 << begin
            if begin <= target < end:
                partitions[r, 1], partitions[r, 2], partitions[r, 3] = (
                    begin,
                    end - begin,
                    counts[begin:end].sum(),
                )
            end = begin
    return partitions


def dawa_runs(counts, target, promise, seed, *, scale=np.copy, share=Fraction(1, 2), times=1):
    budget = account(promise, seed, times)
    first, second = share * budget.whole, (1 - share) * budget.whole
    scales, _ = noise_of_costs(counts.size, budget, first, second)
    each = 2 * STEPS  # less than usual, so that partitions are about equally likely
    source = tap(np.arange(8, dtype=np.uint32) + np.uint32(seed), np.uint64(0))
    partitions = dawa_partitions(source, deviations(counts), scale(scales), each, counts, target, RUNS)
    partition, begin, length, total = partitions.T
    noisy = bins(total + budget.noise(RUNS, second))
    return [partition, joined(begin, length), noisy, joined(begin, length, noisy), joined(partition, noisy)]


ROWS = [
    (np.array([0, 0, 0, 0, 0, 0]), 2),
    (np.array([1, 1, 0, 1, 1, 1]), 2),
    (np.array([4, 0, 0, 2, 9, 1]), 0),
]


def dawa_pair(counts, target, promise, **change):
    return [dawa_runs(x, target, promise, s, **change) for s, x in with_one_more(counts, target)]


@pure_and_gaussian(2.0, slow=[pytest.mark.slow])
@pytest.mark.parametrize(
    ("counts", "target"),
    [ROWS[1], *(pytest.param(*row, marks=pytest.mark.slow) for row in (ROWS[0], ROWS[2]))],
)
def test_dawa_keeps_its_promise(counts, target, promise):
    least = 0.3 if promise.delta else 0.4
    assert least < share_spent(promise, *dawa_pair(counts, target, promise)) <= 1


def half_of(scales):
    return np.append(np.uint64(0), scales[1:] // np.uint64(2))


@pytest.mark.parametrize(
    ("scale", "kept"), [pytest.param(np.copy, True, marks=pytest.mark.slow), (half_of, False)]
)
def test_half_of_dawa_s_noise_and_none_for_single_cells_is_caught(scale, kept):
    promise = DifferentialPrivacy(1.0)
    spent = share_spent(promise, *dawa_pair(*ROWS[1], promise, share=Fraction(99, 100), scale=scale))
    assert spent <= 1 if kept else spent > 1.2


# -- The default method ---------------------------------------------------------------------------------


def measured_by_pairs(rows, promise, seed, times=1):
    """Play what the default method does with its budget, on two attributes of two values, many times at once.

    The same shares, the same order, the same noise and choices: the total, the one-way tables, a choice between two
    pairs by their misfit, and the chosen table. (The points and weights only depend on these.)
    """
    budget, runs = account(promise, seed, times), RUNS // 4
    plan = Allocation(
        pairs=1, triples=0, bins=2, ones=Fraction(24, 64), choices=Fraction(5, 64), tables=Fraction(34, 64)
    )
    codes = np.array(rows, dtype=np.int64)
    total = len(codes) + budget.noise(runs, budget.spend("total", Fraction(1, 64)))
    ones = []
    for a in range(2):
        part = budget.spend(f"one-way table {a}", plan.ones / 2)
        ones.append(np.bincount(codes[:, a], minlength=2) + budget.noise(2 * runs, part).reshape(runs, 2))
    table = np.bincount(2 * codes[:, 0] + codes[:, 1], minlength=4)
    part = budget.spend("choice", plan.choices)
    model = np.stack(
        [np.full(4, 1.0), np.array([2.0, 0.0, 0.0, 2.0])]
    )  # two candidates the same for both tables
    scores = misfit(np.stack([table, table[::-1]]), model)
    chosen = np.array([budget.choose(scores, MISFIT_SENSITIVITY, part) for _ in range(runs)])
    noisy = table + budget.noise(4 * runs, budget.spend("two-way table", plan.tables)).reshape(runs, 4)
    assert budget.remaining == 0
    place = np.argmax(noisy, axis=1)
    return [
        bins(total),
        joined(bins(ones[0][:, 0]), bins(ones[1][:, 0])),
        joined(chosen, place),
        joined(chosen, bins(noisy[:, 0]), bins(total) // 4),
        joined(chosen, bins(noisy[:, 0]) // 3, bins(ones[0][:, 0]) // 3, bins(ones[1][:, 0]) // 3),
    ]


def pairs_pair(promise, times=1):
    rows = [(0, 0), (1, 1), (0, 1), (0, 0)]
    return [measured_by_pairs(x, promise, s, times) for s, x in enumerate((rows[:3], rows))]


# -- What the default method measures: sums of cells, products of them, how far from independence, and choices ----


def sums_pair(promise, change=None):
    """Sums of five cells by their strategy, and of a table by the product of two; the broken one has less noise."""
    out = []
    for seed, more in enumerate((0, 1)):
        budget, runs = account(promise, seed), RUNS // 4
        own = strategy(5, ordered=True, pure=budget.pure)
        part = budget.spend("one-way table", Fraction(1, 2))
        noise = budget.noise(own.sums * runs, part, change or own.change).reshape(own.sums, runs)
        sums = own.measure(np.array([2 + more, 0, 1, 0, 3]))[:, None] + noise
        sides = [side(3, ordered=True, pure=budget.pure), side(2, ordered=False, pure=budget.pure)]
        table = measured(sides, np.array([[1 + more, 0], [0, 2], [1, 1]]))
        part = budget.spend("two-way table", Fraction(1, 2))
        noise = budget.noise(table.size * runs, part, change or change_of(sides)).reshape(table.size, runs)
        noisy = table.ravel()[:, None] + noise
        # What tells most: the sums along the change that one record makes.
        along = own.measure(np.array([1, 0, 0, 0, 0])) / own.change
        across = measured(sides, np.array([[1, 0], [0, 0], [0, 0]])).ravel() / change_of(sides)
        scores = along @ sums, across @ noisy
        out.append([bins(4 * scores[0]), bins(4 * (scores[0] + scores[1]))])
    return out


@pure_and_gaussian(3.0, 1e-3)
def test_sums_of_cells_keep_their_promise_and_less_noise_is_caught(promise):
    assert 0.3 < share_spent(promise, *sums_pair(promise)) <= 1
    if promise.delta:  # as if one record changed one sum by 1
        assert share_spent(promise, *sums_pair(promise, change=2)) > 1


def probe_pair(promise, scale=1):
    out = []
    for seed, rows in enumerate(([[0, 0]] * 40, [[0, 0]] * 40 + [[1, 1]])):
        budget = account(promise, seed)
        part = budget.spend("probe", Fraction(1))
        value = int(apart(counted(np.array(rows, dtype=np.int32), [2, 2])) * probe.FINE)
        noise = budget.noise(RUNS // 4, part, probe.FINE + 1) // scale
        out.append([bins((value + noise) / 4)])
    return out


def test_the_probe_keeps_its_promise_and_half_of_its_noise_is_caught():
    promise = DifferentialPrivacy(2.0)
    assert 0.5 < share_spent(promise, *probe_pair(promise)) <= 1
    assert share_spent(promise, *probe_pair(promise, scale=2)) > 1


def choice_pair(promise, sensitivity):
    out = []
    for seed, scores in enumerate((np.array([1.0, 0, 0, 0]), np.array([0.0, 1, 1, 1]))):
        budget = account(promise, seed)
        part = budget.spend("choice", Fraction(1))
        out.append([np.array([budget.choose(scores, sensitivity, part) for _ in range(RUNS // 10)])])
    return out


def test_permute_and_flip_keeps_its_promise_and_half_of_the_sensitivity_is_caught():
    promise = DifferentialPrivacy(1.0)
    assert 0.5 < share_spent(promise, *choice_pair(promise, 1.0)) <= 1
    assert share_spent(promise, *choice_pair(promise, 0.5)) > 1


def none_pair(promise, peek=False):
    """A choice of a pair or none, where one record more makes the pair worth it; the broken one looks first whether it is."""
    out = []
    for seed, records in enumerate((2, 3)):
        budget = account(promise, seed)
        part = budget.spend("choice", Fraction(1))
        scores = np.append(misfit(np.array([[0, records, 0, 0]]), np.zeros((1, 4))) - 1.25, 0.0)
        chosen = [1 if peek and scores[0] < 0 else budget.choose(scores, MISFIT_SENSITIVITY, part) for _ in range(RUNS // 10)]  # fmt: skip
        out.append([np.array(chosen)])
    return out


def test_none_is_chosen_within_the_promise_and_a_look_at_true_scores_is_caught():
    promise = DifferentialPrivacy(1.0)
    assert 0.2 < share_spent(promise, *none_pair(promise)) <= 1
    assert share_spent(promise, *none_pair(promise, peek=True)) > 1


def triple_pair(promise):
    """A choice of one of three triples, by the method's own code, where one record makes the best expected the worst."""
    rows = np.array([[0, 0, 0, 0]] * 3 + [[1, 1, 1, 0]] * 2, dtype=np.int32)
    tables = rows, np.vstack([rows, [[1, 0, 1, 0]]]).astype(np.int32)
    axes = [(0, 1, 2), (0, 1, 3), (0, 2, 3)]
    plan = Allocation(
        pairs=1, triples=1, bins=2, ones=Fraction(1, 16), choices=Fraction(7, 8), tables=Fraction(1, 16)
    )
    ones = OneWays(5.0, 1.0, [np.array([3.0, 2.0])] * 4, [], [], [], [])
    grouped = [
        GroupedTables.of(
            counted(own, [2] * 4), [True] * 4, account(promise, seed), Emphasis.even([True] * 4), plan, ones
        )
        for seed, own in enumerate(tables)
    ]
    fewer, more = ({own: one.counts.count(own).astype(float) for own in axes} for one in grouped)
    expected = {own: fewer[own] if own == axes[0] else more[own] for own in axes}
    out = []
    for one in grouped:
        true, chosen = {own: one.counts.count(own).reshape(1, -1) for own in axes}, []
        for _ in range(RUNS // 20):
            one.account.spent.clear()
            chosen.append(choice_of_triples(one, axes, true, expected))
        out.append([np.array(chosen)])
    return out


def test_a_triple_is_chosen_within_the_promise_and_less_sensitivity_is_caught(monkeypatch):
    promise = DifferentialPrivacy(4.0, 1e-3)
    assert 0.05 < share_spent(promise, *triple_pair(promise)) <= 1
    monkeypatch.setattr(grouped_tables, "MISFIT_SENSITIVITY", MISFIT_SENSITIVITY / 16)
    assert share_spent(promise, *triple_pair(promise)) > 1


@pure_and_gaussian(3.0, 1e-3, slow=[pytest.mark.slow])
def test_the_default_keeps_its_promise(promise):
    assert 0.4 < share_spent(promise, *pairs_pair(promise)) <= 1


@pytest.mark.slow
def test_a_misfit_thought_too_little_sensitive_would_be_caught():
    """With all of the budget on one choice whose sensitivity is taken for an eighth of what it is."""
    account = Account(DifferentialPrivacy(1.0), Keystream.unsafe(5))
    part = account.spend("choice", Fraction(1))
    model = np.stack([np.zeros(4), np.array([0.0, 9.0, 0.0, 0.0])])
    runs = []
    for table in (np.array([0, 4, 0, 0]), np.array([0, 5, 0, 0])):
        scores = misfit(np.stack([table, table]), model)
        runs.append(
            [np.array([account.choose(scores, MISFIT_SENSITIVITY / 8, part) for _ in range(RUNS // 2)])]
        )
    assert audit(*runs) > 1.0


# -- PrivBayes ------------------------------------------------------------------------------------------


def privbayes_runs(more, promise, seed, *, share=Fraction(1, 3), sensitivity=R_SENSITIVITY, times=1):
    """Play what PrivBayes does with its budget: the total, the choice of a child of the first attribute, and its table.

    One record more raises the dependence of one child by 2 and lowers that of the other by 2: the most there can be.
    """
    budget, runs = account(promise, seed, times), RUNS // 4
    children = np.array([[[2, 8], [18, 972]], [[0, 10], [100, 890]]])
    children[:, 0, 0] += more
    scores = np.array([dependence(table) for table in children], dtype=np.float64)
    assert scores.tolist() == ([5, 0] if more else [3, 2])
    total = children[0].sum() + budget.noise(runs, budget.spend("total", (1 - share) / 2)) - 1000
    part = budget.spend("choice", share)
    chosen = np.array([budget.choose(scores, sensitivity, part) for _ in range(runs)])
    cell = children[chosen, 0, 0] + budget.noise(runs, budget.spend("counts", (1 - share) / 2))
    assert budget.remaining == 0
    return [
        chosen,
        bins(total),
        joined(chosen, bins(cell)),
        joined(chosen, bins(cell) // 2, bins(total) // 2),
    ]


def privbayes_pair(promise, **change):
    return [privbayes_runs(more, promise, more, **change) for more in (0, 1)]


@pure_and_gaussian(1.0, slow=[pytest.mark.slow])
def test_privbayes_keeps_its_promise(promise):
    assert 0.3 < share_spent(promise, *privbayes_pair(promise)) <= 1


@pytest.mark.parametrize(
    ("sensitivity", "kept"),
    [pytest.param(R_SENSITIVITY, True, marks=pytest.mark.slow), (R_SENSITIVITY / 2, False)],
)
def test_a_dependence_thought_half_as_sensitive_is_caught(sensitivity, kept):
    promise = DifferentialPrivacy(1.0)
    spent = share_spent(promise, *privbayes_pair(promise, share=Fraction(49, 50), sensitivity=sensitivity))
    assert spent <= 1 if kept else spent > 1.2


# -- HDMM -----------------------------------------------------------------------------------------------


def hdmm_runs(table, promise, seed, *, change=None, times=1):
    """Measure as `learn_hdmm` does, many times at once, what the record at (0, 0) changes; `change` may be too small."""
    budget = account(promise, seed, times)
    strategies = strategies_for(table.shape, ("prefixes", "prefixes"), 2, pure=budget.pure)
    rows = [own.rows for own in strategies]
    one = np.zeros_like(table)
    one[0, 0] = 1
    moved = along_all(one, rows)
    seen = moved > 0
    assert seen.sum() == 4  # the cell, and both attributes' sums that it is in
    true = math.prod(own.change(pure=budget.pure) for own in strategies)
    part = budget.spend("cells", Fraction(1))
    noisy = along_all(table, rows)[seen] + budget.noise(RUNS * 4, part, change or true).reshape(RUNS, 4)
    sides = (noisy > 0) + (noisy >= moved[seen])
    along = noisy @ moved[seen] / (np.linalg.norm(moved) * budget.deviation(part, true))
    return [joined(*sides.T), np.rint(4 * np.clip(along, -4, 4))]


def hdmm_pair(promise, **change):
    table = np.zeros((12, 10), dtype=np.int64)
    return [hdmm_runs(x, promise, s, **change) for s, x in with_one_more(table, (0, 0))]


@pure_and_gaussian(1.0, slow=[pytest.mark.slow])
def test_hdmm_keeps_its_promise(promise):
    assert 0.5 < share_spent(promise, *hdmm_pair(promise)) <= 1


def test_noise_for_one_attribute_s_change_alone_is_caught():
    promise = DifferentialPrivacy(1.0)
    assert share_spent(promise, *hdmm_pair(promise, change=64)) > 2


# -- Gaussian noise by itself, and what would be caught -------------------------------------------------------


def gaussian_pair(promise, times=1):
    budgets = [account(promise, seed, times) for seed in (1, 2)]
    return [[value + b.noise(RUNS, b.spend("all", Fraction(1)))] for value, b in enumerate(budgets)]


@pytest.mark.parametrize("promise", [DifferentialPrivacy(1.0, 1e-2), DifferentialPrivacy(3.0, 1e-3)])
def test_gaussian_noise_keeps_its_epsilon_and_delta(promise):
    assert 0.4 < share_spent(promise, *gaussian_pair(promise)) <= 1


@pytest.mark.parametrize(
    ("pair", "times"),
    [
        (gaussian_pair, 2),
        pytest.param(identity_pair, 2, marks=pytest.mark.slow),
        pytest.param(independent_pair, 4, marks=pytest.mark.slow),
        (partial(mondrian_pair, *TABLES[2]), 4),
        pytest.param(partial(dawa_pair, *ROWS[1]), 4, marks=pytest.mark.slow),
        pytest.param(pairs_pair, 4, marks=pytest.mark.slow),
    ],
    ids=["noise", "identity", "independent", "dp-mondrian", "dawa", "pairs"],
)
def test_a_rho_given_out_several_times_is_caught(pair, times):
    promise = DifferentialPrivacy(2.0, 1e-2)
    assert share_spent(promise, *pair(promise, times=times)) > 1
