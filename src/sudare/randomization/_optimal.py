"""Compiled: the optimal A-type matrix for a histogram, as a search over three numbers.

The most frequent cell has the least q, a; it may lie below what any other can have. Likewise one cell, and only one, can
have a q above c* = e (d - 1) / (1 + e (d - 1)). Let c be the q of the cell that stands last. The constraints on all pairs
say of the others, empty cells included, only that lo <= q_i <= hi. Either no q exceeds c*: then the rarest cell has the
largest, the others rise towards it, and it stands last. Or one does, not always the rarest: it stands last, and c >= c*. Given also the level s that all v_i q_i should reach, the best is
q_i = clip(s / v_i, lo, hi). The error is convex in (a, c, s); the best s is where a monotone derivative is 0, and a
and c are searched for. `explicit` then has them exactly. The q of an empty cell is free between lo and hi; its own error is s.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels import kernel, step

Array = np.ndarray[Any, Any]
GOLDEN = 0.6180339887498949
STEPS = 70
SEARCH_STEPS = 45  # of a and c: enough to find the piece, which `explicit` then solves


@kernel
def low(a: float, d: int, e: float) -> float:  # pragma: no cover
    """Return the least that q_2, and so every other q_i, can be: rows 1 and 2 hold, and q rises."""
    return max(a, 1.0 - e * a / (d - 1), (d - 1) * (1.0 - a) / e)


@kernel
def high(c: float, d: int, e: float) -> float:  # pragma: no cover
    """Return the most that q_{d-1}, and so every other q_i, can be: rows d - 1 and d hold, and q rises."""
    return min(c, e * (d - 1) * (1.0 - c), 1.0 - c / (e * (d - 1)))


@step
def _above(v: Array, first: int, end: int, x: float) -> int:  # pragma: no cover
    """Return how far v, falling from `first` to `end`, stays above x."""
    while first < end:
        middle = (first + end) // 2
        if v[middle] > x:
            first = middle + 1
        else:
            end = middle
    return first


@step
def level(
    v: Array, sums: Array, squares: Array, empty: int, a: float, c: float, lo: float, hi: float
) -> tuple[float, float]:  # pragma: no cover
    """Return the best s for given ends and box, and the squared error there.

    `sums` and `squares` are running totals of v and v^2, from 0.
    """
    m = len(v)
    bottom, top = 0.0, v[0]
    for _ in range(STEPS):
        s = 0.5 * (bottom + top)
        i = _above(v, 1, m - 1, s / lo)  # 1 .. i - 1 are at lo
        j = max(i, _above(v, 1, m - 1, s / hi))  # j .. m - 2 are at hi
        slope = (2 + empty) * s - v[0] * a - v[m - 1] * c
        slope += (i - 1) * s - lo * (sums[i] - sums[1])
        slope += (m - 1 - j) * s - hi * (sums[m - 1] - sums[j])
        if slope > 0.0:
            top = s
        else:
            bottom = s
    s = 0.5 * (bottom + top)
    i = _above(v, 1, m - 1, s / lo)
    j = max(i, _above(v, 1, m - 1, s / hi))
    error = (v[0] * a - s) ** 2 + (v[m - 1] * c - s) ** 2 + empty * s * s
    error += lo * lo * (squares[i] - squares[1]) - 2 * lo * s * (sums[i] - sums[1]) + (i - 1) * s * s
    error += (
        hi * hi * (squares[m - 1] - squares[j]) - 2 * hi * s * (sums[m - 1] - sums[j]) + (m - 1 - j) * s * s
    )
    return s, error


@step
def _span(a: float, d: int, e: float, beyond: bool) -> tuple[float, float]:  # pragma: no cover
    """Return between which ends c can be, given a, below c* or beyond it; none if the first is larger."""
    lo = low(a, d, e)
    if d == 2:
        return lo, min(1.0, e * (1.0 - a), 1.0 - a / e)
    most = min(1.0, e * a, e * (d - 1) * (1.0 - lo), 1.0 - lo / (e * (d - 1)))
    star = e * (d - 1) / (1.0 + e * (d - 1))
    return (max(lo, star), most) if beyond else (lo, min(most, star))


@step
def _error(
    v: Array, sums: Array, squares: Array, empty: int, a: float, c: float, e: float
) -> float:  # pragma: no cover
    d = len(v) + empty
    lo = low(a, d, e)
    return level(v, sums, squares, empty, a, c, lo, max(lo, high(c, d, e)))[1]


@kernel
def ends_error(
    v: Array, sums: Array, squares: Array, empty: int, a: float, c: float, e: float
) -> tuple[float, float]:  # pragma: no cover
    """Return the level and the squared error for given ends of more than two cells; infinite if they cannot be."""
    d = len(v) + empty
    if not 0.0 < a <= 1.0:
        return 0.0, np.inf
    lo, hi = low(a, d, e), high(c, d, e)
    rounding = 1.0 + 1e-14
    if lo > hi * rounding or c > e * a * rounding or c > 1.0:
        return 0.0, np.inf
    return level(v, sums, squares, empty, a, c, lo, max(lo, hi))


@step
def _best_end(
    v: Array, sums: Array, squares: Array, empty: int, a: float, e: float, beyond: bool
) -> tuple[float, float]:  # pragma: no cover
    """Return the best c for a, and the error there; infinite if there is none."""
    left, right = _span(a, len(v) + empty, e, beyond)
    if left > right * (1.0 + 1e-12):
        return left, np.inf
    right = max(left, right)  # rounding
    x, y = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
    fx, fy = _error(v, sums, squares, empty, a, x, e), _error(v, sums, squares, empty, a, y, e)
    for _ in range(SEARCH_STEPS):
        if fx <= fy:
            right, y, fy = y, x, fx
            x = right - GOLDEN * (right - left)
            fx = _error(v, sums, squares, empty, a, x, e)
        else:
            left, x, fx = x, y, fy
            y = left + GOLDEN * (right - left)
            fy = _error(v, sums, squares, empty, a, y, e)
    return (x, fx) if fx <= fy else (y, fy)


@kernel
def least_end(d: int, e: float) -> tuple[float, float]:  # pragma: no cover
    """Return between which ends a = q_1 can be."""
    right = e * (d - 1) / (1.0 + e * (d - 1))  # where q_{d-1} = q_d at most
    if d == 2:
        return 0.0, right
    # low(a) must be at most that, and at most e a
    least = max((d - 1) / (e * d), (d - 1) / (e * e + d - 1))
    return max(least, (1.0 - right) * (d - 1) / e, 1.0 - right * e / (d - 1)), right


@kernel
def search(
    v: Array, empty: int, e: float, beyond: bool
) -> tuple[float, float, float, float]:  # pragma: no cover
    """Return a, c, s and the squared error of the best matrix for v > 0, falling but for its last, and some empty cells."""
    m = len(v)
    d = m + empty
    sums, squares = np.zeros(m + 1), np.zeros(m + 1)
    for i in range(m):
        sums[i + 1] = sums[i] + v[i]
        squares[i + 1] = squares[i] + v[i] * v[i]
    left, right = least_end(d, e)
    x, y = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
    fx = _best_end(v, sums, squares, empty, x, e, beyond)[1]
    fy = _best_end(v, sums, squares, empty, y, e, beyond)[1]
    for _ in range(SEARCH_STEPS):
        if fx <= fy:
            right, y, fy = y, x, fx
            x = right - GOLDEN * (right - left)
            fx = _best_end(v, sums, squares, empty, x, e, beyond)[1]
        else:
            left, x, fx = x, y, fy
            y = left + GOLDEN * (right - left)
            fy = _best_end(v, sums, squares, empty, y, e, beyond)[1]
    a = x if fx <= fy else y
    c, error = _best_end(v, sums, squares, empty, a, e, beyond)
    lo = low(a, d, e)
    return a, c, level(v, sums, squares, empty, a, c, lo, max(lo, high(c, d, e)))[0], error
