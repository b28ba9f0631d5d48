"""Recounting by how much the share of a sensitive value in a block differs from its share of the whole output.

Written anew from the definitions: nothing here comes from the methods, nor from what `privacy` measures with. A quotient of two
shares, (count / n) / (whole / N), is that of two whole numbers, divided once.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sudare.verification.recount import RecountedBlocks

TOLERANCE = 1e-12  # relative: ties of numbers such as 0.1, which is not exactly that, are ties


def growths(blocks: RecountedBlocks, *, enhanced: bool) -> list[float]:
    """Return of each block the largest (q - p) / p of a value; if enhanced, infinite where that is above -ln p."""
    quotients = _quotients(blocks)
    if enhanced:
        frequent = blocks.whole[blocks.value] / int(blocks.whole.sum())
        quotients = np.where(quotients > (1 - np.log(frequent)) * (1 + TOLERANCE), math.inf, quotients)
    return _largest(blocks, np.maximum(quotients - 1, 0))


def allows(beta: float, growth: float) -> bool:
    """Tell whether a share may grow so much."""
    return 1 + growth <= (1 + beta) * (1 + TOLERANCE)


def disclosures(blocks: RecountedBlocks) -> list[float]:
    """Return of each block the largest |ln(q / p)| of a value of the whole output; infinite where the block lacks one."""
    largest = _largest(blocks, abs(np.log(_quotients(blocks))))
    values = np.bincount(blocks.block, minlength=len(blocks.sizes)).tolist()
    every = int((blocks.whole > 0).sum())
    return [one if own == every else math.inf for one, own in zip(largest, values, strict=True)]


def below(delta: float, disclosure: float) -> bool:
    """Tell whether a logarithm is less than asked for; a tie is not."""
    return disclosure < delta - TOLERANCE


def _quotients(blocks: RecountedBlocks) -> NDArray[np.float64]:
    """Return q / p of each pair of a block and a value, counted in Python's whole numbers where 64 bits are too few."""
    N = int(blocks.whole.sum())
    exact = object if N**2 >= 2**63 else np.int64
    over = blocks.count.astype(exact) * N
    return np.asarray(
        over / (blocks.sizes[blocks.block].astype(exact) * blocks.whole[blocks.value]), dtype=np.float64
    )


def _largest(blocks: RecountedBlocks, of_pairs: NDArray[np.float64]) -> list[float]:
    largest = np.zeros(len(blocks.sizes))
    np.maximum.at(largest, blocks.block, of_pairs)
    return [float(one) for one in largest]
