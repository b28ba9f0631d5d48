"""Compiled: the blocks of DP-Mondrian. A block is a range of rows of a table of distinct cells, which cuts permute.

Rows are copied value by value: numba compiles an assignment of whole rows, which may broadcast, for seconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels import kernel, step
from sudare.noise._chacha import below
from sudare.noise._exponential import choose, laplace_of
from sudare.pview._aggregation import aggregation_error, sensitivity, steps, tally_add, tally_error

Array = np.ndarray[Any, Any]

FINE = np.uint64(2**30)
"""Parts of an epsilon."""
MAX_LOSS = 1e4
"""What is chosen with probability e^-10000 is as good as never chosen; a larger loss counts as this one."""


# -- All cuts of a block --------------------------------------------------------------------------------


@kernel
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
) -> None:  # pragma: no cover
    """Fill in AE(B_L) and AE(B_R) of every cut of a block (equation 10).

    They go attribute by attribute, each cut after the value low, low + 1, ..., high - 1. `sums` is room for S and nnz
    of every value of every attribute, `tallies` for two tallies.
    """
    attributes = low.size
    first = np.zeros(attributes + 1, dtype=np.int64)
    volume = 1.0
    for a in range(attributes):
        first[a + 1] = first[a] + high[a] - low[a] + 1
        volume *= high[a] - low[a] + 1
    for at in range(first[attributes]):
        sums[at, 0] = sums[at, 1] = 0
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


@step
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
    for level in range(tallies.shape[1]):
        for side in range(2):
            tallies[side, level, 0] = tallies[side, level, 1] = 0
    total = 0
    for i in range(n):
        order[place[codes[i] - low]] = i
        place[codes[i] - low] += 1
        tally_add(tallies[1], ranks[i], counts[i])
        total += counts[i]
    s, begin = 0, 0
    for v in range(width - 1):
        for i in order[begin : place[v]]:  # which by now is where the next value's begin
            tally_add(tallies[0], ranks[i], counts[i])
            tally_add(tallies[1], ranks[i], -counts[i])
        s += sums[v, 0]
        begin = place[v]
        left[v] = tally_error(tallies[0], levels, s, begin, slab * (v + 1))
        right[v] = tally_error(tallies[1], levels, total - s, n - begin, slab * (width - v - 1))


# -- The tree -------------------------------------------------------------------------------------------


@step
def random_converge(
    source: Array, counts: Array, volume: float, theta: int, converge: np.uint64, draw: Array
) -> bool:  # pragma: no cover
    """Tell whether AE + Lap(Delta_AE/epsilon_conv) <= theta (equation 9), in steps; the scale is rounded up."""
    scale = (np.uint64(sensitivity(volume)) * FINE + converge - np.uint64(1)) // converge
    laplace_of(source, scale, draw)
    return bool(steps(aggregation_error(counts, volume)) + draw[0] <= theta)


@step
def random_cut(
    source: Array, left: Array, right: Array, largest: float, epsilon: float
) -> Any:  # pragma: no cover
    """Choose a cut by the exponential mechanism (equation 11), where the largest child has that size.

    One record is in one child only, so the score changes by 2 (1 - 1/max|child|) at most, not by twice that.
    """
    n = left.size
    errors = np.empty(n, dtype=np.int64)
    best = steps(left[0]) + steps(right[0])
    for c in range(n):
        errors[c] = steps(left[c]) + steps(right[c])
        best = min(best, errors[c])
    factor = epsilon / (2 * sensitivity(largest))
    losses = np.empty(n, dtype=np.uint64)
    for c in range(n):
        losses[c] = np.uint64(np.rint(min((errors[c] - best) * factor, MAX_LOSS) * 2.0**32))
    return choose(source, losses)


@step
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


@step
def _longer(blocks: Array) -> Array:  # pragma: no cover
    longer = np.empty((2 * blocks.shape[0], blocks.shape[1]), dtype=np.int64)
    for b in range(blocks.shape[0]):
        for c in range(blocks.shape[1]):
            longer[b, c] = blocks[b, c]
    return longer


@kernel
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
) -> Array:  # pragma: no cover
    """Bisect the domain (Algorithm 2), and return the blocks, a row each.

    A row has the block's low codes, its high codes, its sum, its depth, and whether a test stopped it. The rows of
    `cells`, `counts` and `ranks` are permuted. theta is in steps, `converge` is epsilon_conv in fine parts, `cut` is
    epsilon_cut. A block stops untested at depth kappa, or if it is one cell. An epsilon of 0 is none at all: no block is
    tested, or cuts are drawn alike.
    """
    d, values = sizes.size, 0
    # Blocks that wait: the right halves on the way to the current one, at most one per depth.
    lows, highs = np.zeros((kappa + 1, d), dtype=np.int64), np.zeros((kappa + 1, d), dtype=np.int64)
    spans = np.zeros((kappa + 1, 3), dtype=np.int64)  # first row, row after the last, depth
    for a in range(d):
        highs[0, a] = sizes[a] - 1
        values += sizes[a]
    spans[0, 1], spans[0, 2] = counts.size, 1
    sums, tallies = np.empty((values, 2), dtype=np.int64), np.empty((2, levels.size + 1, 2), dtype=np.int64)
    left, right = np.empty(values), np.empty(values)
    draw = np.empty(1, dtype=np.int64)
    out = np.empty((64, 2 * d + 3), dtype=np.int64)
    waiting, blocks = 1, 0
    while waiting > 0:
        now = waiting - 1
        start, stop, depth = spans[now, 0], spans[now, 1], spans[now, 2]
        volume, widest, cuts = 1.0, 1, 0
        for a in range(d):
            width = highs[now, a] - lows[now, a] + 1
            volume *= width
            widest = max(widest, width)
            cuts += width - 1
        mine = counts[start:stop]
        ended = depth == kappa or volume == 1
        tested = not ended and converge > 0
        if ended or (tested and random_converge(source, mine, volume, theta, converge, draw)):
            if blocks == len(out):
                out = _longer(out)
            for a in range(d):
                out[blocks, a], out[blocks, d + a] = lows[now, a], highs[now, a]
            out[blocks, 2 * d] = mine.sum()
            out[blocks, 2 * d + 1], out[blocks, 2 * d + 2] = depth, np.int64(tested)
            blocks += 1
            waiting -= 1
            continue
        rows, marks = cells[start:stop], ranks[start:stop]
        if stop > start and cut > 0:
            cut_errors(rows, mine, marks, levels, lows[now], highs[now], sums, tallies, left, right)
            chosen = random_cut(source, left[:cuts], right[:cuts], volume / widest * (widest - 1), cut)
        else:  # all cuts of nothing are alike, and so are all to those who do not look
            chosen = np.int64(below(source, np.uint64(cuts)))
        attribute = 0
        while chosen >= highs[now, attribute] - lows[now, attribute]:
            chosen -= highs[now, attribute] - lows[now, attribute]
            attribute += 1
        value = lows[now, attribute] + chosen
        middle = start + split(rows, mine, marks, attribute, value)
        for a in range(d):
            lows[waiting, a], highs[waiting, a] = lows[now, a], highs[now, a]
        highs[waiting, attribute], lows[now, attribute] = value, value + 1
        spans[waiting, 0], spans[waiting, 1], spans[waiting, 2] = start, middle, depth + 1
        spans[now, 0], spans[now, 2] = middle, depth + 1
        waiting += 1
    return out[:blocks]
