"""Compiled: which sensitive values several views leave to a person, and how likely each of them is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.kernels import kernel, popcount, step
from sudare.privacy._kernels import TOLERANCE

if TYPE_CHECKING:
    from sudare.privacy.multi_view import Need

Array = np.ndarray[Any, Any]


@step
def has_values(one: Array, other: Array, l: int) -> bool:  # pragma: no cover
    """Tell whether two sets of values have l of them in common."""
    common = 0
    for w in range(one.size):
        common += popcount(one[w] & other[w])
        if common >= l:
            return True
    return False


@kernel
def block_sets(block_of: Array, sensitive: Array, blocks: int, words: int) -> Array:  # pragma: no cover
    """Return the values that occur in every block, one bit each; who is in none (-1) does not count."""
    sets = np.zeros((blocks, words), dtype=np.uint64)
    for u in range(block_of.size):
        s = sensitive[u]
        if block_of[u] < 0:
            continue
        sets[block_of[u], s >> 6] |= np.uint64(1) << np.uint64(s & 63)
    return sets


@kernel
def keep_common(left: Array, sets: Array, block_of: Array) -> None:  # pragma: no cover
    """Take from each person's values those that do not occur in the person's block."""
    for u in range(block_of.size):
        if block_of[u] >= 0:
            for w in range(left.shape[1]):
                left[u, w] &= sets[block_of[u], w]


@kernel
def set_sizes(left: Array) -> Array:  # pragma: no cover
    """Count everybody's values."""
    sizes = np.zeros(left.shape[0], dtype=np.int64)
    for u in range(left.shape[0]):
        for w in range(left.shape[1]):
            sizes[u] += popcount(left[u, w])
    return sizes


@kernel
def weigh(weighed: Array, counts: Array, block_of: Array, totals: Array) -> None:  # pragma: no cover
    """Multiply what every value weighs for each person by the share of its records that are in the person's block."""
    for u in range(block_of.size):
        if block_of[u] < 0:
            continue
        for s in range(weighed.shape[1]):
            if weighed[u, s] > 0:
                weighed[u, s] *= counts[block_of[u], s] / totals[s]


@kernel
def posteriors(weighed: Array, totals: Array, largest: Array, entropy: Array) -> None:  # pragma: no cover
    """Find the probability of the likeliest value, and the entropy, of each person's posterior."""
    for u in range(weighed.shape[0]):
        whole, most, logs = 0.0, 0.0, 0.0
        for s in range(weighed.shape[1]):
            x = weighed[u, s] * totals[s]
            if x > 0:
                whole += x
                most = max(most, x)
                logs += x * np.log(x)
        largest[u] = most / whole
        entropy[u] = np.log(whole) - logs / whole


@step
def posterior_holds(likely: Array, counts: Array, need: Need) -> bool:  # pragma: no cover
    """Tell whether the posterior of somebody in a block of these counts is within the limits."""
    whole, most, logs = 0.0, 0.0, 0.0
    for s in range(counts.size):
        x = likely[s] * counts[s]
        if x > 0:
            whole += x
            most = max(most, x)
            logs += x * np.log(x)
    if most > whole * (need.largest + TOLERANCE):
        return False
    return bool(np.log(whole) - logs / whole >= need.entropy - TOLERANCE)
