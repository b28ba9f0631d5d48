"""Compiled: two-way tables of records and of weighted points, drawing points, raking their weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

Array = np.ndarray[Any, Any]


@njit(cache=True, nogil=True, parallel=True)
def count_pairs(groups: Array, pairs: Array, bins: Array, cells: int) -> Array:  # pragma: no cover
    """Count records by two attributes' groups (attributes x records), for every pair: pairs x cells."""
    out = np.zeros((len(pairs), cells), dtype=np.int64)
    for p in prange(len(pairs)):
        one, other, width = groups[pairs[p, 0]], groups[pairs[p, 1]], bins[pairs[p, 1]]
        for r in range(groups.shape[1]):
            out[p, np.int64(one[r]) * width + other[r]] += 1
    return out


@njit(cache=True, nogil=True, parallel=True)
def weigh_pairs(
    groups: Array, weights: Array, pairs: Array, bins: Array, cells: int
) -> Array:  # pragma: no cover
    """Add up the weights of points in the same way."""
    out = np.zeros((len(pairs), cells))
    for p in prange(len(pairs)):
        one, other, width = groups[pairs[p, 0]], groups[pairs[p, 1]], bins[pairs[p, 1]]
        for r in range(groups.shape[1]):
            out[p, np.int64(one[r]) * width + other[r]] += weights[r]
    return out


@njit(cache=True, nogil=True)
def keys_of(one: Array, other: Array, width: int, out: Array) -> None:  # pragma: no cover
    """Give every point its cell of a two-way table."""
    for r in range(len(one)):
        out[r] = np.int64(one[r]) * width + other[r]


@njit(cache=True, nogil=True)
def rake(weights: Array, keys: Array, target: Array, tiny: float) -> None:  # pragma: no cover
    """Scale the weights so that they add up to the target in every cell that holds any."""
    sums = np.zeros(len(target))
    for r in range(len(keys)):
        sums[keys[r]] += weights[r]
    for c in range(len(target)):
        sums[c] = (target[c] + tiny) / (sums[c] + tiny)
    for r in range(len(keys)):
        weights[r] *= sums[keys[r]]


@njit(cache=True, nogil=True)
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
