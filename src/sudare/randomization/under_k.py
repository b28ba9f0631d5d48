"""The best matrix of all under Pk-anonymity itself, not under the epsilon that would be enough for it.

The exact condition. A table of N records is randomized by P and shuffled; somebody who knows it bets that the record i
came out as the row j. Each assignment of records to rows in which it did becomes one in which it came out as another
row l, by exchanging the rows of two records: its probability falls by a factor of r = P[a,u] P[b,w] / (P[a,w] P[b,u]) at
most, where u, w are the values of the two records and a, b those of the rows. So each of the N - 1 other rows is at least 1/r times
as likely as j, and the bet is won with a probability of 1 / (1 + (N-1)/r) at most. It is won as often if i has the value u, all
others have w, j has a and all other rows have b. Hence P gives k exactly if the largest r over all u, w, a, b, which is
e^spread, is (N-1)/(k-1) at most. An epsilon of half that spread is enough, but not needed.

Multiplying a row or a column by a number changes no r. So, with x^2 = e^spread, any m and entries m_i <= Q[i, j] <= x m_i
will do, and P is Q with every column divided by its sum. (Under epsilon these sums must be 1.) Given m, column j is
best on its own: its mean distance t is least if Q[i, j] = x m_i where D[i, j] < t and m_i elsewhere.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from sudare.randomization.beyond_stairs import beyond_stairs
from sudare.randomization.channel import Floats
from sudare.randomization.reconstructable import FEW, SOME
from sudare.randomization.staircase import NONE, Histograms, all_alike, filled, least_rows

ROUNDS, ROUNDS_OF_WORST = 500, 60
"""Of the search, for one histogram and for several, where each takes longer."""
TOLERANCE, TOLERANCE_OF_WORST = 1e-12, 1e-9


def least_distance_under_k(distances: Floats, among: Histograms, x: float) -> Floats:
    """Return a matrix of spread 2 ln x whose expected distance is least, for the worst of some histograms.

    Where distances are all alike it is the best of all: `root_weights` of the flattest histogram among these, u. It is the worst
    one for its own best matrix. For m_j rises with u_j, and what is kept of value j with m_j; so the values that are kept less
    than those on the level of u have their highest share, and those that are kept more their lowest.

    Else it is the best that a search finds, from the best matrix of epsilon ln x on and from others: never worse than that one,
    though maybe not the best. Of few values, matrices without common m_i are looked at, too (`beyond_stairs`).

    >>> share = np.array([0.7, 0.3])
    >>> least_distance_under_k(1 - np.eye(2), Histograms(share, share), np.e).round(3).tolist()
    [[0.878, 0.493], [0.122, 0.507]]
    """
    roots = root_weights(among.flattest(), x)
    if all_alike(distances):
        return weighted(roots, x, distances)
    rows = least_rows(distances, among, x)
    safe = filled(rows, x, distances)
    if x == 1.0:
        return safe
    d = len(rows)
    starts = (
        [rows / rows.sum(), roots, np.full(d, 1 / d)] if among.known or d <= SOME else [rows / rows.sum()]
    )
    found = [safe, *(weighted(_searched(start, distances, among, x), x, distances) for start in starts)]
    if d <= FEW:
        found += [beyond_stairs(matrix, distances, among, x) for matrix in found]
    return min(found, key=lambda matrix: _worst(matrix, distances, among))


def root_weights(share: Floats, x: float) -> Floats:
    """Return the weights m with which most records are kept: m_j = (c sqrt v_j - 1) / (x - 1) for the most frequent values, else 0.

    What can be kept at all: P keeps value j with p_j, for all j at once, exactly if sum_j w(p_j) <= 1 with
    w(p) = p / (x - (x-1) p). If: with m_j = w(p_j), and 1 as their sum, column j keeps x m_j / (1 + (x-1) m_j) = p_j. Only if:
    the condition for the values j, l and the rows j, l is sqrt(P[j,l] P[l,j]) >= a_j a_l / x with a_j = sqrt p_j. The matrix B
    of sqrt(P[j,l] P[l,j]) has a spectral radius of 1 at most: with P z = z and f = sqrt z, (B f)_j <= sqrt((P z)_j sum_l P[l,j]) =
    f_j by Cauchy and Schwarz. So has what lies entry by entry below it, the diagonal matrix of p_j (1 - 1/x) plus a a^T / x.
    But its radius is at most 1 exactly if sum_j (p_j / x) / (1 - p_j (1 - 1/x)) <= 1, which is what was said.

    So sum_j v_j x m_j / (1 + (x-1) m_j) is to be made largest over m >= 0 with sum 1. It is concave: the derivatives
    v_j x / (1 + (x-1) m_j)^2 are alike where m_j > 0, and not larger elsewhere, which gives the m above, with c such
    that they sum to 1. The value n is among them if c sqrt v_n > 1.
    """
    if x == 1.0:
        return np.asarray((np.arange(len(share)) == share.argmax()).astype(np.float64))
    roots = np.sqrt(share)
    falling = np.sort(roots)[::-1]
    n = np.arange(1, len(share) + 1)
    scale = (x - 1 + n) / np.cumsum(falling)
    last = int(np.flatnonzero(scale * falling > 1)[-1])
    return np.asarray(np.maximum(scale[last] * roots - 1, 0.0) / (x - 1))


def weighted(least: Floats, x: float, distances: Floats) -> Floats:
    """Return the best matrix with given least entries of its rows, before its columns are divided by their sums."""
    least = np.where(least > NONE, least, 0.0)
    columns = least[:, None] * _stairs(least, x, distances)[1]
    return np.asarray(columns / columns.sum(axis=0))


def _stairs(least: Floats, x: float, distances: Floats) -> tuple[Floats, Floats]:
    """Return the least mean distance of every column, and where it has 1 and where x times the least entry of the row."""
    order = np.argsort(distances, axis=0, kind="stable")
    near, weight = np.take_along_axis(distances, order, axis=0), least[order]
    more = (x - 1) * np.cumsum(near * weight, axis=0) + distances.T @ least
    means = more / ((x - 1) * np.cumsum(weight, axis=0) + least.sum())
    mean = np.minimum(means.min(axis=0), distances.T @ least / least.sum())
    return mean, np.where(distances < mean, x, 1.0)


def _worst(matrix: Floats, distances: Floats, among: Histograms) -> float:
    costs = (matrix * distances).sum(axis=0)
    return float(costs @ among.worst(costs))


def _searched(start: Floats, distances: Floats, among: Histograms, x: float) -> Floats:
    """Search the m of sum 1 whose columns, each at its best, are best together: by steps of a quadratic program.

    For several histograms it looks for the least l + high a - low b with l + a_j - b_j >= t_j(m), as the linear program does.
    """
    d = len(start)

    def means(z: Floats) -> tuple[Floats, Floats]:
        least = np.maximum(z[:d], 0.0)
        mean, stairs = _stairs(least, x, distances)
        slopes = stairs * (distances - mean) / (least @ stairs)
        return mean, slopes.T

    simplex = {"type": "eq", "fun": lambda z: z[:d].sum() - 1, "jac": lambda z: (np.arange(len(z)) < d) * 1.0}
    if among.known:
        solution = minimize(
            lambda z: among.low @ means(z)[0], start, jac=lambda z: among.low @ means(z)[1],
            method="SLSQP", bounds=[(0, 1)] * d, constraints=[simplex],
            options={"maxiter": ROUNDS, "ftol": TOLERANCE},
        )  # fmt: skip
        return np.asarray(np.maximum(solution.x, 0.0))
    costs = np.concatenate([np.zeros(d), [1.0], among.high, -among.low])
    lifts = np.hstack([np.ones((d, 1)), np.eye(d), -np.eye(d)])
    above = {
        "type": "ineq",
        "fun": lambda z: lifts @ z[d:] - means(z)[0],
        "jac": lambda z: np.hstack([-means(z)[1], lifts]),
    }
    first = means(start)[0]
    solution = minimize(
        lambda z: costs @ z, np.concatenate([start, [first.max()], np.zeros(2 * d)]), jac=lambda z: costs,
        method="SLSQP", bounds=[(0, 1)] * d + [(None, None)] + [(0, None)] * (2 * d),
        constraints=[simplex, above], options={"maxiter": ROUNDS_OF_WORST, "ftol": TOLERANCE_OF_WORST},
    )  # fmt: skip
    return np.asarray(np.maximum(solution.x[:d], 0.0))
