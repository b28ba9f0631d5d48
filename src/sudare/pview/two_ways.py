"""Two-way tables by groups of values: which to measure, what to believe of them, and how far off a model was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sudare.pview._pairs import weigh_pairs
from sudare.pview.account import Account
from sudare.pview.allocation import Allocation
from sudare.pview.emphasis import Emphasis
from sudare.pview.noisy_counts import project
from sudare.pview.one_ways import TINY, Floats, Groups, OneWays, group_values
from sudare.pview.sides import Belief, Side, change_of, measured, plain_side, side
from sudare.pview.spending import MAX_ATTRIBUTES
from sudare.tables.counts import Counts
from sudare.threads import CORES, MIN_SHARED, in_threads, pieces

MISFIT_SENSITIVITY = 0.5
PENALTY = 0.4
"""So much of its deviation a cell's noise adds to half of the sum of absolute differences, on average."""
POWER, POWER_PURE, UNITS = 2 / 3, 1 / 2, 16
"""A table of c cells gets a share like this power of c, in whole parts of the average pair's.

A cell's error goes down with the root of rho, or with epsilon: so the sum of the errors of all tables is least."""
MAX_CELLS = 64
"""Of a table of more than two attributes."""
UNKNOWN = 0.25  # the correlation that may be left where no pair could be measured
NOISE, UNRESOLVED, NOT_MEASURED, OF_MORE = 1.2, 0.01, 1.5, 1.7
"""What may be left, as fitted so that intervals cover on a dozen tables at epsilons from 0.1 to 10: of the noise, of what groups of
values do not resolve, of what was not measured, of more than two attributes."""


@dataclass(frozen=True)
class Miss:
    """How far a model was off for ranges of two attributes when their table was measured, squared and summed over ranges."""

    seen: float  # less what the noise explains
    noise: float  # of the table, as far as it is believed
    spread: float  # the sum of p (1 - p) q (1 - q), in records: a correlation of 1 would be off by as much


def _spread(shares: Floats) -> Floats:
    """Return p (1 - p) for the ranges from the first group on."""
    upto = np.cumsum(shares)[:-1]
    return np.asarray(np.maximum(upto * (1 - upto), 0.0))


@dataclass(frozen=True)
class Measured:
    """What is believed of a table of some attributes."""

    axes: tuple[int, ...]
    table: Floats


@dataclass
class Tables:
    """The two-way tables by groups: the true ones (for scores and measurements only), and those measured."""

    account: Account
    emphasis: Emphasis
    names: tuple[str, ...]
    allocation: Allocation
    ones: OneWays
    groups: list[Groups]  # of every value
    sides: list[Side]
    pairs: NDArray[np.int64]
    true: NDArray[np.int64]  # pairs x cells
    grouped: Groups  # of the records' values, attributes x tuples
    records: Floats  # of each tuple
    covered: NDArray[np.bool_]  # the pairs of which a table was measured
    measured: list[Measured] = field(default_factory=list)
    misses: dict[int, Miss] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        counts: Counts,
        ordered: Sequence[bool],
        account: Account,
        emphasis: Emphasis,
        allocation: Allocation,
        ones: OneWays,
    ) -> Tables:
        """Group the values and count the pairs."""
        groups = [group_values(t, allocation.bins, o) for t, o in zip(ones.tables, ordered, strict=True)]
        bins = np.array([int(g.max()) + 1 for g in groups])
        sides = [
            side(int(b), ordered=o, pure=account.pure) for b, o in zip(bins, emphasis.ranged, strict=True)
        ]
        largest = max(own.strategy.change for own in sides) ** 2
        if allocation.pairs and not account.can_draw(allocation.tables / UNITS * account.whole, largest):
            sides = [
                plain_side(int(b), ordered=o, pure=account.pure) for b, o in zip(bins, ordered, strict=True)
            ]
        pairs = all_pairs(len(groups) if allocation.pairs else 0)
        cells = int(bins[pairs].prod(axis=1).max()) if len(pairs) else 1
        grouped = np.stack([g[counts.codes[:, a]] for a, g in enumerate(groups)])
        true = weighed(grouped, counts.weights.astype(np.float64), pairs, bins, cells).astype(np.int64)
        records = counts.weights.astype(np.float64)
        covered = np.zeros(len(pairs), dtype=np.bool_)
        return cls(
            account,
            emphasis,
            counts.names,
            allocation,
            ones,
            groups,
            sides,
            pairs,
            true,
            grouped,
            records,
            covered,
        )

    @cached_property
    def plain_sides(self) -> list[Side]:
        """The sides of tables of more than two attributes: there, every cell is measured by itself."""
        return [
            plain_side(own.strategy.cells, ordered=own.ordered, pure=self.account.pure) for own in self.sides
        ]

    @cached_property
    def bins(self) -> NDArray[np.int64]:
        """How many groups every attribute has."""
        return np.array([own.strategy.cells for own in self.sides])

    @cached_property
    def margins(self) -> list[Floats]:
        """The one-way tables by groups."""
        pairs = zip(self.groups, self.ones.tables, strict=True)
        return [np.asarray(np.bincount(g, t) + TINY, dtype=np.float64) for g, t in pairs]

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """How many cells each pair has."""
        return np.asarray(self.bins[self.pairs].prod(axis=1))

    def share(self, axes: Sequence[int]) -> Fraction:
        """Return the share of the budget that a table of some attributes gets."""
        return self.allocation.tables * self._weight(int(self.bins[list(axes)].prod())) / UNITS

    def _last_share(self, axes: Sequence[int]) -> Fraction:
        """Return the same, or all that is left if nothing else could be measured after it."""
        share = self.share(axes)
        asked = self.emphasis.asked[tuple(self.pairs.T)]
        others = self.cells[asked & ~self.covered & (np.isin(self.pairs, axes).sum(axis=1) < 2)]
        left = self.account.remaining / self.account.whole
        least = (
            self.allocation.choices
            + self.allocation.tables * self._weight(int(others.min(initial=1))) / UNITS
        )
        return share if len(others) and left - share >= least else left

    def _weight(self, cells: int) -> int:
        power = POWER_PURE if self.account.pure else POWER
        return max(round(float(UNITS * cells**power / (self.cells**power).mean())), 1)

    @cached_property
    def deviations(self) -> Floats:
        """The noise of a cell of each pair."""
        of_side = np.array([own.cell_deviation for own in self.sides])
        noise = [
            self.account.deviation(
                self.share(self.pairs[p]) * self.account.whole, change_of([self.sides[i], self.sides[j]])
            )
            for p, (i, j) in enumerate(self.pairs)
        ]
        return np.asarray(np.array(noise) * of_side[self.pairs].prod(axis=1))

    @property
    def affordable(self) -> NDArray[np.bool_]:
        """Which pairs there is budget left for."""
        return self._affordable(self.cells)

    def _affordable(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say whether there is budget left for tables of so many cells, and for choosing them."""
        left = self.account.remaining / self.account.whole - self.allocation.choices
        units = math.floor(left * UNITS / self.allocation.tables) if self.allocation.pairs else 0
        return np.array([self._weight(int(own)) <= units for own in cells], dtype=np.bool_)

    def left(self) -> NDArray[np.int64]:
        """Return the pairs that were not measured, and that there is budget left for."""
        return self.first(np.flatnonzero(self.affordable & ~self.covered))

    def first(self, candidates: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of some pairs that are asked for, as long as any such pair is left."""
        asked = self.emphasis.asked[tuple(self.pairs.T)]
        return (
            candidates[asked[candidates]] if (asked & ~self.covered & self.affordable).any() else candidates
        )

    def independent(self) -> Floats:
        """Return every two-way table as if the attributes had nothing to do with each other."""
        out = np.zeros(self.true.shape)
        for p, (i, j) in enumerate(self.pairs):
            out[p, : self.cells[p]] = np.outer(self.margins[i], self.margins[j]).ravel()
        return out / max(self.ones.total, TINY)

    def choose(self, candidates: NDArray[np.int64], model: Floats) -> int:
        """Choose a pair of which the model is worst, beyond the noise that measuring it would bring."""
        part = self.account.spend("choice", self.allocation.choices)
        noise = np.rint(PENALTY * self.deviations[candidates] * self.cells[candidates])
        i, j = self.pairs[candidates].T
        scores = self.emphasis.pairs[i, j] * (misfit(self.true[candidates], model[candidates]) - noise)
        # Sensitivity: that of misfit, since the noise to come is the same whatever the data, and no pair counts more than once.
        return int(candidates[self.account.choose(scores, MISFIT_SENSITIVITY, part)])

    def extended(self, p: int, model: Floats) -> list[int]:
        """Return the attributes of a pair, and others that go into the same table as long as it stays small.

        Each is chosen for a pair with one of those that are there. A table of three small attributes tells of three pairs, and costs
        less than three tables: without a delta, every table adds to the noise of all.
        """
        axes = [int(a) for a in self.pairs[p]]
        while self.account.pure and len(axes) < MAX_ATTRIBUTES:
            inside = np.isin(self.pairs, axes)
            cells = int(self.bins[axes].prod()) * np.where(inside, 1, self.bins[self.pairs]).prod(axis=1)
            fits = (inside.sum(axis=1) == 1) & (cells <= MAX_CELLS) & self._affordable(cells)
            left = np.flatnonzero(fits & ~self.covered)
            if not len(left):
                break
            q = self.choose(left, model)
            axes.append(int(next(a for a in self.pairs[q] if a not in axes)))
        return axes

    def measure(self, axes: list[int], expected: Floats) -> None:
        """Measure a table of some attributes, and keep what rises above the noise."""
        plain = len(axes) > 2
        sides = [self.plain_sides[a] if plain else self.sides[a] for a in axes]
        change = change_of(sides)
        part = self.account.spend(
            "set" if plain else "pair", self._last_share(axes), *(self.names[a] for a in axes)
        )
        sums = measured(sides, self.count(axes))
        noisy = sums + self.account.noise(sums.size, part, change).reshape(sums.shape)
        belief = Belief.of(
            sides, noisy - measured(sides, expected), self.account.deviation(part, change) ** 2
        )
        believed = project((expected + belief.difference).ravel(), self.ones.total).reshape(expected.shape)
        self.measured.append(Measured(tuple(axes), fit(believed + TINY, [self.margins[a] for a in axes])))
        for one, other in combinations(range(len(axes)), 2):
            p = int(np.flatnonzero((self.pairs == sorted((axes[one], axes[other]))[::-1]).all(axis=1))[0])
            spread = [
                float(_spread(m / m.sum()).sum())
                for m in (self.margins[axes[one]], self.margins[axes[other]])
            ]
            self.covered[p] = True
            self.misses[p] = Miss(*belief.miss(one, other), spread[0] * spread[1] * self.ones.total**2)

    def count(self, axes: list[int]) -> NDArray[np.int64]:
        """Count the records by the groups of some attributes."""
        shape = tuple(self.bins[axes])
        keys = np.ravel_multi_index(tuple(self.grouped[a].astype(np.int64) for a in axes), shape)
        sums = np.bincount(keys, self.records, minlength=math.prod(shape))
        return sums.astype(np.int64).reshape(shape)


def all_pairs(attributes: int) -> NDArray[np.int64]:
    """Return all pairs of different attributes."""
    return np.array([(i, j) for i in range(attributes) for j in range(i)], dtype=np.int64).reshape(-1, 2)


def weighed(
    groups: Groups, weights: Floats, pairs: NDArray[np.int64], bins: NDArray[np.int64], cells: int
) -> Floats:
    """Return the two-way tables of weighted tuples or points (attributes x points): pairs x cells."""
    out = np.zeros((len(pairs), cells))
    each = max(-(-len(pairs) // CORES), MIN_SHARED // max(groups.shape[1], 1), 1)
    in_threads(
        lambda part: weigh_pairs(groups, weights, pairs[part], bins, out[part]), pieces(len(pairs), each)
    )
    return out


def misfit(true: NDArray[np.int64], model: Floats) -> Floats:
    """Return half of the sum of absolute differences of two tables, for each pair.

    A record changes one cell of the true table by 1, and the model, made of noisy things, not at all: so the sum changes
    by at most 1. With the model rounded to 1/256 floats add up exactly, and nothing hides in their last bits.
    """
    return np.asarray(0.5 * np.abs(true - np.rint(model * 256) / 256).sum(axis=1))


def fit(table: Floats, margins: Sequence[Floats], sweeps: int = 30) -> Floats:
    """Rake a table to the margins of all its axes."""
    for _ in range(sweeps):
        for axis, margin in enumerate(margins):
            others = tuple(a for a in range(table.ndim) if a != axis)
            table = table * np.expand_dims(margin / table.sum(axis=others), others)
    return table


def leftover(tables: Tables) -> tuple[Floats, float]:
    """Return the squared correlations that may be left, by pair of attributes, and of more than two attributes.

    A pair that was measured is off by its noise. One that was not is taken to be known no better than those that were chosen
    last were then: they were about the worst. So are three attributes and more, of which nothing else is known.
    """
    last = list(tables.misses.values())[-max(len(tables.misses) // 3, 1) :]
    worst = sum(m.seen for m in last) / max(sum(m.spread for m in last), TINY) if last else UNKNOWN**2
    out = np.full((len(tables.groups),) * 2, NOT_MEASURED * worst)
    for p, miss in tables.misses.items():
        i, j = tables.pairs[p]
        out[i, j] = out[j, i] = (NOISE * miss.noise + UNRESOLVED * miss.seen) / max(miss.spread, TINY)
    return np.asarray(np.minimum(out, 1.0)), min(OF_MORE * worst, 1.0)
