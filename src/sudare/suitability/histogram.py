"""What the counts of the sensitive values alone allow: how many blocks, and how large (Muramoto et al.)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import InputError
from sudare.privacy.requirement import number, whole_number
from sudare.tables.typed import own_words, typed

TOLERANCE = 1e-12  # of an entropy; it may only make a lower bound lower


@typed
@own_words("counts")
def max_blocks(counts: ArrayLike, l: int) -> int:
    """Return MaxNB, the largest number of blocks with l distinct sensitive values each (Lemma 2).

    With N_0 >= N_1 >= ... and S_i = N_i + N_{i+1} + ..., the first i in which floor(S_i / (l - i)) >= N_i gives
    floor(S_i / (l - i)): more frequent values are in every block, and the others fill l - i places of each.
    0 if there are fewer than l values.

    >>> max_blocks([50, 25, 15, 7, 3], l=3), max_blocks([10, 8, 7, 3, 2], l=3), max_blocks([9, 9], l=3)
    (25, 10, 0)
    """
    whole_number(l, "l", "max_blocks", least=1)
    falling = _falling(counts)
    if len(falling) < l:
        return 0
    left = falling[::-1].cumsum()[::-1]
    return next(
        int(left[i] // (l - i)) for i in range(l) if left[i] // (l - i) >= falling[i]
    )  # at i = l - 1 it always is


@typed
@own_words("counts")
def min_block_distinct(counts: ArrayLike, l: int) -> int | None:
    """Return BS_s: with l distinct values in every block, some block has at least so many records.

    None if there are fewer than l values.

    >>> min_block_distinct([50, 25, 15, 7, 3], l=3)
    4
    """
    blocks = max_blocks(counts, l)
    return -(-int(_falling(counts).sum()) // blocks) if blocks else None


@typed
@own_words("counts")
def min_block_entropy(counts: ArrayLike, l: float) -> int | None:
    """Return BS_e: with entropy l-diversity in every block, some block has at least so many records (Lemma 3).

    It is the smallest a with f(a) >= log l, where f(a) = sum_i p_i min(log 1/p_i, log a) and p_i = N_i / N: the mean
    entropy of the blocks is a sum over the values of (n_ij / N) log(s_j / n_ij), for n_ij records with value i
    in block j of s_j records. For value i that is at most p_i log 1/p_i, since conditioning does not add
    entropy, and at most p_i log a in blocks of up to a records. None if the table's own entropy is less than
    log l: then no blocks will do.

    >>> min_block_entropy([50, 25, 15, 7, 3], l=3), min_block_entropy([10, 8, 7, 3, 2], l=3)
    (6, 3)
    >>> min_block_entropy([50, 25, 15, 7, 3], l=4)
    """
    number(l, "l", "min_block_entropy", "a number of 1 or more", low=1)
    falling = _falling(counts)
    shares = falling / falling.sum()
    enough = math.log(l) - TOLERANCE
    low, high = 1, int(falling.sum())
    if mean_entropy(shares, high) < enough:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if mean_entropy(shares, middle) >= enough else (middle + 1, high)
    return low


def mean_entropy(shares: NDArray[np.float64], size: int) -> float:
    """Return f(a): what the mean entropy of blocks of up to a records can reach."""
    return float((shares * np.minimum(-np.log(shares), math.log(size))).sum())


def _falling(counts: ArrayLike) -> NDArray[np.int64]:
    given = np.asarray(counts)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer) or (given < 0).any() or not given.any():
        raise InputError(
            f"The counts of the sensitive values must be whole numbers, not all 0. Got {_shown(counts)} instead."
        )
    return np.sort(given[given > 0])[::-1].astype(np.int64)


def _shown(counts: ArrayLike | Sequence[int]) -> str:
    text = repr(counts)
    return text if len(text) <= 60 else text[:57] + "..."
