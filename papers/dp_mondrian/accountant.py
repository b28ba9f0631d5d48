"""What DP-SGD costs: Rényi differential privacy of the Poisson-subsampled Gaussian mechanism, for tables with one record more or less.

Each record is in a batch with probability q, and the sum of the batch's clipped gradients gets Gaussian noise of sigma times the clip.
For a whole order a, the Rényi divergence is log(sum over k of C(a, k) (1 - q)^(a - k) q^k e^(k (k - 1) / (2 sigma^2))) / (a - 1)
(Mironov, Talwar & Zhang 2019, section 3.3). Steps add up. Any order gives an epsilon for a delta (Canonne, Kamath & Steinke 2020,
Proposition 12); the least is taken.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, logsumexp

ORDERS = (*range(2, 64), *range(64, 257, 8), 512, 1024)
WIDEST = 1_000.0


def renyi(q: float, sigma: float, order: int) -> float:
    """Return the Rényi divergence of one step.

    >>> renyi(1.0, 2.0, 6)                                              # without sampling: order / (2 sigma^2)
    0.75
    """
    if q == 1:
        return order / (2 * sigma**2)
    k = np.arange(order + 1)
    binomial = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    terms = binomial + k * math.log(q) + (order - k) * math.log1p(-q) + k * (k - 1) / (2 * sigma**2)
    return float(logsumexp(terms)) / (order - 1)


def epsilon_of(q: float, sigma: float, steps: int, delta: float) -> float:
    """Return the epsilon of so many steps.

    >>> 2.4 < epsilon_of(256 / 60_000, 1.12, 14_063, 1e-5) < 2.92
    True
    """
    return min(
        steps * renyi(q, sigma, a) + math.log1p(-1 / a) - math.log(delta * a) / (a - 1) for a in ORDERS
    )


def sigma_for(q: float, steps: int, epsilon: float, delta: float) -> float:
    """Return the least noise, to a thousandth, whose epsilon is not above the one that is given.

    >>> epsilon_of(0.01, sigma_for(0.01, 500, 1.0, 1e-5), 500, 1e-5) <= 1
    True
    """
    low, high = 0.3, WIDEST
    if epsilon_of(q, high, steps, delta) > epsilon:
        raise ValueError(f"No noise up to {WIDEST:g} has an epsilon of {epsilon:g} after {steps} steps.")
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if epsilon_of(q, middle, steps, delta) <= epsilon else (middle, high)
    return high
