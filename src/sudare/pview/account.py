"""The budget of a p-view: exact shares, and the noise that each of them buys.

Neighbours differ in one record, added or removed. Pure: epsilons add up; a count that every record can change by 1
gets discrete Laplace noise of scale 1/epsilon. With a delta: zero-concentrated differential privacy (Bun & Steinke 2016),
rhos add up; a count gets discrete Gaussian noise of variance 1/(2 rho), and rho turns into epsilon and delta at the end.
Of sums of counts, a record may change several: noise grows with the sum of its changes, or (Gaussian) of their squares
(Canonne, Kamath & Steinke 2020, Theorem 14).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.noise.keystream import Keystream
from sudare.noise.sampling import (
    MAX_VARIANCE,
    choose,
    permute_and_flip,
    sample_discrete_gaussian,
    sample_discrete_laplace,
)
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.pview.spending import Kind, Share, Spending, Unit

FINE = 2**30  # parts of an epsilon or a rho
MIN_DEVIATION = 1e-9
MIN_EPSILON, MAX_EPSILON = 1e-6, 1e6
ROUNDING = 2.0**-30  # by which the rounding of losses may raise the epsilon of a choice


@cache
def rho_for(epsilon: float, delta: float) -> Fraction:
    """Return the largest rho, in fine steps, whose guarantee is at least (epsilon, delta).

    delta(rho, epsilon) = min over a > 1 of exp((a - 1) (a rho - epsilon)) / (a - 1) (1 - 1/a)^a (Canonne, Kamath & Steinke
    2020, Corollary 13; any a gives a valid bound).

    >>> 0.0149 < rho_for(1.0, 1e-9) < 0.0151
    True
    """
    low, high = 0, math.ceil(epsilon * FINE)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _delta(middle / FINE, epsilon) <= delta else (low, middle)
    if low == 0:
        raise ParameterError(f"delta = {delta:g} is too small for epsilon = {epsilon:g}. Leave delta out.")
    return Fraction(low, FINE)


def _delta(rho: float, epsilon: float) -> float:
    if rho <= 0:
        return 0.0
    # The best order is near (epsilon + rho) / (2 rho); some on both sides are tried, each of which is valid.
    best = max((epsilon + rho) / (2 * rho), 1.0 + 1e-6)
    orders = 1 + (best - 1) * np.geomspace(0.2, 5, 200) + 1e-9
    logs = (orders - 1) * (orders * rho - epsilon) - np.log(orders - 1) + orders * np.log1p(-1 / orders)
    return float(np.exp(logs.min()))


@dataclass
class Account:
    """A budget, what of it was spent on what, and the noise of each part."""

    promise: DifferentialPrivacy
    source: Keystream
    spent: list[Share] = field(default_factory=list)
    rows: int = 1
    """How many rows of one person or household it protects together."""
    opening: Callable[[], object] | None = None
    """What is done before anything is spent: a ledger is charged, or refuses."""

    def __post_init__(self) -> None:
        if not MIN_EPSILON <= self.promise.epsilon <= MAX_EPSILON:
            raise ParameterError(
                f"A p-view needs an epsilon above 0, from {MIN_EPSILON:g} to {MAX_EPSILON:g}: with less it could tell nothing, "
                f"and more promises nothing. Got {self.promise.epsilon:g} instead."
            )
        self.pure = self.promise.delta == 0
        self.whole = (
            Fraction(str(self.promise.epsilon))
            if self.pure
            else rho_for(self.promise.epsilon, self.promise.delta)
        )
        # Tables that differ in so many rows are as many steps apart: epsilons add up, and rhos grow with the square of the
        # number (Bun & Steinke 2016, Proposition 27), whatever the mechanism.
        self.whole /= self.rows if self.pure else self.rows**2

    @property
    def unit(self) -> Unit:
        """What is spent: epsilon, or rho."""
        return "epsilon" if self.pure else "rho"

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return self.whole - sum((share.amount for share in self.spent), Fraction(0))

    def spend(self, kind: Kind, part: Fraction, *attributes: str) -> Fraction:
        """Take a part of the whole for something, and return how much that is. Nothing can be taken twice."""
        share = Share(kind, part * self.whole, attributes)
        if share.amount <= 0 or share.amount > self.remaining:
            raise ParameterError(
                f"'{share}' would take {float(share.amount):g} of {self.unit}, where {float(self.remaining):g} remains."
            )
        if self.opening is not None and not self.spent:
            self.opening()
        self.spent.append(share)
        return share.amount

    def noise(self, size: int, part: Fraction, change: int = 1) -> NDArray[np.int64]:
        """Return noise for so many sums of counts.

        A record changes them by so much: the sum of the absolute changes is meant (pure), or of their squares.
        """
        if self.pure:
            return sample_discrete_laplace(size, self._scale(part, change), self.source)
        return sample_discrete_gaussian(size, self._variance(part, change), self.source)

    def can_draw(self, part: Fraction, change: int) -> bool:
        """Say whether there is such noise: of a tiny budget, it may be too wide to be drawn."""
        return self.pure or self._variance(part, change) <= MAX_VARIANCE

    def deviation(self, part: Fraction, change: int = 1) -> float:
        """Return the standard deviation of that noise; never 0, as others divide by it."""
        if self.pure:
            a = math.exp(-float(1 / self._scale(part, change)))
            return max(math.sqrt(2 * a) / (1 - a), MIN_DEVIATION)
        return math.sqrt(self._variance(part, change))

    def _scale(self, part: Fraction, change: int) -> Fraction:
        """Return the scale of Laplace noise, rounded up: never less noise."""
        return Fraction(math.ceil(FINE * change / part), FINE)

    def _variance(self, part: Fraction, change: int) -> int:
        """Return the variance of Gaussian noise, rounded up."""
        return math.ceil(change / (2 * part))

    def strength(self, part: Fraction) -> float:
        """Return the epsilon of a choice that spends this part: a choice of epsilon e has rho = e^2 / 8."""
        return float(part) if self.pure else math.sqrt(8 * float(part))

    def choose(self, scores: NDArray[np.float64], sensitivity: float, part: Fraction) -> int:
        """Choose a candidate, those with high scores likelier: by permute-and-flip, or (rho) the exponential mechanism."""
        strength = max(self.strength(part) - ROUNDING, 0.0)
        losses = (scores.max() - scores) * strength / (2 * sensitivity)
        return (permute_and_flip if self.pure else choose)(losses, self.source)

    @property
    def spending(self) -> Spending:
        """Every share that was spent, exactly."""
        return Spending(self.unit, self.whole, tuple(self.spent), self.rows)
