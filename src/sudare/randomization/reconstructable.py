"""The best matrix for an analyst who reconstructs: the least expected squared error of the unbiased estimate.

The output has the counts w, of mean P v, and the estimate G w with G = P^-1. Record by record its covariances add up to
G diag(P v) G^T - diag(v), so that the expected squared error is tr(G diag(P v) G^T) - N: no linear program, and not convex in P. It
is looked for step by step, from matrices that are known to be good: randomized response, which is best of all for
equally frequent values if e is not too small, and subsets. In those, row i stands for about d / (e + 1) values, of
which each is e times as likely to come out as i; that is best of all if e is small (Ye and Barg 2018).

Every step is taken only if it lowers the error: what is found is never worse than where it started. That nothing is better is
not proven; for few values, tests start elsewhere with another program and find no better one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog, minimize

from sudare.randomization.channel import Floats
from sudare.randomization.staircase import EXACT

STEPS = 60
SMALLEST_STEP = 1e-6
ROUNDS = 500
SWAPS = 4_000
WIDEST = 12.0
"""The logarithm of how often one row may be used, to another."""
FEW, SOME = 6, 30
"""Values for which many starts are followed, or one."""


def error(matrix: Floats, share: Floats) -> float:
    """Return the expected squared error of the unbiased estimate of N records, over N; infinite if nothing can be told back.

    >>> round(error(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0.5, 0.5])), 6)
    1.5
    """
    try:
        back = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return math.inf
    value = float((back**2 @ (matrix @ share)).sum()) - 1.0
    return value if math.isfinite(value) and value > 0 else math.inf


def slopes(matrix: Floats, share: Floats) -> Floats:
    """Return the derivatives of the error by the entries of the matrix."""
    back = np.linalg.inv(matrix)
    spread = (back * (matrix @ share)) @ back.T
    return np.asarray(-2 * (spread @ back).T + np.outer((back**2).sum(axis=0), share))


# -- Where to start -----------------------------------------------------------------------------------


def patterns(d: int, e: float) -> list[Floats]:
    """Return where the entries of a row are e times as large: at its own value, or at several values beside it, shifted row by row."""
    sizes = {1, math.floor(d / (e + 1)), math.ceil(d / (e + 1))}
    return [_shifted(_apart(d, size)) for size in sorted(sizes) if 1 <= size < d]


def _shifted(chosen: Floats) -> Floats:
    d = len(chosen)
    return np.asarray(chosen[(np.arange(d) - np.arange(d)[:, None]) % d])


def _apart(d: int, size: int) -> Floats:
    """Return 0 and other places among d in a circle whose differences are spread: exchanges make the inverse flatter."""
    chosen = np.arange(d) < size
    if size == 1:
        return chosen.astype(np.float64)

    def unevenness(places: NDArray[np.bool_]) -> float:
        return float((1 / np.maximum(np.abs(np.fft.fft(places)[1:]), 1e-6) ** 2).sum())

    rng, least = np.random.default_rng(size), unevenness(chosen)  # any start will do; the same each time
    for _ in range(SWAPS):
        out, into = rng.choice(np.flatnonzero(chosen)), rng.choice(np.flatnonzero(~chosen))
        chosen[[out, into]] = False, True
        if out == 0 or (now := unevenness(chosen)) >= least:
            chosen[[out, into]] = True, False
        else:
            least = now
    return chosen.astype(np.float64)


# -- Under epsilon ------------------------------------------------------------------------------------


def least_error(share: Floats, e: float, starts: list[Floats]) -> Floats:
    """Return the best matrix found whose rows differ by a factor of e at most; `starts` are such matrices.

    Of few values all starts are followed, of some the best one, and of many none: there a step is a large program.
    """
    d = len(share)
    circles = [1 + (e - 1) * pattern for pattern in patterns(d, e)]
    tried = starts + [circle / circle.sum(axis=0) for circle in circles] + (_mixed(d, e) if d <= FEW else [])
    tried = sorted(tried, key=lambda matrix: error(matrix, share))
    followed = tried[: len(tried) if d <= FEW else 1 if d <= SOME else 0]
    found = [_descended(one, share, e) for one in followed if math.isfinite(error(one, share))]
    return min([*found, tried[0]], key=lambda matrix: error(matrix, share))


def _mixed(d: int, e: float) -> list[Floats]:
    """Return some matrices of other patterns, near enough to nothing that epsilon holds."""
    rng = np.random.default_rng(d)
    drawn = [1 + (e - 1) * 0.3 * rng.random((d, d)) for _ in range(4)]
    tamed = [one / one.sum(axis=0) for one in drawn]
    return [one for one in tamed if (one.max(axis=1) <= e * one.min(axis=1)).all()]


def _descended(matrix: Floats, share: Floats, e: float) -> Floats:
    return descended(
        matrix,
        lambda one: error(one, share),
        lambda one, width: _best_near(one, slopes(one, share), width, e),
        float(matrix.max()) / 4,
    )


def descended(
    start: Floats,
    value: Callable[[Floats], float],
    best_near: Callable[[Floats, float], Floats | None],
    width: float,
) -> Floats:
    """Step to the best of the linear program around a point while that lowers the value; else look nearer."""
    best, least = start, value(start)
    for _ in range(STEPS):
        if width < SMALLEST_STEP:
            break
        near = best_near(best, width)
        now = math.inf if near is None else value(near)
        if near is not None and now < least * (1 - 1e-12):
            best, least, width = near, now, 1.5 * width
        else:
            width /= 4
    return best


def _best_near(matrix: Floats, slope: Floats, width: float, e: float) -> Floats | None:
    """Return where a slope falls most among the matrices within epsilon whose entries differ by a width at most."""
    d = len(matrix)
    n, row = d * d, np.repeat(np.arange(d), d)
    column, each = np.tile(np.arange(d), d), np.arange(n)
    top = sparse.csr_matrix((np.ones(n), (each, row)), shape=(n, d))
    one = sparse.identity(n)
    between = sparse.vstack([sparse.hstack([one, -top]), sparse.hstack([-one, top / e])]).tocsr()
    sums = sparse.csr_matrix((np.ones(n), (column, each)), shape=(d, n + d))
    low, high = np.maximum(matrix - width, 0.0).ravel(), np.minimum(matrix + width, 1.0).ravel()
    bounds = np.concatenate([np.stack([low, high], axis=1), np.tile([0.0, 1.0], (d, 1))])
    costs = np.concatenate([(slope / np.abs(slope).max()).ravel(), np.zeros(d)])
    solution = linprog(
        costs, between, np.zeros(2 * n), sums, np.ones(d), bounds, method="highs-ds", options=EXACT
    )
    return within(solution.x[:n].reshape(d, d), e) if solution.status == 0 else None


def within(matrix: Floats, e: float) -> Floats:
    """Return a matrix that is within epsilon, and its columns distributions, up to rounding, as it really is."""
    least = np.maximum(matrix.min(axis=1), 0.0)[:, None]
    least = least * np.clip(1.0, 1 / (e * least.sum()), 1 / least.sum())
    room, wanted = (e - 1) * least, 1.0 - least.sum()
    more = np.clip(matrix - least, 0.0, room)
    has, left = more.sum(axis=0), (room - more).sum(axis=0)
    less = more * np.minimum(wanted / np.maximum(has, 1e-300), 1.0)
    grown = more + (room - more) * np.clip((wanted - has) / np.maximum(left, 1e-300), 0.0, 1.0)
    return np.asarray(least + np.where(has > wanted, less, grown))


# -- Under k ------------------------------------------------------------------------------------------


def least_error_under_k(share: Floats, x: float, starts: list[Floats]) -> Floats:
    """Return the best matrix found of spread 2 ln x: columns of m_i x^s_ij with s from 0 to 1, divided by their sums."""
    found = [*starts, *(_followed(pattern, share, x) for pattern in patterns(len(share), x))]
    return min(found, key=lambda matrix: error(matrix, share))


def _followed(pattern: Floats, share: Floats, x: float) -> Floats:
    """Search m and s from a pattern on."""
    d, reach = len(share), math.log(x)

    def matrix(z: Floats) -> Floats:
        columns = np.exp(z[:d, None] + reach * z[d:].reshape(d, d))
        return np.asarray(columns / columns.sum(axis=0))

    def logarithm(z: Floats) -> tuple[float, Floats]:
        p = matrix(z)
        value = error(p, share)
        if not math.isfinite(value):
            return 100.0, np.zeros_like(z)
        slope = slopes(p, share)
        own = p * (slope - (slope * p).sum(axis=0)) / value
        return math.log(value), np.concatenate([own.sum(axis=1), reach * own.ravel()])

    start = np.concatenate([np.zeros(d), pattern.ravel()])
    bounds = [(-WIDEST, WIDEST)] * d + [(0.0, 1.0)] * (d * d)
    options = {"maxiter": ROUNDS, "ftol": 1e-12, "gtol": 1e-8}
    return matrix(minimize(logarithm, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x)
