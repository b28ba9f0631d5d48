"""The total and the one-way tables of a p-view, with noise, and the groups that two-way tables put values into."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sudare.pview.account import Account
from sudare.pview.allocation import FOR_TOTAL
from sudare.pview.noisy_counts import histogram, project
from sudare.tables.counts import Counts

Floats = NDArray[np.float64]
Groups = NDArray[np.uint8]

SURE = 3.0  # so many deviations above 0, a cell is no work of noise
TINY = 1e-6  # of a record


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


def measure_ones(counts: Counts, account: Account, share: Fraction, total: tuple[float, float]) -> OneWays:
    """Count every attribute's values with noise."""
    # The sum of all cells' variances is least for shares like the cubic root of the sizes (Laplace: variances like
    # 1/epsilon^2), or the square root (Gaussian: like 1/rho).
    wish = np.asarray(counts.sizes, dtype=np.float64) ** (1 / 3 if account.pure else 1 / 2)
    parts = [int(w) for w in np.maximum(wish / wish.min() * 16, 1)]
    shares = [share * part / sum(parts) for part in parts]
    tables, variances = [], []
    for a, size in enumerate(counts.sizes):
        part = account.spend("table", shares[a], counts.names[a])
        tables.append(histogram(counts, a) + account.noise(size, part))
        variances.append(account.deviation(part) ** 2)
    sums = np.array([total[0], *(t.sum() for t in tables)])
    weights = 1 / np.array([total[1], *(v * s for v, s in zip(variances, counts.sizes, strict=True))])
    best = max(float(np.average(sums, weights=weights)), 0.0)
    return OneWays(
        best,
        [settle(t, best, math.sqrt(v)) for t, v in zip(tables, variances, strict=True)],
        variances,
        1 / weights.sum(),
    )


def settle(table: NDArray[np.int64], total: float, deviation: float) -> Floats:
    """Return a one-way table without negative cells that sums to the total.

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
    """Put values into at most so many groups, about evenly filled: neighbours, or else the frequent ones alone."""
    if len(table) <= bins:
        return np.arange(len(table), dtype=np.uint8)
    if not ordered:
        rank = np.empty(len(table), dtype=np.int64)
        rank[np.argsort(-table, kind="stable")] = np.arange(len(table))
        return np.minimum(rank, bins - 1).astype(np.uint8)
    before = np.cumsum(table) - table / 2
    groups = np.minimum(before / max(table.sum(), TINY) * bins, bins - 1).astype(np.int64)
    return np.unique(groups, return_inverse=True)[1].astype(np.uint8)
