"""Compiled: whether a block meets all limits, and the measures of all blocks.

A histogram may be dense (one entry per sensitive code) or list only the values that occur, in rising
order: absent values add nothing, so both give the same number to the last bit. The exceptions are harmless values,
windows, distances and allowed shares, which need it dense.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.kernels import inlined, kernel, step
from sudare.privacy.tree import LEVEL, NODE, PARENT

if TYPE_CHECKING:
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]

EQUAL, ORDERED, HIERARCHICAL = 0, 1, 2

# Sums of logarithms and of shares are right to about 15 digits. Ties are decided 3 digits above that:
# a block of exactly l equally frequent values has entropy l-diversity, however its logarithms were rounded.
TOLERANCE = 1e-12


@inlined
def meets(histogram: Array, size: int, limits: Limits) -> bool:  # pragma: no cover
    """Tell whether a block of so many records, with these sensitive values, meets all limits."""
    if size < limits.k:
        return False
    if limits.more:
        return _meets_more(histogram, size, limits)
    return limits.distinct <= 1 or has_distinct(histogram, limits.distinct)


@kernel
def block_meets(histogram: Array, size: int, limits: Limits) -> bool:  # pragma: no cover
    """Tell the same to Python, which then need not compile it in every process."""
    return meets(histogram, size, limits)


@step
def _meets_more(histogram: Array, size: int, limits: Limits) -> bool:  # pragma: no cover
    besides, rest = histogram, size
    if limits.harmless.size > 0:
        besides = histogram.copy()
        for i in range(limits.harmless.size):
            rest -= besides[limits.harmless[i]]
            besides[limits.harmless[i]] = 0
    if rest > 0 and not _is_diverse(besides, rest, limits):
        return False
    for kind in range(len(limits.t)):
        if limits.t[kind] < 1:  # no distance is larger
            distance = distance_to(kind, histogram, size, limits.shares, limits.tree)
            if distance > limits.t[kind] + TOLERANCE:
                return False
    return limits.allowed.size == 0 or is_allowed(histogram, size, limits.allowed)


@step
def is_allowed(histogram: Array, size: int, allowed: Array) -> bool:  # pragma: no cover
    """Tell whether every value has a share that is allowed."""
    for i in range(histogram.size):
        if histogram[i] > allowed[1, i] * size * (1 + TOLERANCE):
            return False
        if histogram[i] < allowed[0, i] * size * (1 - TOLERANCE):
            return False
    return True


@step
def _is_diverse(histogram: Array, size: int, limits: Limits) -> bool:  # pragma: no cover
    """Tell whether records that are not harmless meet all limits of l-diversity."""
    if limits.distinct > 1 and not has_distinct(histogram, limits.distinct):
        return False
    if limits.log_l > 0 and entropy(histogram, size) < limits.log_l - TOLERANCE:
        return False
    for i in range(limits.recursive.shape[0]):
        if recursive_l(histogram, limits.recursive[i, 0]) < limits.recursive[i, 1]:
            return False
    for i in range(limits.near.size):
        if limits.near[i] * largest_window(histogram, limits.windows[i]) > size * (1 + TOLERANCE):
            return False
    return True


@step
def largest_window(histogram: Array, windows: Array) -> int:  # pragma: no cover
    """Return how many records the fullest window has; see `values.windows`."""
    most, inside, end = 0, 0, 0
    for place in range(windows.shape[1]):
        while end < windows[1, place]:
            inside += histogram[windows[0, end]]
            end += 1
        most = max(most, inside)
        inside -= histogram[windows[0, place]]
    return most


@step
def has_distinct(histogram: Array, l: int) -> bool:  # pragma: no cover
    """Tell whether at least l values occur."""
    distinct = 0
    for i in range(histogram.size):
        if histogram[i] > 0:
            distinct += 1
            if distinct >= l:
                return True
    return False


@step
def entropy(histogram: Array, size: int) -> float:  # pragma: no cover
    """Return the entropy in natural logarithms."""
    if size == 0:
        return 0.0
    total = 0.0
    for i in range(histogram.size):
        if histogram[i] > 1:  # the logarithm of 1 is 0
            total += histogram[i] * np.log(histogram[i])
    return float(np.log(size) - total / size)


@step
def recursive_l(histogram: Array, c: float) -> int:  # pragma: no cover
    """Return the largest l with r_1 < c (r_l + ... + r_m); 0 if there is none.

    The inequality is strict, so a tie must fail even where c (say 0.1) is rounded: hence the tolerance.
    """
    rising = _sorted(histogram)
    m = rising.size
    tail = 0
    for i in range(m):
        tail += rising[i]
        if rising[m - 1] < c * tail * (1 - TOLERANCE):
            return m - i  # rising[i] is r_(m - i), and zeros in front stand for values that do not occur
    return 0


@step
def _sorted(counts: Array) -> Array:  # pragma: no cover
    """Return counts by rising size (Shell's sort; every kernel that calls `meets` would be compiled with all of `np.sort`)."""
    rising, gap = counts.copy(), counts.size // 2
    while gap > 0:
        for i in range(gap, rising.size):
            x, place = rising[i], i
            while place >= gap and rising[place - gap] > x:
                rising[place] = rising[place - gap]
                place -= gap
            rising[place] = x
        gap //= 2
    return rising


@step
def distance_to(
    kind: int, histogram: Array, size: int, shares: Array, tree: Array
) -> float:  # pragma: no cover
    """Return the earth mover's distance of a block's sensitive values from the table's."""
    total = 0.0
    if kind == EQUAL:
        for i in range(shares.size):
            total += abs(histogram[i] / size - shares[i])
        return total / 2
    if kind == ORDERED:
        moved = 0.0
        for i in range(shares.size - 1):
            moved += histogram[i] / size - shares[i]
            total += abs(moved)
        return total / max(shares.size - 1, 1)
    # What a subtree has too much goes up, and meets what its siblings have too little at their parent.
    nodes = tree.shape[1]
    extra, positive, negative = np.zeros(nodes), np.zeros(nodes), np.zeros(nodes)
    for i in range(shares.size):
        extra[tree[NODE, i]] += histogram[i] / size - shares[i]
    for node in range(nodes - 1):
        parent = tree[PARENT, node]
        extra[parent] += extra[node]
        if extra[node] > 0:
            positive[parent] += extra[node]
        else:
            negative[parent] -= extra[node]
    for node in range(nodes):
        total += tree[LEVEL, node] / tree[LEVEL, nodes - 1] * min(positive[node], negative[node])
    return total


@kernel
def entropies(start: Array, count: Array, sizes: Array) -> Array:  # pragma: no cover
    """Return the entropy of every block."""
    out = np.empty(sizes.size)
    for b in range(sizes.size):
        out[b] = entropy(count[start[b] : start[b + 1]], sizes[b])
    return out


@kernel
def recursive_ls(start: Array, count: Array, c: float) -> Array:  # pragma: no cover
    """Return for every block the largest l for which it is (c, l)-diverse."""
    out = np.empty(start.size - 1, dtype=np.int64)
    for b in range(out.size):
        out[b] = recursive_l(count[start[b] : start[b + 1]], c)
    return out


@kernel
def largest_windows(start: Array, place: Array, count: Array, ends: Array) -> Array:  # pragma: no cover
    """Return for every block how many records its fullest window has.

    The values of each block are given by their places, in rising order; the window at a place ends at `ends[place]`.
    """
    out = np.zeros(start.size - 1, dtype=np.int64)
    for b in range(out.size):
        inside, end = 0, start[b]
        for i in range(start[b], start[b + 1]):
            while end < start[b + 1] and place[end] < ends[place[i]]:
                inside += count[end]
                end += 1
            out[b] = max(out[b], inside)
            inside -= count[i]
    return out


@kernel
def distances(
    kind: int, start: Array, value: Array, count: Array, sizes: Array, shares: Array, tree: Array
) -> Array:  # pragma: no cover
    """Return the distance of every block from the table."""
    out = np.empty(sizes.size)
    histogram = np.zeros(shares.size, dtype=np.int64)
    for b in range(sizes.size):
        for i in range(start[b], start[b + 1]):
            histogram[value[i]] = count[i]
        out[b] = distance_to(kind, histogram, sizes[b], shares, tree)
        for i in range(start[b], start[b + 1]):
            histogram[value[i]] = 0
    return out
