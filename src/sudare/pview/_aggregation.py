"""Compiled: how unevenly the records of a block are spread, which DP-Mondrian and DAWA both go by.

The aggregation error of a block with the sum S of counts x is AE = sum |x - m| with m = S/|B| (equation 5). What lies
above m and what lies below it are equal, so AE = 2 sum over x > m of (x - m). If m <= 1, every occupied cell is there:
AE = 2 S (1 - nnz/|B|). If not, a tally of the counts tells how many are above m, and their sum.

|B| is a float, since it can be any large: as one, it is exact where m > 1 is possible, and else good to 15 digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels import kernel, step

Array = np.ndarray[Any, Any]

STEPS = 1024
"""An aggregation error is counted in steps of 1/1024, so that its noise can be a whole number."""


# -- Aggregation errors and their sensitivity ---------------------------------------------------------


@kernel
def steps(error: float) -> Any:  # pragma: no cover
    """Return an error in whole steps, rounded down."""
    return np.int64(np.floor(error * STEPS))


@kernel
def sensitivity(size: float) -> Any:  # pragma: no cover
    """Return by how many steps one record can change the error of a block of that size.

    Theorem 3: 2 (1 - 1/|B|). Whole numbers below numbers that differ by d differ by ceil(d) at most; one step more is
    for the error of float arithmetic, which is far below half a step.
    """
    return np.int64(np.ceil(2 * STEPS * (1 - 1 / size))) + 1


@kernel
def aggregation_error(counts: Array, size: float) -> Any:  # pragma: no cover
    """Return AE of a block with these counts in its occupied cells."""
    total = counts.sum()
    if total <= size:
        return 2 * total * (1 - counts.size / size)
    mean = total / size
    number, above = 0, 0
    for x in counts:
        if x > mean:
            number += 1
            above += x
    return 2 * (above - number * mean)


# -- A tally: how many counts there are of each level, from the largest down (a Fenwick tree) -----------


@step
def tally_add(tally: Array, rank: int, count: int) -> None:  # pragma: no cover
    """Add a count, which has the level with this rank; or take it out again, if it comes with a minus."""
    number = 1 if count > 0 else -1
    i = np.int64(rank) + 1
    while i < len(tally):
        tally[i, 0] += number
        tally[i, 1] += count
        i += i & -i


@step
def tally_error(
    tally: Array, levels: Array, total: int, number: int, size: float
) -> float:  # pragma: no cover
    """Return AE of a block of that size with the tallied counts, of which there are so many with that total."""
    if total <= size:
        return 2 * total * (1 - number / size)
    mean = total / size
    low, high = 0, levels.size  # levels fall: find how many are above the mean
    while low < high:
        middle = (low + high) // 2
        if levels[middle] > mean:
            low = middle + 1
        else:
            high = middle
    many, above = 0, 0
    while low > 0:
        many += tally[low, 0]
        above += tally[low, 1]
        low -= low & -low
    return 2 * (above - many * mean)
