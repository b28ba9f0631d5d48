"""Compiled: sums over weighted boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

Array = np.ndarray[Any, Any]

GROUP = 64  # neighbouring boxes with a common bound, so that a query need not touch them all


@njit(cache=True, nogil=True)
def arrange(low: Array, high: Array, sizes: Array) -> Array:  # pragma: no cover
    """Order boxes so that neighbours lie together: halve them again and again along the axis on which they spread most."""
    n, axes = low.shape
    order = np.arange(n)
    starts, stops = [0], [n]
    while len(starts) > 0:
        start, stop = starts.pop(), stops.pop()
        if stop - start <= GROUP:
            continue
        widest, spread = 0, -1.0
        for a in range(axes):
            first, last = np.inf, -np.inf
            for i in range(start, stop):
                middle = (low[order[i], a] + high[order[i], a]) / 2
                first, last = min(first, middle), max(last, middle)
            if (last - first) / sizes[a] > spread:
                widest, spread = a, (last - first) / sizes[a]
        if spread <= 0:
            continue
        part = order[start:stop].copy()
        middles = np.empty(part.size)
        for i in range(part.size):
            middles[i] = (low[part[i], widest] + high[part[i], widest]) / 2
        order[start:stop] = part[np.argsort(middles, kind="mergesort")]
        half = start + max((stop - start) // 2 // GROUP, 1) * GROUP
        starts.append(start)
        stops.append(half)
        starts.append(half)
        stops.append(stop)
    return order


@njit(cache=True, nogil=True)
def bounds(low: Array, high: Array, weights: Array) -> tuple[Array, Array, Array]:  # pragma: no cover
    """Return the smallest box around each group of boxes, and the sum of its weights."""
    n, axes = low.shape
    groups = (n + GROUP - 1) // GROUP
    first, last = np.empty((groups, axes), low.dtype), np.empty((groups, axes), low.dtype)
    sums = np.zeros(groups)
    for g in range(groups):
        begin, end = g * GROUP, min((g + 1) * GROUP, n)
        for a in range(axes):
            first[g, a], last[g, a] = low[begin:end, a].min(), high[begin:end, a].max()
        sums[g] = weights[begin:end].sum()
    return first, last, sums


@njit(cache=True, nogil=True, parallel=True)
def count(
    low: Array, high: Array, weights: Array, first: Array, last: Array, sums: Array, lows: Array, highs: Array
) -> Array:  # pragma: no cover
    """Return for every query box how much of the weights lies in it, each spread evenly over its own box."""
    found = np.zeros(lows.shape[0])
    for q in prange(lows.shape[0]):
        total = 0.0
        for g in range(first.shape[0]):
            apart, inside = False, True
            for a in range(lows.shape[1]):
                if last[g, a] < lows[q, a] or first[g, a] > highs[q, a]:
                    apart = True
                    break
                inside = inside and lows[q, a] <= first[g, a] and last[g, a] <= highs[q, a]
            if apart:
                continue
            if inside:
                total += sums[g]
                continue
            for i in range(g * GROUP, min((g + 1) * GROUP, low.shape[0])):
                share = weights[i]
                for a in range(lows.shape[1]):
                    begin, end = max(low[i, a], lows[q, a]), min(high[i, a], highs[q, a])
                    if end < begin:
                        share = 0.0
                        break
                    own = np.int64(high[i, a]) - np.int64(low[i, a]) + 1
                    if own > 1:
                        share *= (np.int64(end) - np.int64(begin) + 1) / own
                total += share
        found[q] = total
    return found


@njit(cache=True, nogil=True)
def weigh(low: Array, high: Array, weights: Array, axis: int, sums: Array) -> None:  # pragma: no cover
    """Multiply the weights by the mean, over each box, of what the cells of an axis weigh, given as running sums."""
    for i in range(weights.size):
        if weights[i] != 0:
            width = np.int64(high[i, axis]) - np.int64(low[i, axis]) + 1
            weights[i] *= (sums[np.int64(high[i, axis]) + 1] - sums[low[i, axis]]) / width


@njit(cache=True, nogil=True)
def spread(
    low: Array, high: Array, weights: Array, strides: Array, corners: Array
) -> None:  # pragma: no cover
    """Add every box's weight per cell at its corners, with signs, so that running sums along all axes spread it out."""
    axes = low.shape[1]
    for i in range(weights.size):
        if weights[i] == 0:
            continue
        density = weights[i]
        for a in range(axes):
            density /= np.int64(high[i, a]) - np.int64(low[i, a]) + 1
        for corner in range(1 << axes):
            place, sign = 0, 1.0
            for a in range(axes):
                if (corner >> a) & 1:
                    place += (np.int64(high[i, a]) + 1) * strides[a]
                    sign = -sign
                else:
                    place += low[i, a] * strides[a]
            corners[place] += sign * density


@njit(cache=True, nogil=True)
def put(points: Array, weights: Array, strides: Array, cells: Array) -> None:  # pragma: no cover
    """Add every point's weight to its cell."""
    for i in range(weights.size):
        place = 0
        for a in range(points.shape[1]):
            place += points[i, a] * strides[a]
        cells[place] += weights[i]


@njit(cache=True, nogil=True, parallel=True)
def errors(
    low: Array, high: Array, weights: Array, squares: Array, lows: Array, highs: Array
) -> Array:  # pragma: no cover
    """Return for every query box the standard error of its count: noise, and where in their boxes records lie.

    Of a box of weight w a share f is asked for. Its noise adds f^2 times its variance. Its records may all lie in one
    place, within what is asked for with probability f: on average that errs by 2 f (1 - f) w. Boxes err alike, since
    records crowd at the same values in all of them, so these errors are added and not their squares.
    """
    found = np.zeros(lows.shape[0])
    for q in prange(lows.shape[0]):
        noise, crowded = 0.0, 0.0
        for i in range(low.shape[0]):
            share = 1.0
            for a in range(lows.shape[1]):
                begin, end = max(low[i, a], lows[q, a]), min(high[i, a], highs[q, a])
                if end < begin:
                    share = 0.0
                    break
                own = np.int64(high[i, a]) - np.int64(low[i, a]) + 1
                share *= (np.int64(end) - np.int64(begin) + 1) / own
            noise += share * share * squares[i]
            crowded += 2 * share * (1 - share) * weights[i]
        found[q] = np.sqrt(noise) + crowded
    return found
