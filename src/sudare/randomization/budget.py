"""How much of the whole spread each attribute may use."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sudare.errors import RequirementError

PARTS = 400  # of the whole spread, when the least error is searched for

Split = Literal["least-error", "equal", "tie", "paper-tie"]
SPLITS = ("least-error", "equal", "tie", "paper-tie")


@dataclass(frozen=True)
class SplitAttribute:
    """What is known of an attribute when the spread is split."""

    name: str
    weight: float
    error: Callable[[float], float]
    """The expected error, from 0 to 1, at a spread."""
    categories: int | None
    """How many categories it has; None for a number with noise."""


def split_spread(spread: float, attributes: Sequence[SplitAttribute], split: Split) -> list[float]:
    """Divide a spread among attributes."""
    if split == "equal":
        weights = np.array([attribute.weight for attribute in attributes])
        if not weights.any():
            weights += 1.0
        return [float(part) for part in spread * weights / weights.sum()]
    if split == "least-error":
        return _least_error(spread, attributes)
    return _tied(spread, attributes, reach=1.0 if split == "paper-tie" else 2.0)


def _least_error(spread: float, attributes: Sequence[SplitAttribute]) -> list[float]:
    """Divide it so that the weighted errors sum to the least, in whole parts, by dynamic programming.

    (The error of a category is no convex function of its spread: a little helps a category with many values not
    at all. Setting derivatives equal would find a worst split.)
    """
    parts = np.arange(PARTS + 1)
    best, chosen = np.zeros(PARTS + 1), []
    for attribute in attributes:
        error = attribute.weight * np.array([attribute.error(spread * part / PARTS) for part in parts])
        total = np.full(PARTS + 1, np.inf)
        taken = np.zeros(PARTS + 1, dtype=np.int64)
        for part in parts:
            with_part = best[: PARTS + 1 - part] + error[part]
            better = with_part < total[part:]
            total[part:][better] = with_part[better]
            taken[part:][better] = part
        best = total
        chosen.append(taken)
    left, parts_taken = PARTS, []
    for taken in reversed(chosen):
        parts_taken.append(int(taken[left]))
        left -= parts_taken[-1]
    return [spread * part / PARTS for part in reversed(parts_taken)]


def _tied(spread: float, attributes: Sequence[SplitAttribute], reach: float) -> list[float]:
    """Tie the retention r of all categories to the noise of all numbers, scaled to [0, 1]: scale = tan(reach pi/4 (1 - r)).

    The paper's tie has reach 1 and stops at scale 1: a small spread, which is a large k, is beyond it. With reach 2 every
    scale is within it.
    """

    def parts(retention: float) -> list[float]:
        scale = math.tan(reach * math.pi / 4 * (1 - retention))
        return [
            2 / scale
            if attribute.categories is None
            else 2 * math.log((1 + (attribute.categories - 1) * retention) / (1 - retention))
            for attribute in attributes
        ]

    if spread <= 0:
        return [0.0] * len(attributes)
    low, high = 1e-12, 1 - 1e-12
    if reach == 1.0 and sum(parts(low)) > spread:
        numbers = sum(attribute.categories is None for attribute in attributes)
        raise RequirementError(
            f"The paper's tie of noise and retention cannot reach this k: with {numbers} numeric attributes its spread is "
            f"at least {2 * numbers}, and {spread:.4g} is asked for. Use split='tie', which reaches every k."
        )
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(parts(middle)) <= spread else (low, middle)
    return parts(low)
