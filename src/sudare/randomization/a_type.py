"""The best A-type matrix for a loss that is linear in what leaves each value, or for reconstruction: all pairs, given to a solver."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from sudare.randomization.channel import Floats
from sudare.randomization.pram import Pram, conventional_pram
from sudare.randomization.reconstructable import descended, error, slopes
from sudare.randomization.staircase import EXACT, Histograms

ROOM = 1 - 1e-8
"""For the solver's rounding: what it finds is to be within epsilon, not about it."""


def least_distance_a_type(distances: Floats, among: Histograms, e: float) -> Pram:
    """Return the A-type matrix whose expected distance is least, for the worst of some histograms.

    A record of value j moves by sum_i D[i, j] / (d - 1) if it leaves. Several histograms are treated as in `staircase`.
    """
    d = len(distances)
    conventional = conventional_pram(d, epsilon=float(np.log(e)))
    moves = distances.sum(axis=0) / max(d - 1, 1)
    leave = _solved(among.low * moves, e) if among.known else _solved_for_the_worst(moves, among, e)

    def worst(pram: Pram) -> float:
        costs = pram.leave * moves
        return float(costs @ among.worst(costs))

    return conventional if leave is None else min((Pram(leave), conventional), key=worst)


def least_error_a_type(share: Floats, e: float) -> Pram:
    """Return the best A-type matrix found for reconstruction, from the conventional one on."""
    d = len(share)

    def value(leave: Floats) -> float:
        return error(Pram(leave).matrix, share)

    def best_near(leave: Floats, width: float) -> Floats | None:
        slope = slopes(Pram(leave).matrix, share)
        by_leave = slope.sum(axis=0) / (d - 1) - slope.diagonal() * (1 + 1 / (d - 1))
        return _solved(by_leave, e, np.maximum(leave - width, 0.0), np.minimum(leave + width, 1.0))

    start = conventional_pram(d, epsilon=float(np.log(e))).leave
    return Pram(descended(start, value, best_near, float(start.max()) / 4))


def _solved(costs: Floats, e: float, low: Floats | float = 0.0, high: Floats | float = 1.0) -> Floats | None:
    d = len(costs)
    rows, limits = _pairs(d, e)
    bounds = np.stack([np.broadcast_to(low, d), np.broadcast_to(high, d)], axis=1)
    costs = costs / max(float(np.abs(costs).max()), 1e-300)
    solution = linprog(costs, rows, limits, bounds=bounds, method="highs-ds", options=EXACT)
    return np.clip(solution.x, 0.0, 1.0) if solution.status == 0 else None


def _solved_for_the_worst(moves: Floats, among: Histograms, e: float) -> Floats | None:
    d = len(moves)
    rows, limits = _pairs(d, e)
    lifted = [sparse.diags(moves), -np.ones((d, 1)), -sparse.identity(d), sparse.identity(d)]
    inside = sparse.vstack(
        [sparse.hstack([rows, sparse.csr_matrix((rows.shape[0], 2 * d + 1))]), sparse.hstack(lifted)]
    )
    costs = np.concatenate([np.zeros(d), [1.0], among.high, -among.low])
    bounds = [(0, 1)] * d + [(None, None)] + [(0, None)] * (2 * d)
    limits = np.concatenate([limits, np.zeros(d)])
    solution = linprog(costs, inside.tocsr(), limits, bounds=bounds, method="highs-ds", options=EXACT)
    return np.clip(solution.x[:d], 0.0, 1.0) if solution.status == 0 else None


def _pairs(d: int, e: float) -> tuple[sparse.csr_matrix, Floats]:
    """Return the constraints on all pairs of cells, as rows and limits."""
    e *= ROOM
    i, j = np.nonzero(~np.eye(d, dtype=bool))
    each = np.tile(np.arange(len(i)), 2)
    kinds = [  # the factors of q_i and q_j, and the limit
        (-(d - 1) / e, -1.0, -(d - 1) / e),  # 1 - q_i <= e q_j / (d - 1)
        (1.0, 1 / (e * (d - 1)), 1.0),  # q_j / (d - 1) <= e (1 - q_i)
    ]
    if d > 2:
        kinds.append((-1.0, 1 / e, 0.0))  # q_j <= e q_i
    rows = [
        sparse.csr_matrix(
            (np.repeat([one, other], len(i)), (each, np.concatenate([i, j]))), shape=(len(i), d)
        )
        for one, other, _ in kinds
    ]
    return sparse.vstack(rows).tocsr(), np.repeat([limit for *_, limit in kinds], len(i))
