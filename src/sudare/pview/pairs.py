"""The method of pairs, the default: points drawn from a tree of noisy two-way tables, weighted to fit these and more of them.

1. The total and every attribute's one-way table, with noise. What follows knows the data only through noisy things.
2. Every attribute's values are put into a few groups; two-way tables are counted by groups.
3. A tree of pairs (Chow & Liu 1968), each chosen by the exponential mechanism where independence is worst, and measured
   with noise. Points are drawn from it.
4. More pairs, chosen where the points are worst, and measured; the points' weights are raked to all tables.

Neighbours differ in one record, added or removed. It changes one cell of every table by 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.pview._pairs import draw_given, keys_of, rake
from sudare.pview.account import Account
from sudare.pview.allocation import allocate
from sudare.pview.boxes import Boxes
from sudare.pview.cloud import Cloud
from sudare.pview.domain import Domain
from sudare.pview.method import Method
from sudare.pview.noisy_counts import check_counts
from sudare.pview.one_ways import TINY, Floats, Groups, measure_ones, measure_total
from sudare.pview.two_ways import Tables, leftover, weighed
from sudare.tables.counts import Counts

POINTS = 200_000
SWEEPS, LAST_SWEEPS = 6, 4
ROUNDS = 6  # between which the weights are raked


@dataclass(frozen=True)
class Pairs(Method):
    """A cloud of points that agrees with noisy tables of single attributes and of the pairs that matter most."""

    name: ClassVar[str] = "pairs"

    def learn(self, counts: Counts, domain: Domain, account: Account) -> Cloud:
        """Measure tables of one and of two attributes with noise, and fit points to them."""
        return learn_pairs(counts, [axis.ordered for axis in domain.axes], account)


# -- The tree, and the points -----------------------------------------------------------------------


def grow_tree(tables: Tables) -> None:
    """Choose and measure pairs that connect the attributes without a circle."""
    model = tables.independent()
    part = np.arange(len(tables.groups))  # the tree that each attribute belongs to
    for _ in range(len(part) - 1 if tables.allocation.pairs else 0):
        i, j = tables.pairs.T
        p = tables.choose(np.flatnonzero(part[i] != part[j]), model)
        tables.measure(p, model)
        part[part == part[i[p]]] = part[j[p]]


def draw_points(tables: Tables, points: int) -> NDArray[Any]:
    """Draw points from the tree: attributes x points."""
    # No secret is at stake here: the points depend on noisy tables only.
    random = np.random.default_rng(tables.account.source.words(1))
    sizes = [len(t) for t in tables.ones.tables]
    out = np.zeros((len(sizes), points), dtype=np.int32)

    def draw(a: int, given: Groups, shares: Floats) -> None:
        upto = np.ascontiguousarray(np.cumsum(shares, axis=1))
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
    keys: dict[int, NDArray[np.int32]] = field(default_factory=dict)

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
                self.keys[p] = np.empty(self.points.shape[1], dtype=np.int32)
                keys_of(self.groups[i], self.groups[j], self.tables.bins[j], self.keys[p])
            rake(self.weights, self.keys[p], table.ravel(), TINY)

    def rake_ones(self) -> None:
        """Rake to the one-way tables."""
        for codes, table in zip(self.points, self.tables.ones.tables, strict=True):
            rake(self.weights, codes, table, TINY)


def add_pairs(tables: Tables, weights: Weights) -> None:
    """Choose pairs where the points are worst, some at a time, measure them and rake the weights."""
    extra = tables.allocation.pairs - len(tables.measured)
    for batch in np.diff(np.arange(ROUNDS + 1) * extra // ROUNDS):
        if batch == 0:
            continue
        model = weights.model()
        for _ in range(batch):
            left = np.setdiff1d(np.arange(len(tables.pairs)), list(tables.measured))
            tables.measure(tables.choose(left, model), model)
        weights.rake_pairs()
        weights.rake_pairs()


def learn_pairs(counts: Counts, ordered: Sequence[bool], account: Account, *, points: int = POINTS) -> Cloud:
    """Learn weighted points that stand for the records, with all that the account holds.

    >>> from sudare.noise.keystream import Keystream
    >>> from sudare.privacy.differential_privacy import DifferentialPrivacy
    >>> account = Account(DifferentialPrivacy(1.0), Keystream.unsafe(seed=1))
    >>> codes = np.array([[0, 0], [1, 1]], dtype=np.int32)
    >>> counts = Counts(("a", "b"), codes, np.array([5000, 5000]), (2, 2))
    >>> cloud = learn_pairs(counts, [True, True], account, points=1000)
    >>> bool(cloud.counts(np.array([[0, 0]]), np.array([[0, 0]]))[0] > 4900)
    True
    """
    check_counts(counts, "learn_pairs")
    total = measure_total(counts.total, account)
    allocation = allocate(account, len(counts.sizes), total[0])
    ones = measure_ones(counts, account, allocation.ones, total)
    tables = Tables.of(counts, ordered, account, allocation, ones)
    grow_tree(tables)
    drawn = draw_points(tables, points)
    weights = Weights(tables, drawn, np.full(points, ones.total / points))
    add_pairs(tables, weights)
    for _ in range(SWEEPS):
        weights.rake_pairs()
        weights.rake_ones()
    for _ in range(LAST_SWEEPS):
        weights.rake_ones()  # where the tables contradict each other, these are the surest
    scaled = weights.weights * (ones.total / max(float(weights.weights.sum()), TINY))
    cloud = Boxes.of(at := drawn.T, at, scaled, counts.sizes)
    return Cloud(cloud, ones.total, ones.total_variance, np.array(ones.variances), leftover(tables))
