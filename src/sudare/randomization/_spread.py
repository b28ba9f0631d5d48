"""Compiled: the ratios of all pairs of columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels import kernel

Array = np.ndarray[Any, Any]


@kernel
def _largest(logs: Array) -> Array:  # pragma: no cover
    """Return max_a logs[u, a] - logs[v, a] for all pairs of rows; what both cannot produce counts for nothing."""
    d = logs.shape[0]
    largest = np.zeros((d, d))
    for u in range(d):
        for v in range(d):
            most = 0.0
            for a in range(logs.shape[1]):
                if logs[u, a] > -np.inf:
                    most = max(most, logs[u, a] - logs[v, a])
            largest[u, v] = most
    return largest


def log_ratios(matrix: Array) -> Array:
    """Return the largest ln(P[a, u] / P[a, v]) over the rows a, for all columns u and v."""
    with np.errstate(divide="ignore"):
        return np.asarray(_largest(np.ascontiguousarray(np.log(matrix).T)))
