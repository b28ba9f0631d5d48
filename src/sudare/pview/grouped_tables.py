"""Tables of two attributes, or more, by groups of values: which to measure, and what to believe of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sudare.pview.account import Account
from sudare.pview.allocation import Allocation
from sudare.pview.emphasis import Emphasis
from sudare.pview.grouped_counts import GroupedCounts
from sudare.pview.margins import Told, told_by
from sudare.pview.missed import Miss, spread_of
from sudare.pview.noisy_counts import project
from sudare.pview.one_ways import TINY, Floats, OneWays, group_values
from sudare.pview.sides import Belief, Side, change_of, measured, plain_side, side
from sudare.pview.smoothing import Margin
from sudare.pview.spending import MAX_ATTRIBUTES
from sudare.tables.counts import Counts

MISFIT_SENSITIVITY = 0.5
PENALTY = 0.4
"""So much of its deviation a cell's noise adds to half of the sum of absolute differences, on average."""
POWER, POWER_PURE, UNITS = 2 / 3, 1 / 2, 16
"""A table of c cells gets a share like this power of c, in whole parts of the average pair's.

A cell's error goes down with the root of rho, or with epsilon: so the sum of the errors of all tables is least."""
MAX_CELLS = 64
"""Of a table of more than two attributes."""


@dataclass(frozen=True)
class Measured:
    """What is believed of a table of some attributes."""

    axes: tuple[int, ...]
    table: Floats


@dataclass
class GroupedTables:
    """The tables by groups: those that could be measured, and those that were."""

    account: Account
    emphasis: Emphasis
    names: tuple[str, ...]
    allocation: Allocation
    ones: OneWays
    sides: list[Side]
    counts: GroupedCounts
    covered: NDArray[np.bool_]  # the pairs of which a table was measured
    measured: list[Measured] = field(default_factory=list)
    misses: dict[int, Miss] = field(default_factory=dict)
    told: list[Told] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        counts: Counts,
        ordered: Sequence[bool],
        account: Account,
        emphasis: Emphasis,
        allocation: Allocation,
        ones: OneWays,
    ) -> GroupedTables:
        """Group the values and count the pairs."""
        groups = [group_values(t, allocation.bins, o) for t, o in zip(ones.tables, ordered, strict=True)]
        grouped = GroupedCounts.of(counts, groups, any_pairs=allocation.pairs > 0)
        each = zip(grouped.bins, emphasis.ranged, strict=True)
        sides = [side(int(b), ordered=o, pure=account.pure) for b, o in each]
        largest = max(own.strategy.change for own in sides) ** 2
        if allocation.pairs and not account.can_draw(allocation.tables / UNITS * account.whole, largest):
            each = zip(grouped.bins, ordered, strict=True)
            sides = [plain_side(int(b), ordered=o, pure=account.pure) for b, o in each]
        covered = np.zeros(len(grouped.pairs), dtype=np.bool_)
        return cls(account, emphasis, counts.names, allocation, ones, sides, grouped, covered)

    @cached_property
    def plain_sides(self) -> list[Side]:
        """The sides of tables of more than two attributes: there, every cell is measured by itself."""
        return [
            plain_side(own.strategy.cells, ordered=own.ordered, pure=self.account.pure) for own in self.sides
        ]

    @cached_property
    def margins(self) -> list[Margin]:
        """The one-way tables, and groups."""
        return [Margin(g, t) for g, t in zip(self.counts.groups, self.ones.tables, strict=True)]

    def share(self, axes: Sequence[int]) -> Fraction:
        """Return the share of the budget that a table of some attributes gets."""
        return self.allocation.tables * self._weight(int(self.counts.bins[list(axes)].prod())) / UNITS

    @property
    def budget(self) -> Fraction:
        """The share of the budget that is left for pairs."""
        return self.account.remaining / self.account.whole - self.allocation.of_triples

    def _last_share(self, axes: Sequence[int]) -> Fraction:
        """Return the same, or all that is left if nothing else could be measured after it."""
        share = self.share(axes)
        asked = self.emphasis.asked[tuple(self.counts.pairs.T)]
        others = self.counts.cells[asked & ~self.covered & (np.isin(self.counts.pairs, axes).sum(axis=1) < 2)]
        left = self.budget
        if not len(others):
            return left
        least = self.allocation.choices + self.allocation.tables * self._weight(int(others.min())) / UNITS
        return share if left - share >= least else left

    def _weight(self, cells: int) -> int:
        power = POWER_PURE if self.account.pure else POWER
        return max(round(float(UNITS * cells**power / (self.counts.cells**power).mean())), 1)

    @cached_property
    def deviations(self) -> Floats:
        """The noise of a cell of each pair."""
        of_side = np.array([own.cell_deviation for own in self.sides])
        noise = [
            self.account.deviation(
                self.share(self.counts.pairs[p]) * self.account.whole,
                change_of([self.sides[i], self.sides[j]]),
            )
            for p, (i, j) in enumerate(self.counts.pairs)
        ]
        return np.asarray(np.array(noise) * of_side[self.counts.pairs].prod(axis=1))

    @property
    def affordable(self) -> NDArray[np.bool_]:
        """Which pairs there is budget left for."""
        return self._affordable(self.counts.cells)

    def _affordable(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say whether there is budget left for tables of so many cells, and for choosing them."""
        left = self.budget - self.allocation.choices
        units = math.floor(left * UNITS / self.allocation.tables) if self.allocation.pairs else 0
        return np.array([self._weight(int(own)) <= units for own in cells], dtype=np.bool_)

    def left(self) -> NDArray[np.int64]:
        """Return the pairs that were not measured, and that there is budget left for."""
        return self.first(np.flatnonzero(self.affordable & ~self.covered))

    def first(self, candidates: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of some pairs that are asked for, as long as any such pair is left."""
        asked = self.emphasis.asked[tuple(self.counts.pairs.T)]
        return (
            candidates[asked[candidates]] if (asked & ~self.covered & self.affordable).any() else candidates
        )

    def independent(self) -> Floats:
        """Return every two-way table as if the attributes had nothing to do with each other."""
        out = np.zeros(self.counts.true.shape)
        for p, (i, j) in enumerate(self.counts.pairs):
            out[p, : self.counts.cells[p]] = np.outer(
                self.margins[i].by_groups, self.margins[j].by_groups
            ).ravel()
        return out / max(self.ones.total, TINY)

    def choose(self, candidates: NDArray[np.int64], model: Floats) -> int:
        """Choose a pair of which the model is worst, beyond the noise that measuring it would bring."""
        return int(candidates[self.chosen(self._scores(candidates, model))])

    def choose_or_none(self, candidates: NDArray[np.int64], model: Floats) -> int | None:
        """Choose such a pair, or none, which is better than to measure what would bring more noise than it mends."""
        chosen = self.chosen(np.append(self._scores(candidates, model), 0.0))
        return int(candidates[chosen]) if chosen < len(candidates) else None

    def _scores(self, candidates: NDArray[np.int64], model: Floats) -> Floats:
        noise = np.rint(PENALTY * self.deviations[candidates] * self.counts.cells[candidates])
        i, j = self.counts.pairs[candidates].T
        off = misfit(self.counts.true[candidates], model[candidates])
        return np.asarray(self.emphasis.pairs[i, j] * (off - noise))

    def chosen(self, scores: Floats) -> int:
        """Choose by scores.

        Their sensitivity is that of misfit: the noise to come is the same whatever the data, as is the score of none, and no pair
        counts more than once.
        """
        part = self.account.spend("choice", self.allocation.choices)
        return self.account.choose(scores, MISFIT_SENSITIVITY, part)

    def extended(self, p: int, model: Floats) -> list[int]:
        """Return the attributes of a pair, and others that go into the same table as long as it stays small and they are worth it.

        Each is chosen for a pair with one of those that are there. A table of three small attributes tells of three pairs, and costs
        less than three tables: without a delta, every table adds to the noise of all.
        """
        axes = [int(a) for a in self.counts.pairs[p]]
        while self.account.pure and len(axes) < MAX_ATTRIBUTES:
            inside = np.isin(self.counts.pairs, axes)
            cells = int(self.counts.bins[axes].prod()) * np.where(
                inside, 1, self.counts.bins[self.counts.pairs]
            ).prod(axis=1)
            fits = (inside.sum(axis=1) == 1) & (cells <= MAX_CELLS) & self._affordable(cells)
            left = np.flatnonzero(fits & ~self.covered)
            if not len(left):
                break
            if (q := self.choose_or_none(left, model)) is None:
                break
            axes.append(int(next(a for a in self.counts.pairs[q] if a not in axes)))
        return axes

    def measure(self, axes: list[int], expected: Floats) -> None:
        """Measure a table of some attributes, and keep what rises above the noise."""
        own_sides = self.plain_sides if len(axes) > 2 else self.sides
        belief = self.measure_by([own_sides[a] for a in axes], axes, expected, self._last_share(axes))
        for one, other in combinations(range(len(axes)), 2):
            p = self.counts.pair_of(axes[one], axes[other])
            own, others = (self.margins[axes[x]] for x in (one, other))
            spread = spread_of(own.by_groups, others.by_groups) * self.ones.total**2
            unresolved = 1 - (1 - own.in_several) * (1 - others.in_several)
            self.covered[p] = True
            self.misses[p] = Miss(*belief.miss(one, other), spread, unresolved)

    def measure_by(
        self, sides: Sequence[Side], axes: Sequence[int], expected: Floats, share: Fraction
    ) -> Belief:
        """Measure a table by these sides and with this share, and return what of it is believed."""
        change = change_of(sides)
        part = self.account.spend("set" if len(axes) > 2 else "pair", share, *(self.names[a] for a in axes))
        sums = measured(sides, self.counts.count(axes))
        noisy = sums + self.account.noise(sums.size, part, change).reshape(sums.shape)
        variance = self.account.deviation(part, change) ** 2
        self.told += told_by(sides, axes, self.counts.groups, noisy, variance)
        belief = Belief.of(sides, expected, noisy, variance)
        believed = project((expected + belief.difference).ravel(), self.ones.total).reshape(expected.shape)
        self.measured.append(
            Measured(tuple(axes), fit(believed + TINY, [self.margins[a].by_groups for a in axes]))
        )
        return belief


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
