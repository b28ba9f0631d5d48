"""Measures of the blocks alone: how many records share their quasi values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError


def discernibility(block_sizes: NDArray[np.int64], suppressed: int = 0) -> int:
    """Return DM: every record costs the size of its block, a suppressed one the size of the table.

    >>> discernibility(np.array([2, 3]))
    13
    """
    records = int(block_sizes.sum()) + suppressed
    return int((block_sizes**2).sum()) + suppressed * records


def average_block(block_sizes: NDArray[np.int64], k: int = 1) -> float:
    """Return C_AVG = records / blocks / k: how far the blocks are from k records each; 1 is the best.

    Without k it is the plain mean size of a block. Suppressed records are in no block. Where nothing
    is published it is 0.

    >>> average_block(np.array([4, 6])), average_block(np.array([4, 6]), k=4)
    (5.0, 1.25)
    """
    if k < 1:
        raise ParameterError(f"The 'k' parameter of average_block must be 1 or more. Got {k} instead.")
    return int(block_sizes.sum()) / (len(block_sizes) * k) if len(block_sizes) else 0.0
