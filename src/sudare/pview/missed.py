"""How far a model was off for ranges of two attributes when their table was measured, and what may be left of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.pview.one_ways import TINY, Floats

UNKNOWN = 0.25  # the correlation that may be left where no pair could be measured
NOISE, UNRESOLVED, NOT_MEASURED, OF_MORE = 1.2, 0.04, 1.5, 1.7
"""What may be left, as fitted so that intervals cover on a dozen tables at epsilons from 0.1 to 10: of the noise, of what groups of
values do not resolve, of what was not measured, of more than two attributes."""


@dataclass(frozen=True)
class Miss:
    """How far a model was off for ranges of two attributes when their table was measured, squared and summed over ranges."""

    seen: float  # less what the noise explains
    noise: float  # of the table, as far as it is believed
    spread: float  # the sum of p (1 - p) q (1 - q), in records: a correlation of 1 would be off by as much
    unresolved: float  # the share of records in groups of several values


def spread_of(*tables: Floats) -> float:
    """Return the sum of p (1 - p) over the ranges from the first group on, times that of the other table."""
    out = 1.0
    for table in tables:
        upto = np.cumsum(table / table.sum())[:-1]
        out *= float(np.maximum(upto * (1 - upto), 0.0).sum())
    return out


def leftover(misses: Mapping[int, Miss], pairs: NDArray[np.int64], attributes: int) -> tuple[Floats, float]:
    """Return the squared correlations that may be left, by pair of attributes, and of more than two attributes.

    A pair that was measured is off by its noise. One that was not is taken to be known no better than those that were chosen
    last were then: they were about the worst. So are three attributes and more, of which nothing else is known.
    """
    last = list(misses.values())[-max(len(misses) // 3, 1) :]
    worst = sum(m.seen for m in last) / max(sum(m.spread for m in last), TINY) if last else UNKNOWN**2
    out = np.full((attributes, attributes), NOT_MEASURED * worst)
    for p, miss in misses.items():
        i, j = pairs[p]
        out[i, j] = out[j, i] = (NOISE * miss.noise + UNRESOLVED * miss.unresolved * miss.seen) / max(
            miss.spread, TINY
        )
    return np.asarray(np.minimum(out, 1.0)), min(OF_MORE * worst, 1.0)
