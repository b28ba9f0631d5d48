"""The total and the one-way tables of a p-view, with noise, and the groups that two-way tables put values into."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sudare.pview.account import Account
from sudare.pview.noisy_counts import histogram, project
from sudare.pview.nonnegative import nearest
from sudare.pview.strategies import Strategy
from sudare.tables.counts import Counts

Floats = NDArray[np.float64]
Groups = NDArray[np.uint8]

SURE = 3.0  # so many deviations above 0, a cell is no work of noise
TINY = 1e-6  # of a record
GROUPING = 0.5
"""Groups of neighbours are even in this power of their records: smaller ones where there are few of them."""


@dataclass(frozen=True)
class OneWays:
    """The total, the one-way tables that add up to it, and the variances of their ranges."""

    total: float
    total_variance: float
    tables: list[Floats]
    by_width: list[Floats]
    """Of every attribute: the variance of its ranges' noise, given the total, by width from 1 on."""
    strategies: Sequence[Strategy]
    variances: list[float]
    """Of the noise of each strategy's sums."""
    cells: list[Floats]
    """What was measured of each table, as it is."""
    known: Mapping[int, Floats] = field(default_factory=dict)
    """The covariances of tables of which more is known than what was measured of them alone."""

    def covariances(self) -> list[Floats]:
        """Return the covariance of every table's cells, given the total."""
        return [
            self.known[a] if a in self.known else own.covariance * variance
            for a, (own, variance) in enumerate(zip(self.strategies, self.variances, strict=True))
        ]


def measure_total(records: int, account: Account, share: Fraction) -> tuple[float, float]:
    """Return the number of records with noise, and its variance."""
    part = account.spend("total", share)
    noisy = np.array([records]) + account.noise(1, part)
    return float(noisy[0]), account.deviation(part) ** 2


def measure_ones(
    counts: Counts,
    strategies: Sequence[Strategy],
    account: Account,
    shares: Sequence[Fraction],
    total: tuple[float, float],
) -> OneWays:
    """Count every attribute's values with noise, each by its strategy and with its share of the budget."""
    cells, variances = [], []
    for a, (own, share) in enumerate(zip(strategies, shares, strict=True)):
        part = account.spend("table", share, counts.names[a])
        sums = own.measure(histogram(counts, a)) + account.noise(own.sums, part, own.change)
        cells.append(own.solve(sums))
        variances.append(account.deviation(part, own.change) ** 2)
    each = list(zip(strategies, cells, variances, strict=True))
    sums = np.array([total[0], *(table.sum() for table in cells)])
    weights = 1 / np.array([total[1], *(own.total_variance * variance for own, _, variance in each)])
    best = max(float(np.average(sums, weights=weights)), 0.0)
    return OneWays(
        best,
        float(1 / weights.sum()),
        [settle(own, table, best, variance) for own, table, variance in each],
        [own.by_width * variance for own, _, variance in each],
        strategies,
        variances,
        cells,
    )


def settle(own: Strategy, table: Floats, total: float, variance: float) -> Floats:
    """Return a one-way table without negative cells that sums to the total: the likeliest, given the noise."""
    if own.rows is None:
        return settle_cells(table, total, math.sqrt(variance))
    return nearest(table + (total - table.sum()) / len(table), own.metric, total)


def settle_cells(table: Floats, total: float, deviation: float) -> Floats:
    """Return the same for cells whose noise is independent.

    Cells well above the noise stay; the rest share what these leave, or what they have themselves, whichever has less noise.
    (If all gave way alike, the noise of many empty cells would be paid for by the few full ones.)
    """
    sure = table > SURE * deviation
    out = table.astype(np.float64)
    if sure.any() and not sure.all():
        few = (~sure).mean()
        # Either has the weight that the other's noise gives it.
        rest = few * (total - out[sure].sum()) + (1 - few) * out[~sure].sum()
        rest = min(max(rest, 0.0), total)
        out[~sure] = project(out[~sure], rest)
        out[sure] = project(out[sure], total - rest)
    return project(out, total)


def group_values(table: Floats, bins: int, ordered: bool) -> Groups:
    """Put values into at most so many groups, neighbours, or else the frequent ones alone."""
    if len(table) <= bins:
        return np.arange(len(table), dtype=np.uint8)
    if not ordered:
        rank = np.empty(len(table), dtype=np.int64)
        rank[np.argsort(-table, kind="stable")] = np.arange(len(table))
        return np.minimum(rank, bins - 1).astype(np.uint8)
    return even_groups((table + TINY) ** GROUPING, bins)


def even_groups(table: Floats, bins: int) -> Groups:
    """Put values into at most so many groups of neighbours that have about as much each."""
    before = np.cumsum(table) - table / 2
    groups = np.minimum(before / max(table.sum(), TINY) * bins, bins - 1).astype(np.int64)
    return np.unique(groups, return_inverse=True)[1].astype(np.uint8)
