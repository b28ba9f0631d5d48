"""How far a table is from independence, in one noisy number: whether pairs are worth measuring.

For two attributes, the boxes from the first values on hold B records, where independence would have R C / N: the rows R up to the
one value, times the columns C up to the other. What is measured is the root of the mean square of B - R C / N, over all such
boxes of groups of neighbouring values, and over all pairs. With one record more, B - R C / N changes by
N / (N + 1) (a - R/N) (b - C/N), where a and b are 1 if the record is in these rows, and columns, and 0 if not: by at
most 1. So does the root of a mean of squares, which is a norm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.pview.account import Account
from sudare.pview.allocation import FOR_PROBE
from sudare.pview.grouped_counts import all_pairs, weighed
from sudare.tables.counts import Counts

GROUPS = 8
"""Of neighbouring values, by their places: what is read off the data would not be the same for both tables."""
FINE = 16
"""The number is measured in whole parts of a record; rounding it down may add one of them to a change."""


def measure_apart(counts: Counts, account: Account) -> tuple[float, float]:
    """Return how far the records of a box of two attributes are from independence, with noise, and its deviation.

    >>> from sudare.noise.keystream import Keystream
    >>> from sudare.privacy.differential_privacy import DifferentialPrivacy
    >>> same = Counts(("a", "b"), np.array([[0, 0], [1, 1]]), np.array([5000, 5000]), (2, 2))
    >>> account = Account(DifferentialPrivacy(1.0), Keystream.unsafe(1))
    >>> apart(same), abs(measure_apart(same, account)[0] - 2500) < 1000
    (2500.0, True)
    """
    part = account.spend("probe", FOR_PROBE)
    noisy = np.array([int(apart(counts) * FINE)]) + account.noise(1, part, FINE + 1)
    return float(noisy[0] / FINE), account.deviation(part, FINE + 1) / FINE


def apart(counts: Counts) -> float:
    """Return the same without noise."""
    sizes = np.array(counts.sizes)
    bins = np.minimum(sizes, GROUPS)
    groups = [(np.arange(n) * b // n).astype(np.uint8) for n, b in zip(sizes, bins, strict=True)]
    grouped = np.stack([g[counts.codes[:, a]] for a, g in enumerate(groups)])
    pairs = all_pairs(len(sizes))
    tables = weighed(grouped, counts.weights.astype(np.float64), pairs, bins, int(bins.max()) ** 2)
    squares = [
        _mean_square(table[: bins[i] * bins[j]].reshape(bins[i], bins[j]))
        for table, (i, j) in zip(tables, pairs, strict=True)
    ]
    return float(np.sqrt(np.mean(squares)))


def _mean_square(table: NDArray[np.float64]) -> float:
    """Return the mean square of what boxes from the first groups on hold more or less than by independence."""
    upto = table.cumsum(axis=0).cumsum(axis=1)
    total = upto[-1, -1]
    if total == 0 or min(table.shape) < 2:
        return 0.0
    boxes = (upto - upto[:, -1:] * upto[-1:] / total)[:-1, :-1]
    return float((boxes**2).mean())
