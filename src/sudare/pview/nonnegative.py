"""The nearest counts that are not below 0 and have a given sum, where noise is correlated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PATIENCE = 5
"""So often all faulty cells may change sides at once without fewer faults; then they change one at a time."""
TOLERANCE = 1e-9


def nearest(counts: Floats, metric: Floats, total: float) -> Floats:
    """Return the x >= 0 of that sum with the least (x - counts)' metric (x - counts), by block pivoting.

    Cells are free or 0. Given which, the free ones solve a linear system; free cells below 0, and cells at 0 that would
    rather rise, change sides, all of them at once while that helps, and else the last one alone, which cannot go on
    forever (Portugal, Judice & Vicente 1994). The metric must be positive definite.

    >>> nearest(np.array([5.0, 1.0, -2.0]), np.eye(3), 4.0).round(6).tolist()
    [4.0, 0.0, 0.0]
    """
    if total <= 0:
        return np.zeros(len(counts))
    free = counts > 0
    free[np.argmax(counts)] = True
    fewest, patience = len(counts) + 1, PATIENCE
    pull = metric @ counts
    scale = max(float(np.abs(pull).max()), 1.0)
    for _ in range(100 + 10 * len(counts)):
        x, price = _solved(metric, pull, total, free)
        slope = metric @ x - pull - price  # 0 where cells are free
        faulty = np.where(free, x < 0, slope < -TOLERANCE * scale)
        faults = int(faulty.sum())
        if faults == 0:
            break
        if faults < fewest:
            fewest, patience = faults, PATIENCE
        elif patience:
            patience -= 1
        else:
            faulty = np.arange(len(counts)) == np.flatnonzero(faulty)[-1]
        free = free ^ faulty
        if not free.any():
            free[np.argmax(counts)] = True
    x = np.maximum(x, 0.0)
    return np.asarray(x * (total / x.sum()))


def _solved(metric: Floats, pull: Floats, total: float, free: NDArray[np.bool_]) -> tuple[Floats, float]:
    """Return the best x that is 0 where it is not free, and the price of the sum."""
    inner = metric[np.ix_(free, free)]
    both = np.linalg.solve(inner, np.stack([pull[free], np.ones(int(free.sum()))], axis=1))
    price = (total - both[:, 0].sum()) / both[:, 1].sum()
    x = np.zeros(len(pull))
    x[free] = both[:, 0] + price * both[:, 1]
    return x, float(price)
