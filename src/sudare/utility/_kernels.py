"""Compiled: counting rows in boxes, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels import kernel

Array = np.ndarray[Any, Any]


@kernel
def count_rows(columns: Array, low: Array, high: Array) -> Array:
    """Return how many rows lie in each box, both ends included; `columns` holds one row per attribute."""
    axes, rows = columns.shape
    counts = np.zeros(len(low), np.int64)
    for q in range(len(low)):
        for i in range(rows):
            inside = True
            for a in range(axes):
                if columns[a, i] < low[q, a] or columns[a, i] > high[q, a]:
                    inside = False
                    break
            counts[q] += inside
    return counts
