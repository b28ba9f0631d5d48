"""Compiled: the tuples most alike to each tuple, searched bundle by bundle."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sudare.kernels import kernel, rank, step

Array = np.ndarray[Any, Any]

LANES = 128
"""Tuples in a bundle: two vector registers of bytes, and few enough to be alike."""
UNROLLED = 4
"""Marks that `_add_alike` takes at once; the number of marks is a multiple of it."""
TEAM = 64
"""Tuples that search together, so that a bundle stays in the cache for all of them."""


class Bundles(NamedTuple):
    """Tuples in bundles of at most LANES, mark by mark, so that a tuple meets a bundle in few instructions.

    The bundle b holds the tuples from `start[b]` on, `size[b]` of them.
    """

    codes: Array
    gains: Array
    start: Array
    size: Array
    lines: Array
    """The codes of a bundle: `lines[b, d, j]` is mark d of its j-th tuple; unused lanes repeat the first tuple."""
    varying: Array
    """The marks in which the tuples of a bundle differ, filled up with the last mark, which gains nothing."""
    variety: Array
    """How many marks vary, rounded up to a multiple of UNROLLED."""
    slack: Array
    """What the varying marks gain together."""
    outlines: Array
    """What each bundle's tuples have in common, in lanes as well: a code, or the largest number where they differ."""


@kernel
def bundle(codes: Array, gains: Array, start: Array, size: Array) -> Bundles:  # pragma: no cover
    """Lay tuples out in bundles."""
    bundles, marks = start.size, codes.shape[1]
    lines = np.empty((bundles, marks, LANES), dtype=codes.dtype)
    varying = np.full((bundles, marks), marks - 1, dtype=np.uint32)
    variety = np.zeros(bundles, dtype=np.int64)
    slack = np.zeros(-(-bundles // LANES) * LANES, dtype=gains.dtype)
    outlines = np.zeros((-(-bundles // LANES), marks, LANES), dtype=codes.dtype)
    for b in range(bundles):
        for d in range(marks):
            first = codes[start[b], d]
            differ = False
            for j in range(LANES):
                code = codes[start[b] + j, d] if j < size[b] else first
                lines[b, d, j] = code
                differ |= code != first
            outlines[b // LANES, d, b % LANES] = first
            if differ:
                outlines[b // LANES, d, b % LANES] = np.iinfo(codes.dtype).max
                varying[b, variety[b]] = d
                variety[b] += 1
                slack[b] += gains[d]
        variety[b] = -(-variety[b] // UNROLLED) * UNROLLED
    return Bundles(codes, gains, start, size, lines, varying, variety, slack, outlines)


@kernel
def search(
    bundles: Bundles, weights: Array, value: Array, low: int, high: int, best: Array
) -> None:  # pragma: no cover
    """Find the greatest likenesses of the tuples from low to high: `best[u, s]`, falling, to those of value s.

    The tuples of a bundle have one value, `value[b]`; a tuple v counts `weights[v]` times. What a bundle's tuples
    have in common, and all that varies in it, bounds the likeness of u to any of them: where that is no more than
    what u has so far, the bundle is passed over, and else only the marks that vary are compared. The bundles that
    promise most come first.
    """
    codes, gains, least = bundles.codes, bundles.gains, best.shape[2] - 1
    bound = np.empty((TEAM, bundles.slack.size), dtype=gains.dtype)
    likeness = np.empty(LANES, dtype=gains.dtype)
    for first in range(low, high, TEAM):
        team = min(TEAM, high - first)
        for i in range(team):
            _bound(bundles, codes[first + i], bound[i])
        for b in _best_first(bound, team, bundles.start.size):
            for i in range(team):
                greatest = best[first + i, value[b]]
                if np.int64(bound[i, b]) <= greatest[least]:
                    continue
                likeness[:] = bound[i, b] - bundles.slack[b]
                _add_alike(
                    bundles.lines[b],
                    bundles.varying[b],
                    bundles.variety[b],
                    codes[first + i],
                    gains,
                    likeness,
                )
                most = likeness[0]
                for j in range(LANES):
                    most = max(most, likeness[j])
                if np.int64(most) <= greatest[least]:
                    continue
                if least == 0:
                    greatest[0] = most
                    continue
                for j in range(bundles.size[b]):
                    if np.int64(likeness[j]) > greatest[least]:
                        _insert(greatest, likeness[j], weights[bundles.start[b] + j])


@step
def _best_first(bound: Array, team: int, bundles: int) -> Array:  # pragma: no cover
    """Return the bundles, those first to which a team can be most alike in sum."""
    unlike, order = np.zeros(bundles, dtype=np.int64), np.arange(bundles)
    for i in range(team):
        for b in range(bundles):
            unlike[b] -= bound[i, b]
    rank(unlike, order)
    return order


@step
def _bound(bundles: Bundles, mine: Array, bound: Array) -> None:  # pragma: no cover
    """Find how alike a tuple can be at most to the tuples of each bundle."""
    every = np.arange(mine.size).astype(np.uint32)
    bound[:] = bundles.slack
    for i in range(bundles.outlines.shape[0]):
        lanes = bound[i * LANES : (i + 1) * LANES]
        _add_alike(bundles.outlines[i], every, every.size, mine, bundles.gains, lanes)


@step
def _add_alike(
    lines: Array, chosen: Array, count: int, mine: Array, gains: Array, likeness: Array
) -> None:  # pragma: no cover
    """Add to each lane the gains of the chosen marks in which it is like mine.

    Several marks at once, so that the lanes' sums need not go through memory for each; the compiler turns the inner
    loop into vector comparisons and masked additions.
    """
    nothing = gains.dtype.type(0)
    for i in range(0, count, UNROLLED):
        a, b, c, d = chosen[i], chosen[i + 1], chosen[i + 2], chosen[i + 3]
        my_a, my_b, my_c, my_d = mine[a], mine[b], mine[c], mine[d]
        gain_a, gain_b, gain_c, gain_d = gains[a], gains[b], gains[c], gains[d]
        for j in range(LANES):
            sum_ = likeness[j]
            sum_ += gain_a if lines[a, j] == my_a else nothing
            sum_ += gain_b if lines[b, j] == my_b else nothing
            sum_ += gain_c if lines[c, j] == my_c else nothing
            sum_ += gain_d if lines[d, j] == my_d else nothing
            likeness[j] = sum_


@step
def _insert(greatest: Array, likeness: int, times: int) -> None:  # pragma: no cover
    """Put a likeness, so many times, in its place among those so far, which fall; the least make room."""
    at = 0
    while greatest[at] >= likeness:
        at += 1
    end = min(at + times, greatest.size)
    for i in range(greatest.size - 1, end - 1, -1):
        greatest[i] = greatest[i - (end - at)]
    greatest[at:end] = likeness
