"""NIST's k-marginal score, as SDNist 2.4 computes it (k = 2): how well rows agree with a table, from 0 to 1000.

All pairs of attributes weigh the same: the score is 1000 less 1000 times the mean distance (total variation) of their
tables. Ages are taken in 20 bins of about as many of the target's people each, N is a value, and either table is
divided by its own number of rows. SDNist bins four more numbers and scores places (PUMA) apart; neither is among the
attributes here.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

FEATURES = ["AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DVET", "DEYE"]
"""The demographic ones, for which NIST publishes the scores of other methods."""
AGE, BINS = "AGEP", 20
WIDE = 128  # above any code, so that cells come in the order of the first attribute and then the second
Ints = NDArray[np.int64]


def k_marginal(target: pl.DataFrame, synthetic: pl.DataFrame) -> float:
    """Score synthetic rows against the target's, to the last digit as SDNist does (cells are added up in its order).

    >>> rows = pl.DataFrame({"AGEP": ["3", "40"], "SEX": ["1", "2"]})
    >>> k_marginal(rows, rows), k_marginal(rows, rows.reverse()), k_marginal(rows, rows.head(1))
    (1000.0, 1000.0, 500.0)
    """
    names = sorted(target.columns)
    ends = _last_ages(_numbers(target[AGE]))
    ours, theirs = ({name: _codes(frame[name], ends) for name in names} for frame in (target, synthetic))
    pairs = list(combinations(names, 2))
    apart = sum(_apart(ours[a] * WIDE + ours[b], theirs[a] * WIDE + theirs[b]) for a, b in pairs)
    return float((2 - apart / len(pairs)) * 500)


def _apart(ours: Ints, theirs: Ints) -> float:
    """Return the sum of the differences of shares over the cells that either has."""
    size = max(ours.max(), theirs.max()) + 1
    a, b = (np.bincount(cells, minlength=size) for cells in (ours, theirs))
    return float(np.abs(a / len(ours) - b / len(theirs))[(a > 0) | (b > 0)].sum())


def _codes(column: pl.Series, ends: Ints) -> Ints:
    numbers = _numbers(column)
    return np.searchsorted(ends[:-1], numbers) if column.name == AGE else numbers + 1


def _numbers(column: pl.Series) -> Ints:
    """Return the values as numbers, N as -1."""
    return column.cast(pl.String).replace("N", "-1").cast(pl.Int64).to_numpy()


def _last_ages(ages: Ints) -> Ints:
    """Return the greatest age of every bin: an age belongs to the twentieth of all people that its mean rank is in."""
    values, counts = np.unique(ages, return_counts=True)
    share = (np.cumsum(counts) - (counts - 1) / 2) / len(ages)
    bins = np.minimum((BINS * share).astype(np.int64), BINS - 1)
    return values[np.append(bins[1:] != bins[:-1], True)]
