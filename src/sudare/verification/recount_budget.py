"""Recounting a budget: that the shares of a p-view add up to no more than was promised.

Written anew from the definitions; nothing here comes from `pview`.

Epsilons add up. Of rhos, the sum rho promises (epsilon, delta) if, for some order a > 1,
(a rho - epsilon) (a - 1) + a log(1 - 1/a) - log(a - 1) <= log delta.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sudare.errors import RequirementError
from sudare.privacy.differential_privacy import DifferentialPrivacy


def refuse_overspent(budget: Mapping[str, Any], promise: DifferentialPrivacy) -> None:
    """Raise a RequirementError if the shares exceed the promise."""
    if not keeps(budget, promise):
        spent = float(_spent(budget))
        raise RequirementError(
            f"The p-view spent {spent:g} of {budget['unit']}, more than {promise} allows. Nothing was made."
        )


def keeps(budget: Mapping[str, Any], promise: DifferentialPrivacy) -> bool:
    """Say whether the shares keep to the promise."""
    if any(Fraction(share["amount"]) < 0 for share in budget["shares"]):
        return False
    spent = _spent(budget)
    if budget["unit"] == "epsilon":
        return spent <= Fraction(str(promise.epsilon))
    return promise.delta > 0 and _log_delta(float(spent), promise.epsilon) <= math.log(promise.delta) + 1e-9


def epsilon_spent(budget: Mapping[str, Any], delta: float) -> float:
    """Return the epsilon that the shares come to at a delta: infinite if there is none."""
    spent = float(_spent(budget))
    if budget["unit"] == "epsilon":
        return spent
    if not delta > 0:
        return math.inf
    low, high = 0.0, 1.0
    while _log_delta(spent, high) > math.log(delta):
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _log_delta(spent, middle) > math.log(delta) else (low, middle)
    return high


def _spent(budget: Mapping[str, Any]) -> Fraction:
    """Add up what was spent on one row, and on all rows that are protected together: r epsilons, or r squared rhos."""
    rows, power = budget.get("rows", 1), 1 if budget["unit"] == "epsilon" else 2
    return (
        sum((Fraction(share["amount"]) for share in budget["shares"]), Fraction(0)) * Fraction(rows) ** power
    )


def _log_delta(rho: float, epsilon: float) -> float:
    """Search the best order: the bound is convex enough in its logarithm for a plain scan with refinement."""
    low, high = 1e-6, 1e6
    for _ in range(60):
        steps = [low * (high / low) ** (i / 50) for i in range(51)]
        best = min(range(51), key=lambda i: _at(1 + steps[i], rho, epsilon))
        low, high = steps[max(best - 1, 0)], steps[min(best + 1, 50)]
    return _at(1 + low, rho, epsilon)


def _at(order: float, rho: float, epsilon: float) -> float:
    return (order - 1) * (order * rho - epsilon) + order * math.log1p(-1 / order) - math.log(order - 1)
