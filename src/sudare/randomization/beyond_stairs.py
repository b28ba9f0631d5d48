"""Matrices under k whose rows are no stairs.

Entries between m_i and x m_i are enough for a spread of 2 ln x, but not needed: what counts are the pairs of columns, u and
w, and for each of them the range of L[i, u] - L[i, w] over the rows i, where L are the logarithms of the entries. Three rows of three
columns may have L = (0, 0, 0), (2 ln x, 0, 0) and (2 ln x, 2 ln x, 0): no two columns are farther apart than 2 ln x, and no
factors of rows and columns bring all rows within ln x.

In L these conditions are linear: with some b[u, w], every L[i, u] - L[i, w] lies between b[u, w] and b[u, w] + 2 ln x. The mean distance
of column j, whose entries are e^L over their sum, is not; it is made less step by step, by linear programs.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from sudare.randomization._spread import log_ratios
from sudare.randomization.channel import Floats
from sudare.randomization.reconstructable import descended
from sudare.randomization.staircase import EXACT, NONE, Histograms

FIRST_STEP = 1.0
"""Of a logarithm."""
RAREST, UNUSED = -16.0, -22.0
"""The logarithm of an entry, beside the largest of its column, from which on a row may come into use, or fall out of it (`NONE`)."""


def beyond_stairs(matrix: Floats, distances: Floats, among: Histograms, x: float) -> Floats:
    """Return a matrix of spread 2 ln x at most whose expected distance is less than that of one, if steps lead to one.

    >>> share, far = np.array([0.4, 0.3, 0.3]), np.array([[0.0, 1, 1], [1, 0, 9], [1, 9, 0]])
    >>> start = np.array([[2.0, 1, 1], [1, 2, 1], [1, 1, 2]]) / 4
    >>> less = beyond_stairs(start, far, Histograms(share, share), 2.0)
    >>> bool((less * far * share).sum() < (start * far * share).sum())
    True
    """
    reach = 2 * math.log(x)
    with np.errstate(divide="ignore"):
        start = np.maximum(np.log(matrix / matrix.max(axis=0)), RAREST)

    def value(logs: Floats) -> float:
        costs = (_within(logs, reach) * distances).sum(axis=0)
        return float(costs @ among.worst(costs))

    return _within(
        descended(
            start, value, lambda logs, width: _best_near(logs, distances, among, reach, width), FIRST_STEP
        ),
        reach,
    )


def _within(logs: Floats, reach: float) -> Floats:
    """Return the matrix of logarithms, drawn together as far as the spread asks: all ratios shrink alike."""
    columns = np.exp(logs - logs.max(axis=0))
    columns[(columns / columns.sum(axis=0)).max(axis=1) <= NONE] = 0.0
    ratios = log_ratios(columns / columns.sum(axis=0))
    spread = float((ratios + ratios.T).max())
    if spread > reach:
        columns = columns ** (reach / spread)
    return np.asarray(columns / columns.sum(axis=0))


def _best_near(
    logs: Floats, distances: Floats, among: Histograms, reach: float, width: float
) -> Floats | None:
    """Return logarithms within a width of some for which the slopes of the mean distances promise least.

    As for `staircase`, the worst of several histograms costs the least l + high a - low b with l + a_j - b_j above the costs.
    """
    d = len(logs)
    n, pairs = d * d, [(u, w) for u in range(d) for w in range(u)]
    columns = np.exp(logs - logs.max(axis=0))
    columns /= columns.sum(axis=0)
    costs = (columns * distances).sum(axis=0)
    slopes = columns * (distances - costs)
    between = sparse.lil_matrix((2 * d * len(pairs), n + len(pairs)))
    for p, (u, w) in enumerate(pairs):
        for i in range(d):
            row = 2 * (p * d + i)
            between[row, i * d + u], between[row, i * d + w], between[row, n + p] = 1, -1, -1
            between[row + 1, i * d + u], between[row + 1, i * d + w], between[row + 1, n + p] = -1, 1, 1
    limits = np.tile([reach, 0.0], d * len(pairs))
    of_column = sparse.lil_matrix((d, n + len(pairs)))
    for j in range(d):
        of_column[j, np.arange(d) * d + j] = slopes[:, j]
    one, many = sparse.csr_matrix(np.ones((d, 1))), sparse.identity(d)
    left = sparse.vstack(
        [
            sparse.hstack([between, sparse.csr_matrix((between.shape[0], 2 * d + 1))]),
            sparse.hstack([of_column, -one, -many, many]),
        ]
    )
    right = np.concatenate([limits, (slopes * logs).sum(axis=0) - costs])
    near = [(max(one_log - width, UNUSED), one_log + width) for one_log in logs.ravel()]
    free: list[tuple[float | None, float | None]] = [(None, None)] * (len(pairs) + 1)
    solution = linprog(
        np.concatenate([np.zeros(n + len(pairs)), [1.0], among.high, -among.low]), left.tocsr(), right,
        bounds=[*near, *free, *[(0, None)] * (2 * d)], method="highs-ds", options=EXACT,
    )  # fmt: skip
    return np.asarray(solution.x[:n].reshape(d, d)) if solution.status == 0 else None
