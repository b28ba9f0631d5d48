"""The default view: points drawn from a tree of noisy two-way tables, weighted to fit these and more of them.

1. The total and every attribute's one-way table, with noise. What follows knows the data only through noisy things.
2. Every attribute's values are put into a few groups; two-way tables are counted by groups.
3. A tree of pairs (Chow & Liu 1968), each chosen by the exponential mechanism where independence is worst, and measured
   with noise. Points are drawn from it.
4. More pairs, chosen where the points are worst, and measured; the points' weights are raked to all tables.

Neighbours differ in one record, added or removed. It changes one cell of every table by 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.pview._pairs import draw_given, keys_of, rake, weigh_pairs
from sudare.pview.account import Account
from sudare.pview.blocks import project
from sudare.pview.boxes import Boxes
from sudare.pview.cloud import Cloud
from sudare.threads import CORES, in_threads, pieces

Floats = NDArray[np.float64]
Groups = NDArray[np.uint8]

POINTS = 200_000
SHARES = 64  # the budget is given out in so many parts
FOR_TOTAL = Fraction(1, SHARES)
# So many deviations of a table's noise the records must be, or tables tell too little for their price: of each table of
# a tree, and of all of them together.
LEAST_CLEAR, LEAST_TOGETHER = 90.0, 1300.0
MOST_BINS = 40
SURE = 3.0  # so many deviations above 0, a cell is no work of noise
SWEEPS, LAST_SWEEPS = 6, 4
ROUNDS = 6  # between which the weights are raked
TINY = 1e-6  # of a record
MISFIT_SENSITIVITY = 0.5
UNKNOWN = 0.25  # the correlation that may be left where no pair could be measured


@dataclass(frozen=True)
class Design:
    """How many pairs are measured, by how many groups of values, and what share of the budget each thing gets."""

    pairs: int
    bins: int
    ones: Fraction
    choices: Fraction
    tables: Fraction


def design(account: Account, attributes: int, total: float) -> Design:
    """Decide from the noise and the noisy total alone: clearer tables are more, and finer.

    The numbers were chosen on the Adult table, its parts, samples and a million rows like its own, at epsilons from 0.1
    to 10.
    """
    tree, every = attributes - 1, attributes * (attributes - 1) // 2

    def clear(pairs: int, share: Fraction) -> float:
        """Return how many deviations of the noise all records are, if so many tables get that share."""
        return max(total, 0.0) / account.deviation(share * account.whole / pairs)

    seen = clear(tree, Fraction(1, 2)) if tree else 0.0
    if seen < max(LEAST_CLEAR, LEAST_TOGETHER / max(tree, 1)):
        return Design(0, 1, 1 - FOR_TOTAL, Fraction(0), Fraction(0))
    parts = min(max(int(66 - 10 * math.log10(seen)), 16), 48)
    ones, rest = Fraction(parts, SHARES), Fraction(SHARES - 1 - parts, SHARES)
    pairs = min(max(int(tree * max((seen / 100) ** 0.3, (seen / 1000) ** 0.6)), tree), every)
    bins = int(1.4 * clear(pairs, rest * 7 / 8) ** (1 / 3))
    return Design(pairs, min(max(bins, 2), MOST_BINS), ones, rest / 8 / pairs, rest * 7 / 8 / pairs)


# -- One-way tables ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class OneWays:
    """The total, the one-way tables that add up to it, and the variances of their cells."""

    total: float
    tables: list[Floats]
    variances: list[float]
    total_variance: float


def measure_total(records: int, account: Account) -> tuple[float, float]:
    """Return the number of records with noise, and its variance."""
    part = account.spend("total", FOR_TOTAL)
    noisy = np.array([records]) + account.noise(1, part)
    return float(noisy[0]), account.deviation(part) ** 2


def measure_ones(
    codes: NDArray[np.int32],
    sizes: Sequence[int],
    account: Account,
    share: Fraction,
    total: tuple[float, float],
) -> OneWays:
    """Count every attribute's values with noise."""
    # The sum of all cells' variances is least for shares like the cubic root of the sizes (Laplace: variances like
    # 1/epsilon^2), or the square root (Gaussian: like 1/rho).
    wish = np.asarray(sizes, dtype=np.float64) ** (1 / 3 if account.pure else 1 / 2)
    parts = [int(w) for w in np.maximum(wish / wish.min() * 16, 1)]
    shares = [share * part / sum(parts) for part in parts]
    tables, variances = [], []
    for a, size in enumerate(sizes):
        part = account.spend(f"one-way table {a}", shares[a])
        tables.append(np.bincount(codes[:, a], minlength=size) + account.noise(size, part))
        variances.append(account.deviation(part) ** 2)
    sums = np.array([total[0], *(t.sum() for t in tables)])
    weights = 1 / np.array([total[1], *(v * s for v, s in zip(variances, sizes, strict=True))])
    best = max(float(np.average(sums, weights=weights)), 0.0)
    return OneWays(
        best,
        [settle(t, best, math.sqrt(v)) for t, v in zip(tables, variances, strict=True)],
        variances,
        1 / weights.sum(),
    )


def settle(table: NDArray[np.int64], total: float, deviation: float) -> Floats:
    """Return a one-way table without negative cells that sums to the total.

    Cells well above the noise stay; the rest share what these leave. (If all gave way alike, the noise of many empty cells
    would be paid for by the few full ones.)
    """
    sure = table > SURE * deviation
    out = np.where(sure, table, 0).astype(np.float64)
    if not sure.all():
        out[~sure] = project(table[~sure].astype(np.float64), max(total - out.sum(), 0.0))
    return project(out, total)


# -- Groups -----------------------------------------------------------------------------------------


def group_values(table: Floats, bins: int, ordered: bool) -> Groups:
    """Put values into at most so many groups, about evenly filled: neighbours, or else the frequent ones alone."""
    if len(table) <= bins:
        return np.arange(len(table), dtype=np.uint8)
    if not ordered:
        rank = np.empty(len(table), dtype=np.int64)
        rank[np.argsort(-table, kind="stable")] = np.arange(len(table))
        return np.minimum(rank, bins - 1).astype(np.uint8)
    before = np.cumsum(table) - table / 2
    found = np.minimum(before / max(table.sum(), TINY) * bins, bins - 1).astype(np.int64)
    return np.unique(found, return_inverse=True)[1].astype(np.uint8)


# -- Two-way tables ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Miss:
    """How far a model was off for ranges of two attributes when their table was measured, squared and summed over ranges."""

    seen: float  # less what the noise explains
    noise: float  # of the table, as far as it is believed
    spread: float  # the sum of p (1 - p) q (1 - q), in records: a correlation of 1 would be off by as much

    @classmethod
    def of(cls, difference: Floats, rows: Floats, columns: Floats, variance: float, trust: float) -> Miss:
        """Compare the ranges from the first group on, apart from what the one-way tables say of them."""
        total = rows.sum()
        r, c = rows / total, columns / total
        centred = difference - np.outer(difference.sum(axis=1), c) - np.outer(r, difference.sum(axis=0))
        centred += difference.sum() * np.outer(r, c)
        boxes = centred.cumsum(axis=0).cumsum(axis=1)[:-1, :-1]
        even = [_spread(np.full(len(x), 1 / len(x))).sum() for x in (r, c)]
        noise = variance * difference.size * float(np.prod(even))
        seen = max(float((boxes**2).sum()) - noise, 0.0)
        return cls(seen, trust * noise, float(_spread(r).sum() * _spread(c).sum() * total**2))


def _spread(shares: Floats) -> Floats:
    """Return p (1 - p) for the ranges from the first group on."""
    upto = np.cumsum(shares)[:-1]
    return np.asarray(np.maximum(upto * (1 - upto), 0.0))


@dataclass
class Tables:
    """The two-way tables by groups: the true ones (for scores and measurements only), and those measured."""

    account: Account
    plan: Design
    ones: OneWays
    groups: list[Groups]  # of every value
    bins: NDArray[np.int64]  # how many groups
    pairs: NDArray[np.int64]
    true: NDArray[np.int64]  # pairs x cells
    measured: dict[int, Floats] = field(default_factory=dict)
    misses: dict[int, Miss] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        codes: NDArray[np.int32],
        ordered: Sequence[bool],
        account: Account,
        plan: Design,
        ones: OneWays,
    ) -> Tables:
        """Group the values and count the pairs."""
        groups = [group_values(t, plan.bins, o) for t, o in zip(ones.tables, ordered, strict=True)]
        bins = np.array([int(g.max()) + 1 for g in groups])
        pairs = all_pairs(len(groups) if plan.pairs else 0)
        cells = int(bins[pairs].prod(axis=1).max()) if len(pairs) else 1
        grouped = np.stack([g[codes[:, a]] for a, g in enumerate(groups)])
        return cls(account, plan, ones, groups, bins, pairs, counted(grouped, pairs, bins, cells))

    @cached_property
    def margins(self) -> list[Floats]:
        """The one-way tables by groups."""
        pairs = zip(self.groups, self.ones.tables, strict=True)
        return [np.asarray(np.bincount(g, t) + TINY, dtype=np.float64) for g, t in pairs]

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """How many cells each pair has."""
        return np.asarray(self.bins[self.pairs].prod(axis=1))

    @cached_property
    def deviation(self) -> float:
        """The noise of a cell."""
        return self.account.deviation(self.plan.tables * self.account.whole)

    def independent(self) -> Floats:
        """Return every two-way table as if the attributes had nothing to do with each other."""
        out = np.zeros(self.true.shape)
        for p, (i, j) in enumerate(self.pairs):
            out[p, : self.cells[p]] = np.outer(self.margins[i], self.margins[j]).ravel()
        return out / max(self.ones.total, TINY)

    def choose(self, candidates: NDArray[np.int64], model: Floats) -> int:
        """Choose a pair of which the model is worst, beyond the noise that measuring it would bring."""
        part = self.account.spend(f"choice {len(self.measured) + 1}", self.plan.choices)
        noise = np.rint(0.4 * self.deviation * self.cells[candidates])
        scores = misfit(self.true[candidates], model[candidates]) - noise
        # Sensitivity: that of misfit, since the noise to come is the same whatever the data.
        return int(candidates[self.account.choose(scores, MISFIT_SENSITIVITY, part)])

    def measure(self, p: int, model: Floats) -> None:
        """Measure a pair, and keep what rises above the noise."""
        i, j = (int(a) for a in self.pairs[p])
        part = self.account.spend(f"two-way table ({j}, {i})", self.plan.tables)
        noisy = self.true[p, : self.cells[p]] + self.account.noise(int(self.cells[p]), part)
        expected, variance = model[p, : self.cells[p]], self.deviation**2
        trust = believe(noisy - expected, variance)
        found = project(expected + trust * (noisy - expected), self.ones.total)
        shape = (self.bins[i], self.bins[j])
        self.measured[p] = fit(found.reshape(shape) + TINY, self.margins[i], self.margins[j])
        difference = (noisy - expected).reshape(shape)
        self.misses[p] = Miss.of(difference, self.margins[i], self.margins[j], variance, trust)


def all_pairs(attributes: int) -> NDArray[np.int64]:
    """Return all pairs of different attributes."""
    return np.array([(i, j) for i in range(attributes) for j in range(i)], dtype=np.int64).reshape(-1, 2)


def counted(
    groups: Groups, pairs: NDArray[np.int64], bins: NDArray[np.int64], cells: int
) -> NDArray[np.int64]:
    """Return the two-way tables of records (attributes x records): pairs x cells."""
    return weighed(groups, np.ones(groups.shape[1]), pairs, bins, cells).astype(np.int64)


def weighed(
    groups: Groups, weights: Floats, pairs: NDArray[np.int64], bins: NDArray[np.int64], cells: int
) -> Floats:
    """Return the two-way tables of weighted points in the same way."""
    out = np.zeros((len(pairs), cells))
    in_threads(
        lambda part: weigh_pairs(groups, weights, pairs[part], bins, out[part]),
        pieces(len(pairs), -(-len(pairs) // CORES) or 1),
    )
    return out


def misfit(true: NDArray[np.int64], model: Floats) -> Floats:
    """Return half of the sum of absolute differences of two tables, for each pair.

    A record changes one cell of the true table by 1, and the model, made of noisy things, not at all: so the sum changes
    by at most 1. With the model rounded to 1/256 floats add up exactly, and nothing hides in their last bits.
    """
    return np.asarray(0.5 * np.abs(true - np.rint(model * 256) / 256).sum(axis=1))


def believe(difference: Floats, variance: float) -> float:
    """Return how much of a noisy difference to believe: what of its square the noise does not explain (James & Stein)."""
    square = float((difference**2).sum())
    return max(0.0, 1 - variance * difference.size / square) if square > 0 else 0.0


def fit(table: Floats, rows: Floats, columns: Floats, sweeps: int = 30) -> Floats:
    """Rake a table to margins."""
    for _ in range(sweeps):
        table = table * (rows / table.sum(axis=1))[:, None]
        table = table * (columns / table.sum(axis=0))
    return table


# -- The tree, and the points -----------------------------------------------------------------------


def grow_tree(tables: Tables) -> None:
    """Choose and measure pairs that connect the attributes without a circle."""
    model = tables.independent()
    part = np.arange(len(tables.groups))  # the tree that each attribute belongs to
    for _ in range(len(part) - 1 if tables.plan.pairs else 0):
        i, j = tables.pairs.T
        p = tables.choose(np.flatnonzero(part[i] != part[j]), model)
        tables.measure(p, model)
        part[part == part[i[p]]] = part[j[p]]


def draw_points(tables: Tables, points: int) -> NDArray[Any]:
    """Draw points from the tree: attributes x points."""
    # No secret is at stake here: the points depend on noisy tables only.
    random = np.random.default_rng(tables.account.source.words(1))
    sizes = [len(t) for t in tables.ones.tables]
    out = np.zeros((len(sizes), points), dtype=np.min_scalar_type(max(sizes) - 1))

    def draw(a: int, given: Groups, shares: Floats) -> None:
        upto = np.cumsum(shares, axis=1)
        draw_given(given, random.permutation(points), upto / upto[:, -1:], random.random(len(upto)), out[a])

    waiting, pairs = list(range(len(sizes))), dict.fromkeys(tables.measured)
    reached: list[int] = []
    while waiting:
        step = next(((p, i, j) for p in pairs for i, j in _both_ways(tables.pairs[p]) if i in reached), None)
        if step is None:  # the root, or an attribute by itself
            a = waiting.pop(0)
            draw(a, np.zeros(points, dtype=np.uint8), tables.ones.tables[a][None] + TINY)
        else:
            p, i, a = step
            table = tables.measured[p] if tables.pairs[p, 0] == i else tables.measured[p].T
            within = (tables.ones.tables[a] + TINY) / tables.margins[a][tables.groups[a]]
            draw(a, tables.groups[i][out[i]], table[:, tables.groups[a]] * within)
            waiting.remove(a)
            del pairs[p]
        reached.append(a)
    return out


def _both_ways(pair: NDArray[np.int64]) -> tuple[tuple[int, int], tuple[int, int]]:
    i, j = int(pair[0]), int(pair[1])
    return (i, j), (j, i)


# -- The weights ------------------------------------------------------------------------------------


@dataclass
class Weights:
    """The weights of the points, and the cell of every point in every table they are raked to."""

    tables: Tables
    points: NDArray[Any]
    weights: Floats
    keys: dict[int, NDArray[np.uint16]] = field(default_factory=dict)

    @cached_property
    def groups(self) -> Groups:
        """The groups of the points' values."""
        return np.stack([g[p] for g, p in zip(self.tables.groups, self.points, strict=True)])

    def model(self) -> Floats:
        """Return all two-way tables of the points."""
        t = self.tables
        return weighed(self.groups, self.weights, t.pairs, t.bins, t.true.shape[1])

    def rake_pairs(self) -> None:
        """Rake to the measured two-way tables, the latest first."""
        for p, table in reversed(self.tables.measured.items()):
            if p not in self.keys:
                i, j = self.tables.pairs[p]
                self.keys[p] = np.empty(self.points.shape[1], dtype=np.uint16)
                keys_of(self.groups[i], self.groups[j], self.tables.bins[j], self.keys[p])
            rake(self.weights, self.keys[p], table.ravel(), TINY)

    def rake_ones(self) -> None:
        """Rake to the one-way tables."""
        for codes, table in zip(self.points, self.tables.ones.tables, strict=True):
            rake(self.weights, codes, table, TINY)


def add_pairs(tables: Tables, weights: Weights) -> None:
    """Choose pairs where the points are worst, some at a time, measure them and rake the weights."""
    extra = tables.plan.pairs - len(tables.measured)
    for batch in np.diff(np.arange(ROUNDS + 1) * extra // ROUNDS):
        if batch == 0:
            continue
        model = weights.model()
        for _ in range(batch):
            left = np.setdiff1d(np.arange(len(tables.pairs)), list(tables.measured))
            tables.measure(tables.choose(left, model), model)
        weights.rake_pairs()
        weights.rake_pairs()


def leftover(tables: Tables) -> Floats:
    """Return the squared correlations that may be left, by pair of attributes.

    No pair is taken to be better known than those that were chosen last were then: they were about the worst.
    """
    last = list(tables.misses.values())[-max(len(tables.misses) // 3, 1) :]
    seen = sum(m.seen for m in last) / max(sum(m.spread for m in last), TINY) if last else UNKNOWN**2
    out = np.full((len(tables.groups),) * 2, seen)
    for p, miss in tables.misses.items():
        i, j = tables.pairs[p]
        out[i, j] = out[j, i] = seen + miss.noise / max(miss.spread, TINY)
    return np.asarray(np.minimum(out, 1.0))


def learn_pairs(
    codes: NDArray[np.int32],
    sizes: Sequence[int],
    ordered: Sequence[bool],
    account: Account,
    *,
    points: int = POINTS,
) -> Cloud:
    """Learn weighted points that stand for the records, with all that the account holds.

    >>> from sudare.noise.keystream import Keystream
    >>> from sudare.privacy.differential_privacy import DifferentialPrivacy
    >>> account = Account(DifferentialPrivacy(1.0), Keystream.unsafe(seed=1))
    >>> codes = np.repeat(np.array([[0, 0], [1, 1]], dtype=np.int32), 5000, axis=0)
    >>> cloud = learn_pairs(codes, [2, 2], [True, True], account, points=1000)
    >>> bool(cloud.counts(np.array([[0, 0]]), np.array([[0, 0]]))[0] > 4900)
    True
    """
    total = measure_total(len(codes), account)
    plan = design(account, len(sizes), total[0])
    ones = measure_ones(codes, sizes, account, plan.ones, total)
    tables = Tables.of(codes, ordered, account, plan, ones)
    grow_tree(tables)
    drawn = draw_points(tables, points)
    weights = Weights(tables, drawn, np.full(points, ones.total / points))
    add_pairs(tables, weights)
    for _ in range(SWEEPS):
        weights.rake_pairs()
        weights.rake_ones()
    for _ in range(LAST_SWEEPS):
        weights.rake_ones()  # where the tables contradict each other, these are the surest
    found = weights.weights * (ones.total / max(float(weights.weights.sum()), TINY))
    cloud = Boxes.of(at := np.ascontiguousarray(drawn.T), at, found, tuple(sizes))
    return Cloud(cloud, ones.total, ones.total_variance, np.array(ones.variances), leftover(tables))
