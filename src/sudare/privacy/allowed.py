"""How large and how small a share of a block each sensitive value may be: what some requirements come to, value by value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sudare.privacy._kernels import TOLERANCE
from sudare.privacy.blocks import Blocks

LEAST, MOST = 0, 1
"""The rows of what is allowed; its columns are the sensitive codes."""
Floats = NDArray[np.float64]


def together(allowed: Sequence[Floats]) -> Floats:
    """Return what several requirements allow together; without any, nothing is asked of any value.

    >>> together([np.array([[0.0, 0.1], [0.9, 0.5]]), np.array([[0.2, 0.0], [1.0, 0.4]])]).tolist()
    [[0.2, 0.1], [0.9, 0.4]]
    """
    if not allowed:
        return np.empty((2, 0))
    least = np.maximum.reduce([one[LEAST] for one in allowed])
    return np.stack([least, np.minimum.reduce([one[MOST] for one in allowed])])


def outside(blocks: Blocks, allowed: Floats) -> NDArray[np.bool_]:
    """Tell of each block whether the share of some value is not allowed; a value that a block lacks has the share 0 in it."""
    block = block_of_pairs(blocks)
    size, count = blocks.sizes[block], blocks.count
    too_many = count > allowed[MOST, blocks.value] * size * (1 + TOLERANCE)
    too_few = count < allowed[LEAST, blocks.value] * size * (1 - TOLERANCE)
    bad = np.bincount(block, too_many | too_few, minlength=len(blocks)) > 0
    needed = allowed[LEAST] > 0
    there = np.bincount(block, needed[blocks.value], minlength=len(blocks))
    return np.asarray(bad | (there < needed.sum()))


def block_of_pairs(blocks: Blocks) -> NDArray[np.int64]:
    """Return the block of each pair of a block and a value in it."""
    return np.repeat(np.arange(len(blocks)), np.diff(blocks.start))
