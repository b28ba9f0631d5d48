"""How much of a noisy difference is believed, cell by cell: large cells of what was expected may be further off than small ones.

A cell's difference from what was expected is taken to have a variance in some power of the expected count (0: all cells alike;
2: all are off by as large a part of themselves), times a factor, and the noise's on top. Power and factor are those that make
what was measured likeliest, and every cell is believed as far as its difference outweighs the noise (empirical Bayes). So noise
does not fill cells that nobody was expected in.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

POWERS = (0.0, 0.5, 1.0, 1.5, 2.0)
FACTORS = 2.0 ** np.arange(-8, 12, 0.5)
"""The mean variance of the differences, against the noise's."""
LEAST = 1e-6  # of a record: what is expected of an empty cell, so that it has a power


def shrunk(off: Floats, expected: Floats, variance: float) -> Floats:
    """Return the part of noisy differences that is believed; the noise of all has the same variance.

    >>> shrunk(np.array([300.0, -10.0, 12.0]), np.array([1000.0, 1.0, 1.0]), 100.0).round().tolist()
    [300.0, -0.0, 0.0]
    """
    if variance <= 0:
        return off
    squares = off**2 / variance
    best, believed = -math.inf, np.zeros_like(off)
    for power in POWERS:
        spread = np.maximum(expected, LEAST) ** power
        sizes = np.multiply.outer(FACTORS, spread / spread.mean())
        trust = sizes / (1 + sizes)
        # Of a normal distribution with the variance 1 + size, but for what is the same for all.
        likely = (np.log1p(-trust) - squares * (1 - trust)).reshape(len(FACTORS), -1).sum(axis=1)
        if likely.max() > best:
            best, believed = float(likely.max()), trust[likely.argmax()]
    return np.asarray(believed * off)
