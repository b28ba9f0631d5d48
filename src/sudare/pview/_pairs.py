"""Compiled: two-way tables, drawing points, raking their weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels import kernel

Array = np.ndarray[Any, Any]


@kernel
def weigh_pairs(
    groups: Array, weights: Array, pairs: Array, bins: Array, out: Array
) -> None:  # pragma: no cover
    """Add up the weights of records or points by two attributes' groups (attributes x points), for every pair: pairs x cells."""
    for p in range(len(pairs)):
        one, other, width = groups[pairs[p, 0]], groups[pairs[p, 1]], bins[pairs[p, 1]]
        for r in range(groups.shape[1]):
            out[p, np.int64(one[r]) * width + other[r]] += weights[r]


@kernel
def rake(weights: Array, keys: Array, target: Array, tiny: float) -> None:  # pragma: no cover
    """Scale the weights so that they add up to the target in every cell that holds any."""
    sums = np.zeros(len(target))
    for r in range(len(keys)):
        sums[keys[r]] += weights[r]
    for c in range(len(target)):
        sums[c] = (target[c] + tiny) / (sums[c] + tiny)
    for r in range(len(keys)):
        weights[r] *= sums[keys[r]]


@kernel
def draw_given(
    given: Array, order: Array, upto: Array, offsets: Array, out: Array
) -> None:  # pragma: no cover
    """Draw a value for every point, given its group: upto[g] are the cumulative shares of the values in group g.

    The points of a group, in random order, stand at equal steps along these shares, so that every value gets its
    part of them to within one.
    """
    sizes = np.zeros(len(upto), dtype=np.int64)
    for r in range(len(given)):
        sizes[given[r]] += 1
    seen = np.zeros(len(upto), dtype=np.int64)
    at = np.zeros(len(upto), dtype=np.int64)
    last = upto.shape[1] - 1
    for r in order:
        g = given[r]
        u = (seen[g] + offsets[g]) / sizes[g]
        seen[g] += 1
        while at[g] < last and upto[g, at[g]] <= u:
            at[g] += 1
        out[r] = at[g]
