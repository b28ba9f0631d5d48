"""The best matrix of all for the distance between a record and its image, under epsilon: a linear program.

With e = e^epsilon, the probabilities of row i differ by a factor of e at most exactly if some m_i has m_i <= P[i, j] <= e m_i for
all j. So the d^2 (d - 1) constraints on pairs are 2 d^2 ones on single entries, with d more unknowns. Given m, every column is
best on its own: what is left of it, 1 - sum m, goes to the nearest values first, each up to (e - 1) m_i (`filled`). Its
rows are stairs: nearly all entries are m_i or e m_i.

Few rows are used where the values are many. The program is solved for some of them, and another one enters if it would pay:
with the prices y of the columns, a row i of height 1 costs sum_j s_j (v_j D[i, j] - y_j), which is least for s_j = e where
the bracket is below 0 and s_j = 1 elsewhere. If that is below 0 for no row, no row of any shape is missing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from sudare.errors import RequirementError
from sudare.randomization.channel import Floats

Places = NDArray[np.int64]
FIRST_ROWS = 16
NONE = 1e-9
"""A row that is used less often is not used: it could not be drawn with the right ratios."""
WOULD_PAY = 1e-9
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class Histograms(NamedTuple):
    """All shares of the values between two bounds that sum to 1."""

    low: Floats
    high: Floats

    @property
    def known(self) -> bool:
        """Whether there is only one."""
        return bool((self.low == self.high).all())

    def worst(self, costs: Floats) -> Floats:
        """Return the one for which the costs of the values are largest: what is dearest is as frequent as can be."""
        order = np.argsort(-costs, kind="stable")
        room = (self.high - self.low)[order]
        before = np.cumsum(room) - room
        shares = self.low.copy()
        shares[order] += np.clip(1.0 - self.low.sum() - before, 0.0, room)
        return shares

    def flattest(self) -> Floats:
        """Return the one whose shares are most alike: one level for all of them, cut off at their bounds.

        >>> Histograms(np.array([0.5, 0.0, 0.0]), np.array([0.7, 0.1, 0.9])).flattest().round(3).tolist()
        [0.5, 0.1, 0.4]
        """
        levels = np.unique(np.concatenate([self.low, self.high]))
        sums = [np.clip(level, self.low, self.high).sum() for level in levels]
        shares = np.clip(np.interp(1.0, sums, levels), self.low, self.high)
        return np.asarray(shares / shares.sum())


def least_distance(distances: Floats, among: Histograms, e: float) -> Floats:
    """Return the matrix whose expected distance is least, for the worst of some histograms.

    >>> share = np.array([0.4, 0.3, 0.3])
    >>> least_distance(1 - np.eye(3), Histograms(share, share), 2.0).round(3).tolist()
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    """
    if among.known and all_alike(distances):
        return filled(most_kept(among.low, e), e, distances)
    return filled(least_rows(distances, among, e), e, distances)


def all_alike(distances: Floats) -> bool:
    """Say whether every change costs the same."""
    apart = distances[~np.eye(len(distances), dtype=bool)]
    return bool(apart.size and (apart == apart[0]).all())


def most_kept(share: Floats, e: float) -> Floats:
    """Return the least entries of the rows of the matrix that keeps most records: 1 / (e + n - 1) for the n most frequent values, else 0.

    Of column j, e m_j can be kept, but no more than m_j + 1 - M, with M = sum m: all cells whose m_j is below
    c = (1 - M) / (e - 1) gain e v_j with it, and beyond c only v_j. For a fixed M the best is to fill the most frequent values up
    to c, the next one with the rest. Between the M at which that rest is 0 or c the gain is linear in M; so it is 0
    at the best M, n c = M, and e sum_{j <= n} v_j / (e + n - 1) are kept. (If all d are filled, more of the first one gains
    v_1, again linear in M, up to n = 1.) So n values answer as in randomized response, and all others take one of them.
    """
    order = np.argsort(-share, kind="stable")
    n = np.arange(1, len(share) + 1)
    best = int(n[np.argmax(np.cumsum(share[order]) / (e + n - 1))])
    least = np.zeros(len(share))
    least[order[:best]] = 1 / (e + best - 1)
    return least


def filled(least: Floats, e: float, distances: Floats) -> Floats:
    """Return the best matrix with given least entries of its rows; values at one distance get what they have room for alike."""
    least = np.where(e * least > NONE, least, 0.0)
    least = least * np.clip(1.0, 1 / (e * least.sum()), 1 / least.sum())
    room, left = (e - 1) * least, 1.0 - least.sum()
    matrix = np.tile(least[:, None], (1, len(least)))
    for j, column in enumerate(distances.T):
        _, level = np.unique(column, return_inverse=True)
        at_level = np.bincount(level, weights=room)
        share = np.clip(left - (np.cumsum(at_level) - at_level), 0.0, at_level)
        share = np.divide(share, at_level, out=np.zeros_like(share), where=at_level > 0)
        matrix[:, j] += room * share[level]
    return np.asarray(matrix / matrix.sum(axis=0))


# -- The linear program -------------------------------------------------------------------------------


def least_rows(distances: Floats, among: Histograms, e: float) -> Floats:
    """Return the least entry of every row of the best matrix."""
    d = len(distances)
    scaled = distances / max(float(distances.max()), 1e-300)
    rows = np.unique(np.linspace(0, d - 1, FIRST_ROWS).round().astype(np.int64))
    while True:
        tops, prices, shares = _solved(scaled[rows], among, e)
        brackets = shares * scaled - prices
        pay = brackets.sum(axis=1) / e + (1 - 1 / e) * np.minimum(brackets, 0.0).sum(axis=1)
        pay[rows] = 0.0
        if pay.min() >= -WOULD_PAY:
            least = np.zeros(d)
            least[rows] = np.maximum(tops, 0.0) / e
            return least
        better = np.argsort(pay, kind="stable")[: max(FIRST_ROWS, len(rows))]
        rows = np.sort(np.concatenate([rows, better[pay[better] < -WOULD_PAY]]))


def _solved(distances: Floats, among: Histograms, e: float) -> tuple[Floats, Floats, Floats]:
    """Solve it with some rows; return their largest possible entries, the prices of the columns, and the worst histogram.

    P[i, j] = t_i / e + x_ij with 0 <= x_ij <= (1 - 1/e) t_i, and every column sums to 1. For several histograms u the
    largest sum_j u_j c_j of the costs c_j = sum_i D[i, j] P[i, j] is, by duality, the least l + high a - low b with
    l + a_j - b_j >= c_j and a, b >= 0.
    """
    r, d = distances.shape
    n = r * d
    row, column, each = np.repeat(np.arange(r), d), np.tile(np.arange(d), r), np.arange(n)
    inside = sparse.hstack([sparse.identity(n), _entries(np.full(n, 1 / e - 1), each, row, (n, r))])
    sums = sparse.hstack([_entries(np.ones(n), column, each, (d, n)), np.full((d, r), 1 / e)])
    bounds: list[tuple[float | None, float | None]] = [(0, None)] * (n + r)
    if among.known:
        costs = np.concatenate([(distances * among.low).ravel(), distances @ among.low / e])
        limits = np.zeros(n)
    else:
        of_column = sparse.hstack([_entries(distances.ravel(), column, each, (d, n)), distances.T / e])
        one, many = sparse.csr_matrix(np.ones((d, 1))), sparse.identity(d)
        inside = sparse.vstack(
            [
                sparse.hstack([inside, sparse.csr_matrix((n, 2 * d + 1))]),
                sparse.hstack([of_column, -one, -many, many]),
            ]
        )
        sums = sparse.hstack([sums, sparse.csr_matrix((d, 2 * d + 1))])
        costs = np.concatenate([np.zeros(n + r), [1.0], among.high, -among.low])
        bounds += [(None, None), *[(0, None)] * (2 * d)]
        limits = np.zeros(n + d)
    solution = linprog(
        costs, inside.tocsr(), limits, sums.tocsr(), np.ones(d), bounds, method="highs-ds", options=EXACT
    )
    if solution.status != 0:
        raise RequirementError(
            f"The solver found no best matrix: {solution.message} Take family='A', or another epsilon."
        )
    shares = among.low if among.known else -solution.ineqlin.marginals[n:]
    return solution.x[n : n + r], solution.eqlin.marginals, shares


def _entries(values: Floats, rows: Places, columns: Places, shape: tuple[int, int]) -> sparse.csr_matrix:
    return sparse.csr_matrix((values, (rows, columns)), shape=shape)
