"""A compiled loop: tuples that follow cuts to their blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.kernels import kernel

Ints = NDArray[np.int64]


@kernel
def routed(
    units: NDArray[np.int32],
    nodes: NDArray[np.int32],
    attribute: Ints,
    level: Ints,
    block: Ints,
    start: Ints,
    branches: Ints,
    first: int,
) -> Ints:  # pragma: no cover
    """Follow every tuple from cut to cut."""
    block_of = np.full(len(units), -1, dtype=np.int64)
    for i in range(len(units)):
        part = first
        while part >= 0 and block[part] < 0:
            a = attribute[part]
            node = nodes[a, level[part], units[i, a]]
            low, high = start[part], start[part + 1]
            rest = branches[low, 2] if low < high and branches[low, 1] == -1 else -1
            while low < high:
                middle = (low + high) // 2
                if branches[middle, 1] < node:
                    low = middle + 1
                else:
                    high = middle
            part = branches[low, 2] if low < start[part + 1] and branches[low, 1] == node else rest
        if part >= 0:
            block_of[i] = block[part]
    return block_of
