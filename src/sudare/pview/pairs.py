"""The method of pairs, the default: points drawn from a tree of noisy two-way tables, weighted to fit these and more of them.

1. The total and every attribute's one-way table, with noise. What follows knows the data only through noisy things.
2. Every attribute's values are put into a few groups; two-way tables are counted by groups.
3. A tree of pairs (Chow & Liu 1968), each chosen where independence is worst, and measured with noise. Points are drawn from it.
4. More pairs, chosen where the points are worst, and measured; and triples, if more tables are worth their price than there are
   pairs. What they tell of single attributes goes into the one-way tables. The points' weights are raked to all tables, and at last
   tilted until they agree with the one-way tables.

Without a delta, small attributes join a pair's table, and it is first asked whether pairs are worth their price at all.
Neighbours differ in one record, added or removed. It changes one cell of every table by 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.pview._pairs import draw_given
from sudare.pview.account import Account
from sudare.pview.allocation import MIN_ONES, SHARES, Wish, allocate, shares_of, strategies_for, total_share
from sudare.pview.boxes import Boxes
from sudare.pview.cloud import Cloud
from sudare.pview.domain import Domain
from sudare.pview.emphasis import Emphasis
from sudare.pview.grouped_tables import GroupedTables, Measured
from sudare.pview.interest import Interest
from sudare.pview.margins import refined
from sudare.pview.method import WorkloadMethod
from sudare.pview.missed import leftover
from sudare.pview.noisy_counts import check_counts
from sudare.pview.one_ways import TINY, Floats, Groups, measure_ones, measure_total
from sudare.pview.probe import measure_apart
from sudare.pview.smoothing import given_shares
from sudare.pview.tilting import MAX_VALUES, tilt
from sudare.pview.triples import add_triples
from sudare.pview.weights import Weights
from sudare.tables.counts import Counts
from sudare.tables.typed import typed

POINTS = 200_000
SWEEPS, LAST_SWEEPS = 4, 20
ROUNDS = 8  # between which the weights are raked


@typed
@dataclass(frozen=True)
class Pairs(WorkloadMethod):
    """A cloud of points that agrees with noisy tables of single attributes and of the pairs that matter most."""

    name: ClassVar[str] = "pairs"

    def learn(self, counts: Counts, domain: Domain, account: Account) -> Cloud:
        """Measure tables of one and of two attributes with noise, and fit points to them."""
        return learn_pairs(counts, [axis.ordered for axis in domain.axes], account)

    def learn_for(self, interest: Interest, counts: Counts, domain: Domain, account: Account) -> Cloud:
        """Learn with most of the budget where questions will be."""
        ordered = [axis.ordered for axis in domain.axes]
        return learn_pairs(counts, ordered, account, emphasis=Emphasis.of(interest, domain))


# -- The tree, and the points -----------------------------------------------------------------------


def grow_tree(tables: GroupedTables) -> None:
    """Choose and measure pairs that connect the attributes without a circle."""
    model = tables.independent()
    part = np.arange(len(tables.sides))  # the tree that each attribute belongs to
    i, j = tables.counts.pairs.T
    while len(left := tables.first(np.flatnonzero((part[i] != part[j]) & tables.affordable))):
        axes = tables.extended(tables.choose(left, model), model)
        margins = [tables.margins[a].by_groups for a in axes]
        tables.measure(
            axes, reduce(np.multiply.outer, [own / own.sum() for own in margins]) * tables.ones.total
        )
        part[np.isin(part, part[axes])] = part[axes[0]]


def draw_points(tables: GroupedTables, points: int) -> NDArray[Any]:
    """Draw points from the tree: attributes x points."""
    # No secret is at stake here: the points depend on noisy tables only.
    random = np.random.default_rng(tables.account.source.words(1))
    sizes = [len(t) for t in tables.ones.tables]
    out = np.zeros((len(sizes), points), dtype=np.int32)

    def draw(a: int, given: Groups, shares: Floats) -> None:
        upto = np.ascontiguousarray(np.cumsum(shares, axis=1))
        draw_given(given, random.permutation(points), upto / upto[:, -1:], random.random(len(upto)), out[a])

    waiting = list(range(len(sizes)))
    reached: list[int] = []
    while waiting:
        step = next(_steps(tables.measured, reached), None)
        if step is None:  # the root, or an attribute by itself
            a = waiting.pop(0)
            draw(a, np.zeros(points, dtype=np.uint8), tables.ones.tables[a][None] + TINY)
        else:
            i, a, table = step
            rows, shares = given_shares(table, tables.margins[i], tables.margins[a])
            draw(a, rows[out[i]], shares)
            waiting.remove(a)
        reached.append(a)
    return out


def _steps(measured: Sequence[Measured], reached: Sequence[int]) -> Iterator[tuple[int, int, Floats]]:
    """Find attributes that have a table with one that was reached: that one, they, and the table."""
    for own in measured:
        for i, a in permutations(own.axes, 2):
            if i in reached and a not in reached:
                others = tuple(x for x, axis in enumerate(own.axes) if axis not in (i, a))
                table = own.table.sum(axis=others)
                yield i, a, table if own.axes.index(i) < own.axes.index(a) else table.T


# -- The weights ------------------------------------------------------------------------------------


def add_pairs(tables: GroupedTables, weights: Weights) -> None:
    """Choose pairs where the points are worst, some at a time, measure them and rake the weights."""
    batch = max(-(-(tables.allocation.pairs - len(tables.measured)) // ROUNDS), 1)
    while tables.left().size:
        model = weights.model()
        for _ in range(batch):
            if (left := tables.left()).size:
                axes = tables.extended(tables.choose(left, model), model)
                tables.measure(axes, weights.table(axes))
        weights.rake_tables()
        weights.rake_tables()


def learn_pairs(
    counts: Counts,
    ordered: Sequence[bool],
    account: Account,
    *,
    emphasis: Emphasis | None = None,
    points: int = POINTS,
) -> Cloud:
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
    emphasis = emphasis or Emphasis.even(ordered)
    strategies = strategies_for(counts.sizes, emphasis.ranged, account, Fraction(MIN_ONES, SHARES))
    total = measure_total(counts.total, account, total_share(strategies, account.pure))
    apart = measure_apart(counts, account) if account.pure and len(counts.sizes) > 1 else None
    allocation = allocate(account, strategies, total[0], apart, emphasis)
    shares = shares_of(Wish.of(strategies, account.pure, emphasis.attributes.tolist()), allocation.ones)
    ones = measure_ones(counts, strategies, account, shares, total)
    tables = GroupedTables.of(counts, ordered, account, emphasis, allocation, ones)
    grow_tree(tables)
    drawn = draw_points(tables, points)
    weights = Weights(tables, drawn, np.full(points, ones.total / points))
    add_pairs(tables, weights)
    raked = [weights]
    if allocation.triples:
        raked.insert(0, add_triples(counts, ordered, tables, weights))
    ones = refined(ones, [told for own in raked for told in own.tables.told])
    for own in raked:
        own.tables.ones = ones
    for _ in range(SWEEPS):
        for own in raked:
            own.rake_tables()
        weights.rake_ones()
    # Where the tables contradict each other, those of single attributes are the surest.
    if sum(counts.sizes) <= MAX_VALUES:
        weights.weights = tilt(drawn, weights.weights, ones.tables, ones.covariances())
    else:
        for _ in range(LAST_SWEEPS):
            weights.rake_ones()
    scaled = weights.weights * (ones.total / max(float(weights.weights.sum()), TINY))
    left = leftover(tables.misses, tables.counts.pairs, len(counts.sizes))
    cloud = Boxes.of(at := drawn.T, at, scaled, counts.sizes)
    return Cloud(cloud, ones.total, ones.total_variance, ones.by_width, *left)
