"""Compiled: the margins of weighted points, how they hang together, and weights that are tilted by factors of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels import kernel

Array = np.ndarray[Any, Any]


@kernel
def add_margins(points: Array, starts: Array, weights: Array, out: Array) -> None:  # pragma: no cover
    """Add up the weights of points (attributes x points) by the values of every attribute, one after the other."""
    for a in range(len(points)):
        codes, start = points[a], starts[a]
        for r in range(len(weights)):
            out[start + codes[r]] += weights[r]


@kernel
def add_pairs(
    points: Array, starts: Array, weights: Array, pairs: Array, out: Array
) -> None:  # pragma: no cover
    """Add up the weights by the values of two attributes, for some pairs, into one matrix of all values."""
    for p in range(len(pairs)):
        one, other = points[pairs[p, 0]], points[pairs[p, 1]]
        first, second = starts[pairs[p, 0]], starts[pairs[p, 1]]
        for r in range(len(weights)):
            out[first + one[r], second + other[r]] += weights[r]


@kernel
def tilt_weights(
    points: Array, starts: Array, logs: Array, before: Array, out: Array
) -> None:  # pragma: no cover
    """Multiply the weights by a factor for the value of every attribute, given as logarithms."""
    for r in range(len(before)):
        log = 0.0
        for a in range(len(points)):
            log += logs[starts[a] + points[a, r]]
        out[r] = before[r] * np.exp(log)
