"""DAWA's partition (Li, Hay, Miklau & Wang 2014, PVLDB 7(5), section 3): buckets of a row of cells that are about even.

Stage 1: every interval whose length is a power of two costs its deviation, the sum of |x - mean|, and what one noisy
count costs; both with Laplace noise, drawn once per interval. The partition into intervals with the least noisy cost is
found by dynamic programming. Stage 2: a noisy count for every bucket, spread evenly over its cells. (The paper's
second stage also fits the counts to a workload; a p-view has none.) Cells of two attributes are lined up along a
Hilbert curve, as there; those of more one after the other, the last attribute's values first, as Kato and others do.
Counts are as the noise left them.

Why stage 1 is private: a record added to the cell j changes the cost of intervals that hold j only, each by at most
Delta_b = 2 (1 - 1/|b|), and every partition has one such interval. Let a partition P with that interval b be the cheapest.
After the change, P costs Delta_b more at most, any partition with b keeps its distance from P, and any other comes nearer
by Delta_b + Delta at most, with Delta of the longest. If the noise of b had been lower by as much, P would still be the cheapest.
So noise of scale (Delta_b + Delta)/epsilon_1 for b makes P at most e^epsilon_1 times less likely: noise for one interval, however many
there are. It must be there for single cells too, and nothing may be clipped before the cheapest is sought, or the
shift would not do. (The code that the authors published has half that scale, none for single cells, and clips.)

The least of many noisy costs is too low, the more so the more buckets there are, and would favour tiny ones. So a
bucket costs more by what the noise gains where it chooses among all lengths. This is public, and as private.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.noise._chacha import tap
from sudare.privacy.requirement import refused
from sudare.pview import _dawa
from sudare.pview._aggregation import STEPS, sensitivity
from sudare.pview.account import FINE, Account
from sudare.pview.baselines import dense
from sudare.pview.domain import Domain
from sudare.pview.method import Method
from sudare.pview.models import CellsModel
from sudare.pview.noisy_counts import NoisyCells, check_counts
from sudare.tables.counts import Counts
from sudare.tables.typed import typed

MAX_CELLS = 2**20


@typed
@dataclass(frozen=True)
class Dawa(Method):
    """Noisy counts of buckets of about even cells, for small domains."""

    name: ClassVar[str] = "dawa"

    def learn(self, counts: Counts, domain: Domain, account: Account) -> CellsModel:
        """Partition the cells into buckets, and count each with noise."""
        return CellsModel(learn_dawa(counts, account))


def learn_dawa(counts: Counts, account: Account, *, partition_share: Fraction = Fraction(1, 4)) -> NoisyCells:
    """Return all cells in about even buckets, each with a noisy count.

    partition_share is the part of the budget for the partition, the paper's epsilon_1.

    >>> from sudare.noise.keystream import Keystream
    >>> from sudare.privacy.differential_privacy import DifferentialPrivacy
    >>> counts = Counts(("a",), np.arange(4, 8, dtype=np.int32)[:, None], np.full(4, 500), (8,))
    >>> account = Account(DifferentialPrivacy(2.0), Keystream.unsafe(1))
    >>> cells = learn_dawa(counts, account)
    >>> bool(abs(cells.table[4:].sum() - 2000) < 50), account.remaining
    (True, Fraction(0, 1))
    """
    check_counts(counts, "learn_dawa")
    sizes = counts.sizes
    if not 0 < partition_share < 1:
        raise refused(
            partition_share, "partition_share", "learn_dawa", "a number between 0 and 1, neither included"
        )
    cells = dense(
        counts, MAX_CELLS, "DAWA"
    ).ravel()  # refused if there are too many, before they are lined up
    order = along_curve(sizes)
    row = cells[order]
    first = account.spend("partition", partition_share)
    second = account.spend("counts", 1 - partition_share)
    begins = _partition(row, account, first, second)
    sums = np.add.reduceat(row, begins)
    lengths = np.diff(np.append(begins, row.size))
    noisy = sums + account.noise(sums.size, second)
    even = noisy / lengths
    table, bucket = np.empty(row.size), np.empty(row.size, dtype=np.int32)
    table[order] = np.repeat(even, lengths)
    bucket[order] = np.repeat(np.arange(sums.size), lengths)
    return NoisyCells(table.reshape(sizes), account.deviation(second), bucket.reshape(sizes))


def _partition(
    counts: NDArray[np.int64], account: Account, first: Fraction, second: Fraction
) -> NDArray[np.int64]:
    """Return where the buckets begin."""
    errors = deviations(counts)
    scales, each = noise_of_costs(counts.size, account, first, second)
    partitions: list[NDArray[np.int64]] = []

    def one(key: NDArray[np.uint32], stream: np.uint64, part: slice) -> None:
        partitions.append(_dawa.cheapest(tap(key, stream), errors, scales, each))

    account.source.draw(1, one)
    return partitions[0][::-1]


def deviations(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the deviation of every interval, by the logarithm of its length and its last cell."""
    levels, ranks = np.unique(-counts, return_inverse=True)
    errors: NDArray[np.float64] = _dawa.interval_errors(counts, ranks, -levels[levels < 0])
    return errors


def noise_of_costs(
    cells: int, account: Account, first: Fraction, second: Fraction
) -> tuple[NDArray[np.uint64], int]:
    """Return the scale of the noise for every length, rounded up, and what a bucket costs besides, in steps."""
    epsilon = (
        first if account.pure else Fraction(math.isqrt(int(2 * first * FINE**2)), FINE)
    )  # rho = epsilon^2/2
    if epsilon * FINE < 1:
        raise ParameterError("DAWA has no budget left for its partition. Use a larger epsilon.")
    lengths = cells.bit_length()
    most = [0, *(sensitivity(float(2**l)) for l in range(1, lengths))]  # a single cell has no deviation
    scales = [max(math.ceil((one + most[-1]) / epsilon), 1) for one in most]
    count = STEPS * account.deviation(second) / math.sqrt(2)  # 1/epsilon_2, as in the paper
    gain = scales[-1] * math.log(lengths)  # about how far below 0 the least of so many Laplace numbers is
    return np.array(scales, dtype=np.uint64), math.ceil(count + gain)


def along_curve(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return the cells, as places in the flat table, in the order of a Hilbert curve, if there are two attributes.

    One attribute has its own order, and several that of the flat table: in every plane of one more attribute a curve
    would turn anew.

    >>> along_curve((2, 2)).tolist(), along_curve((2, 1, 2)).tolist()
    ([0, 1, 3, 2], [0, 1, 2, 3])
    """
    cells = np.arange(math.prod(sizes))
    if len(sizes) != 2:
        return cells
    x, y = cells // sizes[1], cells % sizes[1]
    along = np.zeros_like(cells)
    side = 1 << (max(sizes) - 1).bit_length()
    while side > 1:
        side //= 2
        right, upper = (x & side) > 0, (y & side) > 0
        along += side * side * ((3 * right) ^ upper)
        flip = (
            right & ~upper
        )  # the lower quarters are turned, so that they begin and end next to their neighbours
        x, y = (np.where(flip, side - 1 - inside, inside) for inside in (x & (side - 1), y & (side - 1)))
        x, y = np.where(upper, x, y), np.where(upper, y, x)
    return np.argsort(along, kind="stable")
