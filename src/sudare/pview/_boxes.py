"""Compiled: sums over weighted boxes. Boxes are given by axis, axes x boxes; questions one by one, questions x axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels import kernel

Array = np.ndarray[Any, Any]

GROUP = 64  # neighbouring boxes with a common bound, so that a query need not touch them all
STEPS = 256


@kernel
def arrange(low: Array, high: Array, sizes: Array) -> Array:  # pragma: no cover
    """Order boxes so that neighbours lie together: halve them again and again along the axis on which they spread most."""
    axes, n = low.shape
    order, sorted_part = np.arange(n), np.empty(n, np.int64)
    firsts, lasts = np.empty(axes, np.int64), np.empty(axes, np.int64)  # twice the middles
    starts, stops = [0], [n]
    while len(starts) > 0:
        start, stop = starts.pop(), stops.pop()
        if stop - start <= GROUP:
            continue
        widest, spread, least = 0, 0.0, 0
        for a in range(axes):
            firsts[a], lasts[a] = 2 * sizes[a], 0
        for i in range(start, stop):
            for a in range(axes):
                middle = np.int64(low[a, order[i]]) + high[a, order[i]]
                firsts[a], lasts[a] = min(firsts[a], middle), max(lasts[a], middle)
        for a in range(axes):
            if (lasts[a] - firsts[a]) / sizes[a] > spread:
                widest, spread, least = a, (lasts[a] - firsts[a]) / sizes[a], firsts[a]
        if spread <= 0:
            continue
        # In as many steps as are worth telling apart; within a step they stay as they are.
        scale = STEPS / (spread * sizes[widest] + 1)
        ends = np.zeros(STEPS + 1, np.int64)
        for i in range(start, stop):
            ends[int((np.int64(low[widest, order[i]]) + high[widest, order[i]] - least) * scale) + 1] += 1
        for step in range(STEPS):
            ends[step + 1] += ends[step]
        for i in range(start, stop):
            step = int((np.int64(low[widest, order[i]]) + high[widest, order[i]] - least) * scale)
            sorted_part[ends[step]] = order[i]
            ends[step] += 1
        for i in range(start, stop):
            order[i] = sorted_part[i - start]
        half = start + max((stop - start) // 2 // GROUP, 1) * GROUP
        starts.append(start)
        stops.append(half)
        starts.append(half)
        stops.append(stop)
    return order


@kernel
def bounds(low: Array, high: Array, weights: Array) -> tuple[Array, Array, Array]:  # pragma: no cover
    """Return the smallest box around each group of boxes, and the sum of its weights."""
    axes, n = low.shape
    groups = (n + GROUP - 1) // GROUP
    first, last = np.empty((groups, axes), np.int32), np.empty((groups, axes), np.int32)
    sums = np.zeros(groups)
    for g in range(groups):
        begin, end = g * GROUP, min((g + 1) * GROUP, n)
        for a in range(axes):
            first[g, a], last[g, a] = low[a, begin], high[a, begin]
        for i in range(begin, end):
            sums[g] += weights[i]
            for a in range(axes):
                first[g, a], last[g, a] = min(first[g, a], low[a, i]), max(last[g, a], high[a, i])
    return first, last, sums


@kernel
def count(
    low: Array,
    high: Array,
    weights: Array,
    first: Array,
    last: Array,
    sums: Array,
    tops: Array,
    points: bool,
    lows: Array,
    highs: Array,
    out: Array,
) -> None:  # pragma: no cover
    """Find for every query box how much of the weights lies in it, each spread evenly over its own box.

    `tops` is the largest code of every axis: axes asked for from 0 to there need no looking at.
    """
    axes, shares = np.empty(tops.size, np.int64), np.empty(GROUP)
    for q in range(lows.shape[0]):
        asked = 0
        for a in range(tops.size):
            if lows[q, a] > 0 or highs[q, a] < tops[a]:
                axes[asked] = a
                asked += 1
        total = 0.0
        for g in range(first.shape[0]):
            apart, inside = False, True
            for a in axes[:asked]:
                if last[g, a] < lows[q, a] or first[g, a] > highs[q, a]:
                    apart = True
                    break
                inside = inside and lows[q, a] <= first[g, a] and last[g, a] <= highs[q, a]
            if apart:
                continue
            if inside:
                total += sums[g]
                continue
            begin, end = g * GROUP, min((g + 1) * GROUP, weights.size)
            for i in range(begin, end):
                shares[i - begin] = weights[i]
            for a in axes[:asked]:
                if lows[q, a] > first[g, a] or last[g, a] > highs[q, a]:
                    least, most = lows[q, a], highs[q, a]
                    if points:
                        for i in range(begin, end):
                            shares[i - begin] *= (low[a, i] >= least) & (low[a, i] <= most)
                    else:
                        for i in range(begin, end):
                            own = high[a, i] - low[a, i] + np.int32(1)
                            common = min(high[a, i], most) - max(low[a, i], least) + np.int32(1)
                            shares[i - begin] *= max(common, np.int32(0)) / own
            for i in range(end - begin):
                total += shares[i]
        out[q] = total


@kernel
def weigh(low: Array, high: Array, weights: Array, axis: int, sums: Array) -> None:  # pragma: no cover
    """Multiply the weights by the mean, over each box, of what the cells of an axis weigh, given as running sums."""
    for i in range(weights.size):
        if weights[i] != 0:
            width = np.int64(high[axis, i]) - np.int64(low[axis, i]) + 1
            weights[i] *= (sums[np.int64(high[axis, i]) + 1] - sums[low[axis, i]]) / width


@kernel
def spread(
    low: Array, high: Array, weights: Array, strides: Array, corners: Array
) -> None:  # pragma: no cover
    """Add every box's weight per cell at its corners, with signs, so that running sums along all axes spread it out."""
    axes = low.shape[0]
    for i in range(weights.size):
        if weights[i] == 0:
            continue
        density = weights[i]
        for a in range(axes):
            density /= np.int64(high[a, i]) - np.int64(low[a, i]) + 1
        for corner in range(1 << axes):
            place, sign = 0, 1.0
            for a in range(axes):
                if (corner >> a) & 1:
                    place += (np.int64(high[a, i]) + 1) * strides[a]
                    sign = -sign
                else:
                    place += low[a, i] * strides[a]
            corners[place] += sign * density


@kernel
def put(points: Array, weights: Array, strides: Array, cells: Array) -> None:  # pragma: no cover
    """Add every point's weight to its cell."""
    for i in range(weights.size):
        place = 0
        for a in range(points.shape[0]):
            place += points[a, i] * strides[a]
        cells[place] += weights[i]


@kernel
def errors(
    low: Array, high: Array, weights: Array, squares: Array, lows: Array, highs: Array, out: Array
) -> None:  # pragma: no cover
    """Find for every query box the standard error of its count: noise, and where in their boxes records lie.

    Of a box of weight w a share f is asked for. Its noise adds f^2 times its variance. Its records may all lie in one
    place, within what is asked for with probability f: on average that errs by 2 f (1 - f) w. Boxes err alike, since
    records crowd at the same values in all of them, so these errors are added and not their squares.
    """
    for q in range(lows.shape[0]):
        noise, crowded = 0.0, 0.0
        for i in range(weights.size):
            share = 1.0
            for a in range(lows.shape[1]):
                begin, end = max(low[a, i], lows[q, a]), min(high[a, i], highs[q, a])
                if end < begin:
                    share = 0.0
                    break
                own = np.int64(high[a, i]) - np.int64(low[a, i]) + 1
                share *= (np.int64(end) - np.int64(begin) + 1) / own
            noise += share * share * squares[i]
            crowded += 2 * share * (1 - share) * weights[i]
        out[q] = np.sqrt(noise) + crowded
