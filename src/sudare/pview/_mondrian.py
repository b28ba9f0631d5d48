"""Compiled: the blocks of DP-Mondrian. A block is a range of rows of a table of distinct cells, which cuts permute.

The aggregation error of a block with the sum S of counts x is AE = sum |x - m| with m = S/|B| (equation 5). What lies
above m and what lies below it are equal, so AE = 2 sum over x > m of (x - m). If m <= 1, every occupied cell is there:
AE = 2 S (1 - nnz/|B|). If not, a tally of the counts tells how many are above m, and their sum.

|B| is a float, since it can be any large: as one, it is exact where m > 1 is possible, and else good to 15 digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from sudare.noise._kernels import below, choose, laplace_of

Array = np.ndarray[Any, Any]

STEPS = 1024
"""An aggregation error is counted in steps of 1/1024, so that its noise can be a whole number."""
FINE = np.uint64(2**30)
"""Parts of an epsilon."""
MAX_LOSS = 1e4
"""What is chosen with probability e^-10000 is as good as never chosen; a larger loss counts as this one."""


# -- Aggregation errors and their sensitivity ---------------------------------------------------------


@njit(cache=True, nogil=True)
def steps(error: float) -> Any:  # pragma: no cover
    """Return an error in whole steps, rounded down."""
    return np.int64(np.floor(error * STEPS))


@njit(cache=True, nogil=True)
def sensitivity(size: float) -> Any:  # pragma: no cover
    """Return by how many steps one record can change the error of a block of that size.

    Theorem 3: 2 (1 - 1/|B|). Whole numbers below numbers that differ by d differ by ceil(d) at most; one step more is
    for the error of float arithmetic, which is far below half a step.
    """
    return np.int64(np.ceil(2 * STEPS * (1 - 1 / size))) + 1


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def tally_add(tally: Array, rank: int, number: int, total: int) -> None:  # pragma: no cover
    """Add counts of the level with this rank."""
    i = rank + 1
    while i < len(tally):
        tally[i, 0] += number
        tally[i, 1] += total
        i += i & -i


@njit(cache=True, nogil=True)
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


# -- All cuts of a block --------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def cut_errors(
    cells: Array,
    counts: Array,
    ranks: Array,
    levels: Array,
    low: Array,
    high: Array,
    sums: Array,
    tallies: Array,
    left: Array,
    right: Array,
) -> int:  # pragma: no cover
    """Fill in AE(B_L) and AE(B_R) of every cut of a block (equation 10), and return how many cuts there are.

    They go attribute by attribute, each cut after the value low, low + 1, ..., high - 1. `sums` is room for S and nnz
    of every value of every attribute, `tallies` for two tallies.
    """
    attributes = low.size
    first = np.zeros(attributes + 1, dtype=np.int64)
    volume = 1.0
    for a in range(attributes):
        first[a + 1] = first[a] + high[a] - low[a] + 1
        volume *= high[a] - low[a] + 1
    sums[: first[attributes]] = 0
    total = 0
    for i in range(counts.size):
        total += counts[i]
        for a in range(attributes):
            at = first[a] + cells[i, a] - low[a]
            sums[at, 0] += counts[i]
            sums[at, 1] += 1
    cuts = 0
    for a in range(attributes):
        width = high[a] - low[a] + 1
        slab = volume / width
        s, nnz, dense = 0, 0, False
        for v in range(width - 1):
            s += sums[first[a] + v, 0]
            nnz += sums[first[a] + v, 1]
            size, other = slab * (v + 1), slab * (width - v - 1)
            left[cuts + v] = 2 * s * (1 - nnz / size)
            right[cuts + v] = 2 * (total - s) * (1 - (counts.size - nnz) / other)
            dense |= s > size or total - s > other
        if dense:
            _dense_errors(
                cells[:, a],
                counts,
                ranks,
                levels,
                low[a],
                sums[first[a] : first[a + 1]],
                slab,
                tallies,
                left[cuts:],
                right[cuts:],
            )
        cuts += width - 1
    return cuts


@njit(cache=True, nogil=True)
def _dense_errors(
    codes: Array,
    counts: Array,
    ranks: Array,
    levels: Array,
    low: int,
    sums: Array,
    slab: float,
    tallies: Array,
    left: Array,
    right: Array,
) -> None:  # pragma: no cover
    """Fill in the errors of one attribute's cuts where a mean may be above 1: counts move from right to left."""
    width, n = len(sums), counts.size
    place = np.zeros(width + 1, dtype=np.int64)
    for v in range(width):
        place[v + 1] = place[v] + sums[v, 1]
    order = np.empty(n, dtype=np.int64)
    at = place[:-1].copy()
    tallies[:] = 0
    total = 0
    for i in range(n):
        order[at[codes[i] - low]] = i
        at[codes[i] - low] += 1
        tally_add(tallies[1], ranks[i], 1, counts[i])
        total += counts[i]
    s = 0
    for v in range(width - 1):
        for i in order[place[v] : place[v + 1]]:
            tally_add(tallies[0], ranks[i], 1, counts[i])
            tally_add(tallies[1], ranks[i], -1, -counts[i])
        s += sums[v, 0]
        nnz = place[v + 1]
        left[v] = tally_error(tallies[0], levels, s, nnz, slab * (v + 1))
        right[v] = tally_error(tallies[1], levels, total - s, n - nnz, slab * (width - v - 1))


# -- The tree -------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def random_converge(
    source: Array, counts: Array, volume: float, theta: int, converge: np.uint64, draw: Array
) -> bool:  # pragma: no cover
    """Tell whether AE + Lap(Delta_AE/epsilon_conv) <= theta (equation 9), in steps; the scale is rounded up."""
    scale = (np.uint64(sensitivity(volume)) * FINE + converge - np.uint64(1)) // converge
    laplace_of(source, scale, draw)
    return bool(steps(aggregation_error(counts, volume)) + draw[0] <= theta)


@njit(cache=True, nogil=True)
def random_cut(
    source: Array, left: Array, right: Array, largest: float, epsilon: float
) -> Any:  # pragma: no cover
    """Choose a cut by the exponential mechanism (equation 11), where the largest child has that size.

    One record is in one child only, so the score changes by 2 (1 - 1/max|child|) at most, not by twice that.
    """
    n = left.size
    errors = np.empty(n, dtype=np.int64)
    for c in range(n):
        errors[c] = steps(left[c]) + steps(right[c])
    factor, best = epsilon / (2 * sensitivity(largest)), errors.min()
    losses = np.empty(n, dtype=np.uint64)
    for c in range(n):
        losses[c] = np.uint64(np.rint(min((errors[c] - best) * factor, MAX_LOSS) * 2.0**32))
    return choose(source, losses)


@njit(cache=True, nogil=True)
def split(cells: Array, counts: Array, ranks: Array, attribute: int, value: int) -> int:  # pragma: no cover
    """Put the rows up to a value first, and return how many they are."""
    i, j = 0, counts.size
    while i < j:
        if cells[i, attribute] <= value:
            i += 1
            continue
        j -= 1
        if cells[j, attribute] <= value:
            for a in range(cells.shape[1]):
                cells[i, a], cells[j, a] = cells[j, a], cells[i, a]
            counts[i], counts[j] = counts[j], counts[i]
            ranks[i], ranks[j] = ranks[j], ranks[i]
    return i


@njit(cache=True, nogil=True)
def _longer(array: Array) -> Array:  # pragma: no cover
    longer = np.empty((2 * array.shape[0], array.shape[1]), dtype=array.dtype)
    longer[: array.shape[0]] = array
    return longer


@njit(cache=True, nogil=True)
def grow(
    source: Array,
    cells: Array,
    counts: Array,
    ranks: Array,
    levels: Array,
    sizes: Array,
    kappa: int,
    theta: int,
    converge: np.uint64,
    cut: float,
) -> tuple[Array, Array, Array]:  # pragma: no cover
    """Bisect the domain (Algorithm 2), and return the blocks: low, high, and (sum, depth, whether a test stopped it).

    The rows of `cells`, `counts` and `ranks` are permuted. theta is in steps, `converge` is epsilon_conv in fine
    parts, `cut` is epsilon_cut. A block stops untested at depth kappa, or if it is one cell.
    """
    d = sizes.size
    room, tallies = (
        np.empty((sizes.sum(), 2), dtype=np.int64),
        np.empty((2, levels.size + 1, 2), dtype=np.int64),
    )
    left, right = np.empty(sizes.sum()), np.empty(sizes.sum())
    draw = np.empty(1, dtype=np.int64)
    # Blocks that wait: the right halves on the way to the current one, at most one per depth.
    lows, highs = np.zeros((kappa + 1, d), dtype=np.int32), np.zeros((kappa + 1, d), dtype=np.int32)
    spans = np.zeros((kappa + 1, 3), dtype=np.int64)  # first row, row after the last, depth
    highs[0] = sizes - 1
    spans[0] = (0, counts.size, 1)
    waiting = 1
    low, high = np.empty((64, d), dtype=np.int32), np.empty((64, d), dtype=np.int32)
    facts = np.empty((64, 3), dtype=np.int64)
    blocks = 0
    while waiting > 0:
        now = waiting - 1
        start, stop, depth = spans[now]
        volume = 1.0
        for a in range(d):
            volume *= highs[now, a] - lows[now, a] + 1
        mine = counts[start:stop]
        tested = depth < kappa and volume > 1
        if not tested or random_converge(source, mine, volume, theta, converge, draw):
            if blocks == len(facts):
                low, high, facts = _longer(low), _longer(high), _longer(facts)
            low[blocks], high[blocks] = lows[now], highs[now]
            facts[blocks] = (mine.sum(), depth, np.int64(tested))
            blocks += 1
            waiting -= 1
            continue
        rows, marks = cells[start:stop], ranks[start:stop]
        if stop > start:
            n = cut_errors(rows, mine, marks, levels, lows[now], highs[now], room, tallies, left, right)
            widest = (highs[now] - lows[now]).max() + 1
            chosen = random_cut(source, left[:n], right[:n], volume / widest * (widest - 1), cut)
        else:  # all cuts of nothing are alike
            chosen = np.int64(below(source, np.uint64((highs[now] - lows[now]).sum())))
        a = 0
        while chosen >= highs[now, a] - lows[now, a]:
            chosen -= highs[now, a] - lows[now, a]
            a += 1
        value = lows[now, a] + chosen
        middle = start + split(rows, mine, marks, a, value)
        lows[waiting], highs[waiting] = lows[now], highs[now]
        highs[waiting, a], lows[now, a] = value, value + 1
        spans[waiting], spans[now] = (start, middle, depth + 1), (middle, stop, depth + 1)
        waiting += 1
    return low[:blocks], high[:blocks], facts[:blocks]
