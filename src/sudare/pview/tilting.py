"""The last word on the weights of points: they are tilted until they agree with the one-way tables, as far as noise lets them.

Raking to one table after the other does so, too, but slowly where attributes hang together closely, and never where one follows
from another and their noisy tables contradict each other. So all are fitted at once. Of all weights w, those are wanted that
are least far from the given ones v, and from the one-way tables y, whose noise has the covariance S:

    KL(w, v) + (M w - y)' S^-1 (M w - y) / 2,   M w the margins of the weights (and S a part of it, see `GIVE`).

Its solution has the form w = v exp(M' t) with M w + S t = y, which Newton's method finds: the matrix of M w's derivative by t is
that of the points' two-way tables. Where tables contradict each other, each gives way as its noise says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from sudare.pview._tilt import add_margins, add_pairs, tilt_weights
from sudare.threads import in_threads, pieces

Floats = NDArray[np.float64]

MAX_VALUES = 2000
"""Of more values in all, the system would be too large."""
STEPS, FASTER = 20, 4
"""Of Newton's method, at most; and a matrix serves as long as steps with it come so many times nearer."""
MAX_STEP = 2.0  # by which the logarithm of a weight may change at once
SMALL = 1e-2  # of the mean weight: lighter points may change as they will
RIDGE = 1e-9
GIVE = 0.05
"""Of the noise's covariance: the given weights are not that sure either, so that tables give way where they contradict each other,
and hardly elsewhere."""
CLOSE = 1e-6  # of a record


def tilt(
    points: NDArray[np.int32], weights: Floats, tables: Sequence[Floats], covariances: Sequence[Floats]
) -> Floats:
    """Return the weights that agree with the one-way tables, given the points (attributes x points).

    >>> points = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.int32)
    >>> w = tilt(points, np.ones(4), [np.array([3.0, 1.0]), np.array([2.0, 2.0])], [np.zeros((2, 2))] * 2)
    >>> w.round(6).tolist()
    [1.5, 1.5, 0.5, 0.5]
    """
    sizes = [len(table) for table in tables]
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    target, noise = np.concatenate(tables), np.zeros((starts[-1], starts[-1]))
    for start, own in zip(starts, covariances, strict=False):
        noise[start : start + len(own), start : start + len(own)] = GIVE * own
    logs, out, solve = np.zeros(starts[-1]), weights.copy(), None
    best, before, nearest = np.inf, 0.0, weights
    for step in range(STEPS + 1):
        miss = target - _margins(points, starts, out) - noise @ logs
        if (off := float(np.abs(miss).max())) < best:
            best, nearest = off, out
        if best < CLOSE or step == STEPS or not np.isfinite(off):
            break
        if not off < before / FASTER:
            solve = _factor(_together(points, starts, out) + noise)
        before, change = off, cho_solve(solve, miss)
        moved = np.empty_like(out)
        tilt_weights(points, starts, change, np.ones_like(out), moved)
        # Factors of values may be large, and cancel each other; those of points may not.
        counting = out > SMALL * out.mean()
        largest = float(np.abs(np.log(np.maximum(moved[counting], 1e-300))).max(initial=0.0))
        logs = logs + change * min(1.0, MAX_STEP / max(largest, 1e-300))
        out = np.empty_like(out)
        tilt_weights(points, starts, logs, weights, out)
    return nearest


def _margins(points: NDArray[np.int32], starts: NDArray[np.int64], weights: Floats) -> Floats:
    """Return the sums of weights by the values of every attribute, one after the other."""
    out = np.zeros(starts[-1])
    in_threads(lambda part: add_margins(points[part], starts[part], weights, out), pieces(len(points), 4))
    return out


def _together(points: NDArray[np.int32], starts: NDArray[np.int64], weights: Floats) -> Floats:
    """Return the sums of weights by any two values."""
    out = np.zeros((starts[-1], starts[-1]))
    pairs = np.array([(i, j) for i in range(len(points)) for j in range(i)], dtype=np.int64).reshape(-1, 2)
    in_threads(lambda part: add_pairs(points, starts, weights, pairs[part], out), pieces(len(pairs), 16))
    out += out.T
    np.fill_diagonal(out, _margins(points, starts, weights))
    return out


def _factor(matrix: Floats) -> tuple[Floats, bool]:
    """Factor the matrix; it gives no say to who adds the same to all values of an attribute and takes it from another's."""
    matrix[np.diag_indices_from(matrix)] += RIDGE * np.trace(matrix) / len(matrix) + 1e-12
    factor: tuple[Floats, bool] = cho_factor(matrix, overwrite_a=True, check_finite=False)
    return factor
