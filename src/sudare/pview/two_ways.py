"""Two-way tables by groups of values: which to measure, what to believe of them, and how far off a model was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sudare.pview._pairs import weigh_pairs
from sudare.pview.account import Account
from sudare.pview.allocation import Allocation
from sudare.pview.noisy_counts import project
from sudare.pview.one_ways import TINY, Floats, Groups, OneWays, group_values
from sudare.tables.counts import Counts
from sudare.threads import CORES, MIN_SHARED, in_threads, pieces

MISFIT_SENSITIVITY = 0.5
UNKNOWN = 0.25  # the correlation that may be left where no pair could be measured


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
    names: tuple[str, ...]
    allocation: Allocation
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
        counts: Counts,
        ordered: Sequence[bool],
        account: Account,
        allocation: Allocation,
        ones: OneWays,
    ) -> Tables:
        """Group the values and count the pairs."""
        groups = [group_values(t, allocation.bins, o) for t, o in zip(ones.tables, ordered, strict=True)]
        bins = np.array([int(g.max()) + 1 for g in groups])
        pairs = all_pairs(len(groups) if allocation.pairs else 0)
        cells = int(bins[pairs].prod(axis=1).max()) if len(pairs) else 1
        grouped = np.stack([g[counts.codes[:, a]] for a, g in enumerate(groups)])
        true = weighed(grouped, counts.weights.astype(np.float64), pairs, bins, cells).astype(np.int64)
        return cls(account, counts.names, allocation, ones, groups, bins, pairs, true)

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
        return self.account.deviation(self.allocation.tables * self.account.whole)

    def independent(self) -> Floats:
        """Return every two-way table as if the attributes had nothing to do with each other."""
        out = np.zeros(self.true.shape)
        for p, (i, j) in enumerate(self.pairs):
            out[p, : self.cells[p]] = np.outer(self.margins[i], self.margins[j]).ravel()
        return out / max(self.ones.total, TINY)

    def choose(self, candidates: NDArray[np.int64], model: Floats) -> int:
        """Choose a pair of which the model is worst, beyond the noise that measuring it would bring."""
        part = self.account.spend("choice", self.allocation.choices)
        noise = np.rint(0.4 * self.deviation * self.cells[candidates])
        scores = misfit(self.true[candidates], model[candidates]) - noise
        # Sensitivity: that of misfit, since the noise to come is the same whatever the data.
        return int(candidates[self.account.choose(scores, MISFIT_SENSITIVITY, part)])

    def measure(self, p: int, model: Floats) -> None:
        """Measure a pair, and keep what rises above the noise."""
        i, j = (int(a) for a in self.pairs[p])
        part = self.account.spend("pair", self.allocation.tables, self.names[j], self.names[i])
        noisy = self.true[p, : self.cells[p]] + self.account.noise(int(self.cells[p]), part)
        expected, variance = model[p, : self.cells[p]], self.deviation**2
        trust = believe(noisy - expected, variance)
        believed = project(expected + trust * (noisy - expected), self.ones.total)
        shape = (self.bins[i], self.bins[j])
        self.measured[p] = fit(believed.reshape(shape) + TINY, self.margins[i], self.margins[j])
        difference = (noisy - expected).reshape(shape)
        self.misses[p] = Miss.of(difference, self.margins[i], self.margins[j], variance, trust)


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
